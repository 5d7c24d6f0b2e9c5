"""How wide text is in a terminal, and text made to fit a column."""

from unicodedata import category, east_asian_width

_NO_CELL = ("Mn", "Me", "Cf")
"""Categories of what stands on, around or between other characters."""


def cells(text: str) -> int:
    """Columns a terminal gives it: two for most of what Chinese, Japanese and Korean are written in."""
    return sum(0 if category(c) in _NO_CELL else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fitted(text: str, most: int) -> str:
    """`text` if it has at most so many cells; else its beginning and an ellipsis."""
    if cells(text) <= most:
        return text
    end = 0
    width = 1
    while width + cells(text[end]) <= most:
        width += cells(text[end])
        end += 1
    return text[:end] + "…"
