"""The lines of texts for which one tokenizer needs the most more tokens than the best of the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from typing import Final

from bpe_core.metrics.boundaries import EncodedText
from bpe_core.metrics.text_parts import TextParts

_SHOWN: Final = 160
"""Characters of a line that are kept."""

_Key = tuple[str, tuple[int, ...]]
"""The beginning of a line, and its tokens by each tokenizer: lines alike in these are counted as one."""


@dataclass(slots=True)
class WorstLine:
    """A line, how many tokens each tokenizer makes of it, and where it occurs."""

    line: str
    """Its first 160 characters, without the newline."""
    n_tokens: tuple[int, ...]
    """By each tokenizer; a token counts for the line of its last byte."""
    text: int
    """The index of the text where it occurs first."""
    number: int
    """Its number in that text, as counted by whoever added the text."""
    n_times: int = 1
    """How often it occurs."""

    def excess(self, index: int) -> int:
        """Tokens by the tokenizer `index` - the fewest tokens by another."""
        return self.n_tokens[index] - min(n for i, n in enumerate(self.n_tokens) if i != index)


class WorstLines:
    """Keeps, for each of two or more tokenizers, the `most` different lines with the greatest excess."""

    def __init__(self, n_tokenizers: int, most: int) -> None:
        self._most = most
        self._kept: list[dict[_Key, WorstLine]] = [{} for _ in range(n_tokenizers)]
        self._least = [0] * n_tokenizers
        """New lines are kept if their excess is greater. It only grows: a line that is kept was counted from its first
        occurrence on."""

    def add(self, text: int, number: int, parts: TextParts, found: Sequence[EncodedText]) -> None:
        """Add the lines of the text with the index `text`, of which the first has the `number`; O(l log n)."""
        counts = [_tokens_of_lines(one, parts.line_ends) for one in found]
        for line, n_tokens in enumerate(zip(*counts, strict=True)):
            if (fewest := min(n_tokens)) != max(n_tokens):
                for index, n in enumerate(n_tokens):
                    if n > fewest and n - fewest >= self._least[index]:
                        self._add(index, WorstLine(_beginning(parts, line), n_tokens, text, number + line))

    def _add(self, index: int, new: WorstLine) -> None:
        kept, least = self._kept[index], self._least[index]
        if old := kept.get(key := (new.line, new.n_tokens)):
            old.n_times += 1
        elif new.excess(index) > least:
            kept[key] = new
            if len(kept) >= 4 * self._most:
                worst = self.of(index)
                self._least[index] = worst[-1].excess(index)
                self._kept[index] = {(one.line, one.n_tokens): one for one in worst}

    def of(self, index: int) -> list[WorstLine]:
        """The lines for the tokenizer `index`: by falling excess, those of equal excess as they came."""
        return nsmallest(self._most, self._kept[index].values(), key=lambda one: -one.excess(index))


def _beginning(parts: TextParts, line: int) -> str:
    """The first characters of a line."""
    start = parts.line_ends[line - 1] if line else 0
    end = min(parts.line_ends[line], start + 4 * _SHOWN)  # four bytes a character at most
    shown = parts.data[start:end].decode(errors="ignore")
    return shown[:_SHOWN].removesuffix("\n").removesuffix("\r")


def _tokens_of_lines(found: EncodedText, line_ends: Sequence[int]) -> list[int]:
    return [len(found.tokens(start, end)) for start, end in pairwise([0, *line_ends])]
