"""Surgery: the tokenizer without marked tokens, or with words as single tokens; shown, and saved as a new file."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.formats import WRITABLE, format_of
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.surgery import save_changed
from bpe_core.surgery.grafting import graft
from bpe_core.tokenizer import Tokenizer
from tui.dialogs.answers import one_of
from tui.dialogs.ask import Ask
from tui.dialogs.review import ReviewChange
from tui.disk import tokenizer_files
from tui.features.feature import NO_TOKENIZER, Feature, StateScreen, guarded
from tui.features.lanes import Lanes
from tui.features.texts import Texts
from tui.features.tokenizers import Tokenizers
from tui.features.vocabulary_change import Made, Plan, Progress, work_out
from tui.state import LaneChoice, ShownLane
from tui.terminal.background import in_thread

_SECONDS: Final = 0.1
"""Seconds between two reports of progress."""


class Surgery(Feature):
    """Works out one change at a time. It stays until it is saved or dropped, or another tokenizer is shown."""

    def __init__(
        self, screen: StateScreen, tokenizers: Tokenizers, texts: Texts, lanes: Lanes
    ) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._texts = texts
        self._lanes = lanes
        self._made: Made | None = None
        screen.watch(screen, "path", self._drop, init=False)

    def _drop(self) -> None:
        self._made = None
        self._lanes.preview(None)

    def _new_plan(self) -> Plan | None:
        """Return a plan without tokens and words, or say why there is none."""
        screen = self.screen
        if self.refuse_while_training():
            return None
        if screen.tokenizer is None or not screen.path:
            screen.say(NO_TOKENIZER, "warning")
            return None
        return Plan(screen.tokenizer, screen.corpus.paths)

    async def without_marked(self) -> None:
        """Review the tokenizer without the tokens that are marked in the audit."""
        plan = self._new_plan()
        if plan is None:
            return
        table = self.screen.audit_pane.table
        plan = plan._replace(tokens=table.marked_in(plan.tokenizer.vocabulary))
        if not plan.tokens:
            self.screen.say(
                "No token is marked. Mark tokens in the audit (F5) with the space bar.",
                "warning",
            )
            return
        if self._made and self._made.plan._replace(decision="list") == plan:
            plan = self._made.plan
        await self._review(plan)

    async def one_token(self) -> None:
        """Review the tokenizer with the selection or a typed word as one token.

        Without a selection, review the change that is shown as a lane.
        """
        plan = self._new_plan()
        if plan is None:
            return
        word = self.screen.editor.area.selected_text
        shown = None
        if self._made and self._made.plan.tokenizer is plan.tokenizer:
            shown = self._made.plan._replace(paths=plan.paths)
        if shown and not word:
            await self._review(shown)
            return
        if shown and shown.words:
            plan = shown
        plan = await self._with_word(plan, word)
        if plan is not None:
            await self._review(plan)

    async def _with_word(self, plan: Plan, word: str = "") -> Plan | None:
        """Return the plan with another word. Ask for it if it is ""; None if the user cancels."""
        if not word:
            question = Ask(
                "Which word should be one token?",
                partial(_checked_word, plan.tokenizer),
                hint="With its spaces: “hello” and “ hello” are two words. Enter to continue, Escape to cancel",
            )
            answer = await self.screen.ask(question)
            if answer is None:
                return None
            word = answer
        else:
            await in_thread(_checked_word, plan.tokenizer, word)
        return plan._replace(words=tuple(dict.fromkeys([*plan.words, word])))

    async def _review(self, plan: Plan) -> None:
        """Show what a change does until it is saved, shown as a lane, or dropped."""
        while True:
            dialog = ReviewChange(plan.title, partial(self._prepare, plan))
            key = await self.screen.ask(dialog)
            if key == "t":
                plan = plan._replace(decision="with-descendants")
            elif key == "k":
                plan = plan._replace(decision="keep-parents")
            elif key == "w":
                plan = await self._with_word(plan) or plan
            elif key == "s" and self._made:
                if await self._save(self._made):
                    return
            else:
                break
        if key == "l" and self._made:
            self._show_lane(self._made)
        else:
            self._drop()

    async def _prepare(self, plan: Plan, dialog: ReviewChange) -> None:
        await guarded(
            self.screen,
            partial(self._work_out, plan, dialog),
            partial(dialog.tell, wrong=True),
        )

    async def _work_out(self, plan: Plan, dialog: ReviewChange) -> None:
        """Work out the change in a thread, unless it is known, and show it."""
        made = self._made
        if made is None or made.plan != plan:
            progress = Progress()
            work = asyncio.ensure_future(in_thread(work_out, plan, progress))
            try:
                while not work.done():
                    activity = "Working it out"
                    if progress.share:
                        activity = f"Counting tokens in the texts {progress.share:.0%}"
                    dialog.tell(f"{activity} … Escape stops")
                    await asyncio.wait([work], timeout=_SECONDS)
                made = work.result()
            finally:
                progress.is_over = True
                work.cancel()
            self._made = made
        await dialog.show(made.review)

    def _show_lane(self, made: Made) -> None:
        screen = self.screen
        # The choice has the name of the lane. No file has this path.
        self._lanes.preview(ShownLane(LaneChoice("after"), made.result.tokenizer))
        screen.action_show("editor")
        screen.say(
            "Lane 2 is the tokenizer after the change. Alt+G opens the change again."
        )

    async def _save(self, made: Made) -> bool:
        """Ask for a format and a file, save the tokenizer, and open it. Return whether it was saved."""
        screen = self.screen
        source = await in_thread(tokenizer_at, Path(screen.path))
        format_read = await in_thread(_format_of, source)
        question = Ask(
            "In which format do you want to save it?",
            partial(one_of, WRITABLE),
            format_read if format_read in WRITABLE else "native",
            hint=f"{', '.join(WRITABLE)}. Tab completes.",
            suggest=WRITABLE,
        )
        form = await screen.ask(question)
        if form is None:
            return False
        is_same = form == format_read and screen.pattern_for(source) is None
        write = partial(
            save_changed, made.result, format=form, source=source if is_same else None
        )
        suffix = source.suffix if form == format_read else ".json"
        if form == "tiktoken":
            suffix = ".tiktoken"
        path = await self._texts.save(
            "In which file?", write, f"{source.stem}-changed{suffix}"
        )
        if path is None:
            return False
        pattern = None
        if await in_thread(tokenizer_files.told_pattern, path) is None:
            pattern = made.plan.tokenizer.pattern
        self._tokenizers.remember_pattern(path, pattern)
        self._drop()
        self._tokenizers.use(path)
        return True


def _checked_word(tokenizer: Tokenizer, word: str) -> str:
    """Return a word that can become one token, or raise `OptionError`."""
    graft(tokenizer, [word])
    return word


def _format_of(path: Path) -> str | None:
    return format_of(TokenizerFile.open(path))
