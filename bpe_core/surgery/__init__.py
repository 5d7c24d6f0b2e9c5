"""Change a vocabulary: remove tokens, add words, unite two tokenizers.

Each operation returns a record with the new tokenizer. Nothing is changed in place. A model has not seen a new token: its
row in the embeddings is not trained.
"""

import os
from pathlib import Path
from typing import Final

from bpe_core import formats
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.formats.huggingface.editing import write_edited
from bpe_core.surgery.grafting import Grafted
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United

UNSEEN: Final = (
    "A model has not seen the new tokens: train their rows before you use them."
)


def save_changed(
    changed: Pruned | Grafted | United,
    path: str | os.PathLike[str],
    *,
    format: str = "native",
    source: str | os.PathLike[str] | None = None,
) -> None:
    """Write a changed tokenizer.

    Args:
        changed: The result of `prune`, `graft` or `unite`.
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
    if isinstance(changed, Pruned):
        is_renumbered = any(old != new for old, new in changed.mapping.items())
        write_edited(
            changed.tokenizer,
            file,
            Path(path),
            removed=changed.removed,
            new_ids=changed.mapping if is_renumbered else None,
        )
    else:
        write_edited(changed.tokenizer, file, Path(path), merges=changed.merges)
