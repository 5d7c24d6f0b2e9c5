"""Surrogates, which a Python string may contain and UTF-8 may not: how they are replaced, as tiktoken does."""

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """`text` with each pair of surrogates replaced by the character it encodes, and each lone one by U+FFFD.

    >>> without_surrogates("\\ud83d\\ude0a \\ud83d")
    '😊 �'
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf8(text: str) -> bytes:
    """`without_surrogates(text)` in UTF-8.

    >>> utf8("a\\ud800")
    b'a\\xef\\xbf\\xbd'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()
