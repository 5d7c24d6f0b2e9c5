"""Token boundaries of a text, and how far two tokenizers, or a tokenizer and the morphemes of words, agree on them.

A boundary is an offset in the UTF-8 bytes of a text between two tokens; the ends of the text are no boundaries. Offsets
count bytes because a token may end inside a character.
"""

import random
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Final, NamedTuple, Self

from bpe_core.errors import TextError
from bpe_core.live.alignment import Alignment
from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates
from bpe_core.visible import quoted

_SEPARATOR: Final = re.compile(r"[\s+|]+(?:@@)?|@@\s+")  # of morphemes
_AROUND: Final = 32  # characters around an edit, near which boundaries are compared


class EncodedText(NamedTuple):
    """A text, with U+FFFD for each lone surrogate, and its tokens."""

    text: str
    ids: list[int]
    ends: "array[int]"  # for each token the offset of its end; these never decrease

    def tokens(self, start: int, end: int) -> range:
        """The indices of the tokens that end after the offset `start`, or at 0 if it is 0, and not after `end`."""
        return range(bisect_right(self.ends, start) if start else 0, bisect_right(self.ends, end))

    def boundaries(self) -> list[int]:
        """The token boundaries: byte offsets, ascending, each once."""
        n_bytes = len(self.text.encode())
        return [end for end in dict.fromkeys(self.ends) if 0 < end < n_bytes]


def encoded(tokenizer: Tokenizer, text: str) -> EncodedText:
    """The ids of `tokenizer.encode_ordinary(text)`, and where each token ends.

    If the text is normalized, that is where the last original character ends that became part of the token; without any
    (a space put before the text), where the token before it ends.
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
    places = aligned.places(0, len(aligned.ids))
    return EncodedText(text, aligned.ids, array("Q", accumulate((offsets[end] for _, end in places), max)))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many boundaries two tokenizers share, and each has, the first being the reference; those of texts add up."""

    n_shared: int = 0
    n_first: int = 0
    n_second: int = 0

    @classmethod
    def of(cls, first: Sequence[int], second: Sequence[int]) -> Self:
        """Of two lists of boundaries of one text, each without duplicates."""
        return cls(len(set(first).intersection(second)), len(first), len(second))

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


def disagreements(
    first: EncodedText, second: EncodedText
) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """(start, end, ids by the first, ids by the second) of the substrings that two tokenizers cut differently, each
    from one shared boundary to the next. O(n + d log n) for n tokens and d disagreements."""
    unshared = set(first.ends).symmetric_difference(second.ends)
    shared = [0, *(end for end in first.ends if end not in unshared)]
    shared.append(max((*first.ends[-1:], *second.ends[-1:]), default=0))  # of which one may drop white space at the end
    end = 0
    for at in sorted(unshared):
        if at > end:
            i = bisect_left(shared, at)
            start, end = shared[i - 1 : i + 1]
            ours, theirs = first.tokens(start, end), second.tokens(start, end)
            yield start, end, tuple(first.ids[ours.start : ours.stop]), tuple(second.ids[theirs.start : theirs.stop])


def edit_survival(tokenizer: Tokenizer, text: str, *, n_edits: int = 200) -> float:
    """Boundaries near an edit that are still there after it / boundaries there before; 1.0 for none.

    An edit replaces a random character of the text by another of its characters, always the same ones; it is undone
    before the next. Near are boundaries at most 32 characters from the edited one, except those directly at it.
    """
    choose = random.Random(0)
    live = LiveText(tokenizer, text)
    text = live.text

    def near(at: int) -> set[int]:
        low, high = max(0, at - _AROUND), min(len(text), at + 1 + _AROUND)
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


def morphological_alignment(tokenizer: Tokenizer, words: Iterable[Sequence[str]]) -> Agreement:
    """The agreement of morpheme boundaries (`n_first`) and token boundaries (`n_second`) inside words.

    Each word is given as its morphemes, ("un", "break", "able"), and is encoded by itself after a space, as within a
    sentence; a boundary directly after that is ignored. So `recall` and `precision` are the measures of the Morpho
    Challenge (Kurimo et al. 2010), applied to tokenizers by Arnett and Bergen (2025).
    """
    total = Agreement()
    for parts in words:
        ends = list(accumulate((len(part.encode()) for part in parts), initial=1))
        cuts = encoded(tokenizer, " " + "".join(parts)).boundaries()
        total += Agreement.of([end for end in ends[1:-1] if end > 1], [cut for cut in cuts if cut > 1])
    return total


def read_morphemes(text: str) -> list[tuple[str, ...]]:
    """Words as their morphemes, from a text with one word a line, perhaps with the word itself and a tab before it.

    Morphemes are separated by white space, "+" or "|", where there is none of these by "-"; "@@" at a separator is
    part of it. Raises `TextError` if there is no word, or if the morphemes of a line do not make the word before them.

    >>> read_morphemes("un+break+able\\n\\ndogs\\tdog s\\nlow@@ est\\nre-do")
    [('un', 'break', 'able'), ('dog', 's'), ('low', 'est'), ('re', 'do')]
    """
    words = []
    for number, line in enumerate(text.splitlines(), 1):
        word, tab, rest = line.strip().partition("\t")
        morphemes = rest if tab else word
        found = _SEPARATOR.split(morphemes) if _SEPARATOR.search(morphemes) else morphemes.split("-")
        parts = tuple(filter(None, found))
        if tab and "".join(parts) != word:
            raise TextError(f"Line {number}: the morphemes {quoted(rest)} do not make {quoted(word)}; correct it.")
        if parts:
            words.append(parts)
    if not words:
        raise TextError("There is no word in the list of morphemes; give it lines such as un+break+able.")
    return words
