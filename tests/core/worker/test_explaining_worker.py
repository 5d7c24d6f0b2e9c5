"""A worker that explains: it is told the merges as they are learned, and answers as `explain` does of the whole."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from worker_process import Start

from bpe_core import train
from bpe_core.corpus import Counts
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import Explanation, PairCounts, explain
from bpe_core.worker import explain as explaining
from bpe_core.worker.explain import AskStep, ExplainRequest, LearnedMerges, Places, Subject
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Event
from bpe_core.worker.train import Recipe

TEXT = "low low low lower lowest\nnewest newest widest\n" * 3


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "words.txt"
    path.write_text(TEXT)
    return path


def test_it_answers_while_a_vocabulary_grows(corpus: Path, start: Start) -> None:
    tokenizer = train(TEXT, vocab_size=270, ties="largest", pattern="gpt4")
    merges = tuple(tokenizer.merges)
    worker = start(ExplainRequest(recipe=Recipe((str(corpus),), {"ties": "largest"})))
    worker.tell(AskStep(0), LearnedMerges(merges[:5]), AskStep(5), LearnedMerges(merges[5:]), AskStep(9), AskStep(2))
    events: list[Event] = []
    while not (events and isinstance(events[-1], Places) and events[-1].step == 2):  # nobody waits for an answer then
        events.append(worker.next())
    os.close(worker.stdin)
    assert worker.code() == 0
    counts = PairCounts(tokenizer, Counts.of(TEXT).pieces)
    found = [event for event in events if isinstance(event, Explanation)]
    assert found == [explain(counts, step, "largest") for step in (0, 5, 9, 2)]


@pytest.mark.parametrize(
    ("limit", "what"),
    [("MOST_ON_DISK", "of texts"), ("MOST_IN_PIECES", "of different pieces"), ("MOST_UNSPLIT", "in long pieces")],
)
def test_it_refuses_what_would_take_too_long(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, limit: str, what: str
) -> None:
    monkeypatch.setattr(explaining, "_LONG", 5)
    monkeypatch.setattr(explaining, limit, (10, 10))
    with closing(Job()) as job, pytest.raises(TextError, match=what):
        Subject.of_training(Recipe((str(corpus),)), job).count(job, is_limited=True)
