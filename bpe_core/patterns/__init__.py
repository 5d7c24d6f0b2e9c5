"""Split patterns (pre-tokenization): a splitter for a published pattern by name, or for any regular expression.

A splitter cuts a text into pieces, and no merge crosses from one piece into the next. Character properties such as
`\\p{L}` are those of the Unicode version of the installed `regex` module.
"""

from functools import lru_cache
from typing import Final

from bpe_core.patterns.patience import patience
from bpe_core.patterns.pattern import parse
from bpe_core.patterns.published import PATTERNS
from bpe_core.patterns.splitters import made
from bpe_core.patterns.splitting import Splitter

__all__ = ["PATTERNS", "Splitter", "patience", "splitter", "tried"]

_TRIAL_SECONDS: Final = 0.5
"""Processor time that a pattern may take for all of it; a usual one needs a hundredth of it."""
_RUN: Final = 64
"""Characters of a run: an expression with two ways to match each of them has more than anybody can wait for."""
_RUNS: Final = "".join(f"{character * _RUN}!" for character in "aA1 .\n日")


@lru_cache(maxsize=64)
def splitter(pattern: str) -> Splitter:
    """The splitter for a name in PATTERNS, or for a pattern in the grammar of `bpe_core.patterns.pattern`.

    PatternError if a regular expression in it is not valid, or if it is a bare word (letters, digits, "-" and "_") that
    is not in PATTERNS: such a word is taken for a misspelled name.
    """
    return made(parse(pattern))


def tried(pattern: str, text: str) -> list[str]:
    """The pieces of a text, for a pattern that is tried before anything large is split by it.

    Raises `PatternError` if the pattern is none, or takes too long on the text, or on runs of letters, digits, spaces
    and signs: what would explode on some later text does so there.

    >>> tried("gpt2", "a small test")
    ['a', ' small', ' test']
    """
    split = splitter(pattern).split
    with patience(_TRIAL_SECONDS):
        split(_RUNS)
        return split(text)
