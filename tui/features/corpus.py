"""Corpus: the texts of the next training and what they amount to, and the options it is asked for."""

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.corpus import Skipped, find_files
from bpe_core.corpus.reading import split_field
from bpe_core.errors import OptionError, PatternError
from bpe_core.patterns import splitter
from bpe_core.tokenizer.tie_rules import TIES
from bpe_core.tokenizer.training_record import OPTIONS, named_as_on_screen
from bpe_core.visible import quoted
from bpe_core.weighted import exact_fraction
from bpe_core.worker.messages import Counted
from tui.dialogs.lists import AskField
from tui.dialogs.questions import (
    MORE_OPTIONS,
    Ask,
    AskPath,
    AskPattern,
    MoreOptions,
    weight,
)
from tui.disk.sources import first_corpus, is_there, title_of
from tui.features.course import TrainingTask
from tui.features.feature import Feature, StateScreen
from tui.features.tokenizers import Tokenizers
from tui.process import WorkerProcess
from tui.state import Corpus, KnownTokenizer, Totals, TrainingOptions
from tui.terminal.background import in_thread

_AT_REST: Final = 0.3  # seconds before counting begins: several texts are often marked one after the other


class CorpusChoice(Feature):
    """Replaces the screen's `corpus`, `options` and `totals`, and remembers what was chosen."""

    def __init__(self, screen: StateScreen, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._counted = TrainingTask(
            "", TrainingOptions()
        )  # on the texts whose totals are wanted

    async def bring_back(self, *, first_time: bool) -> None:
        """What was chosen in the last run, as far as it is still there; the first time, a story."""
        remembered = self.screen.remembered
        paths = await in_thread(
            lambda: tuple(filter(is_there, dict.fromkeys(remembered.corpus)))
        )
        reference = await in_thread(
            lambda: tuple(filter(is_there, remembered.reference))
        )
        if not paths and first_time:
            paths = first_corpus().paths
            self.screen.remember(corpus=paths)
        self.screen.options = possible(remembered.options)
        self.screen.corpus = Corpus(paths, reference, title_of(paths))
        self.count()

    # Texts

    def choose(self, corpus: Corpus) -> None:
        self.screen.opening = ""
        self.screen.corpus = corpus
        self.screen.remember(corpus=corpus.paths, reference=corpus.reference)
        self.count()

    def choose_pattern(self, pattern: str) -> None:
        self.screen.options = replace(self.screen.options, pattern=pattern)
        self.count()

    async def ask_pattern(self) -> None:
        read = self.screen.corpus_pane.beginning
        pattern = await self.screen.ask(
            AskPattern("How should texts be split?", read=read)
        )
        self.screen.training.fields.choose_pattern(
            pattern or self.screen.options.pattern
        )
        if pattern:
            self.choose_pattern(pattern)

    async def add_path(self) -> None:
        path = await self.screen.ask(
            AskPath("Which file or folder should be added to the corpus?")
        )
        if path is not None and await self._tokenizers.as_text(
            path, "Train on it as a text"
        ):
            paths = tuple(dict.fromkeys((*self.screen.corpus.paths, str(path))))
            self.choose(replace(self.screen.corpus, paths=paths, title=title_of(paths)))

    async def choose_field(self, path: str) -> None:
        """Ask which field of a file holds its documents, and choose the file with that one."""
        from bpe_core.corpus.rows import (
            fields_of,
        )  # late: it needs libraries that few texts do

        (file,) = (await in_thread(find_files, path)).files
        if not (fields := await in_thread(fields_of, file)):
            return self.screen.say(
                "This file has no fields to choose from: it is a text, or an archive."
            )
        first = sorted(fields.items(), key=lambda one: one[0] != file.field)
        chosen = await self.screen.ask(AskField(file.name, dict(first)))
        if chosen is not None:
            bare = split_field(path)[0]
            others = (
                other
                for other in self.screen.corpus.paths
                if split_field(other)[0] != bare
            )
            paths = (*others, f"{bare}::{chosen}")
            self.choose(replace(self.screen.corpus, paths=paths, title=title_of(paths)))

    async def weigh(self, path: str, title: str) -> None:
        """Ask how many times a text, or the texts of a folder, count; once is as usual, and need not be remembered."""
        weights = self.screen.options.weights
        question = f"How many times should {title} count beside the other texts?"
        hint = f"{OPTIONS['weight'].does} 1 is the default."
        times = await self.screen.ask(
            Ask(question, weight, weights.get(path, "1"), hint=hint)
        )
        if times is not None:
            others = {other: usual for other, usual in weights.items() if other != path}
            once = exact_fraction(times) == 1
            self.choose_options(
                replace(
                    self.screen.options,
                    weights=others if once else others | {path: times},
                )
            )

    # What they amount to

    def count(self) -> None:
        """Count what a training would read of the chosen texts; what was known of others is forgotten."""
        self._counted = TrainingTask("", self.screen.options, self.screen.corpus.paths)
        self.screen.totals = None
        self.begin(self._count)

    async def _count(self) -> None:
        if not self._counted.paths:
            return
        if self._counted.options.more.get("dask"):  # not for each text that is marked
            self.screen.totals = Totals(
                error="Dask's workers count them when F6 trains."
            )
            return
        await asyncio.sleep(_AT_REST)
        skipped: list[Skipped] = []
        async with WorkerProcess(self._counted.counting) as worker:
            async for event in worker.events():
                match event:
                    case Skipped():
                        skipped.append(event)
                    case Counted():
                        self.screen.totals = Totals(event, skipped)

    def failed(self, sentence: str) -> None:
        self.screen.totals = Totals(error=named_as_on_screen(sentence))

    def leave_to_training(
        self, task: TrainingTask, totals: Totals | None = None
    ) -> None:
        """A training counts its texts, or has found these totals: if they are wanted, do not count, but take them."""
        if task.paths and task.counting == self._counted.counting:
            self.cancel()
            self.screen.totals = totals or self.screen.totals

    def go_on(self) -> None:
        """Count what is still wanted: the training that was waited for has ended before it had counted."""
        if self.screen.totals is None and not self.is_working:
            self.begin(self._count)

    # Options

    def chosen_options(self) -> TrainingOptions | None:
        """What the next training is asked for, which is remembered; None if that is nonsense, with a sentence."""
        try:
            options = self.screen.training.fields.chosen()
        except ValueError as error:
            self.screen.say(str(error), "error")
            return None
        self.choose_options(options)
        return options

    def choose_options(self, options: TrainingOptions) -> None:
        old, self.screen.options = self.screen.options, options
        self.screen.remember(options=options)
        if (old.more, old.weights) != (options.more, options.weights):
            self.count()

    async def more_options(self) -> None:
        if (options := self.chosen_options()) is None:
            return
        kept, check = (
            self.screen.kept,
            partial(_check, self.screen.kept, self.screen.corpus.paths),
        )
        chosen = await self.screen.ask(
            MoreOptions(options, check, [one.name for one in kept])
        )
        if chosen is not None:
            self.choose_options(chosen)


def _check(
    kept: Iterable[KnownTokenizer], paths: tuple[str, ...], options: TrainingOptions
) -> None:
    """Raise `BpeError` for options that no training of these texts takes."""
    _ = TrainingTask("", options, paths).rules
    if (begin := options.more.get("extend")) and not os.path.exists(
        path_of(begin, kept)
    ):
        raise OptionError(
            f"There is no tokenizer {quoted(begin)}: name one of the list (F2), or a file."
        )


def path_of(name: str, kept: Iterable[KnownTokenizer]) -> Path:
    """The file of a tokenizer that is called so in the list; else the path that the name is."""
    known = (one.path for one in kept if name in (one.name, one.path))
    return Path(next(known, os.path.expanduser(name)))


def possible(options: TrainingOptions) -> TrainingOptions:
    """`options` with the default for each that this version does not know."""
    default = TrainingOptions()
    with suppress(PatternError):
        splitter(options.pattern)
        default = replace(default, pattern=options.pattern)
    return replace(
        options,
        vocab_size=options.vocab_size
        if options.vocab_size > 256
        else default.vocab_size,
        pattern=default.pattern,
        ties=options.ties if options.ties in TIES else default.ties,
        min_count=max(options.min_count, 1),
        more={
            name: value for name, value in options.more.items() if name in MORE_OPTIONS
        },
    )
