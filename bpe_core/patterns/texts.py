"""Many texts looked for at once, such as the special tokens of a tokenizer, of which some have tens of thousands."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

_LONGEST_HEAD: Final = 4
_FEW: Final = 64
"""Texts, or beginnings of texts, that an expression looks for: it takes long to be compiled with more, and to try."""


class Texts:
    """Finds any of some texts: the leftmost first, and of several at one place the longest."""

    __slots__ = ("_find_few", "_find_head", "_head", "_lengths", "_texts")

    def __init__(self, texts: Iterable[str]) -> None:
        """An empty one is never found."""
        self._texts: Final = frozenset(filter(None, texts))
        few = sorted(self._texts, key=lambda text: (-len(text), text)) if 0 < len(self._texts) <= _FEW else []
        self._find_few: Final = re.compile("|".join(map(re.escape, few))).finditer if few else None
        self._head: Final = next(
            (n for n in range(min(map(len, self._texts), default=0), 1, -1) if n <= _LONGEST_HEAD and self._few(n)), 1
        )
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for text in self._texts:
            lengths[text[: self._head]].add(len(text))
        self._lengths: Final = {head: sorted(found, reverse=True) for head, found in lengths.items()}
        heads = list(map(re.escape, sorted(lengths)))
        either = f"[{''.join(heads)}]" if self._head == 1 else "|".join(heads)
        self._find_head: Final = re.compile(either).search if heads else None

    def _few(self, length: int) -> bool:
        return len({text[:length] for text in self._texts}) <= _FEW

    def __contains__(self, text: object) -> bool:
        return text in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where each that is found begins and ends; none overlap."""
        if self._find_few:
            for match in self._find_few(text):
                yield match.span()
            return
        find, texts, size = self._find_head, self._texts, self._head
        found = find(text) if find else None
        while found and find:
            start = found.start()
            for length in self._lengths[text[start : start + size]]:
                piece = text[start : start + length]  # shorter where the text ends
                if piece in texts:
                    yield start, start + len(piece)
                    found = find(text, start + len(piece))
                    break
            else:
                found = find(text, start + 1)
