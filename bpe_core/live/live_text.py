"""Text and its tokens while it is being edited: an edit encodes again only what it touched.

The text is kept in parts, divided where a cut between two characters is safe whatever else the text holds. An edit
reads those parts anew that meet it, and their neighbors where it touches a border: so the two characters beside each
border that stays are the same, and nothing beyond it can change. `PlainReader` and `PreparedReader` divide and encode.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import accumulate, chain
from time import perf_counter
from typing import Any, Final

from bpe_core.errors import OptionError
from bpe_core.live.change import Change, Edit, Span
from bpe_core.live.plain import PlainReader
from bpe_core.live.prepared import PreparedReader
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import counted

__all__ = ["Change", "LiveText"]

LEAST: Final = (
    64  # characters below which edited parts are read together with the next one
)
GROUP: Final = 128  # parts of a group, about
LONG: Final = 2_048  # characters of a prepared part that is not encoded fast enough for a screen to wait for it
_FAR: Final = 2_048  # characters before and behind an offset in which `piece_at` follows a piece across parts


class LiveText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points of the text as it was written. Special tokens are text like any other. A pair of surrogates
    is kept as the character it stands for, a lone one as U+FFFD, as encoding reads them. Not thread-safe.

    Tokens are computed when they are asked for; an edit computes those it makes. With a tokenizer that changes a text
    before it encodes it, `OptionError` is raised where such a text has no place to cut it for very long, and
    `UnknownTokenError` for a character that has no token. What raises changes nothing, whatever is raised.

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
        # Pictures stand above live texts, so they are imported when they are asked for.
        return str(import_module("bpe_core.pictures.drawing").live_text_fragment(self))

    @property
    def tokenizer(self) -> Tokenizer:
        return self.reader.tokenizer

    def use(self, tokenizer: Tokenizer) -> None:
        """Set another tokenizer, or another step of the same one. Nothing is encoded before tokens are asked for."""
        reader: Any = _reader(tokenizer)
        if tokenizer.splits_like(self.tokenizer):
            parts = [reader.part(part.text) for part in self._parts]
        else:
            parts = reader.read(self.text)
        self.reader, self._groups = reader, _grouped(parts)

    @property
    def _parts(self) -> Iterator[Any]:
        return chain.from_iterable(group.parts for group in self._groups)

    @property
    def text(self) -> str:
        return "".join([part.text for part in self._parts])

    @property
    def n_characters(self) -> int:
        """In code points."""
        return sum([group.n_characters for group in self._groups])

    @property
    def n_bytes(self) -> int:
        """In UTF-8."""
        return sum([group.n_bytes for group in self._groups])

    def between(self, start: int, end: int) -> str:
        """The text from one offset to another, in code points. Raises `OptionError` if there is no such range."""
        parts = self._within(start, end)
        return "".join(
            [
                part.between(max(0, start - at), min(end - at, part.n_characters))
                for at, part in parts
            ]
        )

    def _within(self, start: int, end: int) -> Iterator[tuple[int, Any]]:
        """(start, part) for all parts that meet a range. Raises `OptionError` if there is no such range."""
        self._check(start, end)
        at = 0
        for group in self._groups:
            behind = at + group.n_characters
            for part in (
                group.parts if start < behind and at < max(end, start + 1) else ()
            ):
                if start < at + part.n_characters and at < max(end, start + 1):
                    yield at, part
                at += part.n_characters
            at = behind

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {counted(self.n_characters, 'character')}; "
                "offsets count code points, from 0."
            )

    # Tokens

    @property
    def ids(self) -> list[int]:
        """All tokens; encodes all of the text, which is settled then."""
        found: list[int] = []
        for part in self._parts:
            ids = part.ids
            part.n_tokens = len(ids)
            found += ids
        return found

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range.

        A tokenizer that changes the text may give empty ones, see `Alignment.spans`. In a very long stretch without a
        safe cut, they are provisional until the text is settled.
        """
        found: list[Span] = []
        for at, part in self._within(start, end):
            spans = part.spans(max(0, start - at), min(end - at, part.n_characters))
            found += [Span(at + span.start, at + span.end, span.ids) for span in spans]
        return found

    def span_at(self, offset: int) -> Span | None:
        """The span that holds the character at `offset`; None at the end of the text and in what is dropped."""
        spans = self.spans(offset, min(offset + 1, self.n_characters))
        return next((span for span in spans if span.start <= offset < span.end), None)

    def piece_at(self, offset: int) -> tuple[int, int, str] | None:
        """(start, end, text as it is encoded) of the piece that holds the character at `offset`; None if none does.

        The text is normalized, and "" for an added token. Under a tokenizer that changes the text, a piece that spans
        very many characters is cut off.
        """
        if offset == self.n_characters:
            return None
        at, part = next(self._within(offset, offset))
        near = [
            part
            for _, part in self._within(
                max(0, offset - _FAR), min(self.n_characters, offset + _FAR)
            )
        ]
        found = self.reader.piece_at(near, near.index(part), offset - at)
        return found and (at + found[0], at + found[1], found[2])

    # How many

    @property
    def settled(self) -> bool:
        """Whether all tokens are computed, and their number known with them."""
        return all([group.n_tokens is not None for group in self._groups])

    def settle(self, seconds: float) -> bool:
        """Compute tokens for about `seconds`, of one part, or of a stretch of one, at least; whether all are known."""
        deadline = perf_counter() + seconds
        for group in self._groups:
            for part in group.parts if group.n_tokens is None else ():
                while part.n_tokens is None:
                    part.settle()
                    if perf_counter() >= deadline:
                        return self.settled
        return True

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has; settles it."""
        self.settle(float("inf"))
        return sum([group.n_tokens or 0 for group in self._groups])

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range; None if a part inside of it is not encoded yet. Encodes only its ends."""
        n_tokens = 0
        for at, part in self._within(start, end) if start < end else ():
            if start < at and at + part.n_characters < end:
                if part.n_tokens is None:
                    return None
                n_tokens += part.n_tokens
            else:
                n_tokens += part.n_tokens_between(
                    max(0, start - at), min(end - at, part.n_characters)
                )
        return n_tokens

    # Edits

    def splice(self, start: int, end: int, replacement: str) -> Change:
        """Replace the characters from `start` up to, not including, `end`. Raises `OptionError` for no such range.

        Where the tokenizer changes the text, an id that stays the same is no change, even if it stands for other
        characters now, as a letter that became lower case.
        """
        self._check(start, end)
        typed = without_surrogates(replacement)
        groups, first, last, at, parts = self._touched(start, end, len(typed))
        new, change = self.reader.edited(
            parts[first:last], Edit(start - at, end - at, typed)
        )
        change = change.moved(at)
        # At once and last: whatever is raised before leaves the text as it was.
        self._groups[groups] = _grouped([*parts[:first], *new, *parts[last:]])
        return change

    def _touched(
        self, start: int, end: int, n_typed: int
    ) -> tuple[slice, int, int, int, list[Any]]:
        """(groups, first, last, at, parts): which `parts` of these groups an edit can change; they begin at `at`. They
        meet the range or touch it, so they begin and end with characters outside of it, but where the text ends."""
        begins = list(
            accumulate([group.n_characters for group in self._groups], initial=0)
        )
        one, other = _touching(begins, start, end)
        while True:
            parts = [part for group in self._groups[one:other] for part in group.parts]
            bounds = list(
                accumulate([part.n_characters for part in parts], initial=begins[one])
            )
            first, last = _touching(bounds, start, end)
            if bounds[last] - bounds[first] - (end - start) + n_typed < LEAST:
                last += 1
            if last <= len(parts) or other == len(self._groups):
                return (
                    slice(one, other),
                    first,
                    min(last, len(parts)),
                    bounds[first],
                    parts,
                )
            other += 1

    def around(self, start: int, end: int) -> tuple[int, int]:
        """(start, end) of the parts that meet or touch a range: an edit of it changes no token outside of them."""
        _, first, last, at, parts = self._touched(start, end, LEAST)
        return at, at + sum([part.n_characters for part in parts[first:last]])

    def ids_instead(self, start: int, end: int, text: str) -> list[int]:
        """The tokens that a text would have in the place of a range that `around` gave."""
        reader, inside = (
            self.reader,
            [part for _, part in self._within(start, end)] if start < end else [],
        )
        edges = (
            (inside[0].before, inside[-1].behind)
            if isinstance(reader, PreparedReader) and inside
            else ()
        )
        return [token for part in reader.read(text, *edges) for token in part.ids]

    def is_costly(self, start: int, end: int) -> bool:
        """Whether an edit of the range must encode a part that is too long for a screen to wait for its tokens."""
        _, first, last, _, parts = self._touched(start, end, 0)
        is_prepared = isinstance(self.reader, PreparedReader)
        return is_prepared and any(
            [part.n_characters > LONG for part in parts[first:last]]
        )


class _Group:
    """Adjacent parts and their sums."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts: Final = parts
        self.n_characters: Final = sum([part.n_characters for part in parts])
        self.n_bytes: Final = sum([part.n_bytes for part in parts])
        self._n_tokens: int | None = None

    @property
    def n_tokens(self) -> int | None:
        """How many tokens they have; None until all are known."""
        if self._n_tokens is None:
            counts = [part.n_tokens for part in self.parts]
            self._n_tokens = None if None in counts else sum(counts)
        return self._n_tokens


def _grouped(parts: Iterable[Any]) -> list[_Group]:
    """So many parts in a group that finding one, and replacing one, takes few steps."""
    parts = list(parts)
    n = max(1, round(len(parts) / GROUP))
    size = -(-len(parts) // n)
    return [_Group(parts[at : at + size]) for at in range(0, len(parts), max(1, size))]


def _touching(bounds: list[int], start: int, end: int) -> tuple[int, int]:
    """(first, last): of the stretches between `bounds` those from `first` to before `last` touch a range."""
    return max(0, bisect_left(bounds, start, 1) - 1), min(
        bisect_right(bounds, end), len(bounds) - 1
    )


def _reader(tokenizer: Tokenizer) -> PlainReader | PreparedReader:
    return PlainReader(tokenizer) if tokenizer.by_piece else PreparedReader(tokenizer)
