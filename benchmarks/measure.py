"""One measurement in a process of its own, so that its memory is its own, and nobody is warm from what came before."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
LOOK_EVERY: Final = 0.02
"""Seconds between two looks at the memory."""


class Failed(Exception):
    """A measuring process ended with an error; it has told which."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out of one run."""

    seconds: float
    """Wall clock."""
    cpu: float
    """Seconds of all processes together."""
    peak: int
    """Bytes in memory at the worst moment, all processes together."""
    extra: dict[str, float]
    """What else the job tells of itself."""


def measure(job: str, *arguments: object) -> Measured:
    """Run `python -m benchmarks.jobs JOB ARGUMENTS`, whose last line is JSON, and watch its memory. Raises Failed."""
    command = [sys.executable, "-m", "benchmarks.jobs", job, *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        watch = _MemoryWatch(process.pid)
        watch.start()
        out, _ = process.communicate()
        watch.join()
    if process.returncode:
        raise Failed(f"{' '.join(command)} failed.")
    told = json.loads(out.splitlines()[-1])
    return Measured(
        told.pop("seconds"), told.pop("cpu"), max(watch.peak, told.pop("peak")), told
    )


class _MemoryWatch(threading.Thread):
    """Adds up the resident memory of a process and all its children, as long as it lives; where there is no /proc, 0.

    Pages that processes share are counted in each: the sum is an upper bound.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak = 0

    def run(self) -> None:
        while Path(f"/proc/{self.pid}/statm").exists():
            self.peak = max(self.peak, sum(map(_resident, _family(self.pid))))
            time.sleep(LOOK_EVERY)


def _family(pid: int) -> list[int]:
    """A process, its children, and theirs."""
    children: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (thread / "children").read_text().split())
    return [pid, *(member for child in children for member in _family(child))]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
    except (OSError, IndexError):
        return 0
