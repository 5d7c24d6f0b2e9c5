"""Find a token, or the pair of a merge, in the texts of a corpus, with its line and its context."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import accumulate, chain, islice, pairwise
from typing import Final, NamedTuple

from bpe_core.corpus import Counts
from bpe_core.errors import UnknownTokenError
from bpe_core.explain.pair_counts import Pair, PairCounts
from bpe_core.live.alignment import Alignment
from bpe_core.patterns import Splitter
from bpe_core.process import shares
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates
from bpe_core.weighted import Count

AROUND: Final = 60
"""Maximum number of characters of the line that a place keeps on either side."""
PART: Final = 1 << 12
"""Minimum number of characters of a part of a text, except the last part."""


@dataclass(frozen=True, slots=True)
class CorpusPlace:
    """A token or a pair in a line of a text."""

    name: str  # the name of the text
    line: int  # the number of the line in which it begins, from 1
    column: int  # characters of that line before it
    before: str  # the last `AROUND` of these characters
    left: str
    """The token, or the left part of the pair, with any character that both parts share."""
    right: str
    """The right part. Empty for a token, and for a part without a character, such as an end-of-word marker."""
    after: str  # the rest of the line, at most `AROUND` characters
    n: Count = 0
    """How often the pair occurs in this text; 0 for a token, and for further places in the same text."""


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A file of a corpus, or a part of a file. All parts of a file have the name of the file."""

    name: str
    documents: Callable[[], Iterable[Iterable[str]]]
    """Reads the text and yields its documents, each in blocks."""
    has_rows: bool = False
    """Whether the documents are rows of a table. Lines are then counted in each row."""
    before: Callable[[], Iterable[str]] = tuple
    """Reads the text of the file before this part."""
    weight: Count = 1  # how many times the text counts
    pieces: Mapping[str, Count] | None = None
    """How often each piece occurs in the text, if known. Saves time if places of many steps are needed."""


class _Match(NamedTuple):
    """A token or a pair in a part of a text, in characters of the part."""

    start: int
    middle: int  # where the right part of a pair begins; the end of a token
    end: int


@dataclass(slots=True)
class _Source:
    """All texts with the same name that hold the pair."""

    texts: list[CorpusText] = field(default_factory=list)
    n_pairs_of: Counter[str] = field(default_factory=Counter)
    """Piece -> how many occurrences of the pair it adds."""


def pair_places(
    counts: PairCounts, step: int, texts: Iterable[CorpusText], *, most: int = 3
) -> Iterator[CorpusPlace]:
    """Yield places where a merge joins its pair.

    The places are in the texts that hold the pair most often, and there in the pieces that hold it
    most often. No two places are in the same line. No two are in equal pieces, if enough pieces hold
    the pair. Takes time linear in the bytes of the texts.

    Args:
        counts: The counts of the corpus.
        step: The number of the merge, from 1.
        texts: The texts of the corpus. All of them are read, and some of them twice.
        most: Maximum number of places.
    """
    finder = _PairFinder(counts, step)
    sources: dict[str, _Source] = {}
    if finder.ids_of:
        sources = finder.count_in(texts)
    chosen = nlargest(
        most, sources.values(), key=lambda source: source.n_pairs_of.total()
    )
    n_left = most
    for number, source in enumerate(chosen):
        quota = -(-n_left // (len(chosen) - number))  # an equal share, rounded up
        # `places_in` may yield more if the source has fewer than `quota` pieces.
        for place in islice(finder.places_in(source, quota), quota):
            n_left -= 1
            yield place


class _PairFinder:
    """Finds the pair of a merge in the pieces of a text."""

    def __init__(self, counts: PairCounts, step: int) -> None:
        self._tokenizer = counts.tokenizer
        self._splitter = counts.tokenizer.splitter
        left, right, self._token = self._tokenizer.vocabulary.merge_of(step)
        self._pair: Pair = left, right
        self.ids_of: dict[str, Sequence[int]] = {}  # of each piece with the pair
        self._n_pairs_in: dict[str, int] = {}
        for changed in counts.effect(step).changed:
            n_pairs = list(pairwise(changed.before)).count(self._pair)
            if n_pairs:
                piece = counts.pieces[changed.number]
                self.ids_of[piece] = changed.before
                self._n_pairs_in[piece] = n_pairs
        self._wanted: set[str] = set()  # the pieces that are searched for
        self._piece = ""  # the piece of the newest match

    def count_in(self, texts: Iterable[CorpusText]) -> dict[str, _Source]:
        """Return the texts that hold the pair, by name."""
        characters = _whole_characters(self._tokenizer, self._token)
        sources: dict[str, _Source] = {}
        for text in texts:
            count_of = text.pieces or pieces_in(self._splitter, text, characters)
            n_pairs_of = {
                piece: text.weight * count_of[piece] * n
                for piece, n in self._n_pairs_in.items()
                if piece in count_of
            }
            if n_pairs_of:
                source = sources.setdefault(text.name, _Source())
                source.texts.append(text)
                source.n_pairs_of.update(n_pairs_of)
        return sources

    def places_in(self, source: _Source, quota: int) -> Iterator[CorpusPlace]:
        """Yield places in the pieces that add the most pairs.

        Yield one place in each of `quota` pieces, or all places if the source has fewer pieces.
        """
        self._wanted = {piece for piece, _ in source.n_pairs_of.most_common(quota)}
        takes_each_once = len(self._wanted) == quota
        n = source.n_pairs_of.total()
        for place in _search(source.texts, self._splitter.parts, self._find):
            # `_piece` is the piece of this place. An earlier match in it may have removed it.
            if place is not None and self._piece in self._wanted:
                yield replace(place, n=n)
                n = 0
                if takes_each_once:
                    self._wanted.remove(self._piece)

    def _find(self, part: str) -> Iterator[_Match]:
        if not any(piece in part for piece in self._wanted):
            return
        for start, end in self._splitter.places(part):
            self._piece = part[start:end]
            if self._piece in self._wanted:
                ids = self.ids_of[self._piece]
                yield from _matches(
                    self._tokenizer, self._piece, start, ids, self._pair
                )


def pieces_in(
    splitter: Splitter, text: CorpusText, characters: str = ""
) -> Mapping[str, Count]:
    """Return how often each piece occurs in those parts of a text that hold `characters`."""
    parts = (
        part
        for document in text.documents()
        for part in _join(splitter.parts(document))
        if characters in part
    )
    return Counts.of(parts, splitter.pattern).pieces


def token_places(
    tokenizer: Tokenizer, token: int, texts: Iterable[CorpusText]
) -> Iterator[CorpusPlace | None]:
    """Yield the first place of a token in each line of the texts, and None after each part of a text.

    A caller can pause or stop at each None. Takes time linear in the bytes of the texts.

    Raises:
        Unreadable: A file has changed and cannot be read now.
    """
    characters = _whole_characters(tokenizer, token)

    def find_in_pieces(part: str) -> Iterator[_Match]:
        if characters not in part:
            return
        for start, end in tokenizer.splitter.places(part):
            piece = part[start:end]
            if characters in piece:
                ids = tokenizer.encode_piece(piece)
                yield from _matches(tokenizer, piece, start, ids, (token,))

    def find_in_lines(lines: str) -> Iterator[_Match]:
        if token not in tokenizer.encode_ordinary(lines):
            return
        alignment = Alignment(tokenizer, lines)
        for id, (start, end) in zip(alignment.ids, alignment.places, strict=True):
            if id == token:
                yield _Match(start, end, end)

    if tokenizer.by_piece:
        return _search(texts, tokenizer.splitter.parts, find_in_pieces)
    # The tokenizer changes a text before it splits it, so each part is made of whole lines.
    return _search(texts, _lines, find_in_lines)


def _whole_characters(tokenizer: Tokenizer, token: int) -> str:
    """Return the characters that lie wholly in a token. A text without them does not hold the token."""
    return tokenizer.vocabulary.text_bytes(token).decode(errors="ignore")


def _search(
    texts: Iterable[CorpusText],
    parts_of: Callable[[Iterable[str]], Iterable[str]],
    find: Callable[[str], Iterator[_Match]],
) -> Iterator[CorpusPlace | None]:
    """Yield the first place that `find` finds in each line of the texts, and None after each part."""
    for text in texts:
        for row, document in enumerate(text.documents(), 1):
            name = f"{text.name} row {row:,}" if text.has_rows else text.name
            n_lines_before = sum(block.count("\n") for block in text.before())
            position = _Position(name, n_lines_before + 1)
            newest_line = 0
            parts = _join(parts_of(document))
            for part, following in pairwise(chain(parts, ("",))):
                try:
                    for match in find(part):
                        line = position.line + part.count("\n", 0, match.start)
                        if line != newest_line:
                            newest_line = line
                            yield position.place_of(match, line, part, following)
                except UnknownTokenError:
                    pass  # this part holds a byte that the vocabulary lacks
                yield None
                position.move_past(part)


@dataclass(slots=True)
class _Position:
    """Where a part of a text begins."""

    name: str
    line: int
    column: int = 0
    before: str = ""  # the last `AROUND` characters of the line before the part

    def place_of(
        self, match: _Match, line: int, part: str, following: str
    ) -> CorpusPlace:
        """Return the place of a match, which begins in this line; `following` is the next part."""
        start, middle, end = match
        column = start - (part.rfind("\n", 0, start) + 1)
        if line == self.line:
            column += self.column
        after = part[end : end + AROUND] + following[:AROUND]
        return CorpusPlace(
            name=self.name,
            line=line,
            column=column,
            before=self._line_before(part, start),
            left=part[start:middle],
            right=part[middle:end],
            after=after.partition("\n")[0][:AROUND],
        )

    def move_past(self, part: str) -> None:
        line_start = part.rfind("\n") + 1
        if line_start == 0:
            self.column += len(part)
        else:
            self.column = len(part) - line_start
        self.line += part.count("\n")
        self.before = self._line_before(part, len(part))

    def _line_before(self, part: str, end: int) -> str:
        """Return the last `AROUND` characters of the line before the offset `end` of a part."""
        before = self.before + part[max(0, end - AROUND) : end]
        return before[-AROUND:].rpartition("\n")[2]


def _join(parts: Iterable[str]) -> Iterator[str]:
    """Join parts into longer ones, so that the next part holds all text that a place shows after it."""
    return filter(None, ("".join(share.items) for share in shares(parts, PART)))


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the same text in parts that end with whole lines."""
    unfinished = ""
    for block in blocks:
        lines, newline, unfinished = (unfinished + block).rpartition("\n")
        yield lines + newline
    yield unfinished


def _matches(
    tokenizer: Tokenizer,
    piece: str,
    start: int,
    ids: Sequence[int],
    wanted: tuple[int, ...],
) -> Iterator[_Match]:
    """Yield each match of a token or a pair in a piece, without overlaps. The piece begins at `start`."""
    if wanted[0] not in ids:
        return
    character_starts = byte_offsets(without_surrogates(piece))
    n_bytes = character_starts[-1]
    token_ends = accumulate(len(tokenizer.token_bytes(id)) for id in ids)
    # An end-of-word marker has bytes that the piece does not have.
    borders = [0] + [min(end, n_bytes) for end in token_ends]
    next_free = 0
    for first in range(len(ids) - len(wanted) + 1):
        after = first + len(wanted)
        if first >= next_free and tuple(ids[first:after]) == wanted:
            next_free = after
            begin = bisect_right(character_starts, borders[first]) - 1
            middle = bisect_left(character_starts, borders[first + 1])
            end = bisect_left(character_starts, borders[after])
            yield _Match(start + begin, start + middle, start + end)
