"""The writing systems of a text: which characters belong to which, so that tokenizers can be judged by each."""

from collections.abc import Iterator
from typing import Final

import regex

SCRIPTS: Final = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Syriac", "Thaana", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian", "Javanese", "Balinese", "Tagalog"),
    *("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Yi"),
    *("Cherokee", "Canadian_Aboriginal", "Tifinagh", "Nko", "Coptic", "Gothic", "Braille"),
)
"""Names of Unicode's property Script; what belongs to no script and to no other one here is told as "Other"."""

OTHER: Final = "Other"
SHARED: Final = "no script"
"""For a text that has only characters that all scripts use: digits, punctuation, white space, emoji."""

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
    """(script, start, end) of each stretch of a text, in code points; together they are the text. Linear.

    Characters that all scripts share go with the script before them, and at the beginning with the one after.
    """
    start, script, end = 0, SHARED, 0
    for found in _RUNS.finditer(text):
        if found.lastgroup != script and script != SHARED:
            yield script, start, end
            start = end
        script, end = found.lastgroup or OTHER, found.end()
    if text:
        yield script, start, len(text)
