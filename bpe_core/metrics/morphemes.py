"""Morphemes: measure how well token boundaries match them, and read lists of divided words."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from bpe_core.errors import TextError
from bpe_core.metrics.boundaries import Agreement, encode_with_ends
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted

_SEPARATOR: Final = re.compile(r"[\s+|]+(?:@@)?|@@\s+")
"""Matches a separator of two morphemes: white space, "+" or "|", with "@@" next to it."""


def morphological_alignment(
    tokenizer: Tokenizer, words: Iterable[Sequence[str]]
) -> Agreement:
    """Count the morpheme boundaries and the token boundaries inside words.

    Each word is encoded by itself after a space, as inside a sentence. A boundary directly after
    that space does not count. `recall` and `precision` of the result are the measures of the Morpho
    Challenge (Kurimo et al. 2010), which Arnett and Bergen (2025) applied to tokenizers.

    Args:
        tokenizer: The tokenizer to measure.
        words: For each word its morphemes, such as ("un", "break", "able").

    Returns:
        An `Agreement`: morpheme boundaries are `n_first`, token boundaries are `n_second`.
    """
    total = Agreement()
    for morphemes in words:
        lengths = [len(morpheme.encode()) for morpheme in morphemes]
        word_start = 1  # after the space
        word_end = word_start + sum(lengths)
        inside = range(word_start + 1, word_end)
        morpheme_ends = set(accumulate(lengths, initial=word_start))
        token_ends = set(encode_with_ends(tokenizer, " " + "".join(morphemes)).ends)
        morpheme_cuts = morpheme_ends.intersection(inside)
        token_cuts = token_ends.intersection(inside)
        total += Agreement(
            n_shared=len(morpheme_cuts & token_cuts),
            n_first=len(morpheme_cuts),
            n_second=len(token_cuts),
        )
    return total


def read_morphemes(text: str, name: str) -> list[tuple[str, ...]]:
    """Read a list of words that are divided into morphemes.

    Args:
        text: One word per line, such as "un+break+able". The undivided word and a tab may come
            before it. Morphemes are separated by white space, "+" or "|", and by "-" in a line
            without these. "@@" next to a separator is part of it, as in "low@@ est".
        name: The name of the text in errors.

    Returns:
        The morphemes of each word.

    Raises:
        TextError: The text has no words, or the morphemes of a line don't make its word.

    Examples:
        >>> read_morphemes("un+break+able\\nre-do", "words.txt")
        [('un', 'break', 'able'), ('re', 'do')]
    """
    words = []
    for number, line in enumerate(text.splitlines(), 1):
        before_tab, tab, after_tab = line.strip().partition("\t")
        divided = after_tab if tab else before_tab
        morphemes = divided.split("-")
        if _SEPARATOR.search(divided):
            morphemes = _SEPARATOR.split(divided)
        if tab and "".join(morphemes) != before_tab:
            raise TextError(
                f"{name}, line {number}: the morphemes {quoted(divided)} do not make "
                f"{quoted(before_tab)}; correct the line."
            )
        word = tuple(morpheme for morpheme in morphemes if morpheme)
        if word:
            words.append(word)
    if not words:
        raise TextError(
            f"{name}: the list of morphemes has no words; "
            "add lines such as un+break+able."
        )
    return words
