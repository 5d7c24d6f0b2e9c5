"""The label of a row in the list of texts: a mark, a title, and a size or a count at the right end."""

from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from tui.drawing.lines import fit
from tui.state import TextSource

_SIGNS: Final = {"": " ", "corpus": "✓", "reference": "≠"}
"""Mark -> its sign."""


class RowFacts(NamedTuple):
    """The facts that the label of a row shows, besides its source."""

    n_chosen: int
    """How many marked texts it contains."""
    mark: str = ""
    weight: str = ""
    """How many times the text counts; "" for once."""
    arrow: str = ""
    """▾ for an open group or folder, ▸ for a closed one."""

    @property
    def chosen(self) -> str:
        return f"{self.n_chosen:,} ✓" if self.n_chosen else ""


def heading_label(
    source: TextSource, facts: RowFacts, width: int, style: Style
) -> Text:
    """Return the label of a heading or a remark."""
    left = f"{facts.arrow or ' '} {source.title}"
    title = fit(left, width - len(facts.chosen))
    is_heading = bool(facts.arrow)
    style += Style(bold=is_heading, dim=not is_heading)
    return Text(title + facts.chosen, style, no_wrap=True, end="")


def text_label(
    source: TextSource, facts: RowFacts, width: int, style: Style, accent: Style
) -> Text:
    """Return the label of a text or a folder; `accent` is the style if it is chosen."""
    right = facts.chosen
    if facts.arrow:
        right = f"{right} {facts.arrow}"
    elif source.size is not None:
        right = size_label(source.size)
    if facts.mark == "corpus" and facts.weight:
        right = f"×{facts.weight} {right}"
    sign = f"{_SIGNS[facts.mark]} "
    if source.preset:
        # It is run instead of marked, and its long title needs the room.
        sign = ""
    if right:
        right = f" {right}"
    title = fit(source.title, max(4, width - len(sign) - cell_len(right)))
    style_of_title = accent if facts.mark else style
    style_of_right = accent if facts.n_chosen else style + Style(dim=True)
    label = Text(no_wrap=True, end="")
    label.append(f"{sign}{title}", style_of_title)
    return label.append(right, style_of_right)


def size_label(size: float) -> str:
    """Return a size in bytes in at most six cells.

    >>> size_label(999), size_label(12_345), size_label(24_100_000)
    ('999 B', '12 kB', '24 MB')
    """
    if size < 1000:
        return f"{size} B"
    if size < 999.5e3:
        size /= 1e3
        unit = "kB"
    elif size < 999.5e6:
        size /= 1e6
        unit = "MB"
    else:
        size /= 1e9
        unit = "GB"
    return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"
