"""Split patterns (pre-tokenization): a splitter for a published pattern by name, or for any regular expression.

No merge crosses from one piece into the next. Character properties such as `\\p{L}` are those of the Unicode version
of the installed `regex` module.

>>> list(PATTERNS)
['none', 'words', 'gpt2', 'gpt4', 'gpt4o', 'llama3', 'qwen2']
"""

from bpe_core.patterns.expression import patience
from bpe_core.patterns.pattern import PATTERNS
from bpe_core.patterns.splitting import Splitter, splitter

__all__ = ["PATTERNS", "Splitter", "patience", "splitter", "tried"]


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
