"""Splitters: they cut texts into pieces, and find where a long text may be cut without changing them."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final

import regex

from bpe_core import kernel
from bpe_core.kernel.grammars import scanner
from bpe_core.patterns.automaton import (
    Automaton,
    CutFinder,
    InnerCutFinder,
    Kinds,
    automaton_of,
)
from bpe_core.patterns.expression import Expression, enough_for, patience
from bpe_core.patterns.pattern import Else, Pattern, Split, Then, parse
from bpe_core.patterns.text_search import TextSearch

Span = tuple[int, int]  # (start, end) in a text, in code points, `end` exclusive


class Splitter:
    """Cuts texts into pieces by one pattern; this class itself makes one piece of every text. `splitter` makes it, and
    shares it between callers."""

    def __init__(self, tree: Pattern, lossy: bool) -> None:
        self.tree: Final = tree  # two that are equal, names aside, give the same pieces
        self.pattern: Final = str(
            tree
        )  # in the notation of `bpe_core.patterns.pattern`, names where they were given
        # The expression of a published pattern, else `pattern`; "" makes one piece of a document.
        self.source: Final = (
            tree.source if isinstance(tree, Split) and tree.name else self.pattern
        )
        self.lossy: Final = lossy  # whether text between pieces is dropped, so that decoding cannot restore it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Splitter) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self.tree)

    def __reduce__(self) -> tuple[Callable[[str], "Splitter"], tuple[str]]:
        return splitter, (self.pattern,)

    def split(self, text: str) -> list[str]:
        """The pieces of `text` in order, none empty; joined they are `text` again unless the pattern is lossy.

        PatternError if an untrusted regular expression takes too long.

        >>> from bpe_core.patterns import splitter
        >>> splitter("gpt2").split("Hello world! I'm fine.")
        ['Hello', ' world', '!', ' I', "'m", ' fine', '.']
        """
        return [text] if text else []

    def places(self, text: str) -> list[Span]:
        """(start, end) of each piece of `text`, in code points."""
        ends = list(accumulate(map(len, self.split(text))))
        return list(zip([0, *ends], ends, strict=False))

    def may_hold(self, text: str) -> bool:
        """Whether a piece of some text may hold `text` as a part; False is a proof that none does."""
        return True

    @cached_property
    def blockwise(self) -> bool:
        """Whether safe cuts are known, so that a long text can be split in blocks; see `patterns.automaton`."""
        return bool(self._cuts)

    def cut(self, text: str, at_least: int) -> int:
        """The least i >= `at_least` that is a safe cut: split(text[:i]) + split(text[i:]) == split(text). 0 is one, and
        so is `len(text)`, if no other is known."""
        if at_least <= 0:
            return 0
        return self._cuts.end_of_first(text, at_least - 1) if self._cuts else len(text)

    def is_safe_cut(self, pair: str) -> bool:
        """Whether a text may be cut between two characters, whatever else it holds."""
        return self.cut(pair, 1) == 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """One character of each kind that the pattern distinguishes; a sample where the pattern cannot be analyzed."""
        sample = dict.fromkeys("aA1 \t\n\r'\"_-./中\u0301" + self.source[:40])
        return tuple(sample) if self._kinds is None else self._kinds.examples

    def alike(self, text: str) -> str:
        """`text` with each character replaced by that of its kind: texts that become equal are split alike."""
        return text if self._kinds is None else text.translate(self._kinds)

    @cached_property
    def scanner(self) -> "kernel.Scanner | None":
        """The scanner of the kernel that splits as this pattern does; None if there is none."""
        return (
            scanner(self.tree.source)
            if isinstance(self.tree, Split) and not self.lossy
            else None
        )

    def parts(self, blocks: Iterable[str]) -> Iterator[str]:
        """One document that comes in blocks of any size, cut at safe cuts into parts that can be split one by one.
        About two blocks are held, more where safe cuts are farther apart, and the whole document if not `blockwise`."""
        if not self.blockwise:
            blocks = ["".join(blocks)]
        held: list[str] = []
        for block in filter(None, blocks):
            text = (edge := held[-1][-1] if held else "") + block
            near_the_end = (
                self.cut(text, max(1, len(text) - back))
                for back in (256, 4096, len(text))
            )
            cut = next((at - len(edge) for at in near_the_end if at < len(text)), None)
            held.append(block[:cut])
            if cut is not None:
                yield "".join(held)
                held = [block[cut:]]
        if held:
            yield "".join(held)

    @cached_property
    def _automaton(self) -> Automaton | None:
        """Of the one expression that splits; None if there is none, or it cannot be analyzed."""
        return (
            automaton_of(self.tree.source)
            if isinstance(self.tree, Split) and self.tree.source
            else None
        )

    @cached_property
    def _cuts(self) -> CutFinder | InnerCutFinder | None:
        """Finds safe cuts, and is false if the pattern has none."""
        return CutFinder(self._automaton) if self._automaton else None

    @cached_property
    def _kinds(self) -> "Kinds | None":
        return Kinds(frozenset(self._automaton.sources)) if self._automaton else None


class _ByExpression(Splitter):
    """Split by one regular expression. The published ones but "words" match all of any text, so find the pieces."""

    def __init__(self, tree: Split) -> None:
        super().__init__(tree, tree.drops_rest)
        self._own = (
            None if tree.name else Expression(tree.source)
        )  # untrusted unless it is a published one

    def split(self, text: str) -> list[str]:
        if not self._own:
            return self._published.findall(text)  # type: ignore[no-any-return]
        if self.lossy:
            return [text[start:stop] for start, stop in self.places(text)]
        if self._automaton and not self._own.has_groups:
            found = self._own.findall(text)
            if sum(map(len, found)) == len(text) and "" not in found:
                return found
        bounds = [0, *(at for span in self._own.spans(text) for at in span), len(text)]
        return [text[start:stop] for start, stop in pairwise(bounds) if start < stop]

    def places(self, text: str) -> list[Span]:
        if not self.lossy:
            return super().places(text)
        spans = (
            self._own.spans(text)
            if self._own
            else [found.span() for found in self._published.finditer(text)]
        )
        return [(start, stop) for start, stop in spans if start < stop]

    def may_hold(self, text: str) -> bool:
        finds_all = (
            self.lossy or not self._own
        )  # otherwise what is between two matches is a piece, too
        return not (finds_all and self._automaton) or self._automaton.may_hold(text)

    @cached_property
    def _published(self) -> Any:
        return regex.compile(self.source)


class _InParts(Splitter):
    """A text is divided into parts, which the rest of the pattern splits: of a `Then` the pieces of its first side, of
    an `Else` what is between the matches of it, which are pieces."""

    def __init__(self, tree: Then | Else) -> None:
        self._rest = made(tree.rest)
        self._texts = (
            tree.first if isinstance(tree.first, tuple) else ()
        )  # that are found first
        self._first: Splitter | TextSearch | Expression
        if isinstance(tree, Then):
            self._first = made(tree.first)
        else:
            self._first = (
                TextSearch(tree.first)
                if isinstance(tree.first, tuple)
                else Expression(tree.first)
            )
        super().__init__(
            tree,
            self._rest.lossy
            or (isinstance(self._first, Splitter) and self._first.lossy),
        )

    def _parts(self, text: str) -> Iterator[tuple[int, int, bool]]:
        """(start, end, whether it is a piece) of each part, in code points."""
        if isinstance(self._first, Splitter):
            yield from (
                (start, stop, False) for start, stop in self._first.places(text)
            )
            return
        done = 0
        for start, stop in self._first.spans(text):
            yield done, start, False
            yield start, stop, start < stop
            done = stop
        yield done, len(text), False

    def split(self, text: str) -> list[str]:
        pieces: list[str] = []
        with patience(enough_for(len(text))):
            for start, stop, is_piece in self._parts(text):
                pieces += (
                    [text[start:stop]]
                    if is_piece
                    else self._rest.split(text[start:stop])
                )
        return pieces

    def places(self, text: str) -> list[Span]:
        places: list[Span] = []
        with patience(enough_for(len(text))):
            for start, stop, is_piece in self._parts(text):
                inside = (
                    [(0, stop - start)]
                    if is_piece
                    else self._rest.places(text[start:stop])
                )
                places += [(start + begin, start + end) for begin, end in inside]
        return places

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*super().kinds, *self._rest.kinds)))

    def may_hold(self, text: str) -> bool:
        if isinstance(self._first, Splitter):
            return self._first.may_hold(text) and self._rest.may_hold(text)
        return (
            not self._texts
            or self._rest.may_hold(text)
            or any(text in one for one in self._texts)
        )

    @cached_property
    def _cuts(self) -> CutFinder | InnerCutFinder | None:
        if isinstance(self._first, Splitter):
            first, rest = self._first._cuts, self._rest._cuts
            return (
                InnerCutFinder(first, rest)
                if isinstance(first, CutFinder) and rest is not None
                else first
            )
        # A text that is found first may stand beside a cut, but not across it.
        pairs = {one + other for text in self._texts for one, other in pairwise(text)}
        cuts = self._rest._cuts
        return cuts.without(frozenset(pairs)) if self._texts and cuts else None


@lru_cache(maxsize=64)
def splitter(pattern: str) -> Splitter:
    """The splitter for a name in PATTERNS, or for a pattern in the grammar of `bpe_core.patterns.pattern`. PatternError
    if a regular expression in it is not valid, and for a bare word that is no name: it is taken for a wrong one."""
    return made(parse(pattern))


def made(tree: Pattern) -> Splitter:
    """The splitter for a pattern. PatternError if one of its regular expressions is not valid."""
    if not isinstance(tree, Split):
        return _InParts(tree)
    return (
        _ByExpression(tree)
        if tree.source or tree.drops_rest
        else Splitter(tree, lossy=False)
    )
