"""The rows of a tree of texts: what stands at the right edge, sizes and marks, is below each other."""

from typing import Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from tui.drawing.cells import fit

_SIGNS: Final = {"": " ", "corpus": "✓", "reference": "≠"}


def heading_label(title: str, *, is_open: bool | None, right: str, width: int, style: Style) -> Text:
    """The name of a group with a sign for whether it `is_open`; None: it does not open, and is a remark."""
    sign = "  " if is_open is None else "▾ " if is_open else "▸ "
    style += Style(dim=True) if is_open is None else Style(bold=True)
    return Text(fit(sign + title, width - len(right)) + right, style=style, no_wrap=True, end="")


def source_label(title: str, *, mark: str, right: str, is_lit: bool, width: int, style: Style, accent: Style) -> Text:
    """Mark ("", "corpus" or "reference"), title, and `right`, dim unless it `is_lit`, at the right edge."""
    label = Text(no_wrap=True, end="")
    label.append(_SIGNS[mark] + " ", style + accent if mark else style)
    label.append(fit(title, max(4, width - 3 - cell_len(right))), style + accent if mark else style)
    label.append(" " + right, style + (accent if is_lit else Style(dim=True)))
    return label


def size_label(size: int) -> str:
    """A size in bytes in at most six cells.

    >>> size_label(999), size_label(12_345), size_label(24_100_000)
    ('999 B', '12 kB', '24 MB')
    """
    if size < 1000:
        return f"{size} B"
    for unit in ("kB", "MB"):
        size_in_unit = size / 1000
        if size_in_unit < 999.5:
            return f"{size_in_unit:.1f} {unit}" if size_in_unit < 9.95 else f"{size_in_unit:.0f} {unit}"
        size = round(size_in_unit)
    return f"{size / 1000:.1f} GB"
