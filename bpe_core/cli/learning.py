"""Training under control: merges are made as commands allow, and sent in batches."""

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from bpe_core.cli.checkpoints import Checkpoints, Replay
from bpe_core.corpus.counts import Counts
from bpe_core.errors import BpeError
from bpe_core.trainer import Merge, Trainer
from bpe_core.trainer.options import Options
from bpe_core.trainer.start import inherited
from bpe_core.vocabulary import Vocabulary
from bpe_core.worker.job import UNLIMITED, Job
from bpe_core.worker.messages import Merges, State

BATCH: Final = 256
"""Merges in one event at most."""

BATCH_SECONDS: Final = 0.03
"""Seconds after which a batch is sent though it is not full."""

SLICE_SECONDS: Final = 0.005
"""Seconds of learning, about, after which commands are looked at."""

IDLE_SECONDS: Final = 0.5
"""Seconds of a pause after which a checkpoint is written: not between the steps of somebody who steps on and on."""


def prepare(counts: Counts, rules: Options, job: Job, start: Vocabulary | None = None) -> Trainer:
    """A trainer with the pairs of `counts` counted; reports progress. Raises `Stopped`.

    With `start` the merges of that vocabulary come first; the rules that belong to it are left to it.
    """
    options = rules.arguments()
    for name in inherited(start) if start else ():
        del options[name]
    return Trainer(counts, **options, start=start, look=preparing("counting pairs", job))


def preparing(name: str, job: Job) -> Callable[[int, int], None]:
    """What is to be called with (done, total) while `name` is done; it reports progress, and raises `Stopped`."""

    def look(done: int, total: int) -> None:
        job.progress("preparing", done, total, name)

    return look


def learn(trainer: Trainer, job: Job, checkpoints: Checkpoints, replay: Replay | None = None) -> None:
    """Learn until the trainer ends or the job is stopped; sends all merges, and keeps checkpoints.

    The merges that are known already, given to the trainer or from an earlier run, are made without credit. After
    them, without credit, it sends the state "paused" and waits. It sends it again after each command that leaves it
    paused, so an app that asked for a step knows when its merges have all arrived. After the last merge it does not
    wait.
    Raises `OptionError` if the trainer does not make the merges that `replay` has.
    """
    # The corpus is many lists without a cycle; letting the garbage collector search it costs a sixth of the time.
    gc.freeze()
    try:
        _learn(trainer, job, checkpoints, replay)
    except Exception:
        if trainer.n_merges > _n_known(trainer, replay):
            with suppress(BpeError, MemoryError):
                checkpoints.keep(trainer)
        raise
    finally:
        gc.unfreeze()


def _learn(trainer: Trainer, job: Job, checkpoints: Checkpoints, replay: Replay | None) -> None:
    batch: list[Merge] = []
    sent = time.monotonic()
    n_known = _n_known(trainer, replay)
    at_once = 1

    def send() -> None:
        nonlocal batch, sent
        if batch:
            job.send(Merges.of(batch))
        batch, sent = [], time.monotonic()

    def send_and_keep() -> None:
        send()
        if trainer.n_merges > n_known:
            checkpoints.keep_now_and_then(trainer)

    def send_what_would_wait(seconds: float) -> None:
        if time.monotonic() + seconds - sent >= BATCH_SECONDS:
            send_and_keep()

    if job.credit == UNLIMITED:
        job.send(State("running"))
    while not job.stopped:
        is_known = trainer.n_merges < n_known
        if not job.credit and not is_known:
            if trainer.stop_reason:
                break  # whoever steps to the last merge is at the end, and not asked for a step more
            send()
            job.send(State("paused", job.reached))
            if not job.wait(IDLE_SECONDS):
                checkpoints.keep(trainer)
                job.wait()
            if job.credit == UNLIMITED:
                job.send(State("running"))
            continue
        if not is_known and not job.has_turn(send_what_would_wait):
            continue
        most = min(at_once, BATCH - len(batch))
        began = time.monotonic()
        merges = trainer.learn(min(most, n_known - trainer.n_merges) if is_known else job.at_once(most))
        if not merges:
            break
        took = max(time.monotonic() - began, 1e-9)
        at_once = max(1, min(2 * at_once, BATCH, int(len(merges) * SLICE_SECONDS / took)))
        batch += merges
        for merge in merges:
            if not is_known:
                job.made(merge, trainer.n_bytes)
            elif replay:
                replay.check_merge(merge)
        if len(batch) >= BATCH or time.monotonic() - sent >= BATCH_SECONDS:
            send_and_keep()
        job.receive()
    send()


def _n_known(trainer: Trainer, replay: Replay | None) -> int:
    """How many merges were made before: a checkpoint with fewer would take away what a file has."""
    return max(trainer.n_given, replay.n_merges if replay else 0)
