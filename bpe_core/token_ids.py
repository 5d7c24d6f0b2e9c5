"""Read token ids that a program gave, or that a person typed or pasted."""

import json
from ast import literal_eval
from collections.abc import Iterable
from contextlib import suppress
from operator import index
from typing import Final, NamedTuple

from bpe_core import untrusted_json
from bpe_core.errors import NotAnIdError
from bpe_core.visible import shortened

_KEYS: Final = ("ids", "input_ids")
"""The keys of an object that may hold its ids: a list of ids, or a list of such lists."""
_MOST_DIGITS: Final = 10
"""An id has 32 bits, so at most ten digits. A longer number could take very long to read."""
_SEPARATORS: Final = str.maketrans(dict.fromkeys("[](),;", " "))


def as_id(value: object) -> int:
    """Return a token id as an int. It may be any whole number, such as a scalar of numpy or torch.

    Raises:
        NotAnIdError: The value is not a whole number.
    """
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        kind = type(value).__name__
        shown = shortened(repr(value), 40)
        raise NotAnIdError(
            f"A token id is a whole number, not the {kind} {shown}; give a list of ids."
        ) from None


def as_ids(values: Iterable[object]) -> list[int]:
    """Return token ids as a list of int.

    Raises:
        NotAnIdError: A value is not a whole number. The error names the first one.
    """
    numbers = values if isinstance(values, list) else _as_list(values)
    try:
        return list(map(index, numbers))
    except TypeError:
        # It is slower, but it names the value that is wrong.
        return list(map(as_id, numbers))


def _as_list(values: Iterable[object]) -> list[object]:
    # An array or a tensor can convert all its numbers ten times as fast as an iteration over it.
    as_list = getattr(values, "tolist", None)
    numbers = values if as_list is None else as_list()
    try:
        return list(numbers)
    except TypeError:
        kind = type(values).__name__
        raise NotAnIdError(
            f"Token ids come in a list, not as a single {kind}; put it into a list."
        ) from None


class Misfit(NamedTuple):
    """A word that is not a token id."""

    position: int
    """How many ids precede it."""
    word: str


def ids_in(text: str) -> tuple[list[int], list[Misfit]]:
    """Read the token ids in a text.

    Words end at white space, commas, semicolons and brackets. A number in quotes is not an id.
    The text may also be JSON objects, one or one per line, or a dictionary as Python prints it.
    Then only the list under "ids" or "input_ids" of each one is read.

    Returns:
        The ids, in order, and the words that are not ids.

    Examples:
        >>> ids_in('{"text": "no 7", "ids": [98, 99]}')
        ([98, 99], [])
        >>> ids_in("98 x 99")
        ([98, 99], [Misfit(position=1, word='x')])
    """
    if text.lstrip()[:1] == "{":
        lists = _lists_of_ids(text)
        if lists is None:
            return [], [Misfit(0, text)]
        # Back to a text, so that the same rules hold: a number in quotes keeps them, and is not an id.
        text = "\n".join(map(json.dumps, lists))
    ids: list[int] = []
    misfits: list[Misfit] = []
    for word in text.translate(_SEPARATORS).split():
        if len(word) <= _MOST_DIGITS and word.isascii() and word.isdigit():
            ids.append(int(word))
        else:
            misfits.append(Misfit(len(ids), word))
    return ids, misfits


def _lists_of_ids(text: str) -> list[list[object]] | None:
    """Return the list of ids of each object in a text; None without objects, or if one has no such list."""
    lists: list[list[object]] = []
    for value in _objects_in(text):
        found = None
        if isinstance(value, dict):
            found = next((value[key] for key in _KEYS if key in value), None)
        if not isinstance(found, list):
            return None
        lists.append(found)
    return lists or None


def _objects_in(text: str) -> list[object]:
    """Read one JSON document, one per line, or a dictionary that Python printed; [] if it is none of them."""
    with suppress(ValueError):
        return [untrusted_json.parse(text.encode())]
    with suppress(ValueError):
        lines = [line for line in text.splitlines() if line.strip()]
        return [untrusted_json.parse(line.encode()) for line in lines]
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return [literal_eval(text.strip())]
    return []
