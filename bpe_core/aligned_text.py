"""Text and its tokens while it is being edited, for tokenizers that change a text before they encode it.

`LiveText` follows an edit piece by piece, since there a token's bytes are the text's. Here they are not (see
`bpe_core.alignment`), and a rule may look anywhere; so each edit encodes the whole text again.
"""

from bisect import bisect_right
from typing import Final

from bpe_core.alignment import Alignment, Place
from bpe_core.bpe import utf8
from bpe_core.errors import OptionError
from bpe_core.live_text import LiveText
from bpe_core.live_text.change import Change
from bpe_core.live_text.edit import Edit, without_halves
from bpe_core.plurals import counted
from bpe_core.spans import Span
from bpe_core.tokenizer import Tokenizer

LARGEST: Final = 200_000
"""Characters of a text up to which each key can wait for all of it to be encoded again."""


class AlignedText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points of the text as it was written. It is used as `LiveText` is, and takes any tokenizer; what an
    edit costs grows with the text. Not for use in several threads.

    What makes or changes one raises `OptionError` where the text would be longer than `LARGEST`, and
    `UnknownTokenError` where a character of it has no token; then nothing has changed.
    """

    settled: Final = True
    """Whether all tokens are known: always."""

    def __init__(self, tokenizer: Tokenizer, text: str = "") -> None:
        self._now = _aligned(tokenizer, without_halves(text))

    def __repr__(self) -> str:
        return f"<AlignedText: {self.n_characters} characters, {self.tokenizer!r}>"

    def use(self, tokenizer: Tokenizer) -> None:
        """Go on with another tokenizer, or another step of the same one."""
        self._now = _aligned(tokenizer, self.text)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer in use; `use` sets another."""
        return self._now.tokenizer

    @property
    def text(self) -> str:
        """The text."""
        return self._now.text

    @property
    def n_characters(self) -> int:
        """Code points of the text."""
        return len(self._now.text)

    @property
    def n_bytes(self) -> int:
        """Bytes of the text in UTF-8."""
        return len(utf8(self._now.text))

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        self._check(start, end)
        return self._now.text[start:end]

    @property
    def ids(self) -> list[int]:
        """All tokens."""
        return self._now.ids

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has."""
        return self._now.n_tokens

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range."""
        return sum(len(span.ids) for span in self.spans(start, end))

    @property
    def n_tokens_known(self) -> int:
        """The same: here it is always known."""
        return self._now.n_tokens

    def settle(self, seconds: float) -> bool:
        """Whether all tokens are known; nothing is left to be worked on."""
        return self.settled

    def split_all(self) -> None:
        """Nothing: all pieces are known."""

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range. See `Alignment.spans`."""
        self._check(start, end)
        return self._now.spans(start, end)

    def span_at(self, offset: int) -> Span | None:
        """The span that holds the character at `offset`; None at the end of the text and in what is dropped."""
        spans = self.spans(offset, min(offset + 1, self.n_characters))
        return next((span for span in spans if span.start < span.end), None)

    def places(self, first: int, last: int) -> list[Place]:
        """For each of some tokens in a row, the characters of which it holds at least a part."""
        return self._now.places(first, last)

    def stretch(self, first: int, last: int) -> Place:
        """The characters that some tokens in a row hold; an empty place, where they would stand, if there are none."""
        places = self.places(first, last)
        if places:
            return places[0][0], places[-1][1]
        begin = self.places(first, first + 1)[0][0] if first < self.n_tokens else self.n_characters
        return begin, begin

    def piece_at(self, offset: int) -> Place | None:
        """Where the piece that holds the character at `offset` begins and ends; None if none does."""
        self._check(offset, offset)
        return self._now.piece_at(offset)

    def prepared_piece(self, offset: int) -> str:
        """That piece as it is when it is encoded; "" if there is none."""
        self._check(offset, offset)
        return self._now.prepared_piece(offset)

    def splice(self, start: int, end: int, replacement: str) -> Change:
        """Replace the characters from `start` up to, not including, `end`. Raises `OptionError` for no such range.

        Ids that stay count as tokens that stay, also where they stand for other characters now, as with small letters.
        """
        self._check(start, end)
        edit = Edit(start, end, without_halves(replacement))
        old, text = self._now, self._now.text
        self._now = _aligned(self.tokenizer, text[:start] + edit.replacement + text[end:])
        return _change(old, self._now, edit)

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {counted(self.n_characters, 'character')}; "
                "offsets count code points, from 0."
            )


FollowedText = LiveText | AlignedText
"""A text whose tokens can be followed while it is edited."""


def followed(tokenizer: Tokenizer, text: str) -> FollowedText:
    """A text to be edited under any tokenizer; raises what `AlignedText` raises."""
    return LiveText(tokenizer, text) if tokenizer.by_piece else AlignedText(tokenizer, text)


def _aligned(tokenizer: Tokenizer, text: str) -> Alignment:
    if len(text) > LARGEST:
        raise OptionError(
            f"Tokens are shown up to {LARGEST:,} characters, and the text has {len(text):,}: this tokenizer changes a "
            "text before it splits it, so each key encodes all of it again."
        )
    return Alignment(tokenizer, text)


def _change(before: Alignment, after: Alignment, edit: Edit) -> Change:
    """What an edit did to the tokens."""
    old, new = before.ids, after.ids
    n_before = bisect_right(range(len(old)), edit.start, key=lambda token: before.places(token, token + 1)[0][1])
    head = _common(old[:n_before], new)  # in a run of one token the edited place counts
    tail = _common(old[head:][::-1], new[head:][::-1])
    head += _common(old[head : len(old) - tail], new[head : len(new) - tail])
    went, came = before.places(head, len(old) - tail), after.places(head, len(new) - tail)
    if not went and not came:
        return Change(edit.start, (), ())
    known = after.places(head - 1, head) if head else []
    begin = came[0][0] if came else known[0][1] if known else edit.start
    start = min(place[0] for place in ((begin, begin), *went[:1]))
    shared = bool(known) and known[0][1] > start
    return Change(
        start,
        tuple(old[head : len(old) - tail]),
        tuple(new[head : len(new) - tail]),
        tuple(_own_bytes(before.text, went, start + shared)),
        tuple(_own_bytes(after.text, came, start + shared)),
        len(utf8(after.text[start : start + 1])) if shared else 0,
        _ripple(went, came, after.text, edit),
    )


def _common(one: list[int], other: list[int]) -> int:
    """With how many tokens both begin."""
    length, step = 0, 256
    while step:
        step = min(step, len(one) - length, len(other) - length)
        if step and one[length : length + step] == other[length : length + step]:
            length += step
            step *= 2
        else:
            step //= 2
    return length


def _own_bytes(text: str, places: list[Place], done: int) -> list[bytes]:
    """The bytes of the text that each token stands for; of characters that tokens share, the first has them."""
    found: list[bytes] = []
    for start, end in places:
        found.append(utf8(text[max(start, done) : max(end, done)]))
        done = max(end, done)
    return found


def _ripple(went: list[Place], came: list[Place], text: str, edit: Edit) -> int:
    """Bytes from the edited text to the farthest border that only one of two rows of tokens has; 0 if none does."""
    old, new = ({border for place in places for border in place} for places in (went, came))
    before = {at for at in old if at < edit.start} ^ {at for at in new if at < edit.start}
    behind = {at - edit.end for at in old if at > edit.end} ^ {at - edit.stop for at in new if at > edit.stop}
    return max(
        len(utf8(text[min(before, default=edit.start) : edit.start])),
        len(utf8(text[edit.stop : edit.stop + max(behind, default=0)])),
    )
