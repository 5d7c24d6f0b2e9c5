"""Equivalence classes of characters under a pattern: two are of one kind if they are in the same of its sets."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import pairwise

from bpe_core.patterns.char_sets import BMP, members


class Kinds(dict[int, str]):
    """Code point -> the character that represents its kind; a table for `str.translate`.

    Characters past the Basic Multilingual Plane represent themselves.
    """

    def __init__(self, sets: Collection[str]) -> None:
        """`sets` are the expressions of all character sets of the pattern."""
        examples: dict[frozenset[str], str] = {}
        ranges = list(same_sets(sets, BMP))
        self._lows = [low for low, _, _ in ranges]
        self._examples = [examples.setdefault(holding, chr(low)) for low, _, holding in ranges]
        self.examples = tuple(examples.values())
        """The representative of each kind of the Basic Multilingual Plane."""

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
