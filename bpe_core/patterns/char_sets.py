"""Sets of characters as ranges of code points, computed by the `regex` module itself, and the kinds they make.

Only the Basic Multilingual Plane is covered: nearly all text is in it, and `regex` lists a set of it in milliseconds.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

import regex

from bpe_core.utf8 import every_character

Ranges = tuple[tuple[int, int], ...]  # half-open ranges of code points, ascending, none touching the next

BMP: Final = 0x10000  # the end of the Basic Multilingual Plane; what lies at or past it is called astral
ASCII: Final = 0x80  # its end; members below it are listed in a tenth of the time that the plane takes


@lru_cache(maxsize=512)
def members(chars: str, end: int = BMP) -> Ranges:
    r"""The code points below `end` that `chars` matches, a regular expression of exactly one character.

    >>> members(r"[a-c\r\n]")
    ((10, 11), (13, 14), (97, 100))
    """
    return tuple(match.span() for match in regex.finditer(f"(?:{chars})++", every_character(0, end)))


def union(sets: Iterable[Ranges]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(chain.from_iterable(sets)):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """All code points of the Basic Multilingual Plane that are not in the set."""
    edges = [0, *chain.from_iterable(ranges), BMP]
    return tuple((low, high) for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high)


def without(ranges: Ranges, removed: Ranges) -> Ranges:
    return complement(union((complement(ranges), removed)))


def set_source(ranges: Sequence[tuple[int, int]]) -> str:
    r"""The set as a character class in the syntax that `re` and `regex` share; `ranges` is not empty.

    >>> set_source(((48, 58), (95, 96)))
    '[\\u0030-\\u0039\\u005f]'
    """

    # A character stands as itself, which compiles faster, or is escaped where it could be syntax.
    ends = [[chr(code) if code > 0xA0 else f"\\u{code:04x}" for code in (low, high - 1)] for low, high in ranges]
    return f"[{''.join(low if low == last else f'{low}-{last}' for low, last in ends)}]"


class Kinds(dict[int, str]):
    """Code point -> the character that represents its kind, for `str.translate`; astral ones represent themselves. Two
    characters are of one kind if they are in the same of the pattern's sets: `sets`, expressions of one character."""

    def __init__(self, sets: Collection[str]) -> None:
        examples: dict[frozenset[str], str] = {}
        ranges = list(same_sets(sets, BMP))
        self._lows = [low for low, _, _ in ranges]
        self._examples = [examples.setdefault(holding, chr(low)) for low, _, holding in ranges]
        self.examples = tuple(examples.values())  # the representative of each kind of the Basic Multilingual Plane

    def __missing__(self, code: int) -> str:
        example = self[code] = self._examples[bisect_right(self._lows, code) - 1] if code < BMP else chr(code)
        return example


def same_sets(sets: Collection[str], end: int) -> Iterator[tuple[int, int, frozenset[str]]]:
    """(low, high, the sets that contain them) for ranges of code points that partition 0 to `end`; `high` exclusive."""
    toggles: dict[int, set[str]] = defaultdict(set)
    for source in sets:
        for low, high in members(source, end):
            toggles[low] ^= {source}
            toggles[high] ^= {source}
    here: set[str] = set()
    for low, high in pairwise(sorted({0, end, *toggles})):
        here ^= toggles.get(low, set())
        yield low, high, frozenset(here)
