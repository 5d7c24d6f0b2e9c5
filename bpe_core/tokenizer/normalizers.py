"""What some tokenizers do to a text before they split it; it does not come back when the ids are decoded.

Unicode's tables are those of this Python's `unicodedata`; libraries with other versions may differ in new characters.
"""

import unicodedata
from collections.abc import Callable
from typing import Any, Final, Literal

import regex

Normalizer = Callable[[str], str]

WHITE_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""The characters of Unicode's White_Space; `str.strip` and `str.isspace` know four more."""


def composed(form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> Normalizer:
    """One of Unicode's normalization forms."""
    return lambda text: text if unicodedata.is_normalized(form, text) else unicodedata.normalize(form, text)


def lowercase(text: str) -> str:
    """Each character by itself: a sigma that ends a word does not get its own form."""
    return "".join(map(str.lower, text))


def without_accents(text: str) -> str:
    """Without combining marks; those that are part of a character stay unless it was decomposed before."""
    return "".join(character for character in text if unicodedata.category(character)[0] != "M")


def stripped(left: bool, right: bool) -> Normalizer:
    """Without white space at the ends."""

    def strip(text: str) -> str:
        text = text.lstrip(WHITE_SPACE) if left else text
        return text.rstrip(WHITE_SPACE) if right else text

    return strip


def prepended(prefix: str) -> Normalizer:
    """With something before it, unless it is empty."""
    return lambda text: prefix + text if text else text


def replaced(old: str, new: str) -> Normalizer:
    """Every occurrence of a text replaced."""
    return lambda text: text.replace(old, new)


def replaced_matches(pattern: Any, new: str) -> Normalizer:
    """Every match of a compiled regular expression replaced by a text."""
    return lambda text: str(regex.sub(pattern, lambda _: new, text))


def one_after_another(normalizers: list[Normalizer]) -> Normalizer:
    """All of them in turn."""

    def normalize(text: str) -> str:
        for normalizer in normalizers:
            text = normalizer(text)
        return text

    return normalize
