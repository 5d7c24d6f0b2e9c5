"""When a worker is asked why a merge was chosen: not while the newest of a training at full speed passes by."""

import asyncio
from typing import Any, cast

import pytest

from bpe_core import train
from bpe_core.worker.explain import AskStep, ExplainTraining, LearnedMerges
from tui.owners import explaining
from tui.owners.explaining import Explaining, Subject
from tui.owners.owner import Host, Work
from tui.state.training import StepExplained
from tui.workers.process import WorkerProcess

TOKENIZER = train("abababab", vocab_size=259, pattern="none")


class Worker:
    """What becomes of the work that an owner gives away."""

    is_cancelled = False

    def __init__(self, work: Work) -> None:
        self._task = asyncio.ensure_future(work())
        self.cancel = self._task.cancel

    @property
    def is_finished(self) -> bool:
        return self._task.done()


class Silent:
    """A worker process that was started, is sent messages, and says nothing."""

    started: list["Silent"]

    def __init__(self, request: object) -> None:
        self.told: list[object] = []
        self.send = self.told.append
        self.started.append(self)

    async def __aenter__(self) -> "Silent":
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    async def batches(self) -> Any:
        await asyncio.Event().wait()
        yield


async def rounds() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_newest_merge_of_a_training_at_full_speed_is_explained_once_there_is_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Silent.started = []
    monkeypatch.setattr(explaining, "WorkerProcess", cast(type[WorkerProcess], Silent))
    values: list[StepExplained] = []
    host = cast(Host, type("OneHost", (), {"run_worker": staticmethod(Worker), "is_leaving": False}))
    owner, subject = Explaining(host, values.append), Subject(ExplainTraining(()), grows=True)
    for step in (1, 2):
        owner.want(subject, TOKENIZER.at(step), step, in_haste=True)
        await rounds()
    assert not Silent.started
    assert values[-1].waiting.startswith("at full speed")

    owner.want(subject, TOKENIZER, 3, in_haste=False)
    await rounds()
    (job,) = Silent.started
    assert values[-1].waiting == "counting the pairs of the texts"
    assert job.told == [LearnedMerges(tuple(TOKENIZER.merges[:4])), AskStep(3)]

    owner._answered.set()
    owner.want(subject, TOKENIZER, 2, in_haste=True)
    await rounds()
    assert job.told[-1] == AskStep(3) and values[-1].waiting.startswith("at full speed")
    owner.want(subject, TOKENIZER, 1, in_haste=False)
    await rounds()
    assert job.told[-1] == AskStep(1)
    owner.cancel()
    await rounds()
