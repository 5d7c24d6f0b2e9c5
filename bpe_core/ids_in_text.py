"""Token ids out of a text that a person typed or pasted: a Python list, JSON, or numbers between spaces and commas."""

import re
from typing import Final, NamedTuple

_LISTS: Final = tuple(
    re.compile(rf"""(["']){key}\1\s*:\s*(\[(?:[^\[\]]|\[[^\[\]]*\])*\])""") for key in ("ids", "input_ids")
)
"""What finds the list of ids, or the list of such lists, in JSON or in a dictionary as Python writes it."""
_MOST_DIGITS: Final = 10
_SEPARATORS: Final = str.maketrans(dict.fromkeys("[](),;'\"", " "))


class FoundIds(NamedTuple):
    """The ids in a text, and what else stands among them."""

    ids: list[int]
    """The ids, in order."""
    odd: list[tuple[int, str]]
    """(how many ids stand before it, the word) of each word that is no id."""


def ids_in(text: str) -> FoundIds:
    """The ids in a text: words between spaces, commas, semicolons and brackets, or the list in an object of JSON.

    So is the list in a dictionary, as Python prints what transformers encodes.

    >>> ids_in("[9906, 1917]").ids, ids_in('{"ids": [9906]}').ids, ids_in("1 two 3").odd
    ([9906, 1917], [9906], [(1, 'two')])
    >>> ids_in("{'text': \\"don't\\", 'input_ids': [9906, 1917], 'attention_mask': [1, 1]}").ids
    [9906, 1917]
    """
    if text.lstrip()[:1] == "{":
        found = next(filter(None, (pattern.search(text) for pattern in _LISTS)), None)
        if found is None:
            return FoundIds([], [(0, text)])
        text = found[2]
    words = text.translate(_SEPARATORS).split()
    if all(map(_is_id, words)):
        return FoundIds(list(map(int, words)), [])
    ids: list[int] = []
    odd: list[tuple[int, str]] = []
    for word in words:
        if _is_id(word):
            ids.append(int(word))
        else:
            odd.append((len(ids), word))
    return FoundIds(ids, odd)


def _is_id(word: str) -> bool:
    return len(word) <= _MOST_DIGITS and word.isascii() and word.isdigit()
