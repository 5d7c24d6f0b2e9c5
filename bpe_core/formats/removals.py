"""Tokenizers that lost tokens while they learned (Picky BPE): only bpescope's own format can express them."""

from bpe_core.errors import FormatError
from bpe_core.tokenizer import Tokenizer


def check_only_merges(tokenizer: Tokenizer) -> None:
    """Raise `FormatError` for a tokenizer that splits tokens again: other formats and libraries can only merge."""
    if not tokenizer.vocabulary.only_merges:
        raise FormatError(
            "Picky BPE splits tokens again that it has merged, which no other format can express; "
            "keep this tokenizer in bpescope's own."
        )
