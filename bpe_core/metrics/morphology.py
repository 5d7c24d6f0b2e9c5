"""Morphological alignment: how far token boundaries agree with a given segmentation of words into morphemes."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from bpe_core.metrics.boundaries import Agreement, agreement, boundaries
from bpe_core.tokenizer import Tokenizer


def morphological_alignment(tokenizer: Tokenizer, words: Iterable[Sequence[str]], *, before: str = " ") -> Agreement:
    """The agreement of morpheme boundaries (`n_first`) and token boundaries (`n_second`) inside words.

    Each word is given as its morphemes, ("un", "break", "able"), and is encoded by itself after the text `before`, as
    within a sentence; a boundary directly after `before` is ignored. So `recall` is the part of the morpheme boundaries
    that are token boundaries, and `precision` the part of the token boundaries that are morpheme boundaries: the
    measures of the Morpho Challenge (Kurimo et al. 2010), applied to tokenizers by Arnett and Bergen (2025).
    """
    total = Agreement()
    start = len(before.encode())
    for parts in words:
        ends = list(accumulate((len(part.encode()) for part in parts), initial=start))
        cuts = boundaries(tokenizer, before + "".join(parts))
        total += agreement([end for end in ends[1:-1] if start < end], [cut for cut in cuts if cut > start])
    return total
