"""Sort, filter and search up to 200,000 rows in steps of a few milliseconds."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Self

from tui.terminal.background import Steps

SLICE: Final = 2048
"""Rows in one step."""
_BUCKETS: Final = 64
_SAMPLES_PER_BUCKET: Final = 8


def mapped(function: Callable[[int], Any], rows: Sequence[int]) -> Steps[list[Any]]:
    """Return `list(map(function, rows))`, after a yield for each step."""
    results: list[Any] = []
    for start in range(0, len(rows), SLICE):
        results += map(function, rows[start : start + SLICE])
        yield
    return results


def rows_in_order(
    n_rows: int, key: Callable[[int], Any], *, descending: bool
) -> Steps[list[int]]:
    """Return the row numbers sorted by `key`, equal ones in their order; rows with the key None are last."""
    values = yield from mapped(key, range(n_rows))
    without_value = [row for row, value in enumerate(values) if value is None]
    with_value: Sequence[int] = range(n_rows)
    if without_value:
        with_value = [row for row, value in enumerate(values) if value is not None]
    yield
    rows = yield from sorted_in_steps(
        with_value, values.__getitem__, reverse=descending
    )
    return rows + without_value


def sorted_in_steps(
    rows: Sequence[int], key: Callable[[int], Any], *, reverse: bool = False
) -> Steps[list[int]]:
    """Return `sorted(rows, key=key, reverse=reverse)`, after a yield for each step.

    This is a sample sort: the sorted keys of a sample divide the rows into buckets, which are sorted one
    by one. Rows of equal keys share a bucket, which is then sorted in linear time. One `list.sort` of
    all 200,000 rows, or a merge of two halves, would block the keys for 100 ms.
    """
    if len(rows) <= SLICE:
        return sorted(rows, key=key, reverse=reverse)
    sample_step = max(1, len(rows) // (_SAMPLES_PER_BUCKET * _BUCKETS))
    sample = sorted(map(key, rows[::sample_step]))
    borders = sample[:: max(1, len(sample) // _BUCKETS)][1:]
    buckets: list[list[int]] = [[] for _ in range(len(borders) + 1)]
    bucket_of = partial(bisect_right, borders)
    for start in range(0, len(rows), SLICE):
        part = rows[start : start + SLICE]
        for row, bucket in zip(part, map(bucket_of, map(key, part)), strict=True):
            buckets[bucket].append(row)
        yield
    if reverse:
        buckets.reverse()
    result: list[int] = []
    for rows_of_bucket in buckets:
        rows_of_bucket.sort(key=key, reverse=reverse)
        result += rows_of_bucket
        yield
    return result


MATCHES_BY_ID: Final = 3
"""The best result of `Search.match`."""
_HEX: Final = re.compile(
    r"(?:0x|\\x)((?:[0-9a-f]{2})+(?:(?: *|\\x)(?:[0-9a-f]{2})+)*)|((?:[0-9a-f]{2} )+[0-9a-f]{2})"
)
_ID: Final = re.compile(r"#?(\d{1,3}(?:,\d{3})+|\d{1,18})")


class Search(NamedTuple):
    """A typed search for tokens, read as text, as an id and as bytes; a token matches any of them."""

    text: str = ""
    """Text to find in labels, `casefold`ed, with ␣ for spaces; "" for an id with `#` before it."""
    id: int | None = None
    data: bytes = b""
    r"""Bytes, typed in hex after `0x` or `\x`, or as pairs of digits with spaces between."""

    @classmethod
    def read(cls, typed: str) -> Self:
        r"""Read what the user typed.

        >>> Search.read(" The"), Search.read("#1,024")
        (Search(text='␣the', id=None, data=b''), Search(text='', id=1024, data=b''))
        >>> Search.read("0xF09F"), Search.read("e2 80")
        (Search(text='0xf09f', id=None, data=b'\xf0\x9f'), Search(text='e2␣80', id=None, data=b'\xe2\x80'))
        """
        folded = typed.casefold()
        stripped = folded.strip()
        number = _ID.fullmatch(stripped)
        digits = _HEX.fullmatch(stripped)
        text = folded.replace(" ", "␣")
        id = None
        data = b""
        if number:
            id = int(number[1].replace(",", ""))
            if stripped.startswith("#"):
                text = ""
        if digits:
            pairs = digits[1] or digits[2]
            data = bytes.fromhex(pairs.replace("\\x", ""))
        return cls(text, id, data)

    def match(self, label: str, token: bytes, id: int) -> int:
        """Return how well a token matches: 3 by its id, 2 as a whole, 1 in part, 0 not at all.

        `label` must be `casefold`ed.

        >>> [Search.read("low").match(label, b"", 300) for label in ("low", "␣low", "slow", "high")]
        [2, 2, 1, 0]
        """
        if id == self.id:
            return MATCHES_BY_ID
        if self.text and self.text in label:
            is_whole = label in (self.text, "␣" + self.text)
            return 2 if is_whole else 1
        if self.data and self.data in token:
            return 2 if token == self.data else 1
        return 0
