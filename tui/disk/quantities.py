"""Quantities: the names of what can be counted on the screen, as lessons write them.

"tokens" is the number of tokens of the editor's text, and "tokens of é" that of the first é in it.
"""

from typing import Final, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.visible import quoted

OF_SCREEN: Final = {
    "tokens": "the number of tokens of the editor's text",
    "bytes": "the number of bytes of the editor's text",
    "ids": "the ids of all its tokens, separated by spaces",
    "step": "the number of merges that are applied",
    "merges": "the number of merges that were learned",
    "next pair": "the pair that is merged next, such as “a + b”",
}
"""Name of a quantity -> its meaning."""
OF_PART: Final = {
    "tokens of": "the number of tokens of a part of the text",
    "bytes of": "the number of its bytes",
    "pieces of": "the number of pieces that the split pattern cuts it into",
    "split of": "its tokens, separated by spaces",
    "count of": "how often a pair such as “a + b” occurs in the corpus now",
    "occurrences of": "how often a text occurs in the corpus",
}
"""Name of a quantity that a part follows, such as "tokens of é" -> its meaning."""


class MeasuredQuantity(NamedTuple):
    """A quantity, and the part that it is counted in; "" for the whole."""

    name: str
    part: str = ""


def quantity(text: str) -> MeasuredQuantity:
    """Read the name of a quantity. Raise `BpeError` if there is no such quantity.

    >>> quantity("tokens"), quantity("tokens of a b")
    (MeasuredQuantity(name='tokens', part=''), MeasuredQuantity(name='tokens of', part='a b'))
    """
    if text in OF_SCREEN:
        return MeasuredQuantity(text)
    for name in OF_PART:
        part = text.removeprefix(f"{name} ")
        if part != text and part:
            return MeasuredQuantity(name, part)
    names = ", ".join([*OF_SCREEN, *OF_PART])
    raise BpeError(f"Unknown quantity {quoted(text, 40)}; use {names}")
