"""Whether a tokenizer cuts words where they are made of parts, held against words that somebody cut by hand."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from bpe_core.metrics.boundaries import Agreement, agreement, boundaries
from bpe_core.tokenizer import Tokenizer


def morphological_alignment(tokenizer: Tokenizer, words: Iterable[Sequence[str]], *, before: str = " ") -> Agreement:
    """How many boundaries of tokens are boundaries of the parts of words: the parts first, the tokenizer second.

    Each word is given as its parts, ("un", "break", "able"), and encoded by itself behind `before`, as in the middle of
    a text. So recall is the share of the words' own boundaries that the tokenizer has, and precision the share of its
    boundaries that are right; a boundary right behind `before` counts for neither. Boundary precision and recall are
    those of the Morpho Challenge (Kurimo et al. 2010), applied to tokenizers by Arnett and Bergen (2025).
    """
    total = Agreement()
    start = len(before.encode())
    for parts in words:
        ends = list(accumulate((len(part.encode()) for part in parts), initial=start))
        cuts = boundaries(tokenizer, before + "".join(parts))
        total += agreement([end for end in ends[1:-1] if start < end], [cut for cut in cuts if cut > start])
    return total
