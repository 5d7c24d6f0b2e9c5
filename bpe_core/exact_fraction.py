"""Fractions that people write: exact, and bounded, for some texts stand for numbers that no computer holds."""

from fractions import Fraction
from typing import Final

_LONGEST: Final = 40
"""Characters of a fraction at most."""


def exact_fraction(text: str) -> Fraction:
    """The number that a text such as "1/10000", "2.5" or "3" stands for. ValueError for any other text.

    >>> exact_fraction("0.0001"), exact_fraction("1/3")
    (Fraction(1, 10000), Fraction(1, 3))
    """
    if len(text) > _LONGEST or "e" in text.lower():  # 1e999999999 is a fraction, too
        raise ValueError
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError from None
