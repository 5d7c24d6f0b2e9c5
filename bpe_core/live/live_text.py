"""A text and its tokens while it is being edited: an edit encodes again only what it touches.

The text is kept in parts. They are divided where a cut between two characters is safe, whatever else the text holds. An
edit reads the parts again that meet it, and their neighbors if it touches a border. So every border that stays keeps
the two characters next to it, and nothing on its other side can change. `PlainReader` and `PreparedReader` divide and
encode.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import accumulate, chain
from math import ceil, inf
from time import perf_counter
from typing import Any, Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.live.change import Change, Edit, PieceAt, Span
from bpe_core.live.plain import PlainReader
from bpe_core.live.prepared import PreparedReader
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import counted

__all__ = ["Change", "LiveText"]

LEAST: Final = 64
"""Edited parts with fewer characters than this are read together with the next part."""
GROUP: Final = 128
"""Parts of a group, about."""
LONG: Final = 2_048
"""Characters of a prepared part above which a screen should not wait for its tokens."""
_FAR: Final = 2_048
"""Characters before and after an offset in which `piece_at` follows a piece across parts."""


class LiveText:
    """A text that can be edited, and its tokens: always those that `tokenizer.encode_ordinary` gives for the text.

    Offsets are code points of the original text. Special tokens are ordinary text. A pair of surrogates is
    kept as the character it encodes, a lone surrogate as U+FFFD, as in encoding. Not thread-safe.

    Tokens are computed when they are needed; an edit computes those it makes. If a method raises an error, the text is
    unchanged. With a tokenizer that changes a text before it encodes it, any method may raise `OptionError` if a very
    long stretch of the text has no place to cut it, and `UnknownTokenError` for a character without a token.

    Examples:
        >>> from bpe_core import train
        >>> live = LiveText(train("low lower lowest", vocab_size=258), "low")
        >>> change = live.splice(3, 3, "er")
        >>> (change.start, change.removed, change.inserted), live.ids
        ((3, (), (101, 114)), [257, 101, 114])
    """

    def __init__(self, tokenizer: Tokenizer, text: str = "") -> None:
        self.reader = _reader(tokenizer)
        self._groups = _grouped(self.reader.read(without_surrogates(text)))

    def __repr__(self) -> str:
        return f"<LiveText: {self.n_characters} characters, {self.tokenizer!r}>"

    def _repr_html_(self) -> str:
        # Pictures depend on live texts, so they can't be imported above.
        return str(import_module("bpe_core.pictures.drawing").live_text_fragment(self))

    @property
    def tokenizer(self) -> Tokenizer:
        return self.reader.tokenizer

    def use(self, tokenizer: Tokenizer) -> None:
        """Set another tokenizer, or another step of the same one. Nothing is encoded before tokens are needed."""
        reader: Any = _reader(tokenizer)
        if tokenizer.splits_like(self.tokenizer):
            parts = [reader.part(part.text) for part in self._parts]
        else:
            parts = reader.read(self.text)
        # One statement, so that an interrupt leaves both old or both new.
        self.reader, self._groups = reader, _grouped(parts)

    @property
    def _parts(self) -> Iterator[Any]:
        return chain.from_iterable(group.parts for group in self._groups)

    @property
    def text(self) -> str:
        return "".join([part.text for part in self._parts])

    @property
    def n_characters(self) -> int:
        """The length of the text in code points."""
        return sum([group.n_characters for group in self._groups])

    @property
    def n_bytes(self) -> int:
        """The length of the text in UTF-8."""
        return sum([group.n_bytes for group in self._groups])

    def between(self, start: int, end: int) -> str:
        """Return the text from `start` to before `end`. Raises `OptionError` if the text has no such range."""
        return "".join(
            [
                placed.part.between(placed.start, placed.end)
                for placed in self._parts_in(start, end)
            ]
        )

    def _parts_in(self, start: int, end: int) -> "Iterator[_PlacedPart]":
        """Yield the parts that meet a range. Raises `OptionError` if the text has no such range.

        A range without characters meets the part that holds the character after it.
        """
        self._check(start, end)
        stop = max(end, start + 1)
        offset = 0
        for group in self._groups:
            if start < offset + group.n_characters and offset < stop:
                yield from group.parts_in(offset, start, end, stop)
            offset += group.n_characters

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"The range from {start} to {end} is not in this text of {counted(self.n_characters, 'character')}; "
                "offsets count code points, from 0."
            )

    # Tokens

    @property
    def ids(self) -> list[int]:
        """All tokens. Encodes each part that is not encoded yet, so afterwards the text is `settled`."""
        all_ids: list[int] = []
        for part in self._parts:
            ids = part.ids
            part.n_tokens = len(ids)
            all_ids += ids
        return all_ids

    def spans(self, start: int, end: int) -> list[Span]:
        """Return the spans that meet a range of characters. They may reach beyond the range.

        A tokenizer that changes the text may give empty spans; see `Alignment.spans`. In a very long stretch without a
        safe cut, spans are provisional until the text is settled.
        """
        spans: list[Span] = []
        for placed in self._parts_in(start, end):
            offset = placed.offset
            for span in placed.part.spans(placed.start, placed.end):
                spans.append(Span(offset + span.start, offset + span.end, span.ids))
        return spans

    def span_at(self, offset: int) -> Span | None:
        """Return the span of the character at `offset`; None at the end of the text and in text that is dropped."""
        for span in self.spans(offset, min(offset + 1, self.n_characters)):
            if span.start <= offset < span.end:
                return span
        return None

    def piece_at(self, offset: int) -> PieceAt | None:
        """Return the piece that holds the character at `offset`; None if no piece does.

        A tokenizer that changes the text cuts off a piece of very many characters.
        """
        if offset == self.n_characters:
            return None
        placed = next(self._parts_in(offset, offset))
        nearby_end = min(self.n_characters, offset + _FAR)
        nearby = [
            near.part for near in self._parts_in(max(0, offset - _FAR), nearby_end)
        ]
        piece = self.reader.piece_at(
            nearby, nearby.index(placed.part), offset - placed.offset
        )
        return None if piece is None else piece.moved(placed.offset)

    # How many

    @property
    def settled(self) -> bool:
        """Whether all tokens are computed, and so their number is known."""
        return all([group.n_tokens is not None for group in self._groups])

    def settle(self, seconds: float) -> bool:
        """Compute tokens for about `seconds`, at least one stretch. Return whether all tokens are computed."""
        deadline = perf_counter() + seconds
        for group in self._groups:
            if group.n_tokens is not None:
                continue
            for part in group.parts:
                while part.n_tokens is None:
                    part.settle()
                    if perf_counter() >= deadline:
                        return self.settled
        return True

    @property
    def n_tokens(self) -> int:
        """The number of tokens of the text. Settles it."""
        self.settle(inf)
        return sum([group.n_tokens or 0 for group in self._groups])

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """Return how many tokens meet a range; None if a part inside it is not encoded yet. Encodes only its ends."""
        if start >= end:
            return 0
        n_tokens = 0
        for placed in self._parts_in(start, end):
            part = placed.part
            is_inside = (
                start < placed.offset and placed.offset + part.n_characters < end
            )
            if not is_inside:
                n_tokens += part.n_tokens_between(placed.start, placed.end)
            elif part.n_tokens is None:
                return None
            else:
                n_tokens += part.n_tokens
        return n_tokens

    # Edits

    def splice(self, start: int, end: int, replacement: str) -> Change:
        """Replace the characters from `start` to before `end`, and return how the tokens changed.

        Ids are compared, not characters: if the tokenizer makes text lowercase, replacing "a" with "A" changes nothing.

        Raises:
            OptionError: The text has no such range.
        """
        self._check(start, end)
        typed = without_surrogates(replacement)
        touched = self._parts_touched_by(start, end, len(typed))
        edit = Edit(start - touched.offset, end - touched.offset, typed)
        new_parts, change = self.reader.edited(touched.edited_parts, edit)
        change = change.moved(touched.offset)
        # This comes last, in one step: an error before it leaves the text unchanged.
        before = touched.parts[: touched.first]
        after = touched.parts[touched.last :]
        self._groups[touched.groups] = _grouped([*before, *new_parts, *after])
        return change

    def _parts_touched_by(self, start: int, end: int, n_typed: int) -> "_Touched":
        """Find the parts that an edit can change.

        They meet the range or touch it. So they begin and end with characters outside of it, unless the text ends.
        """
        group_sizes = [group.n_characters for group in self._groups]
        group_starts = list(accumulate(group_sizes, initial=0))
        first_group, last_group = _touching(group_starts, start, end)
        while True:
            groups = self._groups[first_group:last_group]
            parts = [part for group in groups for part in group.parts]
            sizes = [part.n_characters for part in parts]
            bounds = list(accumulate(sizes, initial=group_starts[first_group]))
            first, last = _touching(bounds, start, end)
            n_after_edit = bounds[last] - bounds[first] - (end - start) + n_typed
            if n_after_edit < LEAST:
                last += 1
            if last <= len(parts) or last_group == len(self._groups):
                return _Touched(
                    groups=slice(first_group, last_group),
                    parts=parts,
                    first=first,
                    last=min(last, len(parts)),
                    offset=bounds[first],
                )
            last_group += 1

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the parts that meet or touch a range. An edit of it changes no token outside of them."""
        touched = self._parts_touched_by(start, end, LEAST)
        n_characters = sum([part.n_characters for part in touched.edited_parts])
        return touched.offset, touched.offset + n_characters

    def ids_instead(self, start: int, end: int, text: str) -> list[int]:
        """Return the ids that `text` would have in the place of a range that `around` returned."""
        reader: Any = self.reader
        # An empty range has no parts around it to replace.
        if isinstance(reader, PreparedReader) and start < end:
            # Such a reader needs the kinds of the cuts at both ends. They stay: `around` includes their characters.
            parts = [placed.part for placed in self._parts_in(start, end)]
            new_parts = reader.read(text, parts[0].before, parts[-1].behind)
        else:
            new_parts = reader.read(text)
        return list(chain.from_iterable(part.ids for part in new_parts))

    def is_costly(self, start: int, end: int) -> bool:
        """Whether an edit of the range must encode a part that is too long for a screen to wait for its tokens."""
        if not isinstance(self.reader, PreparedReader):
            return False
        parts = self._parts_touched_by(start, end, 0).edited_parts
        return any([part.n_characters > LONG for part in parts])


class _PlacedPart(NamedTuple):
    """A part of the text, and the range in it that meets another range."""

    part: Any  # a `Part` or a `Giant`
    offset: int  # where it begins in the text
    start: int  # where the range begins in the part
    end: int


class _Touched(NamedTuple):
    """The parts that an edit can change, among all parts of their groups."""

    groups: slice
    parts: list[Any]  # of these groups
    first: int  # index in `parts` of the first part that can change
    last: int  # index after the last
    offset: int  # where the first part that can change begins in the text

    @property
    def edited_parts(self) -> list[Any]:
        return self.parts[self.first : self.last]


class _Group:
    """Adjacent parts and their sums."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts: Final = parts
        self.n_characters: Final = sum([part.n_characters for part in parts])
        self.n_bytes: Final = sum([part.n_bytes for part in parts])
        self._n_tokens: int | None = None

    @property
    def n_tokens(self) -> int | None:
        """The number of their tokens; None until all are computed."""
        if self._n_tokens is None:
            counts = [part.n_tokens for part in self.parts]
            if None not in counts:
                self._n_tokens = sum(counts)
        return self._n_tokens

    def parts_in(
        self, offset: int, start: int, end: int, stop: int
    ) -> Iterator[_PlacedPart]:
        """Yield the parts that meet a range up to `stop`; `offset` is where the group begins in the text."""
        for part in self.parts:
            n_characters = part.n_characters
            if start < offset + n_characters and offset < stop:
                start_in_part = max(0, start - offset)
                end_in_part = min(end - offset, n_characters)
                yield _PlacedPart(part, offset, start_in_part, end_in_part)
            offset += n_characters


def _grouped(parts: Iterable[Any]) -> list[_Group]:
    """Group parts, so that finding and replacing one takes few steps."""
    parts = list(parts)
    n_groups = max(1, round(len(parts) / GROUP))
    size = max(1, ceil(len(parts) / n_groups))
    return [_Group(parts[at : at + size]) for at in range(0, len(parts), size)]


def _touching(bounds: list[int], start: int, end: int) -> tuple[int, int]:
    """Return (first, last): the stretches between `bounds` with these indices, without `last`, touch a range."""
    first = max(0, bisect_left(bounds, start, 1) - 1)
    last = min(bisect_right(bounds, end), len(bounds) - 1)
    return first, last


def _reader(tokenizer: Tokenizer) -> PlainReader | PreparedReader:
    return PlainReader(tokenizer) if tokenizer.by_piece else PreparedReader(tokenizer)
