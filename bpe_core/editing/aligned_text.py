"""Text and its tokens while it is being edited, for tokenizers that change a text before they encode it.

`LiveText` follows an edit piece by piece, since there a token's bytes are the text's. Here they are not (see
`bpe_core.editing.alignment`), and a rule may look anywhere. So the text is kept in parts that end where it may be cut
(see `bpe_core.editing.prepared_cuts`), each with an alignment that is worked out when somebody looks; an edit leaves
alone all parts but those that it touches.
"""

from itertools import chain
from time import perf_counter
from typing import Final

from bpe_core.editing.aligned_parts import LEAST, LONGEST, Parts, compare_parts, parts_of
from bpe_core.editing.alignment import Alignment, Place
from bpe_core.editing.change import Change, Edit
from bpe_core.editing.live_text import LiveText
from bpe_core.editing.prefix_sums import PrefixSums
from bpe_core.editing.prepared_cuts import Cut, PreparedCuts
from bpe_core.editing.spans import Span
from bpe_core.editing.tally import Tally
from bpe_core.errors import OptionError
from bpe_core.surrogates import utf8, without_surrogates
from bpe_core.tokenizer import Tokenizer

_FAR: Final = 8
"""Parts to both sides of a place in which a piece is followed."""


class AlignedText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points of the text as it was written. It is used as `LiveText` is, and takes any tokenizer. An edit
    costs the same in a text of any size, where there are cuts. Not for use in several threads.

    What makes, changes or settles one raises `OptionError` where too long a stretch of the text has no cut, and
    `UnknownTokenError` where a character of it has no token; the text should be left aside then.
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
        """Go on with another tokenizer, or another step of the same one. Nothing is encoded yet."""
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
        """Whether there is a stretch without a cut that is so long that no screen should wait for it."""
        return any(len(part.text) > LONGEST for part in self._parts)

    def is_costly(self, start: int, end: int) -> bool:
        """Whether an edit of a range has to work out such a stretch again."""
        first, last = self._touched(start, end, 0)
        return any(len(part.text) > LONGEST for part in self._parts[first:last])

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        self._check(start, end)
        first, at, last = self._cover(start, end)
        return "".join(part.text for part in self._parts[first:last])[start - at : end - at]

    def _cover(self, start: int, end: int) -> tuple[int, int, int]:
        """(first, where it begins, last): the parts that meet a range, or at least touch it."""
        if not self._parts:
            return 0, 0, 0
        first, at = self._lengths.find(start)
        return first, at, 1 + (self._lengths.find(end - 1)[0] if end > start else first)

    def _look(self, first: int, last: int) -> Parts:
        """Some of the parts, with their tokens."""
        for index in range(first, last):
            self._count(index)
        return Parts(self._tokenizer, self._parts[first:last], self._cut_at(last))

    def _cut_at(self, index: int) -> Cut | None:
        """The kind of cut at which a part begins; None at the beginning and the end of the text."""
        return self._parts[index].cut if index < len(self._parts) else None

    def _count(self, index: int) -> None:
        """Work out one part, unless it is known."""
        if self._tally.known(index, index + 1) is None:
            n_tokens = self._alignment(index).n_tokens
            self._tally.exchange(index, index + 1, [n_tokens])

    def _alignment(self, index: int) -> Alignment:
        return self._parts[index].align(self._tokenizer, self._cut_at(index + 1))

    @property
    def ids(self) -> list[int]:
        """All tokens. Settles the text."""
        return list(chain.from_iterable(self._alignment(index).ids for index in range(len(self._parts))))

    @property
    def settled(self) -> bool:
        """Whether all tokens are known, and their number with them."""
        return not self._tally.n_unknown

    def settle(self, seconds: float) -> bool:
        """Work on what is not known yet for so long, or a little longer; whether all is known now."""
        deadline = perf_counter() + seconds
        while not self.settled:
            self._count(self._tally.next_unknown())
            if perf_counter() >= deadline:
                break
        return self.settled

    def split_all(self) -> None:
        """Work out all tokens now, rather than when somebody looks."""
        self.settle(float("inf"))

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has. Settles it."""
        self.settle(float("inf"))
        return self._tally.n_tokens

    @property
    def n_tokens_known(self) -> int | None:
        """How many tokens the text has, if that is known by now."""
        return self._tally.n_tokens if self.settled else None

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range; None if those of its parts are not known yet. Does not look at all of it."""
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

    def places(self, first: int, last: int) -> list[Place]:
        """For each of some tokens in a row, the characters of which it holds at least a part. Settles the text."""
        return self._look(0, len(self._parts)).places(first, last)

    def stretch(self, first: int, last: int) -> Place:
        """The characters that some tokens in a row hold; an empty place, where they would stand, if there are none."""
        places = self.places(first, max(last, first + 1))
        begin = places[0][0] if places else self.n_characters
        return (begin, places[-1][1]) if first < last and places else (begin, begin)

    def piece_at(self, offset: int) -> Place | None:
        """Where the piece that holds the character at `offset` begins and ends; None if none does.

        Of a piece that goes on through many parts, only those near by are told.
        """
        found = self._piece_around(offset)
        return (found[0][0], found[-1][1]) if found else None

    def prepared_piece(self, offset: int) -> str:
        """That piece as it is when it is encoded; "" if there is none."""
        return "".join(text for _, _, text in self._piece_around(offset))

    def _piece_around(self, offset: int) -> list[tuple[int, int, str]]:
        """Where each part of that piece begins and ends, and what it is when it is encoded; empty if there is none."""
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

        All of it or, where it raises, nothing of it is done. Ids that stay count as tokens that stay, also where they
        stand for other characters now, as with small letters.
        """
        self._check(start, end)
        replacement = without_surrogates(replacement)
        first, last = self._touched(start, end, len(replacement))
        at = self._lengths.start(first)
        edit = Edit(start - at, end - at, replacement)
        before = self._look(first, last)
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
        """The first part that an edit changes, and the one behind the last: the characters at both ends stay."""
        if not self._parts:
            return 0, 0
        first, at, last = self._cover(start, end)
        if first and start == at:  # the cut before may be none any more
            first -= 1
        if last < len(self._parts) and end == self._lengths.start(last):
            last += 1
        left = self._lengths.start(last) - self._lengths.start(first) - (end - start) + n_inserted
        return first, last + (left < LEAST and last < len(self._parts))

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {self.n_characters} characters; offsets count "
                "code points, from 0."
            )


FollowedText = LiveText | AlignedText
"""A text whose tokens can be followed while it is edited."""


def followed(tokenizer: Tokenizer, text: str) -> FollowedText:
    """A text to be edited under any tokenizer; raises what `AlignedText` raises."""
    return LiveText(tokenizer, text) if tokenizer.by_piece else AlignedText(tokenizer, text)
