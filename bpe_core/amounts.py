"""Counts where texts weigh a fraction: exact numbers that add, compare and are written as whole ones are."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, cast

_DECIMALS: Final = 6  # up to which a number is written as a decimal; else as a fraction


class Amount(Fraction):
    """A count that is no whole number. Sums, differences and products are exact; a quotient is a float, as of ints.

    >>> half = amount(9, 2)
    >>> str(half), f"{1000 + half:,}", f"{amount(7, 3):>6,}", half + half, half / 3
    ('4.5', '1,004.5', ' 2 1/3', 9, 1.5)
    """

    __slots__ = ()

    def __str__(self) -> str:
        """As `Fraction` reads it again, exactly."""
        decimal = f"{float(self):.{_DECIMALS}f}".rstrip("0")
        return decimal if Fraction(decimal) == self else super().__str__()

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if spec[-1] in "fge%":
            return format(float(self), spec)
        whole, rest = divmod(abs(self), 1)
        tail, sign = str(amount(rest)), "-" if self < 0 else "+" if "+" in spec else ""
        number = f"{sign}{whole:,}" if "," in spec else f"{sign}{whole}"
        text = number + tail[1:] if "/" not in tail else f"{number} {tail}" if whole else f"{sign}{tail}"
        return format(text, spec.replace(",", "").replace("+", ""))


def _closed(operation: Callable[..., Any], result: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *numbers: result(found) if isinstance(found := operation(*numbers), Fraction) else found


def amount(n: int | Fraction, scale: int = 1) -> int:
    """n / scale: an int or, typed as the int that it is without fractional weights, an `Amount`."""
    if scale == 1 and isinstance(n, int):
        return n
    number = Amount(n, scale)
    return number.numerator if number.denominator == 1 else cast(int, number)


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__neg__", "__abs__"):
    setattr(Amount, _name, _closed(getattr(Fraction, _name), amount))
for _name in ("__truediv__", "__rtruediv__"):
    setattr(Amount, _name, _closed(getattr(Fraction, _name), float))
