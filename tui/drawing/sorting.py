"""Sorting 200,000 rows in steps of some milliseconds each, between which a screen hears keys and draws."""

from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Final

SLICE: Final = 4096
"""Rows that are looked at between two pauses."""
_BUCKETS: Final = 64

Steps = Generator[None, None, list[int]]
"""A computation that pauses after each of its steps, and returns rows."""


def sorted_in_steps(rows: Sequence[int], key: Callable[[int], Any], *, reverse: bool = False) -> Steps:
    """`sorted(rows, key=key, reverse=reverse)`, as what this generator returns.

    Sample sort: the keys of a sample part the rows into buckets, each of which is sorted by itself. Rows of equal keys
    share a bucket, which takes linear time. One `list.sort` of all, or of the two last halves, would take 100 ms.
    """
    if len(rows) <= SLICE:
        return sorted(rows, key=key, reverse=reverse)
    sample = sorted(map(key, rows[:: max(1, len(rows) // (8 * _BUCKETS))]))
    borders = sample[:: max(1, len(sample) // _BUCKETS)][1:]
    buckets: list[list[int]] = [[] for _ in range(len(borders) + 1)]
    place = partial(bisect_right, borders)
    for start in range(0, len(rows), SLICE):
        some = rows[start : start + SLICE]
        for row, bucket in zip(some, map(place, map(key, some)), strict=True):
            buckets[bucket].append(row)
        yield
    result: list[int] = []
    for part in reversed(buckets) if reverse else buckets:
        part.sort(key=key, reverse=reverse)
        result += part
        yield
    return result
