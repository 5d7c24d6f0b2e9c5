"""All features, created in the order of their dependencies, and what happens at the start of the app."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Final

from tui.disk.arguments import Recognition, SortedArguments
from tui.disk.sources import first_corpus, title_of
from tui.features.audit import AuditFeature
from tui.features.comparison import ComparisonFeature
from tui.features.corpus import CorpusChoice
from tui.features.course import TrainingTask
from tui.features.excerpts import Excerpts
from tui.features.explaining import Explaining
from tui.features.feature import StateScreen
from tui.features.goals import Goals
from tui.features.lanes import Lanes
from tui.features.lines import Lines
from tui.features.listed_tokenizers import ListedTokenizers
from tui.features.quantities import Quantities
from tui.features.results import Results
from tui.features.resuming import Resuming
from tui.features.shown import Shown
from tui.features.stage import Stage
from tui.features.surgery import Surgery
from tui.features.texts import Texts
from tui.features.tokenizers import Tokenizers
from tui.features.tour import Tour
from tui.features.training import TrainingFeature
from tui.state import NOTHING_ASKED, Arguments, Corpus, Opened
from tui.terminal.background import in_thread

_SLOW_SECONDS: Final = 0.3
"""After this time, the screen shows which argument is being read."""


class Features:
    """All features. Widgets reach them with `features_of`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self.stage: Stage = screen.stage
        self.shown: Shown = Shown(screen)
        self.listed: ListedTokenizers = ListedTokenizers(screen)
        self.tokenizers: Tokenizers = Tokenizers(screen, self.shown, self.listed)
        self.texts: Texts = Texts(screen, self.tokenizers)
        self.excerpts: Excerpts = Excerpts(screen, self.texts)
        self.corpus: CorpusChoice = CorpusChoice(screen, self.tokenizers)
        self.audit: AuditFeature = AuditFeature(screen, self.shown, self.texts)
        self.lines: Lines = Lines(screen)
        self.lanes: Lanes = Lanes(screen, self.tokenizers)
        self.comparison: ComparisonFeature = ComparisonFeature(
            screen, self.texts, self.lanes
        )
        self.results: Results = Results(
            screen, self.shown, self.tokenizers, self.listed
        )
        self.training: TrainingFeature = TrainingFeature(
            screen, self.shown, self.tokenizers, self.corpus, self.results
        )
        self.goals: Goals = Goals(screen, self.shown, self.training)
        self.explaining: Explaining = Explaining(screen, self.shown)
        self.resuming: Resuming = Resuming(
            screen, self.tokenizers, self.training, self.corpus, self.results
        )
        self.surgery: Surgery = Surgery(screen, self.tokenizers, self.texts, self.lanes)
        self.quantities: Quantities = Quantities(screen, self.shown, self.explaining)
        self.tour: Tour = Tour(screen, self)

    async def bring_back(self, arguments: Arguments = NOTHING_ASKED) -> None:
        """Restore the state of the last run; the first time, train on a story. Open the arguments of the command line.

        If a training was interrupted, ask first whether to resume it.
        """
        screen = self._screen
        remembered = screen.remembered
        screen.opening = ""
        if arguments.paths:
            screen.opening = title_of(arguments.paths)
        await self.listed.refresh()
        first_time = not remembered.tokenizer and not screen.kept
        await self.corpus.bring_back(first_time=first_time and not arguments.tokenizers)
        self.lanes.choose(remembered.lanes)
        notes = await in_thread(self.resuming.notes)
        trains = first_time and not notes and not arguments.lesson
        open_arguments = partial(self._open, arguments, trains=trains)
        self.tokenizers.start_worker(open_arguments)
        self.resuming.start_worker(partial(self.resuming.offer, notes))

    async def _open(self, arguments: Arguments, *, trains: bool) -> None:
        """Choose the texts and list the tokenizers of the arguments. Show the last of them, or the one used last."""
        screen = self._screen
        if arguments.lesson:
            self.tour.start_worker(partial(self.tour.open, arguments.lesson))
        recognition = Recognition(arguments.paths, arguments.tokenizers)
        recognized = await self._recognize(recognition)
        self._report(recognized)
        self._choose_texts(recognized.texts)
        tokenizers = recognized.tokenizers
        if tokenizers:
            screen.remember(
                tokenizer=tokenizers[-1],
                opened=screen.remembered.opened + tuple(map(Opened, tokenizers)),
            )
        self.listed.check_files(everywhere=True)
        is_empty = screen.tokenizer is None and not screen.run.busy
        if tokenizers:
            self.tokenizers.use(Path(tokenizers[-1]))
        elif is_empty or not recognition.is_slow:
            # A slow reading has already loaded the last tokenizer, unless that failed or -t named others.
            await self._load_last(trains=trains)
        if not screen.run.busy:
            # Nothing trains, so the stage has nothing to play.
            self.stage.call_off()

    async def _recognize(self, recognition: Recognition) -> SortedArguments:
        """Read the arguments in a thread, and show the name of a slow one.

        If they name no tokenizer with -t, load the one used last meanwhile.
        """
        reading = asyncio.ensure_future(in_thread(recognition.run))
        try:
            await asyncio.wait([reading], timeout=_SLOW_SECONDS)
            if not reading.done():
                recognition.is_slow = True
                self.tokenizers.show_reading(recognition.current)
                if not recognition.names:
                    await self._load_last(trains=False)
            while not reading.done():
                self.tokenizers.show_reading(recognition.current)
                await asyncio.wait([reading], timeout=_SLOW_SECONDS)
        finally:
            reading.cancel()
            self.tokenizers.show_reading("")
        return reading.result()

    def _report(self, recognized: SortedArguments) -> None:
        """Show the warnings and errors about arguments. Errors are also printed when the app ends."""
        for doubt in recognized.doubts:
            self._screen.say(doubt, "warning")
        for error in recognized.errors:
            self._screen.say(error, "error")
            self._screen.last_words.append(error)

    def _choose_texts(self, texts: tuple[str, ...]) -> None:
        """Choose texts as the corpus. If the user has chosen others since the start, add them to those."""
        screen = self._screen
        has_chosen = not screen.opening
        screen.opening = ""
        if not texts:
            return
        if has_chosen:
            texts = tuple(dict.fromkeys(screen.corpus.paths + texts))
        self.corpus.choose(Corpus(texts, screen.corpus.reference, title_of(texts)))

    async def _load_last(self, *, trains: bool) -> None:
        """Load the tokenizer used last, or the first of the list. Without one, train on a story if `trains`."""
        screen = self._screen
        last = screen.remembered.tokenizer
        if await in_thread(os.path.exists, last):
            self.tokenizers.load(Path(last))
            return
        if last:
            screen.say(f"The tokenizer used last no longer exists: {last}.", "warning")
        if screen.kept:
            self.tokenizers.begin(self.tokenizers.load_first)
        elif trains:
            story = first_corpus()
            self.training.start(TrainingTask(story.title, screen.options, story.paths))
