"""Which merges the log shows, in which order, and which of them hold what is sought. Pure; knows no widget.

All of it in slices short enough to let a key through in between: a vocabulary may have 200,000 merges.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from heapq import merge as merged
from itertools import islice
from typing import TYPE_CHECKING, Final

from bpe_core.visible import token_label

if TYPE_CHECKING:
    from bpe_core.trainer import Merge

SHOWN: Final[Mapping[str, str]] = {
    "": "all",
    "longest": "longest",
    "used": "most used",
    "ties": "ties",
    "partial": "partial UTF-8",
    "unused": "used up",
}
"""What can be shown -> what the foot of the log calls it."""
COUNTED: Final = frozenset({"used", "ties", "unused"})
"""Those that only a training which counted can tell of."""
_SLICE: Final = 1024
"""Merges that are looked at in one go, in a few milliseconds."""

Rows = Generator[None, None, list[int]]
UsesOf = Callable[[int], int]
"""How often the token of an id is left in the corpus."""


def rows_shown(merges: Sequence["Merge"], shown: str, uses_of: UsesOf | None) -> Rows:
    """The indices of the merges that `shown`, a name of `SHOWN`, stands for; where uses are not known, none of them."""
    rows = range(len(merges))
    match shown:
        case "longest":
            return (yield from _sorted(merges, lambda merge: -len(merge.token_bytes)))
        case "used" if uses_of is not None:
            return (yield from _sorted(merges, lambda merge: -uses_of(merge.token)))
        case "ties":
            return (yield from _those(merges, lambda merge: merge.ties > 1))
        case "partial":
            return (yield from _those(merges, lambda merge: _is_partial(merge.token_bytes)))
        case "unused" if uses_of is not None:
            return (yield from _those(merges, lambda merge: not uses_of(merge.token)))
        case "used" | "unused":
            return []
    return list(rows)


def next_row(
    merges: Sequence["Merge"], rows: Sequence[int], start: int, by: int, sought: str
) -> Generator[None, None, int | None]:
    """The place in `rows` of the next merge that holds what is sought, from `start` on in steps of `by`, 1 or -1.

    Behind the last comes the first. None if there is none.
    """
    holds = sought_in(sought)
    n = len(rows)
    for distance in range(n):
        place = (start + by * distance) % n
        if holds(merges[rows[place]]):
            return place
        if distance % _SLICE == _SLICE - 1:
            yield
    return None


def sought_in(sought: str) -> Callable[["Merge"], bool]:
    """Whether a merge's token holds a text, whatever the case; or bytes, as 0x2074; or has an id, as a number.

    A space finds the ␣ of a label.
    """
    label = sought.casefold().replace(" ", "␣")
    number = int(sought) if sought.isascii() and sought.isdigit() and len(sought) < 12 else -1
    data = _bytes_of(sought)

    def holds(merge: "Merge") -> bool:
        token = merge.token_bytes
        return merge.token == number or label in token_label(token).casefold() or (bool(data) and data in token)

    return holds if sought else lambda merge: False


def _bytes_of(sought: str) -> bytes:
    prefix, _, digits = sought.partition("0x")
    try:
        return b"" if prefix else bytes.fromhex(digits)
    except ValueError:
        return b""


def _is_partial(token: bytes) -> bool:
    if token.isascii():
        return False
    try:
        token.decode()
    except UnicodeDecodeError:
        return True
    return False


def _those(merges: Sequence["Merge"], wanted: Callable[["Merge"], bool]) -> Rows:
    """The indices of the merges that pass the test, in order."""
    found: list[int] = []
    for start in range(0, len(merges), _SLICE):
        part = merges[start : start + _SLICE]
        found += [start + index for index, merge in enumerate(part) if wanted(merge)]
        yield
    return found


def _sorted(merges: Sequence["Merge"], key: Callable[["Merge"], int]) -> Rows:
    """All indices sorted by a key, equal keys in order: slices are sorted one by one, and then merged."""
    runs: list[list[tuple[int, int]]] = []
    for start in range(0, len(merges), _SLICE):
        part = merges[start : start + _SLICE]
        runs.append(sorted((key(merge), start + index) for index, merge in enumerate(part)))
        yield
    together: Iterable[tuple[int, int]] = merged(*runs)
    rows = (row for _, row in together)
    done: list[int] = []
    while part_of_it := list(islice(rows, _SLICE)):
        done += part_of_it
        yield
    return done
