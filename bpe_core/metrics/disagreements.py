"""Find where tokenizers differ: stretches that two cut differently, and the worst lines of each."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, Self

from bpe_core.cached import cached_property
from bpe_core.metrics import Overlap, overlap
from bpe_core.metrics.boundaries import Agreement, EncodedText, compare_boundaries
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import n_characters

_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_MOST_DISAGREEMENTS: Final = 1 << 17
"""Maximum number of different disagreements of a pair. Beyond it, those that occurred once are dropped."""
_WORST: Final = 100
"""Approximate number of lines that are kept for each tokenizer."""
_LONGEST_LINE: Final = 160
"""Maximum number of characters of a line that are kept."""
_LONGEST_LINE_IN_BYTES: Final = 4 * _LONGEST_LINE


class TextPlace(NamedTuple):
    """A place in one of the texts of a comparison."""

    text: int  # the index of the text
    line: int  # the number of the line in its file, counted from 1
    column: int  # characters before the place in its line


@dataclass(slots=True)
class Position:
    """The position up to which a text has been read."""

    line: int  # counted from 1
    column: int = 0  # in characters

    def move_past(self, data: bytes) -> None:
        """Move to the end of `data`, the next bytes of the text in UTF-8."""
        before, newline, last_line = data.rpartition(b"\n")
        if newline:
            self.line += before.count(b"\n") + 1
            self.column = 0
        self.column += n_characters(last_line)


class FrequentDisagreement(NamedTuple):
    """A stretch of text that two tokenizers cut differently."""

    stretch: str  # U+FFFD replaces the bytes of incomplete characters in it
    first: tuple[int, ...]  # the ids that the first tokenizer encodes it to
    other: tuple[int, ...]  # the ids that the other tokenizer encodes it to
    place: TextPlace  # where it begins the first time
    n_times: int = 1


class TokenizerPair:
    """The agreement of the first tokenizer and another one, summed over all texts."""

    def __init__(self, first: Tokenizer, other: Tokenizer) -> None:
        self._first = first
        self._other = other
        self.agreement = Agreement()
        # The keys of both are the strings that `compare_boundaries` matches. Counts are kept
        # separately because most matches are known ones, which only have to be counted.
        self._examples: dict[str, FrequentDisagreement] = {}
        self._n_times = Counter[str]()

    def add(
        self,
        place: TextPlace,
        first: EncodedText,
        other: EncodedText,
        *,
        is_last: bool = True,
    ) -> None:
        """Add a text, or a part of one.

        Args:
            place: Where the part begins.
            first: The part as the first tokenizer encodes it.
            other: The part as the other tokenizer encodes it.
            is_last: Whether this is the last part of its text. Both tokenizers have a boundary after
                every other part.
        """
        compared = compare_boundaries(first, other)
        self.agreement += compared.agreement
        if not is_last:
            self.agreement += Agreement(n_shared=1, n_first=1, n_second=1)
        position = Position(place.line, place.column)
        position_offset = 0
        for difference in compared.differences:
            key = difference[0]
            if key in self._n_times:
                self._n_times[key] += 1
                continue
            start, end = difference.span()
            position.move_past(first.data[position_offset:start])
            position_offset = start
            self._examples[key] = FrequentDisagreement(
                stretch=first.data[start:end].decode(errors="replace"),
                first=tuple(first.tokens(start, end)),
                other=tuple(other.tokens(start, end)),
                place=TextPlace(place.text, position.line, position.column),
            )
            self._n_times[key] = 1
        if len(self._n_times) > _MOST_DISAGREEMENTS:
            repeated = {key: n for key, n in self._n_times.items() if n > 1}
            self._n_times = Counter(repeated)
            self._examples = {key: self._examples[key] for key in self._n_times}

    def copied(self) -> Self:
        """Return a pair with the same counts, which texts can be added to separately."""
        other = copy(self)
        other._examples = dict(self._examples)
        other._n_times = Counter(self._n_times)
        return other

    @cached_property
    def vocabularies(self) -> Overlap:
        """The comparison of the two vocabularies."""
        return overlap(self._first, self._other)

    def examples(self, n: int) -> list[FrequentDisagreement]:
        """Return the `n` most frequent disagreements, the most frequent first."""
        return [
            self._examples[key]._replace(n_times=n_times)
            for key, n_times in self._n_times.most_common(n)
        ]


class CountedLine(NamedTuple):
    """A line of a text, and how many tokens each tokenizer needs for it."""

    beginning: bytes
    """The first bytes of the line in UTF-8, enough for `_LONGEST_LINE` characters."""
    n_tokens: tuple[int, ...]
    """By tokenizer. A token belongs to the line of its last byte."""
    number: int  # counted from 1

    @property
    def shown(self) -> str:
        """The first `_LONGEST_LINE` characters of the line, without a newline."""
        text = self.beginning.decode(errors="ignore")[:_LONGEST_LINE]
        return text.removesuffix("\n").removesuffix("\r")


class LineCounter:
    """Counts the tokens of each line of a text that comes in parts.

    A line may extend over several parts.
    """

    def __init__(self) -> None:
        self._open_line: CountedLine | None = None
        """A line that continues in the next part; None without one."""

    def lines(
        self,
        data: bytes,
        encoded: Sequence[EncodedText],
        first_number: int,
        *,
        is_last: bool,
    ) -> Iterator[CountedLine]:
        """Yield the lines that end in the next part, if the numbers of their tokens differ.

        Args:
            data: The part in UTF-8.
            encoded: The part as each tokenizer encodes it.
            first_number: The number of the line in which the part begins.
            is_last: Whether it is the last part of the text.
        """
        spans = [line.span() for line in _LINE.finditer(data)]
        n_complete = len(spans)
        if not is_last and not data.endswith(b"\n"):
            n_complete -= 1
        n_tokens_by_line = zip(
            *(_n_tokens_of_lines(text, spans) for text in encoded), strict=True
        )
        for index, n_tokens in enumerate(n_tokens_by_line):
            before = b""
            if index == 0 and self._open_line:
                before = self._open_line.beginning
                n_tokens = sums(self._open_line.n_tokens, n_tokens)
                self._open_line = None
            is_open = index == n_complete
            if not is_open and min(n_tokens) == max(n_tokens):
                continue
            start, end = spans[index]
            beginning = before + data[start : min(end, start + _LONGEST_LINE_IN_BYTES)]
            line = CountedLine(
                beginning[:_LONGEST_LINE_IN_BYTES], n_tokens, first_number + index
            )
            if is_open:
                self._open_line = line
            else:
                yield line


def _n_tokens_of_lines(
    text: EncodedText, spans: Sequence[tuple[int, int]]
) -> list[int]:
    """Return how many tokens end in each of the lines, which are all lines of the text."""
    n_tokens_up_to = [0]
    for _, end in spans:
        n_tokens_up_to.append(bisect_right(text.ends, end))
    return [after - before for before, after in pairwise(n_tokens_up_to)]


def sums(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Add two sequences of equal length, number by number."""
    return tuple(map(sum, zip(first, second, strict=True)))


class WorstLine(NamedTuple):
    """A line for which a tokenizer needs more tokens than another one."""

    line: str  # its first 160 characters
    n_tokens: tuple[int, ...]
    """By tokenizer. A token belongs to the line of its last byte."""
    place: TextPlace  # where it occurs the first time
    n_times: int = 1

    def excess(self, index: int) -> int:
        """Return the tokens of the line under the tokenizer at `index`, minus the fewest of any tokenizer."""
        return self.n_tokens[index] - min(self.n_tokens)


class WorstLines:
    """The lines for which one tokenizer needs the most extra tokens."""

    def __init__(self, index: int) -> None:
        self._index = index  # of the tokenizer
        self._kept: dict[tuple[str, tuple[int, ...]], WorstLine] = {}
        self._least_excess = 0
        """Only lines with a greater excess are kept. This limit never falls, so each kept line has been
        counted since its first occurrence."""

    def add(self, line: CountedLine, text: int) -> None:
        """Add a line of the text at index `text`."""
        excess = line.n_tokens[self._index] - min(line.n_tokens)
        if excess == 0 or excess < self._least_excess:
            return
        key = (line.shown, line.n_tokens)
        known = self._kept.get(key)
        if known:
            self._kept[key] = known._replace(n_times=known.n_times + 1)
        elif excess > self._least_excess:
            self._kept[key] = WorstLine(*key, TextPlace(text, line.number, 0))
        if len(self._kept) >= 4 * _WORST:
            worst = self.worst()
            self._least_excess = worst[-1].excess(self._index)
            self._kept = {(line.line, line.n_tokens): line for line in worst}

    def worst(self) -> list[WorstLine]:
        """Return at most `_WORST` lines, the highest excess first, then in the order of the texts."""
        by_excess = sorted(
            self._kept.values(), key=lambda line: -line.excess(self._index)
        )
        return by_excess[:_WORST]

    def copied(self) -> Self:
        """Return the same lines as an object that lines can be added to separately."""
        other = copy(self)
        other._kept = dict(self._kept)
        return other
