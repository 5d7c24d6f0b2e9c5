"""The width of text in a terminal, in cells (columns), and text cut to a width."""

from unicodedata import category, east_asian_width

_NO_CELL = ("Mn", "Me", "Cf")
"""Unicode categories of characters without a width: combining marks and format characters."""


def cells(text: str) -> int:
    """The width of `text` in cells: 2 for wide characters (East Asian Width W and F), 0 for marks, 1 for others."""
    return sum(0 if category(c) in _NO_CELL else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fitted(text: str, most: int) -> str:
    """`text` if its width is at most `most` cells; else as much of its beginning as fits, and an ellipsis."""
    if cells(text) <= most:
        return text
    end = 0
    width = 1
    while width + cells(text[end]) <= most:
        width += cells(text[end])
        end += 1
    return text[:end] + "…"
