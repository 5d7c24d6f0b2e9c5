"""What becomes of surrogates, which a text of Python's may hold and UTF-8 may not: one rule, and it is tiktoken's."""

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """`text` with a character for each pair of surrogates and U+FFFD for each lone one.

    >>> without_surrogates("\\ud83d\\ude0a \\ud83d")
    '😊 �'
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf8(text: str) -> bytes:
    """`text` in UTF-8, without surrogates.

    >>> utf8("a\\ud800")
    b'a\\xef\\xbf\\xbd'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()
