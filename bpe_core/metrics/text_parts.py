"""The runs of one script in a text, and its sections."""

from collections.abc import Iterator
from typing import Final

import regex

_SCRIPTS: Final = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Syriac", "Thaana", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian", "Javanese", "Balinese", "Tagalog"),
    *("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Yi"),
    *("Cherokee", "Canadian_Aboriginal", "Tifinagh", "Nko", "Coptic", "Gothic", "Braille"),
)
"""The scripts that are told apart, by their names in Unicode's property Script."""

WITHOUT_SPACES: Final = (
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Javanese", "Balinese"),
    *("Han", "Hiragana", "Katakana", "Bopomofo", "Yi"),
)
"""The scripts that put no spaces between words."""

OTHER: Final = "Other"  # all other scripts
SHARED: Final = "no script"  # a text of nothing but characters that all share: digits, punctuation, white space, emoji

_LISTED: Final = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS)
_RUN: Final = r"(?P<{0}>\p{{Script={0}}}[\p{{Script={0}}}\p{{Common}}\p{{Inherited}}]*+)"
_OTHER_RUN: Final = rf"(?P<{OTHER}>[^\p{{Common}}\p{{Inherited}}{_LISTED}][^{_LISTED}]*+)"
_RUNS: Final = regex.compile("|".join([*map(_RUN.format, _SCRIPTS), _OTHER_RUN]))


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
