"""Counting the pieces of files with progress and stops: the first step of train, count and audit."""

import time
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from bpe_core.cli.control import Control
from bpe_core.cli.events import Activity, Counted, Counting, Role, Skipped, State
from bpe_core.cli.report import Report
from bpe_core.corpus import Counts, Progress, find_files
from bpe_core.corpus.sampling import Sample
from bpe_core.corpus.weights import portions_by_weight

PROGRESS_EVERY: Final = 0.05
"""Seconds between two reports of progress, at least."""


def count_files(
    paths: Sequence[str],
    pattern: str,
    control: Control,
    report: Report,
    *,
    role: Role = "corpus",
    outputs: Collection[Path] = (),
    weights: Mapping[str, Fraction] | None = None,
    sample: Sample | None = None,
) -> Counts | None:
    """Count the pieces of all texts in `paths`, files or folders; None if `control` said stop before the end.

    `outputs` are files that the command writes: in a folder they are no texts, or else the corpus would be another one
    after it. `weights` are those of some paths, `sample` is what is read of the files.
    Sends `Counting` on the way, then `Skipped` for each file left out and `Counted`, all with this `role`.
    Raises TextError for a path that cannot be read, PatternError for a pattern that is none.
    """
    found = find_files(paths)
    own, names = {place.resolve() for place in outputs}, {place.resolve().name for place in outputs}
    files = [
        file for file in found.files if file.required or file.path.name not in names or file.path.resolve() not in own
    ]
    parts: list[tuple[Counts, int]] = []
    shown, before = 0.0, 0
    total = sum(file.size for file in files)

    def progress(now: Progress) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(Counting(before + now.done, now.total if sample else total, now.name, role))

    for some, weight in portions_by_weight(files, weights or {}):
        counts = Counts.read(
            some, pattern, progress=progress, stop=lambda: told_to_stop(control, report, "counting"), sample=sample
        )
        if counts.stopped:
            return None
        before += sum(file.size for file in some) * (sample is None)
        parts.append((counts, weight))
    counts = parts[0][0] if not weights else Counts.weighted(parts)
    for skipped in (*found.skipped, *counts.skipped):
        report.send(Skipped(str(skipped.path), skipped.reason))
    report.send(
        Counted(counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces, len(counts.table), role)
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
