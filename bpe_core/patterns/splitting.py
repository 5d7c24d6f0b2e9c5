"""The splitter: a text in, its pieces out, and where a text may be cut; one class for each kind of pattern."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final

import regex

from bpe_core import kernel
from bpe_core.kernel.grammars import scanner
from bpe_core.patterns.automaton import END, Automaton
from bpe_core.patterns.cuts import CutFinder
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.fast import FastPattern
from bpe_core.patterns.kinds import Kinds
from bpe_core.patterns.patience import enough_for, patience
from bpe_core.patterns.pattern import Else, Pattern, Split, Then, in_full
from bpe_core.patterns.syntax import Node, NotPlain, parse
from bpe_core.patterns.texts import Texts

_SEARCH_BACK: Final = (256, 4096)
"""How far from the end of a block, in characters, a cut is looked for before the whole block is."""

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


class _Whole(Splitter):
    """Every text is one piece."""

    def split(self, text: str) -> list[str]:
        return [text] if text else []

    def _places(self, text: str) -> list[Span]:
        return [(0, len(text))] if text else []

    def _compile_expressions(self) -> None:
        pass


class _ByExpression(Splitter):
    """By one regular expression; the matches of a published one that is not lossy cover any text."""

    def __init__(self, tree: Split) -> None:
        super().__init__(tree, tree.drops_rest)
        self._expression = tree.source
        self._own = None if tree.name else Expression(tree.source)
        """The expression if somebody brought it along."""

    def split(self, text: str) -> list[str]:
        if not self._own:
            if self._fast.reads(text):
                return self._fast.findall(text)
            pieces: list[str] = self._compiled.findall(text)
            return pieces
        if self.lossy:
            return [text[start:stop] for start, stop in self._places(text)]
        if self._tree and not self._own.has_groups:
            found = self._own.findall(text)
            if sum(map(len, found)) == len(text) and "" not in found:
                return found
        bounds = [0, *(at for span in self._own.spans(text) for at in span), len(text)]
        return [text[start:stop] for start, stop in pairwise(bounds) if start < stop]

    def _places(self, text: str) -> list[Span]:
        spans = self._own.spans(text) if self._own else [found.span() for found in self._compiled.finditer(text)]
        return [(start, stop) for start, stop in spans if start < stop]

    def _compile_expressions(self) -> None:
        if not self._own:
            self._fast.compile_all()

    def attempts_end_in(self, text: str) -> bool:
        return self.blockwise and self._automaton is not None and self._automaton.attempts_end_in(text)

    @cached_property
    def scanner(self) -> "kernel.Scanner | None":
        return None if self.lossy else scanner(self._expression)

    @cached_property
    def _tree(self) -> Node | None:
        try:
            return parse(self._expression)
        except (NotPlain, RecursionError):
            return None

    @cached_property
    def _automaton(self) -> Automaton | None:
        return Automaton(self._tree) if self._tree else None

    @cached_property
    def _sets(self) -> frozenset[str]:
        """The sources of all character sets in the expression; none if it is too involved to be asked."""
        return frozenset(self._automaton.sources) - {END} if self._automaton else frozenset()

    @cached_property
    def _cuts(self) -> CutFinder | None:
        return CutFinder(self._tree, self._automaton) if self._tree and self._automaton else None

    @cached_property
    def _kinds(self) -> Kinds | None:
        return Kinds(self._sets) if self._sets else None

    @cached_property
    def _fast(self) -> FastPattern:
        assert self._tree is not None, "the named patterns are all plain"
        return FastPattern(self._tree, self._sets)

    @cached_property
    def _compiled(self) -> Any:
        return regex.compile(self._expression)


class _InParts(Splitter):
    """Parts of a text, of which some are pieces and the others are split by the rest of the pattern."""

    def __init__(self, tree: Then | Else, rest: Splitter, lossy: bool) -> None:
        super().__init__(tree, lossy)
        self._rest = rest

    @abstractmethod
    def _parts(self, text: str) -> Iterable[tuple[int, int, bool]]:
        """Where each part begins and ends, and whether it is a piece."""

    def split(self, text: str) -> list[str]:
        pieces: list[str] = []
        with patience(enough_for(len(text))):
            for start, stop, is_piece in self._parts(text):
                pieces += [text[start:stop]] if is_piece else self._rest.split(text[start:stop])
        return pieces

    def _places(self, text: str) -> list[Span]:
        places: list[Span] = []
        with patience(enough_for(len(text))):
            for start, stop, is_piece in self._parts(text):
                inside = [(0, stop - start)] if is_piece else self._rest.places(text[start:stop])
                places += [(start + begin, start + end) for begin, end in inside]
        return places

    def _compile_expressions(self) -> None:
        self._rest.compile_all()


class _Then(_InParts):
    """The pieces of one splitter, split again.

    >>> from bpe_core.patterns import splitter
    >>> splitter(r"\\d(?#then)words").split("a 12 b")
    ['a', '1', '2', 'b']
    """

    def __init__(self, tree: Then) -> None:
        rest = made(tree.rest)
        self._first = made(tree.first)
        super().__init__(tree, rest, rest.lossy or self._first.lossy)

    def _parts(self, text: str) -> Iterable[tuple[int, int, bool]]:
        return ((start, stop, False) for start, stop in self._first.places(text))

    def _compile_expressions(self) -> None:
        self._first.compile_all()
        super()._compile_expressions()

    @cached_property
    def _cuts(self) -> CutFinder | None:
        return self._first._cuts  # the rest never sees more than one piece of the first


class _Else(_InParts):
    """What is found first, and the pieces that another splitter makes of what lies between.

    >>> from bpe_core.patterns import splitter
    >>> splitter(r"<.>(?#else)none").split("ab<c>d")
    ['ab', '<c>', 'd']
    """

    def __init__(self, tree: Else) -> None:
        rest = made(tree.rest)
        super().__init__(tree, rest, rest.lossy)
        self._texts = tree.texts
        self._first = Texts(tree.first) if isinstance(tree.first, tuple) else Expression(tree.first)

    def _parts(self, text: str) -> Iterable[tuple[int, int, bool]]:
        done = 0
        for start, stop in self._first.spans(text):
            yield done, start, False
            yield start, stop, start < stop
            done = stop
        yield done, len(text), False

    @cached_property
    def _cuts(self) -> CutFinder | None:
        # A text that is found first may stand beside a cut, but not across it.
        pairs = {one + other for text in self._texts for one, other in pairwise(text)}
        return self._rest._cuts.without(pairs) if self._texts and self._rest._cuts else None


def made(tree: Pattern) -> Splitter:
    """The splitter for a pattern. PatternError if one of its regular expressions is not valid."""
    match tree:
        case Then():
            return _Then(tree)
        case Else():
            return _Else(tree)
    return _ByExpression(tree) if tree.source or tree.drops_rest else _Whole(tree, lossy=False)
