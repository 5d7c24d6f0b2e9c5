"""All features, made in the order in which they need one another, and what panes may ask of them."""

import os
from functools import partial
from pathlib import Path

from tui.disk.sources import first_corpus, title_of
from tui.disk.tokenizer_files import told_apart
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
from tui.state import Corpus, Opened
from tui.terminal.background import in_thread


class Features:
    """By their names in `tui.commands`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self.shown = Shown(screen)
        self.tokenizers = Tokenizers(screen, self.shown)
        self.texts = Texts(screen, self.tokenizers)
        self.corpus = CorpusChoice(screen, self.tokenizers)
        self.audit = AuditFeature(screen, self.shown, self.texts)
        self.comparison = ComparisonFeature(screen, self.texts)
        self.training = TrainingFeature(
            screen, self.shown, self.tokenizers, self.corpus
        )
        self.explaining = Explaining(screen, self.shown)
        self.resuming = Resuming(screen, self.tokenizers, self.training, self.corpus)
        self.lanes = Lanes(screen, self.tokenizers)
        self.tour = Tour(screen, self)

    async def bring_back(self, paths: tuple[str, ...] = (), lesson: str = "") -> None:
        """Bring back what was there at the end of the last run; the first time, train on a story.

        Unless a training is unfinished: then it is asked whether to resume it. `paths` are texts and tokenizers. A
        `lesson` begins once they are there.
        """
        screen, remembered = self._screen, self._screen.remembered
        await self.tokenizers.list_anew()
        first_time = not remembered.tokenizer and not screen.kept
        await self.corpus.bring_back(first_time=first_time)
        self.lanes.choose(remembered.lanes)
        notes = await in_thread(self.resuming.notes)
        trains = first_time and not (notes or lesson)
        self.tokenizers.beside(partial(self._open, paths, lesson, trains=trains))
        self.resuming.beside(partial(self.resuming.offer, notes))

    async def _open(self, paths: tuple[str, ...], lesson: str, *, trains: bool) -> None:
        """Choose texts, open tokenizers: the last of these, or else the one in use last, comes on the screen."""
        screen = self._screen
        if lesson:
            self.tour.beside(partial(self.tour.open, lesson))
        texts, tokenizers, doubts = await in_thread(told_apart, dict.fromkeys(paths))
        for doubt in doubts:
            screen.say(doubt, "warning")
        if texts:
            self.corpus.choose(Corpus(texts, screen.corpus.reference, title_of(texts)))
        if tokenizers:
            screen.remember(
                tokenizer=tokenizers[-1],
                opened=(*screen.remembered.opened, *map(Opened, tokenizers)),
            )
        self.tokenizers.check_files(everywhere=True)
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
