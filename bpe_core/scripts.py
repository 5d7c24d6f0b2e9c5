"""Scripts (writing systems): the runs of a text in one script, by Unicode's property, and that of a single letter."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import regex

SCRIPTS: Final = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Syriac", "Thaana", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian", "Javanese", "Balinese", "Tagalog"),
    *("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Yi"),
    *("Cherokee", "Canadian_Aboriginal", "Tifinagh", "Nko", "Coptic", "Gothic", "Braille"),
)
"""The scripts that are distinguished, by their names in Unicode's property Script."""

OTHER: Final = "Other"
"""The name for all other scripts."""
SHARED: Final = "no script"
"""The name for a text of nothing but characters that all scripts share: digits, punctuation, white space, emoji."""

_LISTED: Final = "".join(rf"\p{{Script={name}}}" for name in SCRIPTS)
_RUNS: Final = regex.compile(
    "|".join(
        (
            *(
                rf"(?P<{name}>\p{{Script={name}}}[\p{{Script={name}}}\p{{Common}}\p{{Inherited}}]*+)"
                for name in SCRIPTS
            ),
            rf"(?P<{OTHER}>[^\p{{Common}}\p{{Inherited}}{_LISTED}][^{_LISTED}]*+)",
        )
    )
)


def script_runs(text: str) -> Iterator[tuple[str, int, int]]:
    """(script, start, end) of each maximal run of one script, in code points; the runs partition the text. O(n).

    `script` is one of `SCRIPTS`, `OTHER` or `SHARED`. Characters that all scripts share belong to the run before them,
    at the beginning of the text to the run after them.
    """
    start, script, end = 0, SHARED, 0
    for found in _RUNS.finditer(text):
        if found.lastgroup != script and script != SHARED:
            yield script, start, end
            start = end
        script, end = found.lastgroup or OTHER, found.end()
    if text:
        yield script, start, len(text)


_TOGETHER: Final = {"HIRAGANA": "KANA", "KATAKANA": "KANA", "KATAKANA-HIRAGANA": "KANA", "IDEOGRAPHIC": "CJK"}
"""Scripts that count as one."""
_NO_SCRIPTS: Final = frozenset({"FULLWIDTH", "HALFWIDTH", "MODIFIER", "FEMININE", "MASCULINE", "MICRO", "MATHEMATICAL"})
"""First words of names of letters that are no script."""


@lru_cache(maxsize=1 << 14)
def letter_script(letter: str) -> str:
    """The script of a letter, by the first word of its name in Unicode; "" if that is none.

    Letters that several scripts share have one, unlike in `script_runs`: the Ohm sign, say.

    >>> letter_script("é"), letter_script("я"), letter_script("の"), letter_script("漢")
    ('latin', 'cyrillic', 'kana', 'cjk')
    """
    first = unicodedata.name(letter, "").partition(" ")[0]
    return "" if first in _NO_SCRIPTS else _TOGETHER.get(first, first).lower()
