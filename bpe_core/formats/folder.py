"""Which file in the folder of a model holds its tokenizer, by well-known names."""

import os
from pathlib import Path
from typing import Final

HOLDERS: Final = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "qwen.tiktoken", "tiktoken.model"),
    *("vocab.json", "encoder.json"),
)
"""Names of tokenizer files; of several in one folder, the first in this order is read, since it holds most."""

COMPANIONS: Final = ("tokenizer_config.json", "merges.txt", "vocab.bpe", "added_tokens.json")
"""Names of further files in the folder that are read with it if they exist."""


def holder_in(folder: Path) -> Path | None:
    """The path of the first of `HOLDERS` that exists in `folder`; None if none does."""
    return next((path for name in HOLDERS if os.path.isfile(path := folder / name)), None)


def tokenizer_at(path: Path) -> Path:
    """The tokenizer file that `path` means: the holder in a folder that has one, else `path` itself."""
    return (holder_in(path) if os.path.isdir(path) else None) or path
