"""Counting the pieces of files with progress and stops: the first step of train, count and audit."""

import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from bpe_core.cli.control import Control
from bpe_core.cli.report import Report
from bpe_core.cli.wire import Activity, Counted, Counting, Role, Skipped, State
from bpe_core.corpus import Counts, Progress, find_files

PROGRESS_EVERY: Final = 0.05
"""Seconds between two reports of progress, at least."""

WORKER_LOST: Final = (
    "A helping process was ended by the system or by somebody; its part was done without it, nothing is missing."
)
"""The sentence for a person when a worker of a process pool has died."""


def count_files(
    paths: Sequence[str],
    pattern: str,
    control: Control,
    report: Report,
    *,
    role: Role = "corpus",
    outputs: Collection[Path] = (),
) -> Counts | None:
    """Count the pieces of all texts in `paths`, files or folders; None if `control` said stop before the end.

    `outputs` are files that the command writes: in a folder they are no texts, or else the corpus would be another one
    after it. Sends `Counting` on the way, then `Skipped` for each file left out and `Counted`, all with this `role`.
    Raises TextError for a path that cannot be read, PatternError for a pattern that is none.
    """
    found = find_files(paths)
    own, names = {place.resolve() for place in outputs}, {place.resolve().name for place in outputs}
    files = [
        file for file in found.files if file.required or file.path.name not in names or file.path.resolve() not in own
    ]
    shown = 0.0

    def progress(now: Progress) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(Counting(now.done, now.total, now.name, role))

    counts = Counts.read(files, pattern, progress=progress, stop=lambda: told_to_stop(control, report, "counting"))
    if counts.stopped:
        return None
    if counts.n_lost:
        report.say(WORKER_LOST)
    for skipped in (*found.skipped, *counts.skipped):
        report.send(Skipped(str(skipped.path), skipped.reason))
    report.send(
        Counted(counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces, len(counts.pieces), role)
    )
    return counts


def told_to_stop(control: Control, report: Report, activity: Activity) -> bool:
    """Whether to stop. During a pause it blocks first, and reports "paused", then that the `activity` goes on."""
    control.receive()
    if control.must_wait():
        report.send(State("paused"))
        while control.must_wait():
            control.wait()
        report.send(State(activity))
    return control.stopped is not None
