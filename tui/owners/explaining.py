"""Explaining: find out in a worker process why merges were chosen, and how often each pair occurs after them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bpe_core.cli.events import Counting, Failed
from bpe_core.cli.result_events import Explained, Places
from bpe_core.content.presets import PRESETS
from bpe_core.explain.merge_choice import Explanation
from bpe_core.explain.places import CorpusPlace
from tui.owners.owner import Host, Owner
from tui.state.training import StepExplained
from tui.workers.process import Job

if TYPE_CHECKING:
    from bpe_core.cli.events import Event
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

    arguments: tuple[str, ...] = ()
    """Of the worker that counts."""
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
        async with Job("why", "--stream", *subject.arguments) as job:
            asking = asyncio.create_task(self._ask(job, subject))
            try:
                async for events in job.batches():
                    for event in events:
                        self._hear(event)
            finally:
                asking.cancel()

    async def _ask(self, job: Job, subject: Subject) -> None:
        """Ask about one step after the other, always the one that is wanted now."""
        n_told = 0
        while True:
            await self._news.wait()
            await self._calm.wait()
            self._news.clear()
            tokenizer, step = self._wanted
            # One merge more than asked for: it is marked in the table as the one that comes next.
            while subject.grows and n_told < min(step + 1, tokenizer.step):
                rows = tokenizer.merges[n_told : min(n_told + _AT_ONCE, step + 1)]
                job.write(f"merges {' '.join(','.join(map(str, row)) for row in rows)}\n")
                n_told += len(rows)
                await asyncio.sleep(0)
            self._answered.clear()
            job.write(f"step {step}\n")
            await self._answered.wait()

    def _hear(self, event: Event) -> None:
        match event:
            case Counting(done, total, _):
                share = done / total if total else 1.0
                self._replace(replace(self._value, waiting=f"reading the texts {share:.0%}"))
            case Explained(body):
                told = Explanation.from_json(body)
                self._replace(replace(self._subject.told(told.step), explanation=told))
                self._answered.set()
            case Places(step, rows) if step == self._value.step:
                self._replace(replace(self._value, places=tuple(CorpusPlace(**row) for row in rows)))
            case Failed(message):
                self._failed(message)

    def _failed(self, sentence: str) -> None:
        self._replace(replace(self._subject.told(self._value.step), problem=sentence))


def subject_of_task(task: TrainingTask) -> Subject:
    """What a training of this session learns, and from what."""
    if not (task.preset or task.paths):
        return Subject(problem="Nothing is known of the texts that this is learned from.", ties=task.rules.ties)
    rules = task.rules
    return Subject(("--learning", *task.asked_for), True, "", rules.ties)


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
    texts = ("--preset", preset) if preset else paths
    given = () if pattern is None else (f"--pattern={pattern}",)
    return Subject(("-t", path, *given, *texts), ties=ties)


def preset_of(record: TrainingRecord) -> str:
    """The founding example whose texts a vocabulary was learned from; empty if there is none."""
    return next((name for name, preset in PRESETS.items() if tuple(preset.counts().sources) == record.sources), "")
