"""Change a vocabulary: remove tokens, add words, unite two tokenizers.

Each operation returns a record with the new tokenizer. Nothing is changed in place. A model has not seen a new token: its
row in the embeddings is not trained.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bpe_core import formats
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.formats.huggingface.editing import write_edited
from bpe_core.surgery.grafting import Grafted
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United
from bpe_core.vocabulary.merge_loop import Triple

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
    new_ids = {token: token for token in changed.tokenizer.vocabulary.ids()}
    merges: Sequence[Triple] = ()
    if isinstance(changed, Pruned):
        new_ids = dict(changed.mapping)
    else:
        merges = changed.merges
    write_edited(changed.tokenizer, file, Path(path), new_ids=new_ids, merges=merges)
