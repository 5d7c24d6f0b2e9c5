"""Tokenizers: the list of those that can be put in force, and opening one by its file, its name or its row."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.errors import PatternNeededError
from bpe_core.formats import why_no_tokenizer
from bpe_core.formats.file import tokenizer_at
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted, visible
from bpe_core.worker.inputs import FetchRequest
from bpe_core.worker.messages import Saved, WorkProgress
from tui.dialogs.questions import (
    Ask,
    AskPath,
    AskPattern,
    Confirm,
    existing_file,
    name_of_tokenizer,
    title,
)
from tui.disk import config, tokenizer_files
from tui.features.feature import NO_TOKENIZER, Feature, StateScreen, sentence_of
from tui.features.shown import Shown, same
from tui.process import WorkerProcess
from tui.state import KnownTokenizer, Loaded, Trouble
from tui.terminal.background import in_thread

MOST_OPENED: Final = 20  # tokenizers from elsewhere that are remembered


class Tokenizers(Feature):
    """Replaces the screen's `kept` and `notice`; fetches and loads one at a time."""

    def __init__(self, screen: StateScreen, shown: Shown) -> None:
        super().__init__(screen)
        self._shown = shown
        self._notices: dict[
            str, str
        ] = {}  # what is fetched or loaded, and how far the recovery of merges is
        self._own: tuple[KnownTokenizer, ...] = ()
        self._found: tuple[KnownTokenizer, ...] = ()
        self._troubles: dict[str, Trouble] = {}

    def _notice(self, **notices: str) -> None:
        self._notices |= notices
        texts = map(self._notices.get, ("waiting", "reading", "recovering"))
        self.screen.notice = next(filter(None, texts), "")

    def show_reading(self, argument: str) -> None:
        """Show which argument of the command line is being looked at; "" after the last."""
        name = visible(os.path.basename(argument) or argument)
        self._notice(reading=f"reading {name} …" if argument else "")

    # Opening one

    def use(self, path: Path) -> None:
        """Put the tokenizer in this file in force, if it is not already."""
        if not self.refuse_while_training():
            self.load(path)

    def load(self, path: Path) -> None:
        """Load this file; what is still being fetched or loaded is given up."""
        self.begin(partial(self._load, path))

    async def load_first(self) -> None:
        """Put the first of the list in force that is still there; nothing, if none is."""
        for one in self.screen.kept:
            if await in_thread(os.path.exists, one.path):
                return await self._load(Path(one.path))

    async def open(self) -> None:
        path = await self.screen.ask(
            AskPath("Which tokenizer file should be opened?", parse=existing_file)
        )
        if path is not None:
            self.use(await in_thread(tokenizer_at, path))

    async def fetch(self) -> None:
        if self.refuse_while_training():
            return
        question, example = (
            "Which tokenizer should be fetched?",
            "gpt-4o, o200k_base, Qwen/Qwen3-8B",
        )
        name = await self.screen.ask(Ask(question, name_of_tokenizer, example=example))
        if name is not None:
            self.begin(partial(self._fetch, name))

    def stop_waiting(self) -> None:
        """Do without the tokenizer that is being fetched or loaded; what was in force stays."""
        self.cancel()
        self._notice(waiting="")

    def failed(self, sentence: str) -> None:
        self._notice(waiting="")
        super().failed(sentence)

    async def _fetch(self, name: str) -> None:
        shown, path = visible(name), None
        self._notice(waiting=f"fetching {shown} … Esc leaves it")
        async with WorkerProcess(FetchRequest(name)) as worker:
            async for event in worker.events():
                match event:
                    case WorkProgress(_, done, total, file):
                        which = f"{visible(file)}, {done + 1} of {total}"
                        self._notice(
                            waiting=f"fetching {shown} · {which} … Esc leaves it"
                        )
                    case Saved(found):
                        path = Path(found)
        self._notice(waiting="")
        if path is not None:
            self.check_files(everywhere=True)
            self.use(path)

    async def _load(self, path: Path) -> None:
        self._notice(waiting=f"loading {visible(path.name)} …")
        loaded = await self.read(path)
        self._notice(waiting="")
        if loaded is None:
            return
        tokenizer = await in_thread(
            tokenizer_files.without_odd_record, loaded.tokenizer
        )
        if tokenizer is not loaded.tokenizer:
            told = f"{path.name} records counts that cannot be those of its merges; they are ignored."
            self.screen.say(told, "warning")
        loaded = replace(loaded, tokenizer=tokenizer)
        await self.add(path, tokenizer)  # before it is shown: its row may move
        shown = self._shown.loaded
        if shown is None or not same(shown, loaded):
            self._shown.show(loaded)
            if not tokenizer.vocabulary.knows_merges:
                self.begin(
                    partial(self._recover, tokenizer), "recovery", about_tokenizer=True
                )
        self.screen.remember(tokenizer=str(path))

    async def read(self, path: Path) -> Loaded | None:
        """The tokenizer in a file; a split pattern that the file lacks is asked for, once; None if none is given."""
        try:
            return await in_thread(
                tokenizer_files.load_file, path, self.screen.pattern_for(path)
            )
        except PatternNeededError:
            question = (
                f"{visible(path.name)} holds ranks only. How does it split a text?"
            )
            pattern = await self.screen.ask(AskPattern(question))
            if pattern is None:
                return None
            self._remember_pattern(path, pattern)
            return await in_thread(tokenizer_files.load_file, path, pattern)

    async def _recover(self, tokenizer: Tokenizer) -> None:
        vocabulary = tokenizer.vocabulary
        try:
            while not vocabulary.recover(0.01):  # seconds, short enough for a frame
                self._notice(
                    recovering=f"recovering the merges from the ranks … {vocabulary.recovered_share:.0%}"
                )
                await asyncio.sleep(0.02)  # for keys and drawing
            await in_thread(len, vocabulary.merges)  # makes their tables, too
        finally:
            self._notice(recovering="")
        self._shown.recovered()

    # Patterns

    async def change_pattern(self, file: str = "") -> None:
        """Show how a tokenizer splits a text, by default that on the screen, and ask for another way or its own."""
        path = Path(file or self.screen.path)
        if self.refuse_while_training():
            return
        if not path.name:
            return self.screen.say(NO_TOKENIZER, "warning")
        in_file = await in_thread(tokenizer_files.told_pattern, path)
        given, name = self.screen.pattern_for(path), visible(path.name)
        question = f"{name} holds ranks only. How does it split a text?"
        if in_file is not None:
            way = f"split as {quoted(in_file, 120)}" if in_file else "not split"
            question = f"{name} says that a text is {way}. How should it be split?"
        now = in_file if given is None else given
        pattern = await self.screen.ask(AskPattern(question, now or ""))
        if pattern is not None and pattern != now:
            self._remember_pattern(path, None if pattern == in_file else pattern)
            self.use(path)

    def _remember_pattern(self, path: Path, pattern: str | None) -> None:
        patterns = {
            file: given
            for file, given in self.screen.remembered.patterns.items()
            if file != str(path)
        }
        self.screen.remember(
            patterns=patterns if pattern is None else {**patterns, str(path): pattern}
        )

    async def as_text(self, path: Path, choice: str) -> Path | None:
        """The path, if it is to be taken for a text; None if it is none, and nothing is left to do.

        Where it is a tokenizer, `choice` is offered as an answer that takes it for a text; empty: it is opened.
        """
        if await in_thread(why_no_tokenizer, path) is not None:
            return path
        answer: int | None = 0
        if choice:
            is_or_holds = "holds" if await in_thread(os.path.isdir, path) else "is"
            question = f"{visible(path.name or str(path))} {is_or_holds} a tokenizer."
            answer = await self.screen.ask(
                Confirm(question, choice, "Open the tokenizer", harmless=True)
            )
        if answer == 0:
            self.use(await in_thread(tokenizer_at, path))
        return path if answer == 1 else None

    # The list

    async def refresh_list(self) -> None:
        try:
            self._own = await in_thread(
                lambda: tokenizer_files.kept_tokenizers(config.tokenizers_folder())
            )
        except OSError as error:
            self.screen.say(
                f"The kept tokenizers cannot be listed. {sentence_of(error)}", "error"
            )
        else:
            self._list()

    def _list(self, **changes: object) -> None:
        """List them, with these changes of what is remembered."""
        self.screen.remember(**changes)
        known = self.screen.remembered
        self.screen.kept = tokenizer_files.listed(
            self._own, self._found, known.opened, known.names, self._troubles
        )

    async def add(self, path: Path, tokenizer: Tokenizer) -> None:
        """One was opened: if it was not trained here it stays in the list, among the last `MOST_OPENED`."""
        await self.refresh_list()
        place = str(path)
        if place in {kept.path for kept in self._own}:
            return
        found_as = next(
            (one.found_as for one in self.screen.kept if one.path == place), ""
        )
        newest = await in_thread(tokenizer_files.seen, path, tokenizer, found_as)
        known = (
            self.screen.remembered
        )  # not before: a search may have changed it meanwhile
        others = [one for one in known.opened if one.path != place]
        self._troubles.pop(place, None)
        self._list(
            opened=(*others, newest)[-MOST_OPENED:],
            forgotten=tuple(path for path in known.forgotten if path != place),
        )

    async def rename(self, known: KnownTokenizer) -> None:
        name = await self.screen.ask(
            Ask("What should this tokenizer be called in the list?", title, known.name)
        )
        if name is not None:
            self._list(names={**self.screen.remembered.names, known.path: name})

    async def discard(self, known: KnownTokenizer) -> None:
        """Delete a tokenizer that was trained here, if that is really meant; any other only leaves the list."""
        screen = self.screen
        if known.origin == "trained":
            return await self._delete(
                [known], f"Delete the tokenizer {visible(known.name)}?"
            )
        if known.origin == "found":
            screen.remember(forgotten=(*screen.remembered.forgotten, known.path))
            self._found = tuple(one for one in self._found if one.path != known.path)
        still = f" The file is where it was, {known.path}: open it to list it again."
        screen.say(
            f"{known.name} is no longer in the list.{'' if known.trouble == 'gone' else still}"
        )
        self._forget(known)

    def _forget(self, known: KnownTokenizer) -> None:
        remembered = self.screen.remembered
        names = {
            path: name for path, name in remembered.names.items() if path != known.path
        }
        self._list(
            opened=tuple(one for one in remembered.opened if one.path != known.path),
            names=names,
        )

    async def _delete(self, some: Sequence[KnownTokenizer], question: str) -> None:
        if await self.screen.ask(Confirm(question, "Delete")):
            for one in some:
                await in_thread(os.unlink, one.path)
                self._forget(one)
            await self.refresh_list()

    @property
    def of_stopped(self) -> list[KnownTokenizer]:
        """Those of stopped trainings that nobody named, and that are neither in force nor lanes."""
        used = {
            self.screen.path,
            *self.screen.remembered.names,
            *(lane.choice.path for lane in self.screen.lanes),
        }
        return [one for one in self._own if one.stopped and one.path not in used]

    async def delete_stopped(self) -> None:
        if not (unnamed := self.of_stopped):
            return self.screen.say(
                "No tokenizer of a stopped training is kept, but for those with a name or in use."
            )
        names = visible(", ".join(one.name for one in unnamed))
        n = counted(len(unnamed), "tokenizer")
        await self._delete(
            unnamed, f"Delete {n} of stopped trainings that nobody named: {names}?"
        )

    def check_files(self, *, everywhere: bool = False) -> None:
        """See beside the screen what has become of the files; `everywhere`: and what other programs keep."""
        self.begin(
            partial(self._check, everywhere), "search" if everywhere else "check"
        )

    async def _check(self, everywhere: bool) -> None:
        screen = self.screen
        if everywhere:
            self._found = await in_thread(
                tokenizer_files.found, screen.remembered.forgotten
            )
            names = {one.path: one.found_as for one in self._found}
            opened = (
                replace(one, found_as=names.get(one.path, one.found_as))
                for one in screen.remembered.opened
            )
            self._list(opened=tuple(opened))
        for old in screen.remembered.opened:
            trouble = await in_thread(tokenizer_files.trouble_of, old)
            pattern = self.screen.pattern_for(Path(old.path))
            now = (
                old
                if trouble
                else await in_thread(tokenizer_files.described, old, pattern)
            )
            latest = screen.remembered.opened
            if any(
                one is old for one in latest
            ):  # it was not opened again, or forgotten, meanwhile
                self._troubles[old.path] = trouble
                screen.remember(
                    opened=tuple(now if one is old else one for one in latest)
                )
        self._list()
