"""Explaining: find out in a worker process why merges were chosen, and how often each pair occurs after them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bpe_core.content.presets import PRESETS
from bpe_core.worker.explain import AskStep, Explained, ExplainFile, ExplainTraining, LearnedMerges, Places
from bpe_core.worker.messages import Event, Failed, WorkProgress
from tui.owners.owner import Host, Owner
from tui.state.training import StepExplained
from tui.workers.process import WorkerProcess

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.tokenizer.training_record import TrainingRecord
    from tui.workers.training_task import TrainingTask

_AT_ONCE: Final = 2000
"""Merges that are told in one go: some milliseconds of work."""
_COUNTING: Final = "counting the pairs of the texts"
_PASSING: Final = "at full speed only an earlier step is explained, or the newest in a pause"
"""What is said while nothing is asked."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is asked about: a vocabulary and the corpus that its pairs are counted in."""

    request: ExplainFile | ExplainTraining | None = None
    """What the worker that counts is asked; None where there is a problem."""
    grows: bool = False
    """Whether the worker has to be told the merges: a training under way, which no file holds."""
    problem: str = ""
    """Why there is nothing to ask, in a sentence."""
    ties: str = ""
    """The tie rule of the training; empty where that is not known."""

    def told(self, step: int) -> StepExplained:
        """What is known of a step before there is an answer."""
        return StepExplained(step, ties=self.ties)


class Explaining(Owner[StepExplained]):
    """One worker for the vocabulary on the screen, which has counted the corpus and answers step by step."""

    def __init__(self, host: Host, publish: Callable[[StepExplained], None]) -> None:
        super().__init__(host, StepExplained(), publish)
        self._subject = Subject()
        self._news = asyncio.Event()
        self._answered = asyncio.Event()
        self._calm = asyncio.Event()
        self._wanted: tuple[Tokenizer, int]

    def forget(self) -> None:
        """Give up, end the worker, and know nothing: there is another vocabulary on the screen."""
        self.cancel()
        self._subject = Subject()
        self._replace(StepExplained())

    def want(self, subject: Subject, tokenizer: Tokenizer, step: int, *, in_haste: bool) -> None:
        """Find out about a step; what was wanted before and is not begun is forgotten.

        `in_haste`: it is the newest of a training at full speed, which passes before anybody could read an answer, and
        for which all texts would be counted once more beside it. Then nothing is asked until another is wanted.
        """
        self._wanted = tokenizer, step
        if in_haste:
            self._calm.clear()
        else:
            self._calm.set()
        waiting = _PASSING if in_haste else _COUNTING
        if subject.problem:
            self.cancel()
            self._subject = subject
            self._replace(replace(subject.told(step), problem=subject.problem))
        elif subject != self._subject or not (self.is_working or self._value.problem):
            self._subject = subject
            self._replace(replace(subject.told(step), waiting=waiting))
            self._begin(partial(self._answer, subject))
        elif waiting != self._value.waiting and _PASSING in (waiting, self._value.waiting):
            self._replace(replace(self._value, waiting=waiting))
        self._news.set()

    async def _answer(self, subject: Subject) -> None:
        self._news.set()
        await self._calm.wait()
        assert subject.request is not None
        async with WorkerProcess(subject.request) as worker:
            asking = asyncio.create_task(self._ask(worker, subject))
            try:
                async for events in worker.batches():
                    for event in events:
                        self._hear(event)
            finally:
                asking.cancel()

    async def _ask(self, worker: WorkerProcess, subject: Subject) -> None:
        """Ask about one step after the other, always the one that is wanted now."""
        n_told = 0
        while True:
            await self._news.wait()
            await self._calm.wait()
            self._news.clear()
            tokenizer, step = self._wanted
            # One merge more than asked for: it is marked in the table as the one that comes next.
            while subject.grows and n_told < min(step + 1, tokenizer.step):
                merges = tuple(tokenizer.merges[n_told : min(n_told + _AT_ONCE, step + 1)])
                worker.send(LearnedMerges(merges))
                n_told += len(merges)
                await asyncio.sleep(0)
            self._answered.clear()
            worker.send(AskStep(step))
            await self._answered.wait()

    def _hear(self, event: Event) -> None:
        match event:
            case WorkProgress(_, done, total):
                share = done / total if total else 1.0
                self._replace(replace(self._value, waiting=f"reading the texts {share:.0%}"))
            case Explained(explanation):
                self._replace(replace(self._subject.told(explanation.step), explanation=explanation))
                self._answered.set()
            case Places(step, places) if step == self._value.step:
                self._replace(replace(self._value, places=places))
            case Failed(message):
                self._failed(message)

    def _failed(self, sentence: str) -> None:
        self._replace(replace(self._subject.told(self._value.step), problem=sentence))


def subject_of_task(task: TrainingTask) -> Subject:
    """What a training of this session learns, and from what."""
    if not (task.preset or task.paths):
        return Subject(problem="Nothing is known of the texts that this is learned from.", ties=task.rules.ties)
    rules = task.rules
    return Subject(ExplainTraining(tuple(task.asked_for)), True, "", rules.ties)


def subject_of_file(
    tokenizer: Tokenizer, path: str, pattern: str | None, preset: str, paths: tuple[str, ...]
) -> Subject:
    """A vocabulary that is kept at `path`, with the texts of the founding example `preset` or those at `paths`."""
    record = tokenizer.record
    ties = record.ties if record else ""
    if tokenizer.preparation is not None:
        return Subject(problem="This tokenizer changes a text before it splits it; its pairs cannot be counted.")
    if not preset and not paths:
        return Subject(problem="No text is chosen to count pairs in: F2, and the space bar marks one.", ties=ties)
    return Subject(ExplainFile(path, pattern, preset, () if preset else paths), ties=ties)


def preset_of(record: TrainingRecord) -> str:
    """The founding example whose texts a vocabulary was learned from; empty if there is none."""
    return next((name for name, preset in PRESETS.items() if tuple(preset.counts().sources) == record.sources), "")
