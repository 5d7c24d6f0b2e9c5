"""Splitters cut texts into pieces, and find where a long text can be cut without changing its pieces."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import regex

from bpe_core import kernel
from bpe_core.cached import cached_property
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

Span = tuple[int, int]
"""(start, end) in a text, in code points, without `end`."""


class Splitter:
    """Cuts texts into pieces by one pattern; this class itself makes one piece of every text.

    `splitter` makes a splitter and shares it between callers.
    """

    def __init__(self, tree: Pattern, lossy: bool) -> None:
        self.tree: Final = tree
        """The syntax tree of the pattern. Splitters with equal trees give the same pieces; names don't count."""
        self.pattern: Final = str(tree)
        """The pattern in the notation of `bpe_core.patterns.pattern`, with the names that were given."""
        self.source: Final = (
            tree.source if isinstance(tree, Split) and tree.name else self.pattern
        )
        """The expression of a published pattern, otherwise `pattern`; "" makes one piece of a document."""
        self.lossy: Final = lossy
        """Whether text between pieces is dropped, so that decoding cannot restore it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Splitter) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self.tree)

    def __reduce__(self) -> tuple[Callable[[str], "Splitter"], tuple[str]]:
        return splitter, (self.pattern,)

    def split(self, text: str) -> list[str]:
        """Return the pieces of `text` in order. They add up to `text`, unless the pattern is lossy.

        Raises:
            PatternError: An untrusted regular expression takes too long.

        Examples:
            >>> from bpe_core.patterns import splitter
            >>> splitter("gpt2").split("Hello world! I'm fine.")
            ['Hello', ' world', '!', ' I', "'m", ' fine', '.']
        """
        return [text] if text else []

    def places(self, text: str) -> list[Span]:
        """Return (start, end) of each piece of `text`."""
        ends = list(accumulate(map(len, self.split(text))))
        return list(zip([0, *ends], ends, strict=False))

    def may_hold(self, text: str) -> bool:
        """Whether a piece of some text may contain `text`. False is a proof that none does."""
        return True

    @cached_property
    def blockwise(self) -> bool:
        """Whether safe cuts are known, so that a long text can be split in blocks. See `patterns.automaton`."""
        return bool(self._cuts)

    def cut(self, text: str, at_least: int) -> int:
        """Return the first safe cut i >= `at_least`: split(text[:i]) + split(text[i:]) == split(text).

        0 and `len(text)` are safe cuts.
        """
        if at_least <= 0:
            return 0
        if not self._cuts:
            return len(text)
        return self._cuts.end_of_first(text, at_least - 1)

    def is_safe_cut(self, pair: str) -> bool:
        """Whether any text can be cut between these two characters."""
        return self.cut(pair, 1) == 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """A character of each kind that the pattern distinguishes; a sample if the pattern can't be analyzed."""
        sample = dict.fromkeys("aA1 \t\n\r'\"_-./中\u0301" + self.source[:40])
        return tuple(sample) if self._kinds is None else self._kinds.examples

    def alike(self, text: str) -> str:
        """Replace each character by the representative of its kind. Texts that become equal are split alike."""
        return text if self._kinds is None else text.translate(self._kinds)

    @cached_property
    def scanner(self) -> "kernel.Scanner | None":
        """The kernel's scanner for this pattern; None if it has none."""
        if isinstance(self.tree, Split) and not self.lossy:
            return scanner(self.tree.source)
        return None

    def parts(self, blocks: Iterable[str]) -> Iterator[str]:
        """Yield one document, which comes in blocks of any size, in parts that can be split separately.

        About two blocks are in memory, more if safe cuts are rare, all if the pattern is not `blockwise`.
        """
        if not self.blockwise:
            blocks = ["".join(blocks)]
        held: list[str] = []
        for block in filter(None, blocks):
            last_character = held[-1][-1] if held else ""
            cut = self._cut_near_end(last_character + block)
            if cut is None:
                held.append(block)
                continue
            cut_in_block = cut - len(last_character)
            held.append(block[:cut_in_block])
            yield "".join(held)
            held = [block[cut_in_block:]]
        if held:
            yield "".join(held)

    def _cut_near_end(self, text: str) -> int | None:
        """Return a safe cut of `text`, near its end if possible, or None if there is no safe cut."""
        for n_characters in (256, 4096, len(text)):
            cut = self.cut(text, max(1, len(text) - n_characters))
            if cut < len(text):
                return cut
        return None

    @cached_property
    def _automaton(self) -> Automaton | None:
        """The automaton of the expression. None if there are several, or if it can't be analyzed."""
        if isinstance(self.tree, Split) and self.tree.source:
            return automaton_of(self.tree.source)
        return None

    @cached_property
    def _cuts(self) -> CutFinder | InnerCutFinder | None:
        """The finder of safe cuts. None, or a finder that is false, if the pattern has no safe cuts."""
        return CutFinder(self._automaton) if self._automaton else None

    @cached_property
    def _kinds(self) -> "Kinds | None":
        return Kinds(frozenset(self._automaton.sources)) if self._automaton else None


class _ByExpression(Splitter):
    """Splits by one regular expression.

    The published ones except "words" match every part of any text, so their matches are the pieces.
    """

    def __init__(self, tree: Split) -> None:
        super().__init__(tree, tree.drops_rest)
        # Only published expressions are trusted.
        self._untrusted = None if tree.name else Expression(tree.source)

    def split(self, text: str) -> list[str]:
        if not self._untrusted:
            pieces: list[str] = self._published.findall(text)
            return pieces
        if self.lossy:
            return [text[start:end] for start, end in self.places(text)]
        # A quick way. An expression with an automaton is plain: its matches come in order, and hold all that they
        # consume, unlike with (?r) or \K. If their lengths add up to the text, they are its pieces.
        if self._automaton and not self._untrusted.has_groups:
            matches = self._untrusted.findall(text)
            is_whole_text = sum(map(len, matches)) == len(text)
            if is_whole_text and "" not in matches:
                return matches
        # Otherwise, texts between the matches are pieces too.
        bounds = [0]
        for start, end in self._untrusted.spans(text):
            bounds += (start, end)
        bounds.append(len(text))
        return [text[start:end] for start, end in pairwise(bounds) if start < end]

    def places(self, text: str) -> list[Span]:
        if not self.lossy:
            return super().places(text)
        if self._untrusted:
            spans = self._untrusted.spans(text)
        else:
            spans = [match.span() for match in self._published.finditer(text)]
        return [(start, end) for start, end in spans if start < end]

    def may_hold(self, text: str) -> bool:
        # If the pattern keeps the text between two matches, such text is a piece too.
        all_pieces_are_matches = self.lossy or not self._untrusted
        if not all_pieces_are_matches or not self._automaton:
            return True
        return self._automaton.may_hold(text)

    @cached_property
    def _published(self) -> Any:
        return regex.compile(self.source)


class _TextPart(NamedTuple):
    start: int  # in code points
    end: int
    is_piece: bool


class _InParts(Splitter):
    """Divides a text into parts, which the rest of the pattern splits.

    The parts of a `Then` are the pieces of its first side. Those of an `Else` are the texts between the matches of its
    first side; these matches are pieces.
    """

    def __init__(self, tree: Then | Else) -> None:
        self._rest = made(tree.rest)
        self._texts: tuple[str, ...] = ()
        """The literal texts that are found first, in an `Else`."""
        self._first: Splitter | TextSearch | Expression
        if isinstance(tree, Then):
            self._first = made(tree.first)
        elif isinstance(tree.first, tuple):
            self._texts = tree.first
            self._first = TextSearch(tree.first)
        else:
            self._first = Expression(tree.first)
        first_is_lossy = isinstance(self._first, Splitter) and self._first.lossy
        super().__init__(tree, self._rest.lossy or first_is_lossy)

    def _parts(self, text: str) -> Iterator[_TextPart]:
        if isinstance(self._first, Splitter):
            for start, end in self._first.places(text):
                yield _TextPart(start, end, is_piece=False)
            return
        done = 0
        for start, end in self._first.spans(text):
            yield _TextPart(done, start, is_piece=False)
            yield _TextPart(start, end, is_piece=start < end)
            done = end
        yield _TextPart(done, len(text), is_piece=False)

    def split(self, text: str) -> list[str]:
        pieces: list[str] = []
        with patience(enough_for(len(text))):
            for start, end, is_piece in self._parts(text):
                if is_piece:
                    pieces.append(text[start:end])
                else:
                    pieces += self._rest.split(text[start:end])
        return pieces

    def places(self, text: str) -> list[Span]:
        places: list[Span] = []
        with patience(enough_for(len(text))):
            for start, end, is_piece in self._parts(text):
                if is_piece:
                    places.append((start, end))
                    continue
                for piece_start, piece_end in self._rest.places(text[start:end]):
                    places.append((start + piece_start, start + piece_end))
        return places

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = super().kinds + self._rest.kinds
        return tuple(dict.fromkeys(kinds))

    def may_hold(self, text: str) -> bool:
        if isinstance(self._first, Splitter):
            return self._first.may_hold(text) and self._rest.may_hold(text)
        if not self._texts or self._rest.may_hold(text):
            return True
        return any(text in literal for literal in self._texts)

    @cached_property
    def _cuts(self) -> CutFinder | InnerCutFinder | None:
        cuts = self._rest._cuts
        if isinstance(self._first, Splitter):
            first_cuts = self._first._cuts
            if isinstance(first_cuts, CutFinder) and cuts is not None:
                return InnerCutFinder(first_cuts, cuts)
            return first_cuts
        if not self._texts or not cuts:
            return None
        # A text that is found first may be next to a cut, but not across it.
        pairs: set[str] = set()
        for literal in self._texts:
            pairs.update(left + right for left, right in pairwise(literal))
        return cuts.without(frozenset(pairs))


@lru_cache(maxsize=64)
def splitter(pattern: str) -> Splitter:
    """Return the splitter of a pattern.

    Args:
        pattern: A name in `PATTERNS`, or a pattern in the grammar of `bpe_core.patterns.pattern`.

    Raises:
        PatternError: A regular expression is not valid, or a bare word is not a name.
    """
    return made(parse(pattern))


def made(tree: Pattern) -> Splitter:
    """Return a new splitter of a pattern. Raises `PatternError` if one of its regular expressions is not valid."""
    if not isinstance(tree, Split):
        return _InParts(tree)
    if tree.source or tree.drops_rest:
        return _ByExpression(tree)
    return Splitter(tree, lossy=False)
