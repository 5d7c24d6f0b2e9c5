"""The ways to write a token: as text, as its bytes in hexadecimal or decimal, or as its id."""

from collections.abc import Callable
from typing import Final

from bpe_core.visible import token_label

WRITINGS: Final = ("text", "hex", "decimal", "ids")
"""Their names, in the order in which a key turns to them."""


def writer(writing: str, bytes_of: Callable[[int], bytes]) -> Callable[[int], str]:
    """A function that writes an id in one of `WRITINGS`; `bytes_of` gives the bytes of an id."""
    if writing == "hex":
        return lambda token: bytes_of(token).hex(" ")
    if writing == "decimal":
        return lambda token: " ".join(map(str, bytes_of(token)))
    if writing == "ids":
        return str
    return lambda token: token_label(bytes_of(token))
