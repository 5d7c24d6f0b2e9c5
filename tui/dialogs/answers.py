"""What typed answers mean: each function returns a value, or raises `ValueError` with a sentence for the user."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from bpe_core.corpus.counts import LARGEST
from bpe_core.visible import quoted
from bpe_core.weighted import exact_fraction

LONGEST_TITLE: Final = 60
"""Characters of a name in a list."""


def whole_number(least: int, most: int, text: str) -> int:
    digits = text.strip().replace(",", "").replace("_", "")
    is_number = digits.isascii() and digits.isdigit()
    # Python refuses to read very long numbers.
    if is_number and len(digits) < 12 and least <= int(digits) <= most:
        return int(digits)
    raise ValueError(f"Type a number from {least:,} to {most:,}.")


def weight(text: str) -> str:
    with suppress(ValueError):
        if 0 < exact_fraction(text.strip()) <= LARGEST:
            return text.strip()
    raise ValueError(
        f"Type a number above 0 and up to {LARGEST:,}, such as 3, 2.5 or 1/3."
    )


def title(text: str) -> str:
    name = text.strip()
    if len(name) > LONGEST_TITLE:
        raise ValueError(
            f"This name has {len(name):,} characters; shorten it to {LONGEST_TITLE}."
        )
    return name


def name_of_tokenizer(text: str) -> str:
    from bpe_core.hub import KINDS, is_name

    name = text.strip()
    if not is_name(name):
        raise ValueError(
            f"{quoted(name)} is not the name of a tokenizer; type {KINDS}."
        )
    return name


def one_of(names: Sequence[str], text: str) -> str:
    name = text.strip()
    if name not in names:
        raise ValueError(
            f"Unknown name {quoted(name)}; type one of {', '.join(names)}."
        )
    return name
