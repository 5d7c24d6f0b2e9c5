"""Counts of a corpus whose texts may have fractional weights: whole numbers, or exact fractions."""

from fractions import Fraction
from typing import TypeAlias

Count: TypeAlias = int | Fraction
"""How often something occurs in a corpus. It is a Fraction only if a text has a fractional weight."""

Measure: TypeAlias = float | Fraction
"""A count, or a number that is computed from counts."""


def exact_fraction(text: str) -> Fraction:
    """Return the number in a text such as "1/10000", "2.5" or "3".

    Raises:
        ValueError: The text is not such a number, or is longer than 40 characters.
    """
    # 1e999999999 is a fraction that no computer can hold.
    if len(text) > 40 or "e" in text.lower():
        raise ValueError
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError from None


def weighted_count(number: Count, scale: int = 1) -> Count:
    """Return number / scale, as an int if that is a whole number.

    >>> weighted_count(9, 3), weighted_count(9, 2)
    (3, Fraction(9, 2))
    """
    if scale == 1 and isinstance(number, int):
        return number
    quotient = Fraction(number) / scale
    if quotient.denominator == 1:
        return quotient.numerator
    return quotient


def count_text(count: Count) -> str:
    """Return an exact text that `exact_fraction` can read: a decimal of at most 6 places, or else a fraction.

    >>> count_text(4000), count_text(Fraction(9, 2)), count_text(Fraction(7, 3))
    ('4000', '4.5', '7/3')
    """
    if isinstance(count, int):
        return str(count)
    decimal = f"{float(count):.6f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == count else str(count)


def formatted(count: Count, signed: bool = False) -> str:
    """Return a count as a person reads it, exactly; with `signed`, a plus sign precedes a positive one.

    >>> formatted(4000), formatted(Fraction(2009, 2)), formatted(-Fraction(7, 3))
    ('4,000', '1,004.5', '-2 1/3')
    """
    sign = ""
    if count < 0:
        sign = "-"
    elif signed:
        sign = "+"
    size = abs(Fraction(count))
    whole = int(size)
    if whole == size:
        return f"{sign}{whole:,}"
    fraction = count_text(size - whole)
    if "/" not in fraction:
        return f"{sign}{whole:,}{fraction.removeprefix('0')}"
    return f"{sign}{whole:,} {fraction}" if whole else f"{sign}{fraction}"


def for_programs(count: Measure) -> int | float:
    """Return a number for JSON or a table that programs read: an int if it is whole, or else the nearest float."""
    if isinstance(count, Fraction):
        return count.numerator if count.denominator == 1 else float(count)
    return count
