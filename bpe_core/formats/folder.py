"""Which file of a folder holds its tokenizer: models come as folders of files with well-known names."""

from pathlib import Path
from typing import Final

HOLDERS: Final = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "encoder.json")
"""What a tokenizer is kept in; where there are several, the first tells most."""

COMPANIONS: Final = ("tokenizer_config.json", "merges.txt", "vocab.bpe", "added_tokens.json")
"""What is read beside it where it is there."""


def holder_in(folder: Path) -> Path | None:
    """The file that holds the tokenizer; None if there is none of these names."""
    return next((path for name in HOLDERS if (path := folder / name).is_file()), None)
