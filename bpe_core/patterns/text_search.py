"""Multi-string search, for the special tokens of a tokenizer, of which some have tens of thousands."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

_MOST_HEADS: Final = 64  # different heads in the expression at most: more are slow to compile and to search


class TextSearch:
    """Finds occurrences of any of some texts from left to right, at each place the longest. An expression finds their
    heads, their first 1 to 4 characters; there, the substrings of the lengths that texts with this head have are looked
    up, the longest first."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: Final = frozenset(filter(None, texts))
        longest = min(4, *map(len, self._texts)) if self._texts else 1
        few = (
            n
            for n in range(longest, 1, -1)
            if len({text[:n] for text in self._texts}) <= _MOST_HEADS
        )
        self._head_length: Final = next(few, 1)
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for text in self._texts:
            lengths[text[: self._head_length]].add(len(text))
        self._lengths: Final = {
            head: sorted(found, reverse=True) for head, found in lengths.items()
        }
        heads = list(map(re.escape, sorted(lengths)))
        either = f"[{''.join(heads)}]" if self._head_length == 1 else "|".join(heads)
        self._find_head: Final = re.compile(either).search if heads else None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each occurrence, in code points, ascending, none overlapping another."""
        find, texts, n_head = self._find_head, self._texts, self._head_length
        found = find(text) if find else None
        while found and find:
            start = found.start()
            for length in self._lengths[text[start : start + n_head]]:
                piece = text[start : start + length]  # shorter where the text ends
                if piece in texts:
                    yield start, start + len(piece)
                    found = find(text, start + len(piece))
                    break
            else:
                found = find(text, start + 1)
