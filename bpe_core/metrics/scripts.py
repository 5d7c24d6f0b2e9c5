"""The scripts that a text is written in, by Unicode's property Script."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import regex

WITHOUT_SPACES: Final = (
    "Thai",
    "Lao",
    "Tibetan",
    "Myanmar",
    "Khmer",
    "Javanese",
    "Balinese",
    "Han",
    "Hiragana",
    "Katakana",
    "Bopomofo",
    "Yi",
)
"""The scripts that put no spaces between words."""
_WITH_SPACES: Final = (
    "Latin",
    "Greek",
    "Cyrillic",
    "Armenian",
    "Georgian",
    "Hebrew",
    "Arabic",
    "Syriac",
    "Thaana",
    "Ethiopic",
    "Devanagari",
    "Bengali",
    "Gurmukhi",
    "Gujarati",
    "Oriya",
    "Tamil",
    "Telugu",
    "Kannada",
    "Malayalam",
    "Sinhala",
    "Mongolian",
    "Tagalog",
    "Hangul",
    "Cherokee",
    "Canadian_Aboriginal",
    "Tifinagh",
    "Nko",
    "Coptic",
    "Gothic",
    "Braille",
)
_SCRIPTS: Final = _WITH_SPACES + WITHOUT_SPACES
OTHER: Final = "Other"
"""The common name of all other scripts."""
SHARED: Final = "no script"
"""The script of a text that has only digits, punctuation, white space, emoji and the like."""


def _run_expression() -> str:
    """Return a regular expression for a run of one script, in a group named after the script.

    A run begins with a character of its script. It ends before the first character of another
    script.
    """
    shared = r"\p{Common}\p{Inherited}"
    named = "".join(rf"\p{{Script={script}}}" for script in _SCRIPTS)
    runs = [
        rf"(?P<{script}>\p{{Script={script}}}[\p{{Script={script}}}{shared}]*+)"
        for script in _SCRIPTS
    ]
    runs.append(rf"(?P<{OTHER}>[^{shared}{named}][^{named}]*+)")
    return "|".join(runs)


_RUN: Final = regex.compile(_run_expression())


class ScriptRun(NamedTuple):
    """A run of characters of one script, with the shared characters in it."""

    script: str  # a name in Unicode's property Script, `OTHER` or `SHARED`
    start: int  # where it begins, in code points; `end` likewise
    end: int


def script_runs(text: str, script: str = SHARED) -> Iterator[ScriptRun]:
    """Divide a text into runs of characters of one script. Takes O(n) time for n characters.

    Characters that several scripts share belong to the run before them. At the beginning of the
    text they belong to the run after them.

    Args:
        text: A text, or the next part of one.
        script: The script of the last run of the part before.

    Examples:
        >>> list(script_runs("1. hello мир"))[0]
        ScriptRun(script='Latin', start=0, end=9)
    """
    start = 0
    for match in _RUN.finditer(text):
        if match.lastgroup != script and script != SHARED:
            if match.start() > start:
                yield ScriptRun(script, start, match.start())
            start = match.start()
        script = match.lastgroup or OTHER
    if text:
        yield ScriptRun(script, start, len(text))
