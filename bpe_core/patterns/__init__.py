"""Split patterns (pre-tokenization): make a splitter from the name of a pattern or any regular expression.

No merge crosses from one piece into the next. Character properties such as `\\p{L}` follow the Unicode version of the
installed `regex` module.

>>> list(PATTERNS)
['none', 'words', 'gpt2', 'gpt4', 'gpt4o', 'llama3', 'qwen2']
"""

from bpe_core.patterns.expression import patience
from bpe_core.patterns.pattern import PATTERNS
from bpe_core.patterns.splitting import Splitter, splitter

__all__ = ["PATTERNS", "Splitter", "patience", "splitter", "tried"]


def tried(pattern: str, text: str) -> list[str]:
    """Split a short text by a pattern, before anything large is split by it.

    Raises:
        PatternError: The pattern is not valid, or takes too long on the text or on long runs of one character.
            Patterns that backtrack exponentially do so on such runs.

    >>> tried("gpt2", "a small test")
    ['a', ' small', ' test']
    """
    split = splitter(pattern).split
    with patience(0.5):  # seconds; a usual pattern needs a hundredth of them
        split("".join(f"{character * 64}!" for character in "aA1 .\n日"))
        return split(text)
