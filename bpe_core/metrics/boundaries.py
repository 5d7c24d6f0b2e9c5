"""Token boundaries of a text, and how far two tokenizers, or a tokenizer and the morphemes of words, agree on them.

A boundary is an offset in the UTF-8 bytes of a text between two tokens; the ends of the text are no boundaries. Offsets
count bytes because a token may end inside a character.
"""

import random
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Final

from bpe_core.cached import cached_property
from bpe_core.errors import TextError
from bpe_core.live.alignment import Alignment
from bpe_core.live.change import Cut
from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates
from bpe_core.visible import quoted

_SEPARATOR: Final = re.compile(r"[\s+|]+(?:@@)?|@@\s+")  # of morphemes
_UNLIKE: Final = re.compile(
    "[\u0300-\u03ff][\0-\xff]*+[\u0100-\u02ff][^\u0300-\u03ff]*+"
)  # in `compared`
_AROUND: Final = 32  # characters around an edit, near which boundaries are compared
_ENCODED: Final = 512  # characters around an edit that are encoded


@dataclass(frozen=True)
class EncodedText:
    """A text, with U+FFFD for each lone surrogate, and its tokens."""

    data: bytes  # the text in UTF-8
    ids: list[int]
    ends: Sequence[int]  # for each token the offset of its end; these never decrease

    @cached_property
    def cuts(self) -> bytearray:
        """For each offset, 1 if a token ends there, else 0; 1 at both ends of the text."""
        cuts = bytearray(len(self.data) + 1)
        for end in self.ends:
            cuts[end] = 1
        cuts[0] = cuts[-1] = 1
        return cuts

    def tokens(self, start: int, end: int) -> list[int]:
        """The ids of the tokens that end after the offset `start`, or at 0 if it is 0, and not after `end`."""
        return self.ids[
            bisect_right(self.ends, start) if start else 0 : bisect_right(
                self.ends, end
            )
        ]


def encoded(
    tokenizer: Tokenizer,
    text: str,
    before: Cut | None = None,
    behind: Cut | None = None,
) -> EncodedText:
    """The ids of `tokenizer.encode_ordinary(text)`, and where each token ends. `before` and `behind` are the kinds of
    cuts at the ends of a part of a text.

    If the text is normalized, that is where the last original character ends that became part of the token; without any
    (a space put before the text), where the token before it ends.
    """
    text = without_surrogates(text)
    data = text.encode()
    if tokenizer.by_piece:
        ids = tokenizer.encode_ordinary(text)
        lengths = {id: len(tokenizer.token_bytes(id)) for id in set(ids)}
        ends = array("Q", accumulate(map(lengths.__getitem__, ids)))
        if (ends[-1] if ends else 0) == len(
            data
        ):  # not so where the pattern drops white space
            return EncodedText(data, ids, ends)
    aligned, offsets = Alignment(tokenizer, text, before, behind), byte_offsets(text)
    return EncodedText(
        data,
        aligned.ids,
        array("Q", accumulate((offsets[end] for _, end in aligned.places), max)),
    )


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many boundaries two tokenizers share, and each has, the first being the reference; those of texts add up."""

    n_shared: int = 0
    n_first: int = 0
    n_second: int = 0

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
        return Agreement(
            self.n_shared + other.n_shared,
            self.n_first + other.n_first,
            self.n_second + other.n_second,
        )


def compared(
    first: EncodedText, second: EncodedText
) -> tuple[Agreement, Iterator[re.Match[str]]]:
    """How far two tokenizers agree on the boundaries of a text; and where not, a match from one shared boundary to the
    next: its span counts bytes, and equal strings are equal bytes, cut alike. O(n) for n bytes."""
    # A character for each byte: 0x100 is added if the first has a boundary before it, 0x200 if the second has one.
    cuts = (int.from_bytes(first.cuts) + 2 * int.from_bytes(second.cuts)).to_bytes(
        len(first.cuts)
    )
    both = bytearray(2 * len(first.data))
    both[::2], both[1::2] = first.data, cuts[:-1]
    n_shared, n_first, n_second = (
        cuts.count(which, 1, len(cuts) - 1) for which in (3, 1, 2)
    )
    return Agreement(
        n_shared, n_shared + n_first, n_shared + n_second
    ), _UNLIKE.finditer(both.decode("utf-16-le"))


def edit_survival(tokenizer: Tokenizer, text: str, *, n_edits: int = 200) -> float:
    """Boundaries near an edit that are still there after it / boundaries there before; 1.0 for none.

    An edit replaces a random character of the text by another of its characters, always the same ones; it is undone
    before the next. Near are boundaries at most 32 characters from the edited one, except those directly at it. Only
    512 characters before and behind the edit are encoded, since some patterns have to split much more of a text again.
    """
    choose = random.Random(0)
    text = without_surrogates(text)
    live = LiveText(tokenizer)
    n_before = n_left = 0
    for _ in range(n_edits if len(text) > 1 else 0):
        place = choose.randrange(len(text))
        typed = choose.choice(text)
        start = max(0, place - _ENCODED)
        place_in_window = place - start
        live.splice(0, live.n_characters, text[start : place + 1 + _ENCODED])
        before = _borders_near(live, place_in_window)
        live.splice(place_in_window, place_in_window + 1, typed)
        after = _borders_near(live, place_in_window)
        n_before += len(before)
        n_left += len(before & after)
    return n_left / n_before if n_before else 1.0


def _borders_near(live: LiveText, place: int) -> set[int]:
    """The borders between tokens at most `_AROUND` characters from a character, except those of the character."""
    first = max(0, place - _AROUND)
    last = min(live.n_characters, place + 1 + _AROUND)
    spans = live.spans(first, last)
    borders = chain.from_iterable((span.start, span.end) for span in spans)
    return {
        border
        for border in borders
        if first <= border <= last and border not in (place, place + 1)
    }


def morphological_alignment(
    tokenizer: Tokenizer, words: Iterable[Sequence[str]]
) -> Agreement:
    """The agreement of morpheme boundaries (`n_first`) and token boundaries (`n_second`) inside words.

    Each word is given as its morphemes, ("un", "break", "able"), and is encoded by itself after a space, as within a
    sentence; a boundary directly after that is ignored. So `recall` and `precision` are the measures of the Morpho
    Challenge (Kurimo et al. 2010), applied to tokenizers by Arnett and Bergen (2025).
    """
    total = Agreement()
    for parts in words:
        ends = list(accumulate((len(part.encode()) for part in parts), initial=1))
        cuts = {
            end
            for end in encoded(tokenizer, " " + "".join(parts)).ends
            if 1 < end < ends[-1]
        }
        total += Agreement(
            len(cuts.intersection(ends)), len({*ends[1:-1]} - {1}), len(cuts)
        )
    return total


def read_morphemes(text: str, name: str) -> list[tuple[str, ...]]:
    """Words as their morphemes, from a text with one word a line, perhaps with the word itself and a tab before it.

    Morphemes are separated by white space, "+" or "|", where there is none of these by "-"; "@@" at a separator is
    part of it. Raises `TextError` about the text, called `name`, without words, or with morphemes that make another.
    """
    words = []
    for number, line in enumerate(text.splitlines(), 1):
        word, tab, rest = line.strip().partition("\t")
        morphemes = rest if tab else word
        found = (
            _SEPARATOR.split(morphemes)
            if _SEPARATOR.search(morphemes)
            else morphemes.split("-")
        )
        parts = tuple(filter(None, found))
        if tab and "".join(parts) != word:
            problem = (
                f"the morphemes {quoted(rest)} do not make {quoted(word)}; correct it."
            )
            raise TextError(f"{name}: Line {number}: {problem}")
        if parts:
            words.append(parts)
    if not words:
        raise TextError(
            f"{name}: There is no word in the list of morphemes; give it lines such as un+break+able."
        )
    return words
