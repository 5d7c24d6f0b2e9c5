"""Split patterns (pre-tokenization): a splitter for a published pattern by name, or for any regular expression.

No merge crosses from one piece into the next. Character properties such as `\\p{L}` are those of the Unicode version
of the installed `regex` module.

>>> list(PATTERNS)
['none', 'words', 'gpt2', 'gpt4', 'gpt4o', 'llama3', 'qwen2']
"""

from functools import lru_cache

from bpe_core.patterns.expression import patience
from bpe_core.patterns.pattern import PATTERNS, parse
from bpe_core.patterns.splitting import Splitter, made

__all__ = ["PATTERNS", "Splitter", "patience", "splitter", "tried"]


@lru_cache(maxsize=64)
def splitter(pattern: str) -> Splitter:
    """The splitter for a name in PATTERNS, or for a pattern in the grammar of `bpe_core.patterns.pattern`. PatternError
    if a regular expression in it is not valid, and for a bare word that is no name: it is taken for a wrong one."""
    return made(parse(pattern))


def tried(pattern: str, text: str) -> list[str]:
    """The pieces of a text, for a pattern that is tried before anything large is split by it. PatternError if it is not
    valid, or takes too long on the text or on long runs of one character, where what would explode later does so.

    >>> tried("gpt2", "a small test")
    ['a', ' small', ' test']
    """
    split = splitter(pattern).split
    with patience(0.5):  # seconds; a usual pattern needs a hundredth of it
        split("".join(f"{character * 64}!" for character in "aA1 .\n日"))
        return split(text)
