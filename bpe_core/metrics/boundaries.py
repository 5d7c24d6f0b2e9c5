"""Token boundaries of a text, and how far two tokenizers agree on them.

A boundary is an offset in the UTF-8 bytes of a text between two tokens; the ends of the text are no boundaries. Offsets
count bytes because a token may end inside a character.
"""

import random
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

from bpe_core.errors import OptionError
from bpe_core.live.alignment import Alignment
from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates


class EncodedText(NamedTuple):
    """A text with its tokens and the offsets at which they end."""

    text: str
    """The text, with U+FFFD for each lone surrogate."""
    ids: list[int]
    """The ids of its tokens."""
    ends: "array[int]"
    """For each token, the offset of its end in the UTF-8 bytes of the text; never decreasing."""

    def tokens(self, start: int, end: int) -> range:
        """The indices of the tokens that end after the offset `start`, or at 0 if it is 0, and not after `end`."""
        return range(bisect_right(self.ends, start) if start else 0, bisect_right(self.ends, end))


def encoded(tokenizer: Tokenizer, text: str) -> EncodedText:
    """The ids of `tokenizer.encode_ordinary(text)`, and where each token ends.

    If the tokenizer normalizes the text, a token ends where the last original character ends that became part of it. A
    token without any original character (a space prepended to the text) ends where the token before it does.
    """
    text = without_surrogates(text)
    if tokenizer.by_piece:
        ids = tokenizer.encode_ordinary(text)
        lengths = {id: len(tokenizer.token_bytes(id)) for id in set(ids)}
        ends = array("Q", accumulate(map(lengths.__getitem__, ids)))
        if (ends[-1] if ends else 0) == len(text.encode()):  # not so where the pattern drops white space
            return EncodedText(text, ids, ends)
    aligned = Alignment(tokenizer, text)
    offsets = byte_offsets(text)
    places = aligned.places(0, aligned.n_tokens)
    return EncodedText(text, aligned.ids, array("Q", accumulate((offsets[end] for _, end in places), max)))


def boundaries(tokenizer: Tokenizer, text: str) -> list[int]:
    """The token boundaries of a text: byte offsets, ascending, each once."""
    found = encoded(tokenizer, text)
    return inner(found.ends, len(found.text.encode()))


def inner(ends: Sequence[int], n_bytes: int) -> list[int]:
    """The boundaries in a text of `n_bytes` with these token ends: each end once, without 0 and `n_bytes`."""
    return [end for end in dict.fromkeys(ends) if 0 < end < n_bytes]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of the boundaries of two tokenizers, the first being the reference; agreements of several texts add up."""

    n_shared: int = 0
    """How many boundaries both have."""
    n_first: int = 0
    """How many the first has."""
    n_second: int = 0
    """How many the second has."""

    @property
    def precision(self) -> float:
        """The part of the second's boundaries that the first has too; 1.0 if the second has none."""
        return self.n_shared / self.n_second if self.n_second else 1.0

    @property
    def recall(self) -> float:
        """The part of the first's boundaries that the second has too; 1.0 if the first has none."""
        return self.n_shared / self.n_first if self.n_first else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 2 * shared / (first + second); 1.0 if neither has any."""
        n = self.n_first + self.n_second
        return 2 * self.n_shared / n if n else 1.0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.n_shared + other.n_shared, self.n_first + other.n_first, self.n_second + other.n_second)


def agreement(first: Sequence[int], second: Sequence[int]) -> Agreement:
    """The agreement of two lists of boundaries of one text, each without duplicates."""
    return Agreement(len(set(first).intersection(second)), len(first), len(second))


class Disagreement(NamedTuple):
    """A substring of a text that two tokenizers cut differently, from one shared boundary to the next."""

    start: int
    """Offset of its first byte in the text."""
    end: int
    """Offset of the byte after it."""
    first: tuple[int, ...]
    """The ids that the first tokenizer makes of it."""
    second: tuple[int, ...]
    """The ids that the second makes of it."""


def disagreements(first: EncodedText, second: EncodedText) -> Iterator[Disagreement]:
    """All disagreements of two tokenizers on one text, ascending; O(n + d log n) for n tokens and d disagreements."""
    unshared = set(first.ends).symmetric_difference(second.ends)
    last = max((*first.ends[-1:], *second.ends[-1:]), default=0)
    end = 0
    for at in sorted(unshared):
        if at <= end:
            continue
        i = bisect_left(first.ends, at)
        before = i
        while before and first.ends[before - 1] in unshared:
            before -= 1
        start = first.ends[before - 1] if before else 0
        while i < len(first.ends) and first.ends[i] in unshared:
            i += 1
        end = first.ends[i] if i < len(first.ends) else last  # not shared where white space at the end was dropped
        yield Disagreement(start, end, _between(first, start, end), _between(second, start, end))


def _between(found: EncodedText, start: int, end: int) -> tuple[int, ...]:
    """The ids from one offset to another; tokens that stand for nothing go with those before them."""
    tokens = found.tokens(start, end)
    return tuple(found.ids[tokens.start : tokens.stop])


def edit_survival(tokenizer: Tokenizer, text: str, *, n_edits: int = 200, around: int = 32, seed: int = 0) -> float:
    """Boundaries near an edit that are still there after it / boundaries there before; from 0 to 1, 1.0 for none.

    An edit replaces a random character of the text by another random one of its characters; it is undone before the
    next of the `n_edits`. Near are boundaries at most `around` characters before or after the edited character, except
    those directly at it. `seed` makes the result reproducible. Raises `OptionError` for `around` below 1.
    """
    if around < 1:
        raise OptionError(f"Boundaries can be compared 1 or more characters around an edit, not {around}.")
    choose = random.Random(seed)
    live = LiveText(tokenizer, text)
    text = live.text

    def near(at: int) -> set[int]:
        low, high = max(0, at - around), min(len(text), at + 1 + around)
        ends = chain.from_iterable((span.start, span.end) for span in live.spans(low, high))
        return {end for end in ends if low <= end <= high and end not in (at, at + 1)}

    n_before = n_left = 0
    for _ in range(n_edits if len(text) > 1 else 0):
        at = choose.randrange(len(text))
        before = near(at)
        live.splice(at, at + 1, choose.choice(text))
        n_before, n_left = n_before + len(before), n_left + len(before & near(at))
        live.splice(at, at + 1, text[at])
    return n_left / n_before if n_before else 1.0
