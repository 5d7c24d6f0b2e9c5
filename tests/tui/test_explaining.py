"""When a worker is asked why a merge was chosen: not while the newest of a training at full speed passes by."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bpe_core import train
from bpe_core.worker.explain import AskStep, LearnedMerges
from tui.features import explaining
from tui.features.course import TrainingTask
from tui.features.explaining import Explaining
from tui.features.feature import Work
from tui.process import WorkerProcess
from tui.screen import MainScreen
from tui.state import Phase, Run, StepExplained, TrainingOptions

TOKENIZER = train("abababab", vocab_size=259, pattern="none")


class Worker:
    """What becomes of the work that an owner gives away."""

    is_cancelled = False

    def __init__(self, work: Work, group: str) -> None:
        self._task = asyncio.ensure_future(work())
        self.cancel = self._task.cancel

    @property
    def is_finished(self) -> bool:
        return self._task.done()


class Silent:
    """A worker process that was started, is sent messages, and says nothing."""

    started: list["Silent"]

    def __init__(self, request: object) -> None:
        self.request, self.told = request, list[object]()
        self.send = self.told.append
        self.started.append(self)

    async def __aenter__(self) -> "Silent":
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    async def events(self) -> Any:
        await asyncio.Event().wait()
        yield


async def rounds() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_newest_merge_is_explained_once_all_are_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Silent.started = []
    monkeypatch.setattr(explaining, "WorkerProcess", cast(type[WorkerProcess], Silent))
    screen = SimpleNamespace(run_worker=Worker, explained=StepExplained(), run=Run("merging"), playing=True, step=0)
    shown = SimpleNamespace(task=TrainingTask("x", TrainingOptions(), ("book.txt",)))
    feature = Explaining(cast(MainScreen, screen), cast(Any, shown))

    async def explain(step: int, newest: int, phase: Phase) -> str:
        screen.tokenizer, screen.step, screen.run = TOKENIZER.at(newest), step, Run(phase)
        feature.explain(step)
        await rounds()
        return str(screen.explained.waiting)

    for step in (1, 2):
        assert (await explain(step, step, "merging")).startswith("while more is being learned")
    assert not Silent.started

    assert await explain(3, 3, "showing") == "counting the pairs of the texts"
    (worker,) = Silent.started
    assert worker.told == [LearnedMerges(tuple(TOKENIZER.merges[:4])), AskStep(3)]

    feature._answered.set()
    assert (await explain(3, 3, "merging")).startswith("while more is being learned")
    assert worker.told[-1] == AskStep(3)
    await explain(1, 3, "merging")
    assert worker.told[-1] == AskStep(1)
    feature.cancel()
    await rounds()
