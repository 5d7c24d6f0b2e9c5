"""All features, made in the order in which they need one another, and what panes may ask of them."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Final

from tui.disk.sources import first_corpus, title_of
from tui.disk.tokenizer_files import Recognition, Recognized
from tui.features.audit import AuditFeature
from tui.features.comparison import ComparisonFeature
from tui.features.corpus import CorpusChoice
from tui.features.course import TrainingTask
from tui.features.explaining import Explaining
from tui.features.feature import StateScreen
from tui.features.lanes import Lanes
from tui.features.resuming import Resuming
from tui.features.shown import Shown
from tui.features.texts import Texts
from tui.features.tokenizers import Tokenizers
from tui.features.tour import FIRST_START, Tour
from tui.features.training import TrainingFeature
from tui.state import NOTHING_ASKED, Arguments, Corpus, Opened
from tui.terminal.background import in_thread

_SOON: Final = 0.3  # seconds after which the screen shows which argument is being read


class Features:
    """All features, as widgets reach them by `features_of`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self.shown: Shown = Shown(screen)
        self.tokenizers: Tokenizers = Tokenizers(screen, self.shown)
        self.texts: Texts = Texts(screen, self.tokenizers)
        self.corpus: CorpusChoice = CorpusChoice(screen, self.tokenizers)
        self.audit: AuditFeature = AuditFeature(screen, self.shown, self.texts)
        self.comparison: ComparisonFeature = ComparisonFeature(screen, self.texts)
        self.training: TrainingFeature = TrainingFeature(
            screen, self.shown, self.tokenizers, self.corpus
        )
        self.explaining: Explaining = Explaining(screen, self.shown)
        self.resuming: Resuming = Resuming(
            screen, self.tokenizers, self.training, self.corpus
        )
        self.lanes: Lanes = Lanes(screen, self.tokenizers)
        self.tour: Tour = Tour(screen, self)

    async def bring_back(self, arguments: Arguments = NOTHING_ASKED) -> None:
        """Bring back what was there at the end of the last run; the first time, train on a story.

        Unless a training is unfinished: then ask whether to resume it. Then open the arguments of the command line.
        """
        screen, remembered = self._screen, self._screen.remembered
        screen.opening = title_of(arguments.paths) if arguments.paths else ""
        await self.tokenizers.refresh_list()
        first_time = not remembered.tokenizer and not screen.kept
        await self.corpus.bring_back(first_time=first_time and not arguments.tokenizers)
        self.lanes.choose(remembered.lanes)
        notes = await in_thread(self.resuming.notes)
        trains = first_time and not (notes or arguments.lesson)
        self.tokenizers.start_worker(partial(self._open, arguments, trains=trains))
        self.resuming.start_worker(partial(self.resuming.offer, notes))

    async def _open(self, arguments: Arguments, *, trains: bool) -> None:
        """Choose texts, open tokenizers: the last of these, or else the one in use last, comes on the screen."""
        screen = self._screen
        if arguments.lesson:
            self.tour.start_worker(partial(self.tour.open, arguments.lesson))
        recognition = Recognition(arguments.paths, arguments.tokenizers)
        recognized = await self._recognize(recognition)
        self._tell_of(recognized)
        self._choose_texts(recognized.texts)
        tokenizers = recognized.tokenizers
        if tokenizers:
            screen.remember(
                tokenizer=tokenizers[-1],
                opened=(*screen.remembered.opened, *map(Opened, tokenizers)),
            )
        self.tokenizers.check_files(everywhere=True)
        is_empty = screen.tokenizer is None and not screen.run.busy
        if tokenizers:
            self.tokenizers.use(Path(tokenizers[-1]))
        elif is_empty or not recognition.is_slow:
            await self._load_last(trains=trains)

    async def _recognize(self, recognition: Recognition) -> Recognized:
        """Look at the arguments in a thread, and show which one takes its time.

        If that takes longer than `_SOON`, the tokenizer in use last is loaded meanwhile.
        """
        reading = asyncio.ensure_future(in_thread(recognition.run))
        try:
            await asyncio.wait([reading], timeout=_SOON)
            if not reading.done():
                recognition.is_slow = True
                self.tokenizers.show_reading(recognition.current)
                if not recognition.names:
                    await self._load_last(trains=False)
            while not reading.done():
                self.tokenizers.show_reading(recognition.current)
                await asyncio.wait([reading], timeout=_SOON)
        finally:
            reading.cancel()
            self.tokenizers.show_reading("")
        return reading.result()

    def _tell_of(self, recognized: Recognized) -> None:
        """Show a sentence for each doubtful argument, and keep errors to be printed at the end, too."""
        for doubt in recognized.doubts:
            self._screen.say(doubt, "warning")
        for error in recognized.errors:
            self._screen.say(error, "error")
            self._screen.last_words.append(error)

    def _choose_texts(self, texts: tuple[str, ...]) -> None:
        """Let these be the corpus, in addition to what the user has chosen since the start."""
        screen = self._screen
        has_chosen = not screen.opening
        screen.opening = ""
        if not texts:
            return
        if has_chosen:
            texts = tuple(dict.fromkeys((*screen.corpus.paths, *texts)))
        self.corpus.choose(Corpus(texts, screen.corpus.reference, title_of(texts)))

    async def _load_last(self, *, trains: bool) -> None:
        """Load the tokenizer in use last, or the first of the list; without one, train on a story if it `trains`."""
        screen = self._screen
        last = screen.remembered.tokenizer
        if await in_thread(os.path.exists, last):
            return self.tokenizers.load(Path(last))
        if last:
            screen.say(
                f"The tokenizer that was used last is not there any more: {last}.",
                "warning",
            )
        if screen.kept:
            self.tokenizers.begin(self.tokenizers.load_first)
        elif trains:
            story = first_corpus()
            self.training.start(TrainingTask(story.title, screen.options, story.paths))
            if screen.pace:  # else it is over at once
                await self.tour.open(FIRST_START)
