"""Where the tokens of a text stand in it, for tokenizers that change a text before they encode it.

There a token's bytes are not the text's: spaces are put before a text, letters are made small, accents are composed, an
end of a word gets a marker. A `SourceMap` records which characters became which, and maps tokens back to the
characters they came from. A token without any, such as a space put before the text, has an empty range.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import Final

from bpe_core.live.change import Cut, Span
from bpe_core.patterns.expression import enough_for, patience
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import SourceMap
from bpe_core.tokenizer.preparation import METASPACE, Placed, PrefixStep, Preparation, SplitStep
from bpe_core.utf8 import utf8

Range = tuple[int, int]  # (start, end) in the text as it was written, in code points

_start, _end = itemgetter(0), itemgetter(1)


class Alignment:
    """The tokens of a text, or of a part of one, and the range of characters of each. The text holds no surrogate;
    special tokens in it are encoded as ordinary text."""

    def __init__(self, tokenizer: Tokenizer, text: str, before: Cut | None = None, behind: Cut | None = None) -> None:
        """`before` and `behind` are the kinds of cut around `text`; None at the beginning and the end of all text.
        Raises `UnknownTokenError`, and `PatternError` where the pattern is too slow."""
        self.tokenizer: Final = tokenizer
        self.text: Final = text
        preparation = tokenizer.preparation or Preparation((), None, (SplitStep(tokenizer.splitter),))
        self._map = SourceMap(preparation.normalize or ())
        self._pieces: list[Placed] = []
        self._tokens: list[tuple[int, ...]] = []
        self._found: set[int] = set()  # indices in `_pieces` of added tokens, which are not pieces of the pattern
        with patience(enough_for(len(text))):
            self._prepare(preparation, before is None, behind is None)
        for index, cut in ((0, before), (-1, behind)):
            if cut is Cut.INSIDE:  # a part of a piece must not be looked up as a whole piece
                self._tokens[index] = tokenizer.vocabulary.join(utf8(self._pieces[index].text))
        self._counts = [0, *accumulate(map(len, self._tokens))]
        self._piece_places = [self._map.before(start, start + len(piece) - n) for piece, start, n in self._pieces]
        self._token_places: dict[int, list[Range]] = {}

    def _prepare(self, preparation: Preparation, begins: bool, ends: bool) -> None:
        text, starts = self.text, begins
        for start, end, token in preparation.raw.parts(text, frozenset()):
            base, changed = self._map.n_characters, text[start:end]
            if token is None:
                changed = self._map.add(changed, starts, ends or end < len(text))
                parts = preparation.normalized.parts(changed, frozenset())
            else:
                self._map.keep(changed)
                parts = iter([(0, len(changed), token)])
            for first, last, added in parts:
                pieces = [Placed(changed[first:last], base + first)]
                if added is None:
                    pieces = _split(preparation, pieces, begins, starts)
                    self._tokens += [self.tokenizer.encode_piece(piece.text) for piece in pieces]
                else:
                    self._found.add(len(self._pieces))
                    self._tokens.append((added,))
                    begins, starts = False, True
                self._pieces += pieces

    @property
    def ids(self) -> list[int]:
        return list(chain.from_iterable(self._tokens))

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range. A span may be empty: its tokens
        cover no character. It meets a range with the character that follows it or, if it is at the end of a piece or of
        the text, with the one before."""
        first = bisect_left(self._piece_places, start, key=_end)
        last = bisect_right(self._piece_places, end, key=_start)
        places = self._piece_places  # those of two pieces may share a character
        while 0 < first < len(places) and places[first][0] < places[first - 1][1]:
            first -= 1
        while 0 < last < len(places) and places[last][0] < places[last - 1][1]:
            last += 1
        found: list[Span] = []
        for span, trails in self._spans(first, last):
            if span.start < span.end:
                meets = span.start < end and start < span.end
            elif trails or span.start == len(self.text):
                meets = start < span.start <= end
            else:
                meets = start <= span.start < end
            if meets:
                found.append(span)
        return found

    def _spans(self, first: int, last: int) -> Iterator[tuple[Span, bool]]:
        """(span, whether it is empty and not at the start of its piece) for the pieces from `first` up to `last`."""
        start = end = 0
        ids: list[int] = []
        trails = False
        for index in range(first, last):
            piece_start = self._piece_places[index][0]
            for token, (begin, stop) in zip(self._tokens[index], self._places(index), strict=True):
                if ids and begin >= end:
                    yield Span(start, end, tuple(ids)), trails
                    ids = []
                if not ids:
                    start = end = begin
                    trails = piece_start < begin == stop
                ids.append(token)
                end = max(end, stop)
        if ids:
            yield Span(start, end, tuple(ids)), trails

    def _places(self, index: int) -> list[Range]:
        """For each token of a piece, the characters of the text that it covers, even partially; cached."""
        if (cached := self._token_places.get(index)) is not None:
            return cached
        found: list[Range] = []
        text, start, n_put = self._pieces[index]
        piece_end = self._piece_places[index][1]
        for begin, end in _shares(text, self._tokens[index], self.tokenizer):
            begin, end = start + max(0, begin - n_put), start + max(0, end - n_put)
            if begin < end or begin == start:
                first, last = self._map.before(begin, end)
            else:
                first = last = self._map.before(begin - 1, end)[1]
            found.append((min(first, piece_end), min(last, piece_end)))  # what is dropped behind it is not its own
        self._token_places[index] = found
        return found

    def piece_at(self, offset: int) -> tuple[int, int, str] | None:
        """(start, end, prepared text) of the piece that holds a character; None if none does. The text is "" for an
        added token, which is not encoded."""
        index = bisect_right(self._piece_places, offset, key=_end)
        if index == len(self._pieces) or self._piece_places[index][0] > offset:
            return None
        return *self._piece_places[index], "" if index in self._found else self._pieces[index].text

    def places(self, first: int, last: int) -> list[Range]:
        """The characters that each token from index `first` up to, not including, `last` covers, even partially: none
        of those that are not its own."""
        found: list[Range] = []
        counts, n_pieces = self._counts, len(self._tokens)
        for index in range(max(0, bisect_right(counts, first) - 1), bisect_left(counts, last, 0, n_pieces)):
            before = counts[index]
            found += self._places(index)[max(0, first - before) : last - before]
        return found


def _split(preparation: Preparation, pieces: list[Placed], begins: bool, starts: bool) -> list[Placed]:
    was_split = False
    for step in preparation.steps:
        was_split |= isinstance(step, SplitStep)
        if starts or was_split or not isinstance(step, PrefixStep):
            pieces = step.placed(pieces, begins)
    if preparation.has_metaspace:
        return [piece._replace(text=piece.text.replace(METASPACE, " ")) for piece in pieces]
    return pieces


def _shares(piece: str, ids: Sequence[int], tokenizer: Tokenizer) -> list[Range]:
    """For each token of a prepared piece, the characters of that piece that it covers, even partially. An unknown token
    covers the characters without a token up to the next token; an end-of-word marker covers none. If the bytes of the
    tokens cannot be matched with the piece, each token covers all of it."""
    if len(ids) == 1:
        return [(0, len(piece))]
    data = utf8(piece)
    starts = list(accumulate((len(utf8(character)) for character in piece), initial=0))
    found: list[Range] = []
    at = 0
    for index, token in enumerate(ids):
        end = at + len(own) if data.startswith(own := tokenizer.token_bytes(token), at) else -1
        first = bisect_right(starts, at) - 1
        if starts[first] == at < len(data) and _is_unknown(piece[first], token, tokenizer):
            last = first + 1
            following = ids[index + 1 : index + 2]
            while last < len(piece) and following != (token,) and _is_unknown(piece[last], token, tokenizer):
                last += 1
            end = starts[last]
        elif end < 0 and index == len(ids) - 1:  # it ends with a marker
            end = len(data) if own.startswith(data[at:]) else -1
        if end < 0:
            return [(0, len(piece))] * len(ids)
        found.append((min(first, len(piece)), bisect_left(starts, end)))
        at = end
    return found if at == len(data) else [(0, len(piece))] * len(ids)


def _is_unknown(character: str, token: int, tokenizer: Tokenizer) -> bool:
    data = utf8(character)
    return tokenizer.vocabulary.symbols(data) == [token] and tokenizer.token_bytes(token) != data
