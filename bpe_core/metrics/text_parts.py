"""The words, numbers, lines and runs of one script in a text: what is measured, whichever tokenizer encodes it."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import regex

from bpe_core.scripts import script_runs
from bpe_core.utf8 import byte_offsets, without_surrogates

_WORD: Final = regex.compile(r"\S++")
_DIGITS: Final = regex.compile(r"\d++")
_LINE: Final = regex.compile(r"[^\n]*+(?:\n|$)")
_LONGEST_NUMBER: Final = 40
"""Of a longer run of digits, only so many are analyzed: it is data rather than a number."""


class ScriptRun(NamedTuple):
    """A maximal part of a text in one script."""

    script: str
    """As named by `script_runs`."""
    start: int
    end: int
    n_characters: int
    first_word: int
    """The index of the first word that begins in it."""
    end_word: int
    """The index after the last."""


@dataclass(frozen=True, slots=True)
class TextParts:
    """A text and where its parts lie; all offsets count bytes of its UTF-8."""

    text: str
    """The text, with U+FFFD for each lone surrogate."""
    data: bytes
    """The text in UTF-8."""
    words: list[tuple[int, int]]
    """Start and end of each maximal substring without white space."""
    numbers: list[tuple[int, ...]]
    """For each run of decimal digits, the start of each digit and the end of the last; the first 40 digits at most."""
    scripts: list[ScriptRun]
    """The runs of one script, which partition the text."""
    line_ends: list[int]
    """The end of each line, its newline included; the last may have none."""

    @property
    def n_bytes(self) -> int:
        """The length of the text in bytes."""
        return len(self.data)

    @classmethod
    def of(cls, text: str) -> Self:
        """Find the parts of a text; O(n) for n characters."""
        text = without_surrogates(text)
        offsets = byte_offsets(text)
        words = [(offsets[word.start()], offsets[word.end()]) for word in _WORD.finditer(text)]
        numbers = [
            tuple(offsets[number.start() : min(number.end(), number.start() + _LONGEST_NUMBER) + 1])
            for number in _DIGITS.finditer(text)
        ]
        scripts = []
        for script, start, end in script_runs(text):
            first, last = bisect_left(words, (offsets[start], 0)), bisect_left(words, (offsets[end], 0))
            scripts.append(ScriptRun(script, offsets[start], offsets[end], end - start, first, last))
        line_ends = [offsets[line.end()] for line in _LINE.finditer(text) if line.end() > line.start()]
        return cls(text, text.encode(), words, numbers, scripts, line_ends)
