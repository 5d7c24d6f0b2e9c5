"""Split patterns: the splitter compiled from a published one by name, or from any regular expression.

A splitter cuts a text into pieces; no merge ever crosses from one piece into the next. Which characters are letters
is a matter of the Unicode version: here it is that of the `regex` module.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final

import regex

from bpe_core.errors import PatternError
from bpe_core.patterns.cuts import CutFinder, Kinds
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.fast import FastPattern
from bpe_core.patterns.patience import enough_for, patience
from bpe_core.patterns.published import ELSE, ONLY, PATTERNS, THEN
from bpe_core.patterns.reach import Reach
from bpe_core.patterns.syntax import Node, NotPlain, parse
from bpe_core.patterns.texts import Texts, texts_of
from bpe_core.visible import visible

__all__ = ["ELSE", "ONLY", "PATTERNS", "THEN", "Splitter", "StagedSplitter", "patience", "splitter"]

_SEARCH_BACK: Final = (256, 4096)
"""How far from the end of a block, in characters, a cut is looked for before the whole block is."""

_MOST_STAGES: Final = 64
"""Patterns that are applied one after another; the most that a published tokenizer has are five."""

_VARIED: Final = tuple("aA1 \t\n\r'\"_-./中\u0301")
_SPELLED: Final = 40
"""Characters of a pattern's source that are taken for kinds where nothing better is known."""


class Splitter:
    """A text in, its pieces out; made by `splitter`, and the same for everyone who asks for the same pattern."""

    def __init__(self, pattern: str) -> None:
        """Compile `pattern`, a name in PATTERNS or a regular expression; PatternError if it is neither."""
        self.pattern = pattern
        """As it was given: a name or a regular expression."""
        self.source = PATTERNS.get(pattern, pattern)
        """The regular expression itself; "" keeps a document whole."""
        self.lossy = pattern == "words" or self.source.startswith(ONLY)
        """Whether text between pieces is dropped, so that decoding cannot bring it back."""
        self._own = None if pattern in PATTERNS else Expression(self.source)

    def __repr__(self) -> str:
        return f"splitter({self.pattern!r})"

    def is_like(self, other: "Splitter") -> bool:
        """Whether it is the same pattern, perhaps under another name, and so gives the same pieces."""
        return (self.source, self.lossy) == (other.source, other.lossy)

    def split(self, text: str) -> list[str]:
        """The pieces of `text` in order, none empty; joined they are `text` again unless the pattern is lossy.

        What a regular expression of one's own does not match becomes pieces too. PatternError if it takes too long.

        >>> splitter("gpt2").split("Hello world! I'm fine.")
        ['Hello', ' world', '!', ' I', "'m", ' fine', '.']
        """
        if not self.source:
            return [text] if text else []
        if self._own:
            return self._split_by(self._own, text)
        if self._fast.reads(text):
            return self._fast.findall(text)
        pieces: list[str] = self._regex.findall(text)
        return pieces

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where each piece of `text` begins and ends."""
        if self.lossy:
            return self._matches(text)
        ends = list(accumulate(map(len, self.split(text))))
        return list(zip([0, *ends], ends, strict=False))

    @cached_property
    def blockwise(self) -> bool:
        """Whether a long text can be split in blocks; if not, only whole documents are, and an edit may change all.

        True where the pattern is proved to look across no cut; see `bpe_core.patterns.cuts`.
        """
        return self._cuts is not None

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
        if not self._own and self.source:
            self._fast.compile_all()
        if self._cuts:
            self._cuts.compile_all()

    @cached_property
    def reach(self) -> Reach | None:
        """How far a match attempt can look; None if nothing is known of that."""
        return Reach(self._tree) if self._tree and self.blockwise else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """A character of each kind that the pattern tells apart; a varied few where it is too involved to be asked."""
        return self._kinds.examples if self._kinds else tuple(dict.fromkeys((*_VARIED, *self.source[:_SPELLED])))

    def alike(self, text: str) -> str:
        """A text that is split as `text` is, made of the characters of `kinds` as far as they are known.

        >>> splitter("gpt2").alike("Zoë's") == splitter("gpt2").alike("Joe's")
        False
        >>> splitter("gpt2").alike("Zoé") == splitter("gpt2").alike("Job")
        True
        """
        return text.translate(self._kinds) if self._kinds else text

    def pieces(self, blocks: Iterable[str]) -> Iterator[list[str]]:
        """The pieces of one document that comes in blocks of any size, as lists.

        At most about two blocks are held at a time, or as much as the longest stretch without a safe cut.
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
            yield self.split("".join(held))
            held = [block[cut:]]
        if held:
            yield self.split("".join(held))

    def _late_cut(self, text: str) -> int:
        """A safe cut as near to the end of `text` as is cheap to find; -1 if there is none inside it."""
        for back in (*_SEARCH_BACK, len(text)):
            cut = self.cut(text, max(1, len(text) - back))
            if cut < len(text):
                return cut
        return -1

    def _split_by(self, expression: Expression, text: str) -> list[str]:
        """As `split`, for a pattern that nobody has checked: what it does not match is kept."""
        if self.lossy:
            return [text[start:stop] for start, stop in self._matches(text)]
        if self._tree and not expression.has_groups:
            found = expression.findall(text)
            if sum(map(len, found)) == len(text) and "" not in found:
                return found
        pieces: list[str] = []
        end = 0
        for start, stop in expression.spans(text):
            pieces += text[end:start], text[start:stop]
            end = stop
        return [piece for piece in (*pieces, text[end:]) if piece]

    def _matches(self, text: str) -> list[tuple[int, int]]:
        """Where matches begin and end, empty ones left out."""
        spans = self._own.spans(text) if self._own else [found.span() for found in self._regex.finditer(text)]
        return [(start, stop) for start, stop in spans if start < stop]

    @cached_property
    def _tree(self) -> Node | None:
        try:
            return parse(self.source)
        except (NotPlain, RecursionError):
            return None

    @cached_property
    def _fast(self) -> FastPattern:
        assert self._tree is not None, "the named patterns are all plain"
        return FastPattern(self._tree)

    @cached_property
    def _cuts(self) -> CutFinder | None:
        return (self.source and self._tree and CutFinder(self._tree)) or None

    @cached_property
    def _kinds(self) -> Kinds | None:
        return Kinds(self._tree) if self.source and self._tree else None

    @cached_property
    def _regex(self) -> Any:
        return regex.compile(self.source)


class StagedSplitter(Splitter):
    """Several patterns, each splitting the pieces of the one before it.

    >>> splitter(r"\\d(?#then)words").split("a 12 b")
    ['a', '1', '2', 'b']
    >>> splitter(r"<.>(?#else)none").split("ab<c>d")
    ['ab', '<c>', 'd']
    """

    def __init__(self, pattern: str) -> None:
        """`pattern` is patterns with `THEN` between them, or a regular expression, `ELSE` and a pattern."""
        first, joint, rest = min((pattern.partition(joint) for joint in (THEN, ELSE)), key=lambda p: len(p[0]))
        self._rest = splitter(rest)
        self._texts = texts_of(first) if joint == ELSE else None
        self._first: Splitter | Texts | Expression
        if joint == THEN:
            self._first = splitter(first)
        elif self._texts and all(len(one) >= len(other) for one, other in pairwise(self._texts)):
            self._first = Texts(self._texts)
        else:
            self._first = Expression(first)
        self.pattern = pattern
        self.source = (self._first.source if isinstance(self._first, Splitter) else first) + joint + self._rest.source
        self.lossy = self._rest.lossy or (isinstance(self._first, Splitter) and self._first.lossy)
        self._own = None

    def split(self, text: str) -> list[str]:
        """The pieces that the last pattern leaves."""
        with patience(enough_for(len(text))):
            if isinstance(self._first, Splitter):
                return [part for piece in self._first.split(text) for part in self._rest.split(piece)]
            pieces: list[str] = []
            done = 0
            for start, stop in self._first.spans(text):
                pieces += self._rest.split(text[done:start])
                if start < stop:
                    pieces.append(text[start:stop])
                done = stop
            return pieces + self._rest.split(text[done:])

    def finds_first(self, text: str) -> bool:
        """Whether it is a piece before any other pattern is asked: it is a match of the pattern before `ELSE`."""
        if isinstance(self._first, Expression):
            return self._first.matches(text)
        return isinstance(self._first, Texts) and text in self._first

    def compile_all(self) -> None:
        """The same for all patterns."""
        if isinstance(self._first, Splitter):
            self._first.compile_all()
        self._rest.compile_all()
        if self._cuts:
            self._cuts.compile_all()

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where each of these begins and ends."""
        if not self.lossy:
            return super().places(text)
        with patience(enough_for(len(text))):
            if isinstance(self._first, Splitter):
                return [place for start, stop in self._first.places(text) for place in self._inside(text, start, stop)]
            places: list[tuple[int, int]] = []
            done = 0
            for start, stop in self._first.spans(text):
                places += self._inside(text, done, start)
                if start < stop:
                    places.append((start, stop))
                done = stop
            return places + self._inside(text, done, len(text))

    def _inside(self, text: str, begin: int, end: int) -> list[tuple[int, int]]:
        return [(begin + start, begin + stop) for start, stop in self._rest.places(text[begin:end])]

    @cached_property
    def _tree(self) -> Node | None:
        return None

    @cached_property
    def _cuts(self) -> CutFinder | None:
        if isinstance(self._first, Splitter):
            return self._first._cuts  # the rest never sees more than one piece of the first
        # A text that is found first may stand beside a cut, but not across it.
        return self._rest._cuts.without(_pairs(self._texts)) if self._texts and self._rest._cuts else None


def _pairs(texts: Iterable[str]) -> set[str]:
    """Every two neighboring characters of the texts."""
    return {one + other for text in texts for one, other in pairwise(text)}


def splitter(pattern: str) -> Splitter:
    """The splitter for a name in PATTERNS or for any regular expression of the `regex` module.

    PatternError if it is not a valid one, or if it is a single bare word, which is surely a name written wrongly.
    """
    if pattern not in PATTERNS and pattern.replace("-", "").replace("_", "").isalnum():
        raise PatternError(
            f"There is no split pattern named '{visible(pattern)}'; choose one of {', '.join(PATTERNS)}, "
            f"or write (?:{visible(pattern)}) if it is meant as a regular expression."
        )
    if pattern.count(THEN) + pattern.count(ELSE) >= _MOST_STAGES:
        raise PatternError(f"The split pattern is more than {_MOST_STAGES} patterns in one; leave some out.")
    return _cached(pattern)


@lru_cache(maxsize=64)
def _cached(pattern: str) -> Splitter:
    return StagedSplitter(pattern) if THEN in pattern or ELSE in pattern else Splitter(pattern)
