"""What the events of a worker amount to: a count, as the screen shows it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT

from bpe_core.corpus import Counts
from bpe_core.worker.messages import Counted
from tui.features.corpus import CorpusChoice
from tui.features.feature import guarded
from tui.screen import MainScreen
from tui.state import Totals

pytestmark = pytest.mark.usefixtures("home", "no_process_left")


async def test_a_count(book: Path) -> None:
    (book.parent / "image.png").write_bytes(bytes(range(256)))
    counts = Counts.of(TEXT, "gpt4")
    screen = SimpleNamespace(totals=None)
    corpus = CorpusChoice(cast(MainScreen, screen), cast(Any, None))
    corpus._counted = (str(book.parent),), "gpt4"
    await corpus._count()
    assert screen.totals == Totals(Counted(1, len(TEXT), len(TEXT), counts.n_pieces, len(counts.pieces)), skipped=1)
    corpus._counted = ("missing",), "gpt4"
    await guarded(cast(MainScreen, screen), corpus._count, corpus.failed)
    assert "missing cannot be read" in screen.totals.error
