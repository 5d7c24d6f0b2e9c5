"""What workers are asked for, and what their events amount to: a training and a count as streams of values."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bpe_core.trainer import Merge
from bpe_core.worker.counting import CountRequest
from bpe_core.worker.messages import (
    Checkpoint,
    Counted,
    Done,
    Event,
    Failed,
    Merges,
    Saved,
    Skipped,
    Started,
    State,
    WorkProgress,
)
from tui.state.training import Phase, Run, Totals
from tui.workers.process import WorkerProcess


@dataclass(slots=True)
class TrainingUpdate:
    """What one batch of events adds to a training."""

    run: Run
    merges: list[Merge] = field(default_factory=list)
    started: Started | None = None
    """Set once, before the first merge."""
    totals: Totals | None = None
    """Set once, together with `started` or before."""
    saved: Path | None = None
    failed: str = ""
    """Why it has failed, in a sentence."""
    unkept: str | None = None
    """Why the newest checkpoint could not be written; empty if it was, None if none was tried."""


async def training(worker: WorkerProcess) -> AsyncIterator[TrainingUpdate]:
    """The updates of a training, from the first file counted to its end."""
    run, pace, skipped = Run("counting"), Pace(), 0
    async for events in worker.batches():
        update = TrainingUpdate(run)
        for event in events:
            skipped += isinstance(event, Skipped)
            run = _folded(run, event, update, pace)
            await asyncio.sleep(0)
        if update.totals is not None:
            update.totals = replace(update.totals, skipped=skipped)
        update.run = run
        yield update


def _folded(run: Run, event: Event, update: TrainingUpdate, pace: "Pace") -> Run:
    """`run` after `event`; what is not part of a run is put into `update`."""
    match event:
        case WorkProgress("counting", done, total, name):
            return replace(run, done=done, total=total, detail=name, rate=pace.rate(done))
        case WorkProgress("preparing", done, total, name):
            if (run.phase, run.detail) != ("preparing", name):
                pace.restart()
            return replace(run, phase="preparing", done=done, total=total, detail=name, rate=pace.rate(done))
        case Counted(documents, n_bytes, characters, pieces, unique):
            update.totals = Totals(documents, n_bytes, characters, pieces, unique)
        case State("counting" | "preparing" as activity):
            pace.restart(run.done)
            return replace(run, phase=activity)
        case Started(tokens, merges, first_counts=first_counts):
            update.started = event
            pace.restart()
            return Run("merging", 0, merges, tokens_at_start=tokens, first_counts=first_counts)
        case Merges():
            update.merges += event
            done = update.merges[-1].step
            return replace(run, done=done, rate=pace.rate(done))
        case State("paused", reached):
            return replace(run, phase="paused", rate=0.0, detail=str(reached or ""))
        case State("running"):
            pace.restart(run.done)
            return replace(run, phase="merging", detail="")
        case Checkpoint(problem=problem):
            update.unkept = problem
        case Saved(path):
            update.saved = Path(path)
        case Done(reason, _, seconds):
            phase: Phase = "stopped" if reason == "stopped" else "done"
            return replace(run, phase=phase, rate=0.0, detail=f"{reason} · {seconds:.1f} s")
        case Failed(message):
            update.failed = message
            return replace(run, phase="failed", rate=0.0, detail=message)
    return run


async def totals(paths: tuple[str, ...], pattern: str) -> AsyncIterator[Totals]:
    """What these texts amount to under a split pattern, once it is counted."""
    skipped = 0
    async with WorkerProcess(CountRequest(paths, pattern)) as worker:
        async for events in worker.batches():
            for event in events:
                match event:
                    case Skipped():
                        skipped += 1
                    case Counted(documents, n_bytes, characters, pieces, unique):
                        yield Totals(documents, n_bytes, characters, pieces, unique, skipped)
                    case Failed(message):
                        yield Totals(error=message)


class Pace:
    """How fast something counts up, smoothed over about a second so that the number can be read."""

    def __init__(self) -> None:
        self.restart()

    def restart(self, done: int = 0) -> None:
        """Begin anew, `done` of it being there already."""
        self._rate = 0.0
        self._done, self._time = done, time.monotonic()

    def rate(self, done: int) -> float:
        """Units a second, now that `done` are done."""
        now = time.monotonic()
        elapsed = now - self._time
        if elapsed > 0.01:
            latest = (done - self._done) / elapsed
            weight = min(1.0, elapsed) if self._rate else 1.0
            self._rate += weight * (latest - self._rate)
            self._done, self._time = done, now
        return self._rate
