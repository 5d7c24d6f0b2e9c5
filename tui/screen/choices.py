"""Choices: the texts and the options of the next training, as the user chooses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.errors import OptionError
from bpe_core.exact_fraction import exact_fraction
from bpe_core.visible import quoted
from tui.dialogs.ask_pattern import AskPattern
from tui.dialogs.more_options import MoreOptions
from tui.dialogs.questions import AskPath, AskWeight
from tui.disk.remembered_options import possible
from tui.disk.sources import sample_corpus, title_of
from tui.screen.going_on import path_of
from tui.state.training import Corpus
from tui.workers.training_task import TrainingTask

if TYPE_CHECKING:
    from tui.disk.config import Configuration
    from tui.owners.count import Count
    from tui.screen.main import MainScreen
    from tui.state.tokenizers import KnownTokenizer
    from tui.state.training import TrainingOptions


class Choices:
    """Replaces the screen's `corpus` and `options`, remembers them, and has the texts counted."""

    def __init__(
        self,
        screen: MainScreen,
        count: Count,
        as_text: Callable[[Path, str], Coroutine[None, None, Path | None]],
        texts_changed: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._count = count
        self._as_text = as_text
        self._texts_changed = texts_changed

    def bring_back(self, configuration: Configuration, *, first_time: bool) -> None:
        """What was chosen in the last run, as far as it is still there; the first time, the samples."""
        paths = tuple(filter(os.path.exists, configuration.corpus))
        reference = tuple(filter(os.path.exists, configuration.reference))
        if not paths and first_time:
            paths = sample_corpus().paths
        self._screen.options = possible(configuration.options)
        self._screen.corpus = Corpus(paths, reference, title_of(paths))
        self.count()

    # Texts

    def choose_corpus(self, corpus: Corpus) -> None:
        """Other texts: count them."""
        self._screen.corpus = corpus
        self._texts_changed()
        self._screen.remember(corpus=corpus.paths, reference=corpus.reference)
        self.count()

    def choose_pattern(self, pattern: str) -> None:
        """Another pattern: other pieces to preview and to count."""
        self._screen.options = replace(self._screen.options, pattern=pattern)
        self.count()

    def count(self) -> None:
        """Count the chosen texts, under the pattern that is chosen."""
        self._count.want(self._screen.corpus.paths, self._screen.options.pattern)

    async def ask_pattern(self) -> None:
        """Ask for a regular expression to split by."""
        pattern = await self._screen.ask(
            AskPattern("How should texts be split?", read=self._screen.corpus_pane.beginning)
        )
        self._screen.training.fields.choose_pattern(pattern or self._screen.options.pattern)
        if pattern:
            self.choose_pattern(pattern)

    async def ask_path(self) -> None:
        """Ask for a path and choose it."""
        path = await self._screen.ask(AskPath("Which file or folder should be added to the corpus?"))
        if path is not None and await self._as_text(path, "Train on it as a text"):
            self._screen.corpus_pane.choose((*self._screen.corpus.paths, str(path)))

    async def ask_weight(self, path: str, title: str) -> None:
        """Ask how many times a text, or the texts of a folder, count; once is as usual, and need not be remembered."""
        screen = self._screen
        weight = await screen.ask(AskWeight(title, screen.options.weights.get(path, "1")))
        if weight is not None:
            others = {other: times for other, times in screen.options.weights.items() if other != path}
            usual = exact_fraction(weight) == 1
            screen.options = replace(screen.options, weights=others if usual else others | {path: weight})
            screen.remember(options=screen.options)

    # Options

    def chosen_options(self) -> TrainingOptions | None:
        """What the next training is asked for, which is remembered; None if that is nonsense, and it is told."""
        screen = self._screen
        try:
            options = screen.training.fields.chosen()
        except ValueError as error:
            screen.say(str(error), "error")
            return None
        screen.options = options
        screen.remember(options=options)
        return options

    async def ask_more_options(self) -> None:
        """Ask for the options that are rarely needed."""
        if (options := self.chosen_options()) is None:
            return
        kept = self._screen.kept
        names = [one.name for one in kept]
        chosen = await self._screen.ask(MoreOptions(options, partial(_check, kept), names))
        if chosen is not None:
            self._screen.options = chosen
            self._screen.remember(options=chosen)


def _check(kept: Iterable[KnownTokenizer], options: TrainingOptions) -> None:
    """Raise `BpeError` for options that no training takes."""
    _ = TrainingTask("", options).rules
    if (begin := options.more.get("extend")) and not os.path.exists(path_of(begin, kept)):
        raise OptionError(f"There is no tokenizer {quoted(begin)}: name one of the list (F2), or a file.")
