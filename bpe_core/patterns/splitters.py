"""A subclass of `Splitter` for each node of a pattern tree: no split, one expression, `Then`, `Else`."""

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any

import regex

from bpe_core import kernel
from bpe_core.kernel.grammars import scanner
from bpe_core.patterns.automaton import END, Automaton
from bpe_core.patterns.char_sets import Kinds
from bpe_core.patterns.cuts import CutFinder
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.patience import enough_for, patience
from bpe_core.patterns.pattern import Else, Pattern, Split, Then
from bpe_core.patterns.splitting import Span, Splitter
from bpe_core.patterns.syntax import Node, NotPlain, parse
from bpe_core.patterns.text_search import TextSearch


class _Whole(Splitter):
    """Every text is one piece."""

    def split(self, text: str) -> list[str]:
        return [text] if text else []

    def _places(self, text: str) -> list[Span]:
        return [(0, len(text))] if text else []

    def _compile_expressions(self) -> None:
        pass


class _ByExpression(Splitter):
    """Split by one regular expression.

    The published ones match every character of any text, except "words", so that their matches are the pieces.
    """

    def __init__(self, tree: Split) -> None:
        super().__init__(tree, tree.drops_rest)
        self._expression = tree.source
        self._own = None if tree.name else Expression(tree.source)
        """The expression if it is untrusted; None for a published one."""

    def split(self, text: str) -> list[str]:
        if not self._own:
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
        _ = self._compiled
        if self.scanner:
            self.scanner.ends("\N{GRINNING FACE}".encode())  # the sets of its plane, most of what lies beyond the first

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
        """The expressions of all character sets in it; empty if `syntax.parse` refuses it."""
        return frozenset(self._automaton.sources) - {END} if self._automaton else frozenset()

    @cached_property
    def _cuts(self) -> CutFinder | None:
        return CutFinder(self._tree, self._automaton) if self._tree and self._automaton else None

    @cached_property
    def _kinds(self) -> Kinds | None:
        return Kinds(self._sets) if self._sets else None

    @cached_property
    def _compiled(self) -> Any:
        return None if self._own else regex.compile(self._expression)


class _InParts(Splitter):
    """A text is divided into parts; some parts are pieces, the others are split by the rest of the pattern."""

    def __init__(self, tree: Then | Else, rest: Splitter, lossy: bool) -> None:
        super().__init__(tree, lossy)
        self._rest = rest

    @abstractmethod
    def _parts(self, text: str) -> Iterable[tuple[int, int, bool]]:
        """(start, end, whether it is a piece) of each part, in code points."""

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
    """Each match of the first side, and the pieces that another splitter makes of the text between matches.

    >>> from bpe_core.patterns import splitter
    >>> splitter(r"<.>(?#else)none").split("ab<c>d")
    ['ab', '<c>', 'd']
    """

    def __init__(self, tree: Else) -> None:
        rest = made(tree.rest)
        super().__init__(tree, rest, rest.lossy)
        self._texts = tree.texts
        self._first = TextSearch(tree.first) if isinstance(tree.first, tuple) else Expression(tree.first)

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
