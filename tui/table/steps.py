"""Work on 200,000 rows in steps of some milliseconds each, between which a screen hears keys and draws."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from tui.terminal.background import Steps

SLICE: Final = 2048
"""Rows that are looked at between two pauses."""
_BUCKETS: Final = 64


def rows_in_order(n_rows: int, key: Callable[[int], Any], *, descending: bool) -> Steps[list[int]]:
    """The numbers of rows sorted by `key`, equal ones in their order; those whose key is None come last either way."""
    values: list[Any] = []
    for start in range(0, n_rows, SLICE):
        values += map(key, range(start, min(start + SLICE, n_rows)))
        yield
    valued = yield from rows_that(range(n_rows), lambda row: values[row] is not None)
    rows = yield from sorted_in_steps(valued, values.__getitem__, reverse=descending)
    if len(rows) < n_rows:
        rows += yield from rows_that(range(n_rows), lambda row: values[row] is None)
    return rows


def rows_that(rows: Sequence[int], test: Callable[[int], bool]) -> Steps[list[int]]:
    """The rows that pass a test, in the same order."""
    found: list[int] = []
    for start in range(0, len(rows), SLICE):
        found += filter(test, rows[start : start + SLICE])
        yield
    return found


def next_place(rows: Sequence[int], start: int, by: int, test: Callable[[int], bool]) -> Steps[int | None]:
    """The place in `rows` of the next that passes a test, from `start` on in steps of 1 or -1; None if none does.

    Behind the last comes the first.
    """
    for distance in range(len(rows)):
        place = (start + by * distance) % len(rows)
        if test(rows[place]):
            return place
        if distance % SLICE == SLICE - 1:
            yield
    return None


def sorted_in_steps(rows: Sequence[int], key: Callable[[int], Any], *, reverse: bool = False) -> Steps[list[int]]:
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
