"""Text and its tokens while it is being edited, for tokenizers that change a text before they encode it.

`LiveText` follows an edit piece by piece, since there a token's bytes are the text's. Here they are not (see
`bpe_core.editing.alignment`), and a rule may depend on any other character. So the text is divided at safe cuts (see
`bpe_core.editing.prepared_cuts`) into parts, whose tokens are computed when they are asked for; an edit replaces only
the parts that it touches. A text is *settled* when the tokens of all parts are known.
"""

from itertools import chain
from time import perf_counter
from typing import Final

from bpe_core.editing.aligned_parts import LONGEST_AT_ONCE, SHORTEST_PART, Parts, compare_parts, parts_of
from bpe_core.editing.alignment import Alignment, Range
from bpe_core.editing.change import Change, Edit
from bpe_core.editing.live_text import LiveText
from bpe_core.editing.prepared_cuts import Cut, PreparedCuts
from bpe_core.editing.spans import Span
from bpe_core.editing.tally import Tally
from bpe_core.errors import OptionError
from bpe_core.prefix_sums import PrefixSums
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8, without_surrogates

_FAR: Final = 8
"""Parts to the left and to the right of an offset in which `piece_at` follows a piece."""


class AlignedText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points of the text as it was written. It has the methods of `LiveText`, for any tokenizer. An edit
    encodes only the parts that it touches, whatever the size of the text, if that has cuts. Not thread-safe.

    Making, changing or settling one raises `OptionError` if more than LONGEST_ENCODED characters have no cut, and
    `UnknownTokenError` if a character has no token; after an error it should not be used any more.
    """

    def __init__(self, tokenizer: Tokenizer, text: str = "") -> None:
        self._fill(tokenizer, without_surrogates(text))

    def _fill(self, tokenizer: Tokenizer, text: str) -> None:
        cuts = PreparedCuts(tokenizer)
        self._parts = list(parts_of(text, cuts))  # first: it raises where there is no cut for too long
        self._tokenizer, self._cuts = tokenizer, cuts
        self._lengths = PrefixSums([len(part.text) for part in self._parts])
        self._tally = Tally(len(self._parts))
        self.n_bytes = len(utf8(text))
        """Bytes of the text in UTF-8."""

    def __repr__(self) -> str:
        return f"<AlignedText: {self.n_characters} characters, {self.tokenizer!r}>"

    def use(self, tokenizer: Tokenizer) -> None:
        """Set another tokenizer, or another step of the same one. Nothing is encoded before tokens are asked for."""
        self._fill(tokenizer, self.text)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer in use; `use` sets another."""
        return self._tokenizer

    @property
    def text(self) -> str:
        """The text."""
        return "".join(part.text for part in self._parts)

    @property
    def n_characters(self) -> int:
        """Code points of the text."""
        return self._lengths.total

    @property
    def takes_long(self) -> bool:
        """Whether some part has more than LONGEST_AT_ONCE characters, too many for a screen to wait for its tokens."""
        return any(len(part.text) > LONGEST_AT_ONCE for part in self._parts)

    def is_costly(self, start: int, end: int) -> bool:
        """Whether an edit of the range must encode a part of more than LONGEST_AT_ONCE characters again."""
        first, last = self._touched(start, end, 0)
        return any(len(part.text) > LONGEST_AT_ONCE for part in self._parts[first:last])

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        self._check(start, end)
        first, at, last = self._cover(start, end)
        return "".join(part.text for part in self._parts[first:last])[start - at : end - at]

    def _cover(self, start: int, end: int) -> tuple[int, int, int]:
        """(index of the first part that meets or touches a range, offset of that part, index behind the last)."""
        if not self._parts:
            return 0, 0, 0
        first, at = self._lengths.find(start)
        return first, at, 1 + (self._lengths.find(end - 1)[0] if end > start else first)

    def _encoded(self, first: int, last: int) -> Parts:
        """The parts from `first` up to, not including, `last`, with their tokens."""
        for index in range(first, last):
            self._count(index)
        return Parts(self._tokenizer, self._parts[first:last], self._cut_at(last))

    def _cut_at(self, index: int) -> Cut | None:
        """The kind of cut at which a part begins; None at the beginning and the end of the text."""
        return self._parts[index].cut if index < len(self._parts) else None

    def _count(self, index: int) -> None:
        """Compute the tokens of one part and enter their number, unless it is known."""
        if self._tally.known(index, index + 1) is None:
            n_tokens = self._alignment(index).n_tokens
            self._tally.exchange(index, index + 1, [n_tokens])

    def _alignment(self, index: int) -> Alignment:
        return self._parts[index].align(self._tokenizer, self._cut_at(index + 1))

    @property
    def ids(self) -> list[int]:
        """All tokens; encodes what is not encoded yet."""
        return list(chain.from_iterable(self._alignment(index).ids for index in range(len(self._parts))))

    @property
    def settled(self) -> bool:
        """Whether all tokens are known, and their number with them."""
        return not self._tally.n_unknown

    def settle(self, seconds: float) -> bool:
        """Encode parts whose tokens are not known for about `seconds`, at least one; whether all are known now."""
        deadline = perf_counter() + seconds
        while (index := self._tally.next_unknown()) is not None:
            self._count(index)
            if perf_counter() >= deadline:
                break
        return self.settled

    def split_all(self) -> None:
        """Encode all parts now, rather than when tokens are asked for."""
        self.settle(float("inf"))

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has; encodes what is not encoded yet."""
        self.settle(float("inf"))
        return self._tally.n_tokens

    @property
    def n_tokens_known(self) -> int | None:
        """How many tokens the text has, if that is known by now."""
        return self._tally.n_tokens if self.settled else None

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range; None if a part inside of it is not encoded yet. Encodes only its ends."""
        self._check(start, end)
        first, at, last = self._cover(start, end)
        if start == end or last - first <= 2:
            return sum(len(span.ids) for span in self.spans(start, end))
        inner = self._tally.known(first + 1, last - 1)
        borders = at + len(self._parts[first].text), self._lengths.start(last - 1)
        edges = *self.spans(start, borders[0]), *self.spans(borders[1], end)
        return None if inner is None else inner + sum(len(span.ids) for span in edges)

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range. See `Alignment.spans`."""
        self._check(start, end)
        first, at, last = self._cover(start, end)
        found: list[Span] = []
        for index in range(first, last):
            self._count(index)
            length = len(self._parts[index].text)
            for span in self._alignment(index).spans(max(0, start - at), min(end - at, length)):
                found.append(Span(at + span.start, at + span.end, span.ids))
            at += length
        return found

    def span_at(self, offset: int) -> Span | None:
        """The span that holds the character at `offset`; None at the end of the text and in what is dropped."""
        spans = self.spans(offset, min(offset + 1, self.n_characters))
        return next((span for span in spans if span.start < span.end), None)

    def places(self, first: int, last: int) -> list[Range]:
        """The characters that each token from index `first` up to `last` covers, even partially; encodes all text."""
        return self._encoded(0, len(self._parts)).places(first, last)

    def stretch(self, first: int, last: int) -> Range:
        """The characters that the tokens from index `first` up to `last` cover; if none, empty where `first` is."""
        places = self.places(first, max(last, first + 1))
        begin = places[0][0] if places else self.n_characters
        return (begin, places[-1][1]) if first < last and places else (begin, begin)

    def piece_at(self, offset: int) -> Range | None:
        """(start, end) of the piece that holds the character at `offset`; None if none does.

        A piece that spans many parts is cut off some parts before and behind.
        """
        found = self._piece_around(offset)
        return (found[0][0], found[-1][1]) if found else None

    def prepared_piece(self, offset: int) -> str:
        """The text of that piece after normalization, as it is encoded; "" if there is none."""
        return "".join(text for _, _, text in self._piece_around(offset))

    def _piece_around(self, offset: int) -> list[tuple[int, int, str]]:
        """(start, end, prepared text) of that piece in each part of the text that it spans; empty if there is none."""
        self._check(offset, offset)
        index, at, _ = self._cover(offset, offset)
        here = self._alignment(index).piece_index(offset - at) if offset < self.n_characters else None
        if here is None:
            return []
        found = [self._piece(index, here)]
        left, right = index, index
        is_first, is_last = not here, here == self._alignment(index).n_pieces - 1
        while is_first and self._parts[left].cut is Cut.INSIDE and left > index - _FAR:
            left -= 1
            n_pieces = self._alignment(left).n_pieces
            found.insert(0, self._piece(left, n_pieces - 1))
            is_first = n_pieces == 1
        while (
            is_last
            and right + 1 < len(self._parts)
            and self._parts[right + 1].cut is Cut.INSIDE
            and right < index + _FAR
        ):
            right += 1
            found.append(self._piece(right, 0))
            is_last = self._alignment(right).n_pieces == 1
        return found

    def _piece(self, part: int, index: int) -> tuple[int, int, str]:
        at = self._lengths.start(part)
        (start, end), text = self._alignment(part).piece(index)
        return at + start, at + end, text

    def splice(self, start: int, end: int, replacement: str) -> Change:
        """Replace the characters from `start` up to, not including, `end`. Raises `OptionError` for no such range.

        If it raises, nothing has changed. An id that stays the same is no change, even if it covers other characters
        now, as a letter that became lower case.
        """
        self._check(start, end)
        replacement = without_surrogates(replacement)
        first, last = self._touched(start, end, len(replacement))
        at = self._lengths.start(first)
        edit = Edit(start - at, end - at, replacement)
        before = self._encoded(first, last)
        text = before.text[: edit.start] + replacement + before.text[edit.end :]
        new = list(parts_of(text, self._cuts, self._parts[first].cut if first < last else None))
        after = Parts(self._tokenizer, new, self._cut_at(last))
        change = compare_parts(before, after, edit)  # may raise, so nothing is changed before it
        self._parts[first:last] = new
        self._lengths.replace(first, last, [len(part.text) for part in new])
        self._tally.exchange(first, last, [alignment.n_tokens for alignment in after.alignments])
        self.n_bytes += len(utf8(replacement)) - len(utf8(before.text[edit.start : edit.end]))
        return change._replace(start=change.start + at)

    def _touched(self, start: int, end: int, n_inserted: int) -> tuple[int, int]:
        """(first, last): the parts `first` up to, not including, `last` that an edit of a range can change.

        They begin and end with characters outside of the range, unless the text does not go on there.
        """
        if not self._parts:
            return 0, 0
        first, at, last = self._cover(start, end)
        if first and start == at:  # the cut before may be none any more
            first -= 1
        if last < len(self._parts) and end == self._lengths.start(last):
            last += 1
        left = self._lengths.start(last) - self._lengths.start(first) - (end - start) + n_inserted
        return first, last + (left < SHORTEST_PART and last < len(self._parts))

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {self.n_characters} characters; offsets count "
                "code points, from 0."
            )


FollowedText = LiveText | AlignedText
"""A text that can be edited, and its tokens."""


def followed(tokenizer: Tokenizer, text: str) -> FollowedText:
    """A `LiveText` if `tokenizer` encodes pieces as they are, else an `AlignedText`; raises what that raises."""
    return LiveText(tokenizer, text) if tokenizer.by_piece else AlignedText(tokenizer, text)
