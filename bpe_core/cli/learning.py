"""Training under control: merges are made as commands allow, and sent in batches."""

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.trainer import Merge, Trainer
from bpe_core.trainer.checkpoints import Checkpoints
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


def preparing(name: str, job: Job) -> Callable[[int, int], None]:
    """What is to be called with (done, total) while `name` is done; it reports progress, and raises `Stopped`."""

    def progress(done: int, total: int) -> None:
        job.progress("preparing", done, total, name)

    return progress


def learn(trainer: Trainer, job: Job, checkpoints: Checkpoints) -> None:
    """Learn until the trainer ends or the job says stop; sends all merges, and keeps checkpoints.

    The merges that are known already, given to the trainer or from an earlier run, are made without credit. After
    them, without credit, it sends the state "paused" and waits. It sends it again after each command that leaves it
    paused, so an app that asked for a step knows when its merges have all arrived. After the last merge it does not
    wait.
    """
    # The corpus is many lists without a cycle; letting the garbage collector search it costs a sixth of the time.
    gc.freeze()
    try:
        _learn(trainer, job, checkpoints)
    except Exception:
        if trainer.n_merges > trainer.n_known:
            with suppress(BpeError, MemoryError):
                checkpoints.keep(trainer)
        raise
    finally:
        gc.unfreeze()


def _learn(trainer: Trainer, job: Job, checkpoints: Checkpoints) -> None:
    batch: list[Merge] = []
    sent = time.monotonic()

    def send() -> None:
        nonlocal batch, sent
        if batch:
            job.send(Merges.of(batch))
        batch, sent = [], time.monotonic()

    def send_and_keep() -> None:
        send()
        if trainer.n_merges > trainer.n_known:
            checkpoints.keep_now_and_then(trainer)

    def send_what_would_wait(seconds: float) -> None:
        if time.monotonic() + seconds - sent >= BATCH_SECONDS:
            send_and_keep()

    if job.credit == UNLIMITED:
        job.send(State("running"))
    while not job.stopped:
        n_left = trainer.n_known - trainer.n_merges
        if not job.credit and n_left <= 0:
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
        if n_left <= 0 and not job.has_turn(send_what_would_wait):
            continue
        most = BATCH - len(batch)
        merges = trainer.learn_for(SLICE_SECONDS, min(most, n_left) if n_left > 0 else job.at_once(most))
        if not merges:
            break
        batch += merges
        if n_left <= 0:
            for merge in merges:
                job.made(merge, trainer.n_bytes)
        if len(batch) >= BATCH or time.monotonic() - sent >= BATCH_SECONDS:
            send_and_keep()
        job.receive()
    send()
