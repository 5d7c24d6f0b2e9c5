"""Token boundaries of a text, how far two tokenizers agree on them, and how many survive an edit.

A boundary is an offset between two tokens, in the bytes of the text in UTF-8. Bytes are counted
because a token may end inside a character. The ends of the text are not boundaries.
"""

import random
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from bpe_core.cached import cached_property
from bpe_core.live.alignment import Alignment
from bpe_core.live.change import Cut
from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates

_DIFFERENCE: Final = re.compile(
    "[\u0300-\u03ff]"  # a byte with a shared boundary before it
    "[\0-\xff]*+"  # bytes without a boundary before them
    "[\u0100-\u02ff]"  # a byte with a boundary of only one tokenizer before it
    "[^\u0300-\u03ff]*+"  # everything up to the next shared boundary
)
"""Matches a stretch of text that two tokenizers cut differently, as `compare_boundaries` encodes it."""
_NEAR: Final = 32
"""Maximum distance from an edit, in characters, at which `edit_survival` compares boundaries."""
_CONTEXT: Final = 512
"""Number of characters before and after an edit that `edit_survival` encodes."""


@dataclass(frozen=True)
class EncodedText:
    """A text and its tokens. In the text, each lone surrogate is replaced by U+FFFD."""

    data: bytes  # the text in UTF-8
    ids: list[int]
    ends: Sequence[int]
    """For each token, the offset in `data` at which it ends. The offsets never decrease."""
    alignment: Alignment | None = None
    """The pieces, if the ends were found by them and they were asked for. They take much memory."""

    @cached_property
    def cuts(self) -> bytearray:
        """One byte for each offset in `data`: 1 at the start, at the end and where a token ends, else 0."""
        cuts = bytearray(len(self.data) + 1)
        for end in self.ends:
            cuts[end] = 1
        cuts[0] = 1
        cuts[-1] = 1
        return cuts

    def tokens(self, start: int, end: int) -> list[int]:
        """Return the ids of the tokens that end after the offset `start` and not after `end`.

        If `start` is 0, tokens that end at 0 are included: they cover no byte of the text.
        """
        first = bisect_right(self.ends, start) if start else 0
        return self.ids[first : bisect_right(self.ends, end)]


def encode_with_ends(
    tokenizer: Tokenizer,
    text: str,
    before: Cut | None = None,
    behind: Cut | None = None,
    *,
    keeps_alignment: bool = False,
) -> EncodedText:
    """Encode a text, and find where each token ends.

    A tokenizer may change the text before it encodes it. Then a token ends where the last original
    character ends that became part of it. A token without such a character, such as a space added before
    the text, ends where the token before it ends.

    Args:
        tokenizer: Encodes the text with `encode_ordinary`.
        text: The text, or a part of one.
        before: The kind of cut before the part; None at the beginning of the text.
        behind: The kind of cut after the part; None at the end of the text.
        keeps_alignment: Whether to return the alignment, too, if one is made.

    Raises:
        UnknownTokenError: A character has no token.
        PatternError: The pattern takes too long.
    """
    text = without_surrogates(text)
    data = text.encode()
    if tokenizer.by_piece:
        ids = tokenizer.encode_ordinary(text)
        length_of = {id: len(tokenizer.token_bytes(id)) for id in set(ids)}
        ends = array("Q", accumulate(map(length_of.__getitem__, ids)))
        n_bytes_in_tokens = ends[-1] if ends else 0
        # Otherwise the pattern drops white space, and lengths don't add up to offsets.
        if n_bytes_in_tokens == len(data):
            return EncodedText(data, ids, ends)
    alignment = Alignment(tokenizer, text, before, behind)
    offsets = byte_offsets(text)
    token_ends = (offsets[end] for _, end in alignment.places)
    ends = array("Q", accumulate(token_ends, max))
    kept = alignment if keeps_alignment else None
    return EncodedText(data, alignment.ids, ends, kept)


def encode_part(
    tokenizer: Tokenizer, text: str, before: Cut | None, behind: Cut | None
) -> "array[int]":
    """Return the ids that `encode_with_ends` returns, in less time if the ends are not needed."""
    is_whole_text = before is None and behind is None
    if tokenizer.by_piece or is_whole_text:
        return tokenizer.encode_to_array(text)
    return array("I", encode_with_ends(tokenizer, text, before, behind).ids)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The numbers of boundaries of two tokenizers in a text. The first tokenizer is the reference.

    Agreements on several texts can be added.
    """

    n_shared: int = 0
    n_first: int = 0
    n_second: int = 0

    @property
    def precision(self) -> float:
        """Shared boundaries / boundaries of the second tokenizer; 1.0 if it has none."""
        return self.n_shared / self.n_second if self.n_second else 1.0

    @property
    def recall(self) -> float:
        """Shared boundaries / boundaries of the first tokenizer; 1.0 if it has none."""
        return self.n_shared / self.n_first if self.n_first else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1.0 without boundaries."""
        n_boundaries = self.n_first + self.n_second
        return 2 * self.n_shared / n_boundaries if n_boundaries else 1.0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(
            self.n_shared + other.n_shared,
            self.n_first + other.n_first,
            self.n_second + other.n_second,
        )


class ComparedBoundaries(NamedTuple):
    """How two tokenizers cut the same text."""

    agreement: Agreement
    differences: Iterator[re.Match[str]]
    """A match for each stretch between two neighboring shared boundaries that the tokenizers cut
    differently. Its span counts bytes. Matches of equal strings are equal bytes with the same
    boundaries."""


def compare_boundaries(first: EncodedText, second: EncodedText) -> ComparedBoundaries:
    """Compare the boundaries of two tokenizers in the same text. Takes O(n) time for n bytes.

    Each byte becomes a character, so that one regular expression finds the differences. Its code
    point is the byte, plus 0x100 if the first tokenizer has a boundary before it, plus 0x200 if the
    second one has. For the bytes b"abc", cut a|b|c and ab|c, the characters are U+0361 (a, a shared
    boundary), U+0162 (b, one of the first tokenizer only) and U+0363 (c, a shared boundary). The
    first two are a difference.
    """
    n_bytes = len(first.data)
    both_cuts = int.from_bytes(first.cuts) + 2 * int.from_bytes(second.cuts)
    cuts = both_cuts.to_bytes(n_bytes + 1)
    utf16 = bytearray(2 * n_bytes)
    utf16[::2] = first.data
    utf16[1::2] = cuts[:-1]
    n_shared = cuts.count(3, 1, n_bytes)
    n_only_first = cuts.count(1, 1, n_bytes)
    n_only_second = cuts.count(2, 1, n_bytes)
    agreement = Agreement(
        n_shared=n_shared,
        n_first=n_shared + n_only_first,
        n_second=n_shared + n_only_second,
    )
    characters = utf16.decode("utf-16-le")
    return ComparedBoundaries(agreement, _DIFFERENCE.finditer(characters))


def edit_survival(tokenizer: Tokenizer, text: str, *, n_edits: int = 200) -> float:
    """Return the fraction of the boundaries near an edit that survive it, from 0 to 1.

    Each edit replaces one random character by another character of the text, and is undone before
    the next one. The random choices are the same in each call. Only the 512 characters before and
    after an edit are encoded, because some patterns would have to split much more of the text
    again.

    Args:
        tokenizer: The tokenizer to measure.
        text: The text, in which each character is equally likely to be edited.
        n_edits: Number of edits.

    Returns:
        Boundaries that survive / boundaries before the edit, summed over all edits. Only boundaries
        at most 32 characters from the edited character count, except those directly before and
        after it. 1.0 if there are no such boundaries.
    """
    text = without_surrogates(text)
    if len(text) < 2:
        return 1.0
    choose = random.Random(0)
    live = LiveText(tokenizer)
    n_before = 0
    n_surviving = 0
    for _ in range(n_edits):
        place = choose.randrange(len(text))
        typed = choose.choice(text)
        start = max(0, place - _CONTEXT)
        place_in_context = place - start
        live.splice(0, live.n_characters, text[start : place + 1 + _CONTEXT])
        before = _boundaries_near(live, place_in_context)
        live.splice(place_in_context, place_in_context + 1, typed)
        after = _boundaries_near(live, place_in_context)
        n_before += len(before)
        n_surviving += len(before & after)
    return n_surviving / n_before if n_before else 1.0


def _boundaries_near(live: LiveText, place: int) -> set[int]:
    """Return the boundaries at most `_NEAR` characters from a character, except its own two."""
    first = max(0, place - _NEAR)
    last = min(live.n_characters, place + 1 + _NEAR)
    boundaries = set[int]()
    for span in live.spans(first, last):
        boundaries.update((span.start, span.end))
    at_character = (place, place + 1)
    return {
        boundary
        for boundary in boundaries
        if first <= boundary <= last and boundary not in at_character
    }
