"""Numbers that a person typed or pasted, fractions and token ids, and counts that fractions have made no whole ones."""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, cast

# The list of ids, or the list of such lists, in JSON or in a dictionary as Python writes it.
_LIST: Final = re.compile(r"""(["'])(?:input_)?ids\1\s*:\s*(\[(?:[^\[\]]|\[[^\[\]]*\])*\])""")
_SEPARATORS: Final = str.maketrans(dict.fromkeys("[](),;'\"", " "))


def exact_fraction(text: str) -> Fraction:
    """The number that a text such as "1/10000", "2.5" or "3" stands for. ValueError for any other text."""
    if len(text) > 40 or "e" in text.lower():  # 1e999999999 is a fraction that no computer holds
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
        tail, sign = str(amount(rest)).removeprefix("0"), "-" if self < 0 else "+" * ("+" in spec)
        digits = f"{whole:,}" + " " * ("/" in tail) if whole or "/" not in tail else ""
        return format(f"{sign}{digits}{tail}", spec.replace(",", "").replace("+", ""))


def amount(n: int | Fraction, scale: int = 1) -> int:
    """n / scale: an int or, typed as the int that it is without fractional weights, an `Amount`."""
    number = n if scale == 1 and isinstance(n, int) else Amount(n, scale)
    return number.numerator if number.denominator == 1 else cast(int, number)


def _closed(operation: Callable[..., Any], result: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *numbers: result(found) if isinstance(found := operation(*numbers), Fraction) else found


for _names, _result in (("add radd sub rsub mul rmul neg abs", amount), ("truediv rtruediv", float)):
    for _name in (f"__{name}__" for name in _names.split()):
        setattr(Amount, _name, _closed(getattr(Fraction, _name), _result))


def ids_in(text: str) -> tuple[list[int], list[tuple[int, str]]]:
    """The ids in a text, in order, and (how many ids stand before it, the word) of each word that is no id.

    Words are between spaces, commas, semicolons and brackets, or are those of the list in an object of JSON, or in a
    dictionary, as Python prints what transformers encodes.
    """
    if text.lstrip()[:1] == "{":
        if (found := _LIST.search(text)) is None:
            return [], [(0, text)]
        text = found[2]
    ids, odd = list[int](), list[tuple[int, str]]()
    for word in text.translate(_SEPARATORS).split():
        if len(word) <= 10 and word.isascii() and word.isdigit():
            ids.append(int(word))
        else:
            odd.append((len(ids), word))
    return ids, odd
