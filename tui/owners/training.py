"""Training: learn in a worker process, follow it, steer it, keep what it learned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import bpe_core
from bpe_core.content.presets import PRESETS, verdict
from bpe_core.errors import BpeError
from bpe_core.formats import save_beside
from bpe_core.plurals import counted
from bpe_core.worker.messages import Command
from tui.disk import config
from tui.disk.tokenizer_files import older_twin, place_for, told_record
from tui.disk.unfinished import Note
from tui.owners.owner import Host, Owner, sentence_of
from tui.state.training import Run, TrainingOptions, UnfinishedTraining
from tui.terminal.background import in_thread
from tui.workers.process import WorkerProcess
from tui.workers.training_task import RUN, WAIT, TrainingTask
from tui.workers.updates import training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_core import Tokenizer
    from bpe_core.trainer import Merge
    from bpe_core.trainer.conditions import Condition
    from bpe_core.worker.messages import Started
    from tui.state.training import Totals
    from tui.workers.updates import TrainingUpdate

_AT_ONCE: Final = 512
"""Merges that are taken in between two moments for keys: some milliseconds of work."""


class Follower(Protocol):
    """Whoever looks on while something is learned."""

    def training_counted(self, task: TrainingTask, counted: Totals) -> None:
        """The texts have been read."""

    def training_began(self, tokenizer: Tokenizer, started: Started) -> None:
        """The first merge is next; `tokenizer` has none yet."""

    def training_learned(self, merges: list[Merge]) -> None:
        """Some merges that the tokenizer will have more when it has grown: only so many that it takes a moment."""

    def training_grew(self, tokenizer: Tokenizer, merges: list[Merge]) -> None:
        """`tokenizer` has these merges more than before; all of them are known from `training_learned`."""

    def training_ended(self, tokenizer: Tokenizer | None, path: Path | None) -> None:
        """It is over. `tokenizer` is None where nothing was learned, `path` where it could not be kept."""


@dataclass(slots=True)
class _Course:
    """One training from its beginning to its end; nothing of it outlives it by itself."""

    task: TrainingTask
    run: Run = field(default_factory=partial(Run, "counting"))
    tokenizer: Tokenizer | None = None
    """With what it has learned so far; None before its first merge is due."""
    merges: list[Merge] = field(default_factory=list)
    n_bytes: int = 0
    """Of the corpus, as often as its texts weigh."""
    named: Path = field(default_factory=Path)
    """Where it would be kept if nothing else were called so."""
    note: Note | None = None
    """What tells of it until it has ended."""
    saved: Path | None = None
    """Where it is kept."""
    worker: WorkerProcess | None = None
    """What learns, once it can; None before and after."""
    unsent: list[Command] = field(default_factory=list)
    """What was asked of the worker before there was one."""
    told: Command = RUN
    """What the worker was told last, but for its pace; `WAIT` once that has come to its end."""
    asked: TrainingOptions | None = None
    """By what it learns."""
    noted: UnfinishedTraining | None = None
    """What the note says."""
    unkept: str = ""
    """Why its newest checkpoint could not be written."""
    n_known: int = 0
    """How many merges were known before it, and have to be made again before there is more than a file has."""

    @property
    def goal(self) -> Condition | None:
        """What is to be so when it waits next; None where it goes on to its end."""
        return self.told.condition

    @property
    def output(self) -> Path:
        """Where the worker should keep it."""
        return self.note.output if self.note else Path()

    @property
    def has_learned(self) -> bool:
        """Whether there is anything that would be lost with it."""
        return len(self.merges) >= max(1, self.n_known)


class Training(Owner[Run]):
    """One training at a time; what it learns is its own until it has ended."""

    def __init__(self, host: Host, publish: Callable[[Run], None], follower: Follower) -> None:
        super().__init__(host, Run(), publish)
        self._follower = follower
        self._alone = asyncio.Lock()
        self._newest: _Course | None = None
        self._pace = 0

    def start(self, task: TrainingTask) -> None:
        """Train, once all is done of the training before, whose run is over."""
        self._newest = _Course(task, told=task.first)
        self._replace(self._newest.run)
        self._worker = self._host.run_worker(partial(self._done, partial(self._train, self._newest)))

    @property
    def task(self) -> TrainingTask | None:
        """The last training that was begun."""
        return self._newest.task if self._newest else None

    @property
    def worker(self) -> WorkerProcess | None:
        """What learns in the last training that was begun; None before and after."""
        return self._newest.worker if self._newest else None

    @property
    def output(self) -> Path:
        """Where the last training that was begun is kept, or will be."""
        return self._newest.output if self._newest else Path()

    def tell(self, command: Command) -> None:
        """Steer the training that was begun last, also before it has a worker."""
        course = self._newest
        if course is None or not course.run.busy:
            return
        if command.verb != "pace":  # the worker forgets its goal then, too
            course.told = command
            self._tell_of(course, course.run)
        if course.worker is not None:
            course.worker.send(command)
        else:
            course.unsent.append(command)

    def keep_pace(self, pace: int) -> None:
        """Learn so many merges a second at most from now on, in this training and the next; 0: as many as can be."""
        self._pace = pace
        self.tell(Command("pace", pace))

    @property
    def stepped_to_end(self) -> bool:
        """Whether the last training was learned to its end merge by merge."""
        return self._newest is not None and self._newest.told.verb == "step" and self._value.phase == "done"

    def dismiss(self) -> None:
        """How the last training ended is no longer of interest."""
        if not self._value.busy:
            self._replace(Run())

    def _tell_of(self, course: _Course, run: Run) -> None:
        goal = str(course.goal) if course.goal and run.busy else ""
        if self._pace and run.phase == "merging":  # the first merges come before the first second has gone by
            run = replace(run, rate=min(run.rate, self._pace))
        pausing = course.told.verb == "pause" and run.busy and run.phase != "paused"
        run = course.run = replace(run, asked=course.asked, goal=goal, pausing=pausing)
        if course.note and course.noted != (described := _described(course)):
            with suppress(OSError):
                course.note.write(described)
                course.noted = described
        if course is self._newest:
            self._replace(run)

    async def _train(self, course: _Course) -> None:
        async with self._alone:
            try:
                await self._learn(course)
            except (BpeError, OSError) as error:
                self._tell_of(course, replace(course.run, phase="failed", rate=0.0, detail=sentence_of(error)))
                self._failed(course.run.detail)
            except asyncio.CancelledError:  # the app ends: the worker has kept what it had, if it was given the time
                if course.note:
                    self._leave(course, course.note)
                raise
            finally:
                course.worker = None
            if course.note:
                course.note.end()
            await self._end(course)

    def _leave(self, course: _Course, note: Note) -> None:
        if course.has_learned and note.left is None:
            with suppress(BpeError, OSError):
                bpe_core.save(self._learned(course), note.output)
        if note.left:
            note.leave()
        else:
            note.end()

    async def _learn(self, course: _Course) -> None:
        task = course.task
        try:
            folder = config.tokenizers_folder()
        except OSError as error:
            raise BpeError(f"Nothing is learned, for it could not be kept. {sentence_of(error)}") from error
        rules, course.asked = task.rules, task.asked
        course.named = place_for(folder, f"{task.title} {rules.pattern}")
        described = course.noted = _described(course)
        try:
            if task.resume:
                course.note = Note.again(Path(task.resume.removesuffix(".checkpoint")), described)
            else:
                course.note = Note.new(course.named, described)
        except OSError as error:
            raise BpeError(f"Nothing is learned, for it could not be kept. {sentence_of(error)}") from error
        course.worker = WorkerProcess(task.request(course.output))
        for command in (Command("pace", self._pace), *course.unsent):
            course.worker.send(command)
        async with course.worker:
            async for update in training(course.worker):
                await self._apply(course, update)

    async def _apply(self, course: _Course, update: TrainingUpdate) -> None:
        task = course.task
        if update.totals is not None:
            self._follower.training_counted(task, update.totals)
        if update.started is not None:
            course.tokenizer = bpe_core.Tokenizer(task.first_vocabulary(), task.rules.pattern)
            course.n_known = update.started.known
            course.n_bytes = update.started.n_bytes
            self._follower.training_began(course.tokenizer, update.started)
        if update.merges and course.tokenizer is not None:
            for start in range(0, len(update.merges), _AT_ONCE):
                merges = update.merges[start : start + _AT_ONCE]
                course.merges += merges
                course.tokenizer = course.tokenizer.with_merges(
                    (merge.left, merge.right, merge.token) for merge in merges
                )
                self._follower.training_learned(merges)
                await asyncio.sleep(0)
            self._follower.training_grew(course.tokenizer, update.merges)
        course.saved = update.saved or course.saved
        run = self._towards_goal(course, update.run)
        self._tell_of(course, run)
        if update.failed:
            self._host.say(update.failed, "error")
        if update.unkept and not course.unkept:  # once, and not every few seconds
            self._host.say(f"Nothing new of this training is kept until it ends. {update.unkept}", "warning")
        course.unkept = course.unkept if update.unkept is None else update.unkept

    @staticmethod
    def _towards_goal(course: _Course, run: Run) -> Run:
        """The run, which says so where it ended short of its goal; a goal that is reached is one no more."""
        goal = course.goal
        reached = goal is not None and bool(course.merges) and goal.holds(course.merges[-1], course.n_bytes)
        if goal is None or (run.phase == "done" and reached):
            return run
        if run.phase == "paused" and run.detail:
            course.told = WAIT
        return replace(run, detail=f"not reached: {goal}; {run.detail}") if run.phase == "done" else run

    async def _end(self, course: _Course) -> None:
        """Say what has come of it; what a worker had told before it died is kept here."""
        task = course.task
        if course.tokenizer is None or not (course.saved or course.has_learned):
            self._follower.training_ended(None, None)
            return
        learned = await in_thread(self._learned, course)
        if course.saved is None:
            course.saved = await self._rescue(learned, course.output)
        elif course.saved != course.named:
            course.saved = await in_thread(_without_twin, course.saved, course.named)
        self._follower.training_ended(learned, course.saved)
        if task.preset and course.run.phase == "done":
            came_out, sentence = verdict(task.preset, PRESETS[task.preset].check(learned))
            short = sentence.partition(":")[0]  # the rest may not fit there
            self._tell_of(course, replace(course.run, detail=short))
            self._host.say(sentence, "information" if came_out else "warning")
        if course.saved is not None and (warning := learned_by_heart(course.merges)):
            self._host.say(warning, "warning")

    @staticmethod
    def _learned(course: _Course) -> Tokenizer:
        """What a worker has told until now, as a whole."""
        rules = course.task.rules
        assert course.tokenizer is not None
        record = told_record(rules, course.merges, course.n_bytes, course.run)
        return bpe_core.Tokenizer(course.tokenizer.vocabulary, rules.pattern, record=record)

    async def _rescue(self, learned: Tokenizer, output: Path) -> Path | None:
        """Keep what a worker had told before it died."""
        try:
            checkpoint = Path(f"{output}.checkpoint")
            output = await in_thread(save_beside, learned, output)
            checkpoint.unlink(missing_ok=True)  # it has no more than that
        except (BpeError, OSError) as error:
            self._host.say(f"What was learned could not be kept: {sentence_of(error)}", "error")
            return None
        self._host.say(f"What it had learned, {counted(learned.step, 'merge')}, is kept as {output.stem}.", "warning")
        return output


def _described(course: _Course) -> UnfinishedTraining:
    task, goal = course.task, str(course.goal) if course.goal else ""
    begin_step = task.begin.step if task.begin else 0
    paused = course.told.verb in ("step", "pause")
    return UnfinishedTraining(
        task.title, task.options, task.paths, task.preset, task.begin_path, begin_step, goal=goal, paused=paused
    )


def _without_twin(path: Path, named: Path) -> Path:
    """The path of what was learned; where it was learned before already, the older file, and the new one goes."""
    with suppress(BpeError, OSError):
        if twin := older_twin(path, named):
            path.unlink()
            return twin
    return path


def learned_by_heart(merges: Sequence[Merge]) -> str:
    """What to say of merges whose pair occurred but once; empty if there are none."""
    if not merges or merges[-1].count > 1:
        return ""
    step = next(merge.step for merge in merges if merge.count == 1)
    return (
        f"From step {step:,} on each pair occurred only once: such tokens know this text by heart, and no other. "
        "With a minimum count of 2 a training stops before them."
    )
