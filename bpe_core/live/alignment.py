"""Where the tokens of a text stand in it, for tokenizers that change a text before they encode it.

There a token's bytes are not the text's: spaces are put before a text, letters are made small, accents are composed, an
end of a word gets a marker. A `SourceMap` records which characters became which, and maps tokens back to the
characters they came from. A token without any, such as a space put before the text, has an empty range.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Final

from bpe_core.live.change import Cut, Span
from bpe_core.patterns.expression import enough_for, patience
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import SourceMap
from bpe_core.tokenizer.preparation import (
    METASPACE,
    Placed,
    PrefixStep,
    Preparation,
    SplitStep,
)
from bpe_core.utf8 import byte_offsets, utf8

Range = tuple[int, int]  # (start, end) in the text as it was written, in code points


class Alignment:
    """The tokens of a text, or of a part of one, and the range of characters of each. The text holds no surrogate;
    special tokens in it are encoded as ordinary text."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        text: str,
        before: Cut | None = None,
        behind: Cut | None = None,
    ) -> None:
        """`before` and `behind` are the kinds of cut around `text`; None at the beginning and the end of all text.
        Raises `UnknownTokenError`, and `PatternError` where the pattern is too slow."""
        self.tokenizer: Final = tokenizer
        self.text: Final = text
        preparation = tokenizer.preparation or Preparation(
            (), None, (SplitStep(tokenizer.splitter),)
        )
        self._map = SourceMap()
        self._pieces: list[Placed] = []
        self._tokens: list[tuple[int, ...]] = []
        self._found: set[int] = (
            set()
        )  # indices in `_pieces` of added tokens, which are not pieces of the pattern
        with patience(enough_for(len(text))):
            self._prepare(preparation, before is None, behind is None)
        for index, cut in ((0, before), (-1, behind)):
            if (
                cut is Cut.INSIDE
            ):  # a part of a piece must not be looked up as a whole piece
                self._tokens[index] = tokenizer.vocabulary.join(
                    utf8(self._pieces[index].text)
                )

    def _prepare(self, preparation: Preparation, begins: bool, ends: bool) -> None:
        text, starts, base = self.text, begins, 0
        for start, end, token in preparation.raw.parts(text, frozenset()):
            if token is None:
                rules = [
                    rule.part(starts, ends or end < len(text))
                    for rule in preparation.normalize or ()
                ]
                changed = self._map.add(text[start:end], rules)
                parts = preparation.normalized.parts(changed, frozenset())
            else:
                changed = self._map.add(text[start:end], ())
                parts = iter([(0, len(changed), token)])
            for first, last, added in parts:
                pieces = [Placed(changed[first:last], base + first)]
                if added is None:
                    pieces = _split(preparation, pieces, begins, starts)
                    self._tokens += [
                        self.tokenizer.encode_piece(piece.text) for piece in pieces
                    ]
                else:
                    self._found.add(len(self._pieces))
                    self._tokens.append((added,))
                    begins, starts = False, True
                self._pieces += pieces
            base += len(changed)

    @property
    def ids(self) -> list[int]:
        return list(chain.from_iterable(self._tokens))

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range. A span may be empty: its tokens
        cover no character. It meets a range with the character that follows it or, if it is at the end of a piece or of
        the text, with the one before."""
        first = bisect_right(self._spans, start, key=lambda one: one[1][1])
        last = bisect_left(self._spans, end, key=lambda one: one[1][0])
        return [span for span, _ in self._spans[first:last]]

    @cached_property
    def _spans(self) -> list[tuple[Span, Range]]:
        """All spans, and the characters with which each meets a range."""
        found: list[tuple[Span, Range]] = []
        for (piece_start, _), tokens, places in zip(
            self._piece_places, self._tokens, self._places, strict=True
        ):
            for token, place in zip(tokens, places, strict=True):
                start, end = place
                ids: tuple[int, ...] = (token,)
                if found and start < found[-1][0].end:
                    before, place = found.pop()
                    start, ids = before.start, (*before.ids, token)
                    end = max(end, before.end)
                    place = start, end
                elif start == end:
                    at = start - (piece_start < start or start == len(self.text))
                    place = at, at + 1
                found.append((Span(start, end, ids), place))
        return found

    @cached_property
    def _piece_places(self) -> list[Range]:
        return [
            self._map.before(start, start + len(piece) - n)
            for piece, start, n in self._pieces
        ]

    @cached_property
    def _places(self) -> list[list[Range]]:
        """For each token of each piece, the characters of the text that it covers, even partially."""
        found: list[list[Range]] = []
        for (text, start, n_put), tokens, place in zip(
            self._pieces, self._tokens, self._piece_places, strict=True
        ):
            stop = place[1]  # what is dropped behind it is not its own
            found.append([place] if len(tokens) == 1 else [])
            for begin, end in (
                _shares(text, tokens, self.tokenizer) if len(tokens) > 1 else ()
            ):
                begin, end = start + max(0, begin - n_put), start + max(0, end - n_put)
                if begin < end or begin == start:
                    first, last = self._map.before(begin, end)
                else:
                    first = last = self._map.before(begin - 1, end)[1]
                found[-1].append((min(first, stop), min(last, stop)))
        return found

    def piece_at(self, offset: int) -> tuple[int, int, str] | None:
        """(start, end, prepared text) of the piece that holds a character; None if none does. The text is "" for an
        added token, which is not encoded."""
        index = bisect_right(self._piece_places, offset, key=itemgetter(1))
        if index == len(self._pieces) or self._piece_places[index][0] > offset:
            return None
        return *self._piece_places[index], "" if index in self._found else self._pieces[
            index
        ].text

    @property
    def places(self) -> list[Range]:
        """The characters that each token covers, even partially."""
        return list(chain.from_iterable(self._places))


def _split(
    preparation: Preparation, pieces: list[Placed], begins: bool, starts: bool
) -> list[Placed]:
    was_split = False
    for step in preparation.steps:
        was_split |= isinstance(step, SplitStep)
        if starts or was_split or not isinstance(step, PrefixStep):
            pieces = step.placed(pieces, begins)
    if preparation.has_metaspace:
        return [
            piece._replace(text=piece.text.replace(METASPACE, " ")) for piece in pieces
        ]
    return pieces


def _shares(piece: str, ids: Sequence[int], tokenizer: Tokenizer) -> list[Range]:
    """For each token of a prepared piece, the characters of that piece that it covers, even partially. An unknown token
    covers the characters without a token up to the next token; an end-of-word marker covers none. If the bytes of the
    tokens cannot be matched with the piece, each token covers all of it."""
    data, starts = utf8(piece), list(byte_offsets(piece))
    found: list[Range] = []
    at = 0
    for index, token in enumerate(ids):
        end = (
            at + len(own)
            if data.startswith(own := tokenizer.token_bytes(token), at)
            else -1
        )
        first = bisect_right(starts, at) - 1
        if starts[first] == at < len(data) and _is_unknown(
            piece[first], token, tokenizer
        ):
            last = first + 1
            following = ids[index + 1 : index + 2]
            while (
                last < len(piece)
                and following != (token,)
                and _is_unknown(piece[last], token, tokenizer)
            ):
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
    return (
        tokenizer.vocabulary.symbols(data) == [token]
        and tokenizer.token_bytes(token) != data
    )
