"""How many processes a piece of work is worth."""

import os
from typing import Final

MAX_PROCESSES: Final = 8
"""Processes that work unasked, at most: one alone takes in the results of all."""


def available_cores() -> int:
    """How many processes can work at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_processes(size: int, each: int) -> int:
    """How many processes to use so that each has at least `each` of the whole `size` to do; 1 or more."""
    return max(1, min(available_cores(), MAX_PROCESSES, size // each))
