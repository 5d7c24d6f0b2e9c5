"""Split patterns: the splitter of a published one by name, or of any regular expression.

A splitter cuts a text into pieces; no merge ever crosses from one piece into the next. Which characters are letters
is a matter of the Unicode version: here it is that of the `regex` module.
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
    """The splitter for a name in PATTERNS, or for any pattern as `bpe_core.patterns.pattern` reads it.

    PatternError if it is not a valid one, or if it is a single bare word, which is surely a name written wrongly.
    """
    return made(parse(pattern))
