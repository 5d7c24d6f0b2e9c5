"""Measurements as Markdown: medians, ratios to one of the rows, and the machine they were taken on."""

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median

from benchmarks.measure import Measured
from benchmarks.peers import versions

Rounds = Mapping[str, Sequence[Measured]]
"""Name of who was measured -> what came out, round by round; nothing of those that failed."""


def training_rows(what: str, rounds: Rounds) -> Iterable[list[str]]:
    """One row for each peer: seconds, how many times as long as ours, CPU seconds, peak memory."""
    for name, runs in rounds.items():
        if not runs:
            yield [what, f"{name} (fails)", *"----"]
            continue
        seconds = median(run.seconds for run in runs)
        ratio = median(
            run.seconds / ours.seconds
            for run, ours in zip(runs, rounds["bpescope"], strict=True)
        )
        cpu, peak = median(run.cpu for run in runs), max(run.peak for run in runs)
        yield [
            what,
            name,
            f"{seconds:.2f}",
            f"{ratio:.2f}",
            f"{cpu:.2f}",
            f"{peak / 1e6:,.0f}",
        ]


def encoding_rows(what: str, n_bytes: int, rounds: Rounds) -> Iterable[list[str]]:
    """One row for each peer: speed on new and on known text, each as a multiple of ours; a word where ids differ."""
    ours = rounds["bpescope"]
    for name, runs in rounds.items():
        if not runs:
            yield [what, f"{name} (fails)", *"-----"]
            continue
        cold = median(n_bytes / 1e6 / run.seconds for run in runs)
        warm = median(n_bytes / 1e6 / run.extra["warm"] for run in runs)
        ratio = median(
            mine.seconds / run.seconds for run, mine in zip(runs, ours, strict=True)
        )
        again = median(
            mine.extra["warm"] / run.extra["warm"]
            for run, mine in zip(runs, ours, strict=True)
        )
        peak = max(run.peak for run in runs)
        who = (
            name
            if runs[0].extra["digest"] == ours[0].extra["digest"]
            else f"{name} (other ids)"
        )
        yield [
            what,
            who,
            f"{cold:.1f}",
            f"{ratio:.2f}",
            f"{warm:.1f}",
            f"{again:.2f}",
            f"{peak / 1e6:,.0f}",
        ]


def doubling_rows(what: str, once: Rounds, twice: Rounds) -> Iterable[list[str]]:
    """One row for each peer: seconds for a text, for one twice as long, and how many times as long that took."""
    for name, runs in once.items():
        if not runs or not twice[name]:
            yield [what, f"{name} (fails)", *"---"]
            continue
        short, long = (min(run.seconds for run in them) for them in (runs, twice[name]))
        yield [what, name, f"{short:.4f}", f"{long:.4f}", f"{long / short:.2f}"]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, each as soon as its row is there; all columns but the first two are numbers."""
    for line in chain([head, ["---", "---", *["---:"] * (len(head) - 2)]], rows):
        yield f"| {' | '.join(line)} |"


def quantile(values: Iterable[float], part: float) -> float:
    """The value below which such a part of them lies.

    >>> quantile([3, 1, 2], 0.5)
    2
    """
    ordered = sorted(values)
    return ordered[int(part * (len(ordered) - 1))]


def machine() -> str:
    """What the figures were taken on, in one paragraph."""
    load = (
        ", ".join(f"{n:.1f}" for n in os.getloadavg())
        if hasattr(os, "getloadavg")
        else "unknown"
    )
    packages = ", ".join(f"{name} {version}" for name, version in versions().items())
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {sys.version.split()[0]}, {packages}. Load of the last 1, 5 and 15 minutes: {load}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(
        (
            line.split(":", 1)[1].strip()
            for line in lines
            if line.startswith("model name")
        ),
        platform.machine(),
    )
