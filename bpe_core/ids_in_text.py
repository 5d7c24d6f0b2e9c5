"""Token ids out of a text that a person typed or pasted: a Python list, JSON, or numbers between spaces and commas."""

from typing import Final, NamedTuple

from bpe_core import untrusted_json

KEYS: Final = ("ids", "input_ids")
"""Keys of a JSON object under which ids are looked for; `bpescope encode --json` prints the first."""

_MOST_DIGITS: Final = 10
_SEPARATORS: Final = str.maketrans(dict.fromkeys("[](),;", " "))


class FoundIds(NamedTuple):
    """What a text says."""

    ids: list[int]
    """The ids, in order; what is none is left out."""
    odd: list[tuple[int, str]]
    """(how many ids stand before it, the word) of each word that is no id."""


def ids_in(text: str) -> FoundIds:
    """The ids in a text: words between spaces, commas, semicolons and brackets, or the list in an object of JSON.

    A dictionary is taken for one too, as Python prints what transformers encodes.

    >>> ids_in("[9906, 1917]").ids, ids_in('{"ids": [9906]}').ids, ids_in("1 two 3").odd
    ([9906, 1917], [9906], [(1, 'two')])
    >>> ids_in("{'input_ids': [9906, 1917], 'attention_mask': [1, 1]}").ids
    [9906, 1917]
    """
    if text.lstrip()[:1] == "{":
        return _of_object(text)
    words = text.translate(_SEPARATORS).split()
    if all(map(_is_id, words)):
        return FoundIds(list(map(int, words)), [])
    found = FoundIds([], [])
    for word in words:
        if _is_id(word):
            found.ids.append(int(word))
        else:
            found.odd.append((len(found.ids), word))
    return found


def _is_id(word: str) -> bool:
    return len(word) <= _MOST_DIGITS and word.isascii() and word.isdigit()


def _of_object(text: str) -> FoundIds:
    for written in (text, text.replace("'", '"')):
        try:
            value = untrusted_json.parse(written)
        except untrusted_json.JsonError:
            continue
        ids = next((value[key] for key in KEYS if isinstance(value.get(key), list)), None)
        if ids is not None:
            return ids_in(" ".join(map(str, ids)))
    return FoundIds([], [(0, text)])
