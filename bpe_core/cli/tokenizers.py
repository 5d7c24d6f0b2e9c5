"""The tokenizer a command works with: a file, a folder, or a name."""

from bpe_core.cli.fetch import tell
from bpe_core.formats import load
from bpe_core.hub import located
from bpe_core.tokenizer import Tokenizer


def open_tokenizer(text: str, pattern: str | None = None) -> Tokenizer:
    """The tokenizer at a path, or else of a name. Raises `FetchError` and what `load` does."""
    return load(located(text, tell), pattern=pattern)
