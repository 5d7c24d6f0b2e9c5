"""Searching for many texts at once: the special tokens of a tokenizer, which can be tens of thousands."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

_MOST_HEADS: Final = 64
"""Maximum number of different heads in the expression: more are slow to compile and to search."""


class TextSearch:
    """Finds occurrences of given texts from left to right, the longest text at each place.

    An expression finds the heads of the texts, their first 1 to 4 characters. At each head, the
    substrings of the lengths of the texts with this head are looked up, the longest first.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: Final = frozenset(filter(None, texts))
        self._head_length: Final = _head_length(self._texts)
        lengths_of: defaultdict[str, set[int]] = defaultdict(set)
        for text in self._texts:
            lengths_of[text[: self._head_length]].add(len(text))
        self._lengths: Final = {
            head: sorted(lengths, reverse=True) for head, lengths in lengths_of.items()
        }
        heads = [re.escape(head) for head in sorted(lengths_of)]
        any_head = "|".join(heads)
        if self._head_length == 1:
            any_head = f"[{''.join(heads)}]"
        self._find_head: Final = re.compile(any_head).search if heads else None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each occurrence, in code points, ascending and without overlaps."""
        find_head = self._find_head
        head = find_head(text) if find_head else None
        while head and find_head:
            start = head.start()
            end = self._end_of_longest(text, start)
            if end is None:
                head = find_head(text, start + 1)
            else:
                yield start, end
                head = find_head(text, end)

    def _end_of_longest(self, text: str, start: int) -> int | None:
        """Return where the longest text that occurs at `start` ends; None if none does."""
        for length in self._lengths[text[start : start + self._head_length]]:
            candidate = text[start : start + length]  # shorter at the end of the text
            if candidate in self._texts:
                return start + len(candidate)
        return None


def _head_length(texts: frozenset[str]) -> int:
    """Return the greatest length, at most 4, at which the texts have few different heads."""
    shortest = min(map(len, texts), default=1)
    for length in range(min(4, shortest), 1, -1):
        if len({text[:length] for text in texts}) <= _MOST_HEADS:
            return length
    return 1
