"""What the events of a worker amount to: a training and a count, as the screen shows them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT

from bpe_core.corpus import Counts
from bpe_core.worker.messages import (
    Event,
    Started,
    State,
    WorkProgress,
)
from tui.features.corpus import CorpusChoice
from tui.features.course import Course, TrainingTask
from tui.features.feature import guarded
from tui.features.training import TrainingFeature
from tui.panes.training import status_line
from tui.screen import MainScreen
from tui.state import Run, Totals, TrainingOptions

pytestmark = pytest.mark.usefixtures("home", "no_process_left")


def feature(**screen: object) -> tuple[TrainingFeature, SimpleNamespace]:
    """The feature on a screen that only has what is given, and what was done with the others."""
    noted = SimpleNamespace(totals=[], grown=[], said=[])
    others = SimpleNamespace(
        go_on=lambda: None,
        leave_to_training=lambda task, totals: noted.totals.append(totals),
        begin_training=lambda *_: None,
        grow=lambda tokenizer, merges: noted.grown.append(tokenizer),
    )
    stand_in = SimpleNamespace(run=Run(), pace=0, say=lambda sentence, _: noted.said.append(sentence), **screen)
    return TrainingFeature(cast(MainScreen, stand_in), *(cast(Any, others) for _ in range(4))), noted


def runs(*events: Event) -> list[Run]:
    """The run after each event."""
    training, _ = feature()
    course, run, found = Course(TrainingTask("book", TrainingOptions())), Run("counting"), []
    for event in events:
        found.append(run := training._hear(course, run, event))
    return found


def test_what_is_paused_is_told_in_its_own_measure() -> None:
    early = runs(WorkProgress("counting", 25, 100, "book"), State("paused"))[-1]
    assert status_line(early) == "counting, paused at 25%"
    assert status_line(runs(Started(100, 8), State("paused"))[-1]) == "paused at 0 of 8"


async def test_a_count(book: Path) -> None:
    (book.parent / "image.png").write_bytes(bytes(range(256)))
    counts = Counts.of(TEXT, "gpt4")
    screen = SimpleNamespace(totals=None)
    corpus = CorpusChoice(cast(MainScreen, screen), cast(Any, None))
    corpus._counted = (str(book.parent),), "gpt4"
    await corpus._count()
    assert screen.totals == Totals(1, len(TEXT), len(TEXT), counts.n_pieces, len(counts.pieces), skipped=1)
    corpus._counted = ("missing",), "gpt4"
    await guarded(cast(MainScreen, screen), corpus._count, corpus.failed)
    assert "missing cannot be read" in screen.totals.error
