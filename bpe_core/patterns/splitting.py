"""The splitter: a text in, its pieces out, and where a text may be cut."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

from bpe_core import kernel
from bpe_core.patterns.cuts import CutFinder
from bpe_core.patterns.kinds import Kinds
from bpe_core.patterns.pattern import Pattern, in_full

_SEARCH_BACK: Final = (256, 4096)
"""How far from the end of a block, in characters, a cut is looked for before the whole block is."""

_REMEMBERED: Final = 1 << 14
"""Pairs of characters of which it is remembered whether a text may be cut between them."""

_VARIED: Final = tuple("aA1 \t\n\r'\"_-./中\u0301")
_SPELLED: Final = 40
"""Characters of a pattern's source that are taken for kinds where nothing better is known."""

Span = tuple[int, int]
"""Where something begins and ends in a text, in code points."""


class Splitter(ABC):
    """A text in, its pieces out; made by `bpe_core.patterns.splitter`, and one object for all who ask for a pattern."""

    def __init__(self, tree: Pattern, lossy: bool) -> None:
        self.tree: Final = tree
        """The pattern."""
        self.pattern: Final = str(tree)
        """The pattern as it was given: a name, or regular expressions with marks between them."""
        self.source: Final = in_full(tree)
        """The pattern with regular expressions instead of names; "" keeps a document whole."""
        self.lossy: Final = lossy
        """Whether text between pieces is dropped, so that decoding cannot bring it back."""

    def __repr__(self) -> str:
        return f"splitter({self.pattern!r})"

    def is_like(self, other: "Splitter") -> bool:
        """Whether it is the same pattern, perhaps under another name, and so gives the same pieces."""
        return self.tree == other.tree

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The pieces of `text` in order, none empty; joined they are `text` again unless the pattern is lossy.

        PatternError if a regular expression of one's own takes too long.

        >>> from bpe_core.patterns import splitter
        >>> splitter("gpt2").split("Hello world! I'm fine.")
        ['Hello', ' world', '!', ' I', "'m", ' fine', '.']
        """

    def places(self, text: str) -> list[Span]:
        """Where each piece of `text` begins and ends."""
        if self.lossy:
            return self._places(text)
        ends = list(accumulate(map(len, self.split(text))))
        return list(zip([0, *ends], ends, strict=False))

    @abstractmethod
    def _places(self, text: str) -> list[Span]:
        """The places of the pieces, of a pattern that may be lossy."""

    @cached_property
    def blockwise(self) -> bool:
        """Whether a long text can be split in blocks; if not, only whole documents are, and an edit may change all.

        True where the pattern is proved to look across no cut; see `bpe_core.patterns.cuts`.
        """
        return bool(self._cuts)

    def cut(self, text: str, at_least: int) -> int:
        """The smallest index from `at_least` on where `text` may be cut without changing any piece.

        That is, split(text[:i]) + split(text[i:]) == split(text). `len(text)` if there is none.
        """
        if at_least <= 0:
            return 0
        found = self._cuts.end_of_first(text, at_least - 1) if self._cuts else None
        return len(text) if found is None else found

    @cached_property
    def is_safe_cut(self) -> Callable[[str], bool]:
        """Whether a text may be cut between two characters, whatever else it holds; remembered for many pairs."""
        return lru_cache(_REMEMBERED)(lambda pair: self.cut(pair, 1) == 1)

    def compile_all(self) -> None:
        """Compile what is compiled when first needed otherwise: a tenth of a second that no text waits for then."""
        self._compile_expressions()
        if self._cuts:
            self._cuts.compile_all()

    @abstractmethod
    def _compile_expressions(self) -> None:
        """Compile what `split` needs."""

    def attempts_end_in(self, text: str) -> bool:
        """Whether it is known that no match attempt that begins before the second character looks past `text`."""
        return False

    @property
    def kinds(self) -> tuple[str, ...]:
        """A character of each kind that the pattern tells apart; a varied few where it is too involved to be asked."""
        if self._kinds is None:
            return tuple(dict.fromkeys((*_VARIED, *self.source[:_SPELLED])))
        return self._kinds.examples

    def alike(self, text: str) -> str:
        """A text that is split as `text` is, made of the characters of `kinds` as far as they are known.

        >>> from bpe_core.patterns import splitter
        >>> splitter("gpt2").alike("Zoë's") == splitter("gpt2").alike("Joe's")
        False
        >>> splitter("gpt2").alike("Zoé") == splitter("gpt2").alike("Job")
        True
        """
        return text if self._kinds is None else text.translate(self._kinds)

    @property
    def scanner(self) -> "kernel.Scanner | None":
        """What splits compiled; None where the kernel has nothing that splits as this pattern does."""
        return None

    def pieces(self, blocks: Iterable[str]) -> Iterator[list[str]]:
        """The pieces of one document that comes in blocks of any size, as lists; memory is held as by `parts`."""
        return map(self.split, self.parts(blocks))

    def parts(self, blocks: Iterable[str]) -> Iterator[str]:
        """One document that comes in blocks of any size, in parts that can be split each by itself.

        At most about two blocks are held at a time, or as much as the longest part without a safe cut.
        """
        if not self.blockwise:
            blocks = ["".join(blocks)]
        held: list[str] = []
        for block in filter(None, blocks):
            edge = held[-1][-1] if held else ""
            cut = self._late_cut(edge + block) - len(edge)
            if cut < 0:
                held.append(block)
                continue
            held.append(block[:cut])
            yield "".join(held)
            held = [block[cut:]]
        if held:
            yield "".join(held)

    def _late_cut(self, text: str) -> int:
        """A safe cut as near to the end of `text` as is cheap to find; -1 if there is none inside it."""
        for back in (*_SEARCH_BACK, len(text)):
            cut = self.cut(text, max(1, len(text) - back))
            if cut < len(text):
                return cut
        return -1

    @cached_property
    def _cuts(self) -> CutFinder | None:
        """What finds safe cuts, and is false if there are none; None if none are known."""
        return None

    @cached_property
    def _kinds(self) -> Kinds | None:
        return None
