"""Numbers that a person typed or pasted, fractions and token ids, and counts that fractions have made no whole ones."""

import json
from ast import literal_eval
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from operator import index
from typing import Any, Final, cast

from bpe_core import untrusted_json
from bpe_core.errors import NotAnIdError
from bpe_core.visible import shortened

_KEYS: Final = (
    "ids",
    "input_ids",
)  # of the list of ids, or of the list of such lists, in an object
_SEPARATORS: Final = str.maketrans(dict.fromkeys("[](),;'\"", " "))


def exact_fraction(text: str) -> Fraction:
    """The number that a text such as "1/10000", "2.5" or "3" stands for. ValueError for any other text."""
    if (
        len(text) > 40 or "e" in text.lower()
    ):  # 1e999999999 is a fraction that no computer holds
        raise ValueError
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError from None


class Amount(Fraction):
    """A count where texts weigh a fraction: exact, and added, compared and written as the whole numbers are.

    >>> half = amount(9, 2)
    >>> str(half), f"{1000 + half:,}", f"{-half:,}", f"{amount(7, 3):>6,}", half + half, half / 3
    ('4.5', '1,004.5', '-4.5', ' 2 1/3', 9, 1.5)
    """

    __slots__ = ()

    def __str__(self) -> str:
        """As `exact_fraction` reads it again."""
        decimal = f"{float(self):.6f}".rstrip("0")
        return decimal if Fraction(decimal) == self else super().__str__()

    def __repr__(self) -> str:
        """For tables that other programs read."""
        return repr(float(self))

    def __format__(self, spec: str) -> str:
        if not spec or spec[-1] in "fge%":
            return format(float(self), spec) if spec else str(self)
        whole, rest = divmod(abs(self), 1)
        tail, sign = (
            str(amount(rest)).removeprefix("0"),
            "-" if self < 0 else "+" * ("+" in spec),
        )
        digits = f"{whole:,}" + " " * ("/" in tail) if whole or "/" not in tail else ""
        return format(f"{sign}{digits}{tail}", spec.replace(",", "").replace("+", ""))


def amount(n: int | Fraction, scale: int = 1) -> int:
    """n / scale: an int or, typed as the int that it is without fractional weights, an `Amount`."""
    number = n if scale == 1 and isinstance(n, int) else Amount(n, scale)
    return number.numerator if number.denominator == 1 else cast(int, number)


def _closed(
    operation: Callable[..., Any], result: Callable[[Any], Any]
) -> Callable[..., Any]:
    return lambda *numbers: (
        result(found) if isinstance(found := operation(*numbers), Fraction) else found
    )


for _names, _result in (
    ("add radd sub rsub mul rmul neg abs", amount),
    ("truediv rtruediv", float),
):
    for _name in (f"__{name}__" for name in _names.split()):
        setattr(Amount, _name, _closed(getattr(Fraction, _name), _result))


def as_id(value: object) -> int:
    """The id that a program gave as an int or as another whole number, such as a scalar of numpy or torch. Raises
    `NotAnIdError` for anything else."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        kind, shown = type(value).__name__, shortened(repr(value), 40)
        raise NotAnIdError(
            f"A token id is a whole number, not the {kind} {shown}; give a list of ids."
        ) from None


def as_ids(values: Iterable[object]) -> list[int]:
    """The ids that a program gave, as a list of int. Raises `NotAnIdError` for the first value that is not a whole
    number."""
    numbers = values if isinstance(values, list) else _as_list(values)
    try:
        return list(map(index, numbers))
    except TypeError:
        return list(map(as_id, numbers))  # names the first wrong one


def _as_list(values: Iterable[object]) -> list[object]:
    # An array or a tensor converts its numbers in a tenth of the time that it takes to do it one by one.
    as_list = getattr(values, "tolist", None)
    numbers = values if as_list is None else as_list()
    try:
        return list(numbers)
    except TypeError:
        kind = type(values).__name__
        raise NotAnIdError(
            f"Token ids come in a list, not as a single {kind}; put it into a list."
        ) from None


def _lists_of_ids(text: str) -> list[list[object]] | None:
    """The list of ids in each object of a text; None if the text is not made of objects that have one."""
    lists = list[list[object]]()
    for value in _objects_in(text):
        found = (
            next((value[key] for key in _KEYS if key in value), None)
            if isinstance(value, dict)
            else None
        )
        if not isinstance(found, list):
            return None
        lists.append(found)
    return lists or None


def _objects_in(text: str) -> list[object]:
    """The values in a text: of one JSON document, of one per line, or of a dictionary that Python printed; none if it
    is neither."""
    with suppress(ValueError):
        return [untrusted_json.parse(text.encode())]
    with suppress(ValueError):
        return [
            untrusted_json.parse(line.encode())
            for line in text.splitlines()
            if line.strip()
        ]
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return [literal_eval(text.strip())]
    return []


def ids_in(text: str) -> tuple[list[int], list[tuple[int, str]]]:
    """The ids in a text, in order, and (how many ids stand before it, the word) of each word that is no id.

    Words are between spaces, commas, semicolons and brackets. Of objects in JSON, one or one per line, and of a
    dictionary, as Python prints what transformers encodes, the words are those of the list "ids" or "input_ids".

    >>> ids_in('{"text": "no 7", "ids": [98, 99]}')
    ([98, 99], [])
    """
    if text.lstrip()[:1] == "{":
        lists = _lists_of_ids(text)
        if lists is None:
            return [], [(0, text)]
        text = "\n".join(map(json.dumps, lists))
    ids, odd = list[int](), list[tuple[int, str]]()
    for word in text.translate(_SEPARATORS).split():
        if len(word) <= 10 and word.isascii() and word.isdigit():
            ids.append(int(word))
        else:
            odd.append((len(ids), word))
    return ids, odd
