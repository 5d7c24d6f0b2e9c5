"""How many processes to start for a task of some size."""

import os
from typing import Final

MAX_PROCESSES: Final = 8
"""Processes at most, unless a number is asked for: one process puts all results together, which limits the gain."""


def available_cores() -> int:
    """CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_processes(size: int, each: int) -> int:
    """As many processes as get at least `each` of `size` to do; between 1 and the cores, and at most MAX_PROCESSES."""
    return max(1, min(available_cores(), MAX_PROCESSES, size // each))
