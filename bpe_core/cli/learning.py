"""A trainer made ready, and its merges sent in batches as the control allows them."""

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
"""Merges in a batch at most."""

BATCH_SECONDS: Final = 0.03
"""Seconds between two batches while merges come slowly."""


def prepare(counts: Counts, rules: Options, control: Control, report: Report) -> Trainer | None:
    """A trainer that is ready for its first merge; None if told to stop before it was."""
    shown = time.monotonic()

    def look(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(Preparing(done, total))
        if told_to_stop(control, report, "preparing"):
            raise Stopped

    try:
        return Trainer(counts, **asdict(rules), look=look)
    except Stopped:
        return None


def learn(trainer: Trainer, control: Control, report: Report) -> int:
    """Learn until the trainer ends or the control says stop; the number of merges, all of them sent.

    Without credit the worker says "paused" and sleeps. It says so again after each command that leaves it paused, so an
    app that asked for a step knows when its merges have all arrived.
    """
    # The corpus is all lists and no cycles; searching it for some again and again costs a sixth of the time.
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

    if control.credit == UNLIMITED:
        report.send(State("running"))
    while not control.stopped:
        if not control.credit:
            send()
            report.send(State("paused"))
            control.wait()
            if control.credit == UNLIMITED:
                report.send(State("running"))
            continue
        merge = next(trainer, None)
        if merge is None:
            break
        batch.append(merge)
        steps += 1
        control.credit -= 1
        if len(batch) >= BATCH or time.monotonic() - sent >= BATCH_SECONDS:
            send()
        control.look()
    send()
    return steps
