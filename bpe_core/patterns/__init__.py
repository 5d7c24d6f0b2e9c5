"""Split patterns (pre-tokenization): a splitter for a published pattern by name, or for any regular expression.

A splitter cuts a text into pieces, and no merge crosses from one piece into the next. Character properties such as
`\\p{L}` are those of the Unicode version of the installed `regex` module.
"""

from functools import lru_cache

from bpe_core.patterns.patience import patience
from bpe_core.patterns.pattern import parse
from bpe_core.patterns.published import PATTERNS
from bpe_core.patterns.splitters import made
from bpe_core.patterns.splitting import Splitter

__all__ = ["PATTERNS", "Splitter", "patience", "splitter"]


@lru_cache(maxsize=64)
def splitter(pattern: str) -> Splitter:
    """The splitter for a name in PATTERNS, or for a pattern in the grammar of `bpe_core.patterns.pattern`.

    PatternError if a regular expression in it is not valid, or if it is a bare word (letters, digits, "-" and "_") that
    is not in PATTERNS: such a word is taken for a misspelled name.
    """
    return made(parse(pattern))
