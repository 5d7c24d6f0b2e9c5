"""How many processes a piece of work is worth."""

import os
from typing import Final

MOST: Final = 8
"""Processes that work unasked, at most: one alone takes in what they all do."""


def at_once() -> int:
    """How many processes can work at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def how_many(size: int, each: int) -> int:
    """How many processes are worth it, where each should have at least `each` of the whole `size` to do."""
    return max(1, min(at_once(), MOST, size // each))
