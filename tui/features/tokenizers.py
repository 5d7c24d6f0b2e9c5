"""Tokenizers: open one from a file, a published name or a row of the list."""

import asyncio
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from bpe_core.errors import PatternNeededError
from bpe_core.formats import why_no_tokenizer
from bpe_core.formats.file import tokenizer_at
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, visible
from bpe_core.worker.inputs import FetchRequest
from bpe_core.worker.messages import Saved, WorkProgress
from tui.dialogs.answers import name_of_tokenizer
from tui.dialogs.ask import Ask
from tui.dialogs.ask_path import AskPath, existing_file
from tui.dialogs.ask_pattern import AskPattern
from tui.dialogs.confirm import Confirm
from tui.disk import tokenizer_files
from tui.features.feature import NO_TOKENIZER, Feature, StateScreen
from tui.features.listed_tokenizers import ListedTokenizers
from tui.features.shown import Shown
from tui.process import WorkerProcess
from tui.state import Loaded
from tui.terminal.background import in_thread
from tui.widgets.tokenizer_names import distinct_names


class Tokenizers(Feature):
    """Replaces the screen's `notice`. Fetches or loads one tokenizer at a time."""

    def __init__(
        self, screen: StateScreen, shown: Shown, listed: ListedTokenizers
    ) -> None:
        super().__init__(screen)
        self._shown = shown
        self._listed = listed
        self._notices: dict[str, str] = {}
        """"waiting", "reading" or "recovering" -> the text about it, or ""."""

    def _notice(self, **notices: str) -> None:
        """Change some of the notices, and show the most important one."""
        self._notices |= notices
        text = ""
        for activity in ("recovering", "reading", "waiting"):
            text = self._notices.get(activity) or text
        self.screen.notice = text

    def show_reading(self, argument: str) -> None:
        """Show which argument of the command line is being read; "" after the last."""
        text = ""
        if argument:
            name = visible(os.path.basename(argument) or argument)
            text = f"reading {name} …"
        self._notice(reading=text)

    # Opening

    def use(self, path: Path) -> None:
        """Show the tokenizer in this file, unless a training is running."""
        if not self.refuse_while_training():
            self.load(path)

    def load(self, path: Path) -> None:
        """Load this file, and cancel any other fetching or loading."""
        self.begin(partial(self._load, path))

    async def load_first(self) -> None:
        """Load the first tokenizer of the list whose file exists, if any."""
        for known in self.screen.kept:
            if await in_thread(os.path.exists, known.path):
                await self._load(Path(known.path))
                return

    async def open(self) -> None:
        path = await self.screen.ask(
            AskPath("Which tokenizer file do you want to open?", parse=existing_file)
        )
        if path is not None:
            self.use(await in_thread(tokenizer_at, path))

    async def fetch(self) -> None:
        if self.refuse_while_training():
            return
        question = Ask(
            "Which tokenizer do you want?",
            name_of_tokenizer,
            hint="The name of an OpenAI model or encoding, or OWNER/NAME on Hugging Face",
            example="gpt-4o, o200k_base, Qwen/Qwen3-8B",
        )
        name = await self.screen.ask(question)
        if name is not None:
            self.begin(partial(self._fetch, name))

    def stop_waiting(self) -> None:
        """Cancel fetching or loading. The tokenizer on the screen stays."""
        self.cancel()
        self._notice(waiting="")

    def failed(self, sentence: str) -> None:
        self._notice(waiting="")
        super().failed(sentence)

    async def _fetch(self, name: str) -> None:
        fetching = f"fetching {visible(name)}"
        path: Path | None = None
        self._notice(waiting=f"{fetching} … Esc cancels")
        async with WorkerProcess(FetchRequest(name)) as worker:
            async for event in worker.events():
                match event:
                    case WorkProgress(_, done, total, file):
                        progress = f"{visible(file)}, {done + 1} of {total}"
                        self._notice(waiting=f"{fetching} · {progress} … Esc cancels")
                    case Saved(saved):
                        path = Path(saved)
        self._notice(waiting="")
        if path is not None:
            self._listed.check_files(everywhere=True)
            self.use(path)

    async def _load(self, path: Path) -> None:
        self._notice(waiting=f"loading {visible(path.name)} …")
        loaded = await self.read(path)
        self._notice(waiting="")
        if loaded is None:
            return
        tokenizer = await in_thread(
            tokenizer_files.without_impossible_record, loaded.tokenizer
        )
        if tokenizer is not loaded.tokenizer:
            self.screen.say(
                f"{path.name} records impossible counts for its merges; they are ignored.",
                "warning",
            )
        loaded = replace(loaded, tokenizer=tokenizer)
        # Add it to the list first: adding moves its row to the end, and then the row is marked as shown.
        await self._listed.add(path, tokenizer)
        shown = self._shown.loaded
        if shown is None or not is_same(shown, loaded):
            self._shown.show(loaded)
            if not tokenizer.vocabulary.knows_merges:
                recover = partial(self._recover, tokenizer)
                self.begin(recover, "recovery", about_tokenizer=True)
        self.screen.remember(tokenizer=str(path))

    async def read(self, path: Path) -> Loaded | None:
        """Read a tokenizer file. Ask once for a split pattern that it lacks; None if the user gives none."""
        try:
            return await in_thread(
                tokenizer_files.load_file, path, self.screen.pattern_for(path)
            )
        except PatternNeededError:
            question = (
                f"{visible(path.name)} contains only ranks. How does it split text?"
            )
            pattern = await self.screen.ask(AskPattern(question))
            if pattern is None:
                return None
            self.remember_pattern(path, pattern)
            return await in_thread(tokenizer_files.load_file, path, pattern)

    async def _recover(self, tokenizer: Tokenizer) -> None:
        vocabulary = tokenizer.vocabulary
        try:
            # In seconds: short enough for a frame.
            while not vocabulary.recover(0.01):
                share = vocabulary.recovered_share
                self._notice(
                    recovering=f"recovering the merges from the ranks … {share:.0%}"
                )
                # Let the app read keys and draw.
                await asyncio.sleep(0.02)
            # Build the tables of the merges, too.
            await in_thread(len, vocabulary.merges)
        finally:
            self._notice(recovering="")
        self._shown.show_recovered_merges()

    # Patterns

    async def change_pattern(self, file: str = "") -> None:
        """Ask how a tokenizer file should split text; "" means the tokenizer on the screen."""
        path = Path(file or self.screen.path)
        if self.refuse_while_training():
            return
        if not path.name:
            self.screen.say(NO_TOKENIZER, "warning")
            return
        in_file = await in_thread(tokenizer_files.told_pattern, path)
        chosen = self.screen.pattern_for(path)
        names = distinct_names(self.screen.kept)
        name = visible(names.get(str(path), path.name))
        if in_file is None:
            question = f"{name} contains only ranks. How does it split text?"
        elif in_file:
            question = f"{name} splits text with {quoted(in_file, 120)}. How should it split text?"
        else:
            question = f"{name} does not split text. How should it split text?"
        current = in_file
        if chosen is not None:
            current = chosen
        pattern = await self.screen.ask(
            AskPattern(question, current or "", current=current)
        )
        if pattern is None or pattern == current:
            return
        if pattern == in_file:
            self.remember_pattern(path, None)
        else:
            self.remember_pattern(path, pattern)
        self.use(path)

    def remember_pattern(self, path: Path, pattern: str | None) -> None:
        """Remember the pattern for a file; None: use the pattern in the file."""
        patterns = dict(self.screen.remembered.patterns)
        patterns.pop(str(path), None)
        if pattern is not None:
            patterns[str(path)] = pattern
        self.screen.remember(patterns=patterns)

    async def path_if_text(self, path: Path, label_of_text: str) -> Path | None:
        """Return the path if it is to be read as text, or None.

        If it is a tokenizer, ask whether to read it as text or to open it. The answer for text is `label_of_text`;
        if that is "", open the tokenizer without asking.
        """
        is_tokenizer = await in_thread(why_no_tokenizer, path) is None
        if not is_tokenizer:
            return path
        if label_of_text:
            is_or_contains = "is"
            if await in_thread(os.path.isdir, path):
                is_or_contains = "contains"
            name = visible(path.name or str(path))
            question = f"{name} {is_or_contains} a tokenizer."
            answer = await self.screen.ask(
                Confirm(question, label_of_text, "Open the tokenizer", harmless=True)
            )
            if answer is None:
                return None
            if answer:
                return path
        self.use(await in_thread(tokenizer_at, path))
        return None


def give_same_ids(first: Tokenizer, second: Tokenizer) -> bool:
    """Whether two tokenizers give the same ids for each text.

    Two rank files whose merges are not recovered yet are not compared: that would take seconds.
    """
    if first is second:
        return True
    old = first.vocabulary
    new = second.vocabulary
    if not (old.knows_merges and new.knows_merges):
        return False
    return (
        first.step == second.step
        and first.splitter is second.splitter
        and first.preparation is second.preparation
        and old.base == new.base
        and old.special_tokens == new.special_tokens
        and old.merges == new.merges
    )


def is_same(shown: Loaded, loaded: Loaded) -> bool:
    """Whether two files hold the same tokenizer, so that its audit and explanations stay valid."""
    if shown.path != loaded.path or shown.tokenizer.pattern != loaded.tokenizer.pattern:
        return False
    if shown.digest:
        return shown.digest == loaded.digest
    return give_same_ids(shown.tokenizer, loaded.tokenizer)
