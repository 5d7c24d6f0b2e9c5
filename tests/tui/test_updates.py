"""What the events of a worker amount to: a training and a count, as the screen shows them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT

from bpe_core import load
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge, Trainer
from bpe_core.worker.messages import (
    Checkpoint,
    Counted,
    Done,
    Event,
    Failed,
    Merges,
    Saved,
    Started,
    State,
    WorkProgress,
)
from tui.drawing.training_status import status_line
from tui.owners.owner import Host
from tui.owners.training import Follower, Training, _Course
from tui.state.training import Corpus, Run, Totals, TrainingOptions
from tui.workers import updates
from tui.workers.process import WorkerProcess
from tui.workers.training_task import TrainingTask
from tui.workers.updates import Pace, TrainingUpdate, totals, training

pytestmark = pytest.mark.usefixtures("home", "no_process_left")


class Said:
    """A job that has said what it is given, a batch after the other."""

    def __init__(self, *batches: list[Event]) -> None:
        self._batches = batches

    async def batches(self) -> AsyncIterator[list[Event]]:
        for batch in self._batches:
            yield batch


async def runs(*batches: list[Event]) -> list[Run]:
    return [update.run async for update in training(cast(Any, Said(*batches)))]


def merges(first: int, last: int) -> Merges:
    return Merges.of([Merge(step, 97, 97, 256, b"aa", 4, 1, 9) for step in range(first, last + 1)])


async def test_a_training_goes_through_its_phases() -> None:
    counting, merging, paused, resumed, done = await runs(
        [WorkProgress("counting", 40, 80, "book.txt"), WorkProgress("counting", 60, 80, "more.txt")],
        [Counted(1, 11, 11, 1, 1), Started(11, 3), State("running"), merges(1, 1)],
        [State("paused")],
        [State("running")],
        [merges(2, 2), Saved("out.json"), Done("vocabulary size reached", 2, 1.25)],
    )
    assert (counting.phase, counting.fraction, counting.detail) == ("counting", 0.75, "more.txt")
    assert (merging.phase, merging.done, merging.total, merging.tokens_at_start) == ("merging", 1, 3, 11)
    assert (paused.phase, paused.done, paused.rate) == ("paused", 1, 0.0)
    assert resumed.phase == "merging" and resumed.busy
    assert (done.phase, done.detail, done.busy) == ("done", "vocabulary size reached · 1.2 s", False)


async def test_many_merges_at_once_are_the_same_merges_and_leave_room_for_keys() -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(count_turns())
    began = [Started(11, 5000), State("running")]
    some = [merges(first, first + 249) for first in range(1, 5001, 250)]
    updates = [update async for update in training(cast(Any, Said([*began, *some, State("paused")])))]
    beside.cancel()
    assert [merge.step for merge in updates[0].merges] == list(range(1, 5001))
    assert (updates[0].run.phase, updates[0].run.done) == ("paused", 5000)
    assert turns >= 5  # others had their turn among them


async def test_a_checkpoint_that_cannot_be_written_is_told() -> None:
    told = [Checkpoint("x", 0, "The disk is full.")], [State("running")], [Checkpoint("x", 3)]
    unkept = [update.unkept async for update in training(cast(Any, Said(*told)))]
    assert unkept == ["The disk is full.", None, ""]


async def test_what_goes_on_after_a_pause_says_so_whatever_it_was() -> None:
    told = [
        WorkProgress("counting", 40, 80, "a"),
        State("paused"),
        State("counting"),
        State("paused"),
        State("preparing"),
    ]
    phases = [run.phase for run in await runs(*([event] for event in told))]
    assert phases == ["counting", "paused", "counting", "paused", "preparing"]


async def test_what_is_paused_is_told_in_its_own_measure() -> None:
    early = (await runs([WorkProgress("counting", 25, 100, "book"), State("paused")]))[-1]
    assert status_line(early) == "counting, paused at 25%"
    later = (await runs([Started(100, 8), State("paused")]))[-1]
    assert status_line(later) == "paused at 0 of 8"


async def test_a_stop_and_a_failure_are_ends_too() -> None:
    assert [run.phase for run in await runs([State("paused")], [Done("stopped", 0, 1)])] == ["paused", "stopped"]
    failed = (await runs([Failed("There is no such thing.")]))[0]
    assert (failed.phase, failed.detail, failed.busy) == ("failed", "There is no such thing.", False)


def test_the_pace_is_smoothed_so_that_it_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(updates.time, "monotonic", lambda: now)
    pace = Pace()
    assert pace.rate(5) == 0  # no time has passed: nothing can be said
    now = 1.0
    assert pace.rate(100) == 100
    now = 1.1
    assert pace.rate(130) == pytest.approx(120)  # 300 a second lately, and a tenth of that is believed
    pace.restart(130)
    now = 2.1
    assert pace.rate(140) == 10


def test_the_time_left_is_only_told_when_it_is_known() -> None:
    assert Run("merging", 10, 110, rate=50.0).seconds_left == 2
    assert Run("merging", 10, 110).seconds_left is None
    assert Run("merging", 110, 110, rate=50.0).seconds_left is None
    assert Run().fraction == 0 and Run("counting", 9, 3).fraction == 1


async def test_a_real_training(book: Path) -> None:
    options = TrainingOptions(270, "gpt2", "largest", 2, ("<|endoftext|>", "<s>"))
    output = book.parent / "out.json"
    async with WorkerProcess(TrainingTask("book", options, (str(book),)).request(output)) as worker:
        updates = [update async for update in training(worker)]
    expected = Trainer(
        TEXT, vocab_size=270, pattern="gpt2", ties="largest", min_count=2, special_tokens=options.special_tokens
    )
    n_tokens = expected.n_tokens
    assert [merge for update in updates for merge in update.merges] == list(expected)
    assert [(update.started.tokens, update.started.merges) for update in updates if update.started] == [(n_tokens, 12)]
    assert [update.totals.bytes for update in updates if update.totals] == [len(TEXT)]
    assert [update.saved for update in updates if update.saved] == [output]
    assert updates[-1].run.phase == "done" and not any(update.failed for update in updates)
    assert load(output).special_tokens == {"<|endoftext|>": 268, "<s>": 269}


async def test_a_count(book: Path) -> None:
    (book.parent / "image.png").write_bytes(bytes(range(256)))
    counts = Counts.of(TEXT, "gpt4")
    corpus = Corpus((str(book.parent),))
    assert [counted async for counted in totals(corpus.paths, "gpt4")] == [
        Totals(1, len(TEXT), len(TEXT), counts.n_pieces, len(counts.pieces), skipped=1)
    ]
    missing = [counted async for counted in totals(("missing",), "gpt4")]
    assert len(missing) == 1 and "missing cannot be read" in missing[0].error


async def test_many_merges_are_taken_in_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(TEXT, vocab_size=300)
    learned = list(trainer)
    told: list[int] = []
    grown: list[Tokenizer] = []
    follower = SimpleNamespace(
        training_learned=lambda some: told.append(len(some)), training_grew=lambda tokenizer, _: grown.append(tokenizer)
    )
    owner = Training(cast(Host, SimpleNamespace()), lambda run: None, cast(Follower, follower))
    course = _Course(TrainingTask("book", TrainingOptions()), tokenizer=trainer.tokenizer().at(0))
    monkeypatch.setattr("tui.owners.training._AT_ONCE", 8)
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while not grown:
            turns += 1
            await asyncio.sleep(0)

    await asyncio.gather(owner._apply(course, TrainingUpdate(Run("merging"), learned)), take_turns())
    assert sum(told) == len(learned) > 24 and max(told) == 8 and turns >= len(told)
    assert course.merges == learned
    (tokenizer,) = grown
    assert tokenizer.merges == trainer.tokenizer().merges
