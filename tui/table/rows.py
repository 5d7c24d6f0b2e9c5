r"""Which of 200,000 rows are shown, in which order: sorting, filtering and searching in steps of some milliseconds."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Self

from tui.terminal.background import Steps

SLICE: Final = 2048  # rows that are looked at between two pauses
_BUCKETS: Final = 64


def mapped(function: Callable[[int], Any], rows: Sequence[int]) -> Steps[list[Any]]:
    """`list(map(function, rows))`, as what this generator returns."""
    found: list[Any] = []
    for start in range(0, len(rows), SLICE):
        found += map(function, rows[start : start + SLICE])
        yield
    return found


def rows_in_order(
    n_rows: int, key: Callable[[int], Any], *, descending: bool
) -> Steps[list[int]]:
    """The numbers of rows sorted by `key`, equal ones in their order; those whose key is None come last either way."""
    values = yield from mapped(key, range(n_rows))
    without = [row for row, value in enumerate(values) if value is None]
    valued = (
        [row for row, value in enumerate(values) if value is not None]
        if without
        else range(n_rows)
    )
    yield
    rows = yield from sorted_in_steps(valued, values.__getitem__, reverse=descending)
    return rows + without


def sorted_in_steps(
    rows: Sequence[int], key: Callable[[int], Any], *, reverse: bool = False
) -> Steps[list[int]]:
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


_HEX: Final = re.compile(
    r"(?:0x|\\x)((?:[0-9a-f]{2})+(?:(?: *|\\x)(?:[0-9a-f]{2})+)*)|((?:[0-9a-f]{2} )+[0-9a-f]{2})"
)
_ID: Final = re.compile(r"#?(\d{1,3}(?:,\d{3})+|\d{1,18})")


class Search(NamedTuple):
    r"""All readings of what is typed to find tokens; a token is found by any of them.

    Text, `casefold`ed, is found in labels, and a space finds the `␣` of a label. A number is an id, too; behind a
    `#` it is nothing else. `0x`, `\x`, or pairs of digits with spaces between begin bytes in hex.
    """

    text: str = ""
    id: int | None = None
    data: bytes = b""

    @classmethod
    def read(cls, typed: str) -> Self:
        r"""What is meant.

        >>> Search.read(" The"), Search.read("#1,024")
        (Search(text='␣the', id=None, data=b''), Search(text='', id=1024, data=b''))
        >>> Search.read("0xF09F"), Search.read("e2 80")
        (Search(text='0xf09f', id=None, data=b'\xf0\x9f'), Search(text='e2␣80', id=None, data=b'\xe2\x80'))
        """
        folded = typed.casefold()
        stripped = folded.strip()
        number, digits = _ID.fullmatch(stripped), _HEX.fullmatch(stripped)
        return cls(
            "" if number and stripped.startswith("#") else folded.replace(" ", "␣"),
            int(number[1].replace(",", "")) if number else None,
            bytes.fromhex((digits[1] or digits[2]).replace("\\x", ""))
            if digits
            else b"",
        )

    def match(self, label: str, token: bytes, id: int) -> int:
        """How well a token fits, given its `casefold`ed label: 3 by its id, 2 wholly, 1 in part, 0 not.

        >>> [Search.read("low").match(label, b"", 300) for label in ("low", "␣low", "slow", "high")]
        [2, 2, 1, 0]
        """
        if id == self.id:
            return 3
        if self.text and self.text in label:
            return 2 if label in (self.text, "␣" + self.text) else 1
        if self.data and self.data in token:
            return 2 if token == self.data else 1
        return 0
