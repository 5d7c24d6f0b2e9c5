"""Training under control: merges are made as commands allow, and sent in batches."""

import gc
import time
from dataclasses import asdict
from typing import Final

from bpe_core.cli.control import UNLIMITED, Control
from bpe_core.cli.counting import PROGRESS_EVERY, told_to_stop
from bpe_core.cli.report import Report
from bpe_core.cli.wire import Merges, Preparing, State
from bpe_core.corpus.counts import Counts
from bpe_core.corpus.progress import Stopped
from bpe_core.trainer import Merge, Trainer
from bpe_core.trainer.options import Options

BATCH: Final = 256
"""Merges in one event at most."""

BATCH_SECONDS: Final = 0.03
"""Seconds after which a batch is sent though it is not full."""


def prepare(counts: Counts, rules: Options, control: Control, report: Report) -> Trainer | None:
    """A trainer with the pairs of `counts` counted; None if `control` said stop meanwhile. Sends `Preparing`."""
    shown = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(Preparing(done, total))
        if told_to_stop(control, report, "preparing"):
            raise Stopped

    try:
        return Trainer(counts, **asdict(rules), look=progress)
    except Stopped:
        return None


def learn(trainer: Trainer, control: Control, report: Report) -> int:
    """Learn until the trainer ends or `control` says stop; sends all merges and returns their number.

    Without credit it sends the state "paused" and waits. It sends it again after each command that leaves it paused, so
    an app that asked for a step knows when its merges have all arrived.
    """
    # The corpus is many lists without a cycle; letting the garbage collector search it costs a sixth of the time.
    gc.freeze()
    try:
        return _learn(trainer, control, report)
    finally:
        gc.unfreeze()


def _learn(trainer: Trainer, control: Control, report: Report) -> int:
    batch: list[Merge] = []
    steps = 0
    sent = time.monotonic()

    def send() -> None:
        nonlocal batch, sent
        if batch:
            report.send(Merges.of(batch))
        batch, sent = [], time.monotonic()

    def send_what_would_wait(seconds: float) -> None:
        if time.monotonic() + seconds - sent >= BATCH_SECONDS:
            send()

    if control.credit == UNLIMITED:
        report.send(State("running"))
    while not control.stopped:
        if not control.credit:
            send()
            report.send(State("paused", control.reached))
            control.wait()
            if control.credit == UNLIMITED:
                report.send(State("running"))
            continue
        if not control.has_turn(send_what_would_wait):
            continue
        merge = next(trainer, None)
        if merge is None:
            break
        batch.append(merge)
        steps += 1
        control.made(merge, trainer.n_bytes)
        if len(batch) >= BATCH or time.monotonic() - sent >= BATCH_SECONDS:
            send()
        control.receive()
    send()
    return steps
