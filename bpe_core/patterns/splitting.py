"""The splitter: cuts a text into pieces, and finds where a long text may be cut without changing them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

from bpe_core import kernel
from bpe_core.patterns.char_sets import Kinds
from bpe_core.patterns.cuts import CutFinder
from bpe_core.patterns.pattern import Pattern, in_full

_SEARCH_BACK: Final = (256, 4096)
"""How many characters at the end of a block are searched for a safe cut, in turn, before the whole block is."""

_REMEMBERED: Final = 1 << 14
"""Pairs of characters of which it is remembered whether a text may be cut between them."""

_VARIED: Final = tuple("aA1 \t\n\r'\"_-./中\u0301")
_SPELLED: Final = 40
"""How many characters of a pattern's source are added to `_VARIED`, as kinds of a pattern that cannot be analyzed."""

Span = tuple[int, int]
"""(start, end) in a text, in code points, `end` exclusive."""


class Splitter(ABC):
    """Cuts texts into pieces by one pattern; made by `bpe_core.patterns.splitter`, which shares it between callers."""

    def __init__(self, tree: Pattern, lossy: bool) -> None:
        self.tree: Final = tree
        """The syntax tree of the pattern."""
        self.pattern: Final = str(tree)
        """The pattern in the notation of `bpe_core.patterns.pattern`, with names where they were given."""
        self.source: Final = in_full(tree)
        """The pattern with regular expressions instead of names; "" makes one piece of a document."""
        self.lossy: Final = lossy
        """Whether text between pieces is dropped, so that decoding cannot restore it."""

    def __repr__(self) -> str:
        return f"splitter({self.pattern!r})"

    def is_like(self, other: "Splitter") -> bool:
        """Whether both have equal pattern trees, names aside, and so give the same pieces."""
        return self.tree == other.tree

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The pieces of `text` in order, none empty; joined they are `text` again unless the pattern is lossy.

        PatternError if an untrusted regular expression takes too long.

        >>> from bpe_core.patterns import splitter
        >>> splitter("gpt2").split("Hello world! I'm fine.")
        ['Hello', ' world', '!', ' I', "'m", ' fine', '.']
        """

    def places(self, text: str) -> list[Span]:
        """(start, end) of each piece of `text`, in code points."""
        if self.lossy:
            return self._places(text)
        ends = list(accumulate(map(len, self.split(text))))
        return list(zip([0, *ends], ends, strict=False))

    @abstractmethod
    def _places(self, text: str) -> list[Span]:
        """`places`, where the pattern may be lossy."""

    @cached_property
    def blockwise(self) -> bool:
        """Whether safe cuts are known (see `bpe_core.patterns.cuts`), so that a long text can be split in blocks.

        If not, a document is split as a whole, and an edit may change any of its pieces.
        """
        return bool(self._cuts)

    def cut(self, text: str, at_least: int) -> int:
        """The least i >= `at_least` that is a safe cut: split(text[:i]) + split(text[i:]) == split(text).

        0 if `at_least` is 0 or less; `len(text)` if no safe cut is known.
        """
        if at_least <= 0:
            return 0
        found = None if self._cuts is None else self._cuts.end_of_first(text, at_least - 1)
        return len(text) if found is None else found

    @cached_property
    def is_safe_cut(self) -> Callable[[str], bool]:
        """Whether a text may be cut between two characters, whatever else it holds; remembered for many pairs."""
        return lru_cache(_REMEMBERED)(lambda pair: self.cut(pair, 1) == 1)

    def compile_all(self) -> None:
        """Compile all expressions now, which takes about 0.1 s, rather than at the first `split` or `cut`."""
        self._compile_expressions()
        if self._cuts:
            self._cuts.compile_all()

    @abstractmethod
    def _compile_expressions(self) -> None:
        """Compile what `split` needs."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """One character of each kind that the pattern distinguishes; a sample where the pattern cannot be analyzed."""
        if self._kinds is None:
            return tuple(dict.fromkeys((*_VARIED, *self.source[:_SPELLED])))
        return self._kinds.examples

    def alike(self, text: str) -> str:
        """`text` with each character replaced by that of its kind in `kinds`: texts that become equal are split alike.

        `text` itself where the pattern cannot be analyzed.

        >>> from bpe_core.patterns import splitter
        >>> splitter("gpt2").alike("Zoë's") == splitter("gpt2").alike("Joe's")
        False
        >>> splitter("gpt2").alike("Zoé") == splitter("gpt2").alike("Job")
        True
        """
        return text if self._kinds is None else text.translate(self._kinds)

    @property
    def scanner(self) -> "kernel.Scanner | None":
        """The compiled scanner of the kernel that splits as this pattern does; None if there is none."""
        return None

    def pieces(self, blocks: Iterable[str]) -> Iterator[list[str]]:
        """The pieces of one document that comes in blocks of any size: a list for each of its `parts`."""
        return map(self.split, self.parts(blocks))

    def parts(self, blocks: Iterable[str]) -> Iterator[str]:
        """One document that comes in blocks of any size, cut at safe cuts into parts that can be split one by one.

        Holds about two blocks at a time, more where the text between two safe cuts is longer, and the whole document
        if not `blockwise`.
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
        """A safe cut inside `text`, near its end though not always the last; -1 if there is none."""
        for back in (*_SEARCH_BACK, len(text)):
            cut = self.cut(text, max(1, len(text) - back))
            if cut < len(text):
                return cut
        return -1

    @cached_property
    def _cuts(self) -> CutFinder | None:
        """Finds safe cuts, and is false if the pattern has none; None if the pattern cannot be analyzed."""
        return None

    @cached_property
    def _kinds(self) -> Kinds | None:
        return None
