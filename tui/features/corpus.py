"""Corpus: the texts of the next training, their size, and the training options."""

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
from tui.dialogs.answers import weight
from tui.dialogs.ask import Ask
from tui.dialogs.ask_field import AskField
from tui.dialogs.ask_path import AskPath
from tui.dialogs.ask_pattern import AskPattern
from tui.dialogs.more_options import MORE_OPTIONS, MoreOptions
from tui.disk.sources import first_corpus, is_there, title_of
from tui.features.course import TrainingTask
from tui.features.feature import Feature, StateScreen
from tui.features.tokenizers import Tokenizers
from tui.process import WorkerProcess
from tui.state import Corpus, KnownTokenizer, Totals, TrainingOptions
from tui.terminal.background import in_thread

_SECONDS_OF_REST: Final = 0.3
"""How long counting waits, because several texts are often marked one after the other."""


class CorpusChoice(Feature):
    """Replaces the screen's `corpus`, `options` and `totals`, and remembers the choices."""

    def __init__(self, screen: StateScreen, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._to_count = TrainingTask("", TrainingOptions())
        """The task whose texts are counted."""

    async def bring_back(self, *, first_time: bool) -> None:
        """Choose the texts and options of the last run that still exist, or a story if it is the `first_time`."""
        remembered = self.screen.remembered
        paths = await in_thread(_existing, dict.fromkeys(remembered.corpus))
        reference = await in_thread(_existing, remembered.reference)
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
        question = AskPattern(
            "How should texts be split?",
            read=self.screen.corpus_pane.beginning,
            current=self.screen.options.pattern,
        )
        pattern = await self.screen.ask(question)
        fields = self.screen.training.fields
        fields.choose_pattern(pattern or self.screen.options.pattern)
        if pattern:
            self.choose_pattern(pattern)

    async def add_path(self) -> None:
        question = AskPath("Which file or folder do you want to add to the corpus?")
        path = await self.screen.ask(question)
        if path is None:
            return
        if await self._tokenizers.path_if_text(path, "Train on it as a text"):
            self._choose_paths([*self.screen.corpus.paths, str(path)])

    def _choose_paths(self, paths: Iterable[str]) -> None:
        unique = tuple(dict.fromkeys(paths))
        self.choose(replace(self.screen.corpus, paths=unique, title=title_of(unique)))

    async def choose_field(self, path: str) -> None:
        """Ask which field of a file holds its documents, and choose the file with that field."""
        # Imported here, because it needs libraries that few texts need.
        from bpe_core.corpus.rows import fields_of

        (file,) = (await in_thread(find_files, path)).files
        fields = await in_thread(fields_of, file)
        if not fields:
            self.screen.say("This file is a text or an archive, and has no fields.")
            return
        if file.field in fields:
            # The current field comes first.
            fields = {file.field: fields[file.field], **fields}
        field = await self.screen.ask(AskField(file.name, fields))
        if field is not None:
            bare = split_field(path)[0]
            others = [
                other
                for other in self.screen.corpus.paths
                if split_field(other)[0] != bare
            ]
            self._choose_paths([*others, f"{bare}::{field}"])

    async def weigh(self, path: str, title: str) -> None:
        """Ask how many times a text, or each text of a folder, counts."""
        weights = dict(self.screen.options.weights)
        question = f"How many times should {title} count compared with the other texts?"
        hint = f"{OPTIONS['weight'].does} 1 is the default."
        times = await self.screen.ask(
            Ask(question, weight, weights.get(path, "1"), hint=hint)
        )
        if times is None:
            return
        if exact_fraction(times) == 1:
            weights.pop(path, None)
        else:
            weights[path] = times
        self.choose_options(replace(self.screen.options, weights=weights))

    # Counting

    def count(self) -> None:
        """Count the parts of the chosen texts that a training would read, and drop earlier counts."""
        self._to_count = TrainingTask("", self.screen.options, self.screen.corpus.paths)
        self.screen.totals = None
        self.begin(self._count)

    async def _count(self) -> None:
        if not self._to_count.paths:
            return
        if self._to_count.options.more.get("dask"):
            # Too much to ask of a cluster each time a text is marked.
            self.screen.totals = Totals(
                error="Dask's workers count the texts once F6 trains."
            )
            return
        await asyncio.sleep(_SECONDS_OF_REST)
        skipped: list[Skipped] = []
        async with WorkerProcess(self._to_count.counting) as worker:
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
        """Do not count the texts of a training that counts them itself, or that has found these `totals`."""
        if task.paths and task.counting == self._to_count.counting:
            self.cancel()
            self.screen.totals = totals or self.screen.totals

    def go_on(self) -> None:
        """Count the texts after all, if a training has ended without counting them."""
        if self.screen.totals is None and not self.is_working:
            self.begin(self._count)

    # Options

    def chosen_options(self) -> TrainingOptions | None:
        """Return and remember the options in the fields. If one is invalid, show why and return None."""
        try:
            options = self.screen.training.fields.chosen()
        except ValueError as error:
            self.screen.say(str(error), "error")
            return None
        self.choose_options(options)
        return options

    def choose_options(self, options: TrainingOptions) -> None:
        old = self.screen.options
        self.screen.options = options
        self.screen.remember(options=options)
        if old.more != options.more or old.weights != options.weights:
            self.count()

    async def more_options(self) -> None:
        options = self.chosen_options()
        if options is None:
            return
        kept = self.screen.kept
        check = partial(_check, kept, self.screen.corpus.paths)
        names = [known.name for known in kept]
        chosen = await self.screen.ask(MoreOptions(options, check, names))
        if chosen is not None:
            self.choose_options(chosen)


def _existing(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(is_there, paths))


def _check(
    kept: Iterable[KnownTokenizer], paths: tuple[str, ...], options: TrainingOptions
) -> None:
    """Raise `BpeError` for options that a training on these texts would refuse."""
    TrainingTask("", options, paths).check()
    name = options.more.get("extend")
    if name and not os.path.exists(path_of(name, kept)):
        raise OptionError(
            f"Unknown tokenizer {quoted(name)}; enter a name from the list (F2) or a file."
        )


def path_of(name: str, kept: Iterable[KnownTokenizer]) -> Path:
    """Return the file of the tokenizer with this name in the list; else the name as a path."""
    for known in kept:
        if name in (known.name, known.path):
            return Path(known.path)
    return Path(os.path.expanduser(name))


def possible(options: TrainingOptions) -> TrainingOptions:
    """Return `options` with the default in place of each value that this version does not know."""
    default = TrainingOptions()
    pattern = default.pattern
    with suppress(PatternError):
        splitter(options.pattern)
        pattern = options.pattern
    vocab_size = options.vocab_size
    if vocab_size <= 256:
        vocab_size = default.vocab_size
    return replace(
        options,
        vocab_size=vocab_size,
        pattern=pattern,
        ties=options.ties if options.ties in TIES else default.ties,
        min_count=options.min_count if options.min_count >= 1 else default.min_count,
        more={
            name: value for name, value in options.more.items() if name in MORE_OPTIONS
        },
    )
