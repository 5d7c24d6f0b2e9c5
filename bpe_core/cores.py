"""How many threads to use."""

import os
from typing import Final

MAX_THREADS: Final = 8
"""Threads at most: one of them puts all results together, which limits the gain."""


def available_cores() -> int:
    """CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def most_threads() -> int:
    """As many threads as there are cores, and at most MAX_THREADS."""
    return min(available_cores(), MAX_THREADS)


def n_threads(size: int, each: int) -> int:
    """As many threads as get at least `each` of `size` to do: between 1 and `most_threads`."""
    return max(1, min(most_threads(), size // each))
