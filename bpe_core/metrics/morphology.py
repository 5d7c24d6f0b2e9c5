"""Morphological alignment: how far token boundaries agree with a given segmentation of words into morphemes."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

import regex

from bpe_core.errors import TextError
from bpe_core.metrics.boundaries import Agreement, agreement, boundaries
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted

_BETWEEN: Final = regex.compile(r"[\s+|]+(?:@@)?|@@\s+")
_HYPHEN: Final = regex.compile(r"-")


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


def read_morphemes(text: str) -> list[tuple[str, ...]]:
    """Words as their morphemes, from a text with one word a line.

    Morphemes are separated by white space, "+" or "|", where there is none of these by "-"; "@@" at a separator is
    part of it. The word itself, and a tab, may stand before. Empty lines are left out. Raises `TextError` if there is
    no word, or if the morphemes of a line do not make the word before its tab.

    >>> read_morphemes("un+break+able\\n\\ndogs\\tdog s\\nlow@@ est\\nre-do")
    [('un', 'break', 'able'), ('dog', 's'), ('low', 'est'), ('re', 'do')]
    """
    words = []
    for number, line in enumerate(text.splitlines(), 1):
        word, tab, rest = line.strip().partition("\t")
        morphemes = rest if tab else word
        separator = _BETWEEN if _BETWEEN.search(morphemes) else _HYPHEN
        parts = tuple(part for part in separator.split(morphemes) if part)
        if tab and "".join(parts) != word:
            raise TextError(
                f"Line {number}: the morphemes {quoted(rest)} do not make {quoted(word)}; correct the line."
            )
        if parts:
            words.append(parts)
    if not words:
        raise TextError("There is no word in the list of morphemes; give it lines such as un+break+able.")
    return words
