"""Opening the tokenizer that a command line names."""

from bpe_core.cli.fetch import print_progress
from bpe_core.formats import load
from bpe_core.hub import located
from bpe_core.tokenizer import Tokenizer


def open_tokenizer(text: str, pattern: str | None = None) -> Tokenizer:
    """The tokenizer at the path `text` (a file or folder) or, if there is none, of that name, downloaded if need be.

    `pattern` overrides its split pattern. Raises `FetchError`, and what `load` raises.
    """
    return load(located(text, print_progress), pattern=pattern)
