"""The words, numbers, lines, runs of one script and sections of a text, whichever tokenizer encodes it."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple, Self

import regex

from bpe_core.utf8 import byte_offsets, without_surrogates

_WORD: Final = regex.compile(r"\S++")
_DIGITS: Final = regex.compile(r"\d++")
_LINE: Final = regex.compile(r"[^\n]*+(?:\n|$)")
_LONGEST_NUMBER: Final = 40  # digits that are analyzed; a longer run is data rather than a number


_SCRIPTS: Final = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Syriac", "Thaana", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian", "Javanese", "Balinese", "Tagalog"),
    *("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Yi"),
    *("Cherokee", "Canadian_Aboriginal", "Tifinagh", "Nko", "Coptic", "Gothic", "Braille"),
)
"""The scripts that are told apart, by their names in Unicode's property Script."""

OTHER: Final = "Other"  # all other scripts
SHARED: Final = "no script"  # a text of nothing but characters that all share: digits, punctuation, white space, emoji

_LISTED: Final = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS)
_RUN: Final = r"(?P<{0}>\p{{Script={0}}}[\p{{Script={0}}}\p{{Common}}\p{{Inherited}}]*+)"
_OTHER_RUN: Final = rf"(?P<{OTHER}>[^\p{{Common}}\p{{Inherited}}{_LISTED}][^{_LISTED}]*+)"
_RUNS: Final = regex.compile("|".join([*map(_RUN.format, _SCRIPTS), _OTHER_RUN]))


class TextParts(NamedTuple):
    """A text, with U+FFFD for each lone surrogate, and where its parts lie; all offsets count bytes of its UTF-8."""

    text: str
    data: bytes
    words: list[tuple[int, int]]  # of each maximal substring without white space
    numbers: list[tuple[int, ...]]  # of each run of digits, 40 at most, the start of each and the end of the last
    scripts: list[tuple[str, int, int, int, int, int]]
    """(script, start, end, characters, index of the first word in it, and after the last) of each of `script_runs`."""
    line_ends: list[int]  # newlines included; the last line may have none

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
            scripts.append((script, offsets[start], offsets[end], end - start, first, last))
        line_ends = [offsets[line.end()] for line in _LINE.finditer(text) if line.end() > line.start()]
        return cls(text, text.encode(), words, numbers, scripts, line_ends)


def script_runs(text: str) -> Iterator[tuple[str, int, int]]:
    """(script, start, end) of each maximal run of one script, in code points; the runs partition the text. O(n).

    `script` is a name in Unicode's property Script, `OTHER` or `SHARED`. Characters that all scripts share belong to
    the run before them, at the beginning of the text to the run after them.
    """
    start, script, end = 0, SHARED, 0
    for found in _RUNS.finditer(text):
        if found.lastgroup != script and script != SHARED:
            yield script, start, end
            start = end
        script, end = found.lastgroup or OTHER, found.end()
    if text:
        yield script, start, len(text)


def sections(text: str) -> list[tuple[str, str, int]]:
    """(title, text, line) of the parts of a text that begin with a line "# Title"; what comes before is ignored.

    The text is what follows that line, without newlines at either end; `line` is the number of its first, from 1.

    >>> sections("a tale\\n\\n# English\\n\\nOnce\\n\\n# Deutsch\\nEinst\\n")
    [('English', 'Once', 5), ('Deutsch', 'Einst', 8)]
    """
    found: list[tuple[str, str, int]] = []
    before, *parts = regex.split(r"(?m)^# (.*)$", text)
    line = 1 + before.count("\n")
    for title, part in zip(parts[::2], parts[1::2], strict=True):
        if title.strip():
            found.append((title.strip(), part.strip("\n"), line + len(part) - len(part.lstrip("\n"))))
        line += part.count("\n")
    return found
