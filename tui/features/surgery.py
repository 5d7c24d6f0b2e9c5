"""Surgery: the tokenizer without marked tokens, or with words as single tokens; shown, and saved as a new file."""

from functools import partial
from pathlib import Path

from bpe_core.errors import BpeError
from bpe_core.formats import format_of
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.surgery import save_changed
from bpe_core.surgery.grafting import graft
from bpe_core.tokenizer import Tokenizer
from tui.dialogs.ask import Ask
from tui.dialogs.review import ReviewChange
from tui.disk import tokenizer_files
from tui.features.feature import NO_TOKENIZER, Feature, StateScreen, sentence_of
from tui.features.lanes import Lanes
from tui.features.texts import Texts
from tui.features.tokenizers import Tokenizers
from tui.features.vocabulary_change import Made, Plan, Progress, work_out
from tui.state import LaneChoice, ShownLane
from tui.terminal.background import in_thread


class Surgery(Feature):
    """Works out one change at a time. It stays until it is saved or dropped, or another tokenizer is shown."""

    def __init__(
        self, screen: StateScreen, tokenizers: Tokenizers, texts: Texts, lanes: Lanes
    ) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._texts = texts
        self._lanes = lanes
        self._plan: Plan | None = None
        """The change that is reviewed, or shown as a lane."""
        self._made: Made | None = None
        """The plan, worked out."""
        screen.watch(screen, "path", self._drop, init=False)

    def _drop(self) -> None:
        self._plan = None
        self._lanes.preview(None)

    def _new_plan(self) -> Plan | None:
        """Return a plan without tokens and words, or say why there is none."""
        screen = self.screen
        if self.refuse_while_training():
            return None
        if screen.tokenizer is None or not screen.path:
            screen.say(NO_TOKENIZER, "warning")
            return None
        if self._plan and self._plan.tokenizer is not screen.tokenizer:
            self._drop()
        return Plan(screen.tokenizer, screen.corpus.paths)

    async def without_marked(self) -> None:
        """Review the tokenizer without the tokens that are marked in the audit."""
        plan = self._new_plan()
        if plan is None:
            return
        table = self.screen.audit_pane.table
        tokens = table.marked_in(plan.tokenizer.vocabulary)
        if not tokens:
            self.screen.say(
                "No token is marked. Mark tokens in the audit (F5) with the space bar.",
                "warning",
            )
            return
        plan = plan._replace(tokens=tokens)
        if self._plan and self._plan.tokens == tokens:
            plan = plan._replace(decision=self._plan.decision)
        await self._review(plan)

    async def one_token(self) -> None:
        """Review the tokenizer with the selection or a typed word as one token.

        Without a selection, review the change that is shown as a lane.
        """
        plan = self._new_plan()
        if plan is None:
            return
        if self._plan:
            plan = self._plan._replace(paths=plan.paths)
        word = self.screen.editor.area.selected_text
        if word or not self._plan:
            plan = await self._with_word(plan, word)
        if plan is not None:
            await self._review(plan)

    async def _with_word(self, plan: Plan, word: str = "") -> Plan | None:
        """Return the plan with another word. Ask for it if it is ""; None if the user cancels."""
        answer: str | None = word
        if not word:
            question = Ask(
                "Which word should be one token?",
                partial(_checked_word, plan.tokenizer),
                hint="With its spaces: “hello” and “ hello” are two words. Enter to continue, Escape to cancel",
            )
            answer = await self.screen.ask(question)
        if answer is None:
            return None
        return plan._replace(
            tokens=(), words=tuple(dict.fromkeys([*plan.words, answer]))
        )

    async def _review(self, plan: Plan) -> None:
        """Show what a change does until it is saved, shown as a lane, or dropped."""
        while True:
            self._plan = plan
            dialog = ReviewChange(plan.title, partial(self._prepare, plan))
            match await self.screen.ask(dialog):
                case "t":
                    plan = plan._replace(decision="with-descendants")
                case "k":
                    plan = plan._replace(decision="keep-parents")
                case "w":
                    plan = await self._with_word(plan) or plan
                case "s" if self._made and await self._save(plan, self._made):
                    return
                case "l" if self._made:
                    self._show_lane(self._made)
                    return
                case None:
                    self._drop()
                    return

    async def _prepare(self, plan: Plan, dialog: ReviewChange) -> None:
        """Work out a change in a thread, and show it."""
        progress = Progress()
        try:
            made = await in_thread(work_out, plan, progress)
        except (BpeError, OSError) as error:
            dialog.tell(sentence_of(error), wrong=True)
            return
        finally:
            progress.is_over = True
        self._made = made
        await dialog.show("\n".join(made.sentences), made.lists, made.answers)

    def _show_lane(self, made: Made) -> None:
        screen = self.screen
        # The choice has the name of the lane. No file has this path.
        self._lanes.preview(ShownLane(LaneChoice("after"), made.result.tokenizer))
        screen.action_show("editor")
        screen.say(
            "Lane 2 is the tokenizer after the change. Alt+G opens the change again."
        )

    async def _save(self, plan: Plan, made: Made) -> bool:
        """Ask for a format and a file, save the tokenizer, and open it. Return whether it was saved."""
        screen = self.screen
        source = await in_thread(tokenizer_at, Path(screen.path))
        format_read = await in_thread(_format_of, source)
        form = await self._texts.ask_format(
            "In which format do you want to save it?", format_read
        )
        if form is None:
            return False
        suffix = {"tiktoken": ".tiktoken", "minbpe": ".model"}.get(form, ".json")
        file = None
        if form == format_read:
            suffix = source.suffix
            if screen.pattern_for(source) is None:
                file = source
        write = partial(save_changed, made.result, format=form, source=file)
        path = await self._texts.save(
            "In which file?", write, f"{source.stem}-changed{suffix}"
        )
        if path is None:
            return False
        pattern = None
        if await in_thread(tokenizer_files.told_pattern, path) is None:
            pattern = plan.tokenizer.pattern
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
