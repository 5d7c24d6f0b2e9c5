"""Change a vocabulary: remove tokens, add words, unite two tokenizers.

Each operation returns a record with the new tokenizer. Nothing is changed in place. A model has not seen a new token: its
row in the embeddings is not trained.
"""

import os
from pathlib import Path
from typing import Final, Protocol

from bpe_core import formats
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.formats.huggingface.editing import Edit, write_edited
from bpe_core.tokenizer import Tokenizer

UNSEEN: Final = (
    "A model has not seen the new tokens: train their rows before you use them."
)


class Changed(Protocol):
    """A result of an operation: `Pruned`, `Grafted` or `United`."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer after the change."""

    @property
    def edit(self) -> Edit:
        """The change of the vocabulary."""


def save_changed(
    changed: Changed,
    path: str | os.PathLike[str],
    *,
    format: str = "native",
    source: str | os.PathLike[str] | None = None,
) -> None:
    """Write a changed tokenizer.

    Args:
        changed: A `Pruned`, `Grafted` or `United`.
        path: The file to write. An existing file is replaced.
        format: One of `bpe_core.formats.WRITABLE`.
        source: The tokenizer.json that the tokenizer was loaded from, or its folder. With the format "huggingface", its
            vocabulary is changed and everything else in the file is kept. None to write a new file.

    Raises:
        OptionError: The format is unknown.
        FormatError: The file can't be written, or would give some text other ids.
    """
    if source is None or format != "huggingface":
        formats.save(changed.tokenizer, path, format=format)
        return
    file = TokenizerFile.open(tokenizer_at(Path(source)))
    write_edited(changed.tokenizer, changed.edit, file, Path(path))
