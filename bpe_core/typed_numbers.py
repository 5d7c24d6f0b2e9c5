"""Numbers out of texts that a person typed or pasted: fractions, and token ids."""

import re
from fractions import Fraction
from typing import Final, NamedTuple

# The list of ids, or the list of such lists, in JSON or in a dictionary as Python writes it.
_LIST: Final = re.compile(r"""(["'])(?:input_)?ids\1\s*:\s*(\[(?:[^\[\]]|\[[^\[\]]*\])*\])""")
_SEPARATORS: Final = str.maketrans(dict.fromkeys("[](),;'\"", " "))


def exact_fraction(text: str) -> Fraction:
    """The number that a text such as "1/10000", "2.5" or "3" stands for. ValueError for any other text.

    >>> exact_fraction("0.0001"), exact_fraction("1/3")
    (Fraction(1, 10000), Fraction(1, 3))
    """
    if len(text) > 40 or "e" in text.lower():  # 1e999999999 is a fraction that no computer holds
        raise ValueError
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError from None


class FoundIds(NamedTuple):
    """The ids in a text, in order, and (how many ids stand before it, the word) of each word that is no id."""

    ids: list[int]
    odd: list[tuple[int, str]]


def ids_in(text: str) -> FoundIds:
    """The ids in a text: words between spaces, commas, semicolons and brackets, or the list in an object of JSON.

    So is the list in a dictionary, as Python prints what transformers encodes.

    >>> ids_in("[9906, 1917]").ids, ids_in('{"ids": [9906]}').ids, ids_in("1 two 3").odd
    ([9906, 1917], [9906], [(1, 'two')])
    >>> ids_in("{'text': \\"don't\\", 'input_ids': [9906, 1917], 'attention_mask': [1, 1]}").ids
    [9906, 1917]
    """
    if text.lstrip()[:1] == "{":
        if (found := _LIST.search(text)) is None:
            return FoundIds([], [(0, text)])
        text = found[2]
    ids, odd = list[int](), list[tuple[int, str]]()
    for word in text.translate(_SEPARATORS).split():
        if len(word) <= 10 and word.isascii() and word.isdigit():
            ids.append(int(word))
        else:
            odd.append((len(ids), word))
    return FoundIds(ids, odd)
