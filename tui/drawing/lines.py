"""Lines of a narrow column: text cut to a width, sentences, and the widgets that show lines.

A CJK character or an emoji takes two cells, a combining mark none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.visible import counted, visible
from bpe_core.weighted import Count

if TYPE_CHECKING:
    from bpe_core.corpus.reading import TextFile
    from bpe_core.explain.places import CorpusPlace

Item = TypeVar("Item")

INKS: Final = ("text", "token", "muted", "faint", "accent", "secondary", "warning")
"""The styles of a widget that draws its own lines: component classes with colors in the style sheet."""
INK_CLASSES: Final = {f"ink--{ink}" for ink in INKS}


def ink_of(widget: Widget, name: str) -> Style:
    return widget.get_component_rich_style(f"ink--{name}")


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Make `text` printable and exactly `width` cells wide: pad it, or cut it with an ellipsis.

    A combining mark without a letter is drawn on a dotted circle.

    >>> fit("merge", 7), fit("merge", 7, right=True), fit("日本語", 5)
    ('merge  ', '  merge', '日本…')
    """
    if not text.isprintable():
        text = visible(text)
    if text.isascii() and len(text) <= width:
        # Fast path for most texts: nothing to measure.
        return text.rjust(width) if right else text.ljust(width)
    if text and cell_len(text[0]) == 0:
        text = "◌" + text
    text = cut(text, width)
    padding = " " * (width - cell_len(text))
    return padding + text if right else text + padding


def cut(text: str, width: int, keep: Literal["start", "ends", "end"] = "start") -> str:
    """Cut `text` to `width` cells: keep its start, its end or both, and mark the cut with an ellipsis.

    >>> cut("python-library-gpt4-2", 14, "ends"), cut("merges", 4), cut("merges", 4, "end")
    ('python-…gpt4-2', 'mer…', '…ges')
    """
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    end_width = {"start": 0, "ends": (width - 1) // 2, "end": width - 1}[keep]
    # If only half of a wide character fits, set_cell_size puts a space in its place.
    start = set_cell_size(text, width - 1 - end_width)
    end = set_cell_size(text[::-1], end_width)[::-1]
    if keep == "start":
        start = start.rstrip(" ")
    return f"{start}…{end}"


def how_often(count: Count) -> str:
    """Write a number of occurrences.

    >>> how_often(1), how_often(1200)
    ('once', '1,200 times')
    """
    if count == 1:
        return "once"
    return counted(count, "time")


@dataclass(frozen=True, slots=True)
class InfoLine:
    """One line of a column."""

    left: str | Text = ""
    """The text; a `Text` keeps its own styles."""
    right: str = ""
    ink: str = "text"
    """The style of `left`, one of `INKS`."""
    lead: str = ""
    """Drawn before `left`: a branch of a tree, a mark, or an indent."""
    target: "int | str | tuple[TextFile, CorpusPlace] | None" = None
    """What Enter opens: a token, a text in the editor, or a line of a file."""

    @property
    def hint(self) -> str:
        """A sentence that says what Enter does; empty if it does nothing."""
        if isinstance(self.target, int):
            return "Enter shows this token."
        if isinstance(self.target, str):
            return "Enter puts this text into the editor; Alt+Z brings yours back."
        if self.target:
            return "Enter opens this text in the editor, at this line."
        return ""


def info_strip(
    line: InfoLine,
    width: int,
    ink: Callable[[str], Style],
    console: Console,
    token: Style | None = None,
) -> Strip:
    """Draw a line in `width` cells, with a free cell at each end.

    Args:
        line: The line.
        width: The width in cells.
        ink: Returns the style for one of `INKS`.
        console: The console of the app.
        token: The style of the token that the lines describe, for lines with the ink "token".
    """
    right = f" {line.right}" if line.right else ""
    room = max(0, width - 2 - cell_len(line.lead) - cell_len(right))
    lead_ink = "faint" if line.ink == "text" else line.ink
    segments = [Segment(" ", ink("text")), Segment(line.lead, ink(lead_ink))]
    styled: Text | None = None
    if isinstance(line.left, Text):
        styled = line.left.copy()
    elif line.ink == "token" and token:
        styled = Text().append(line.left, token)
    if styled is not None:
        styled.truncate(room, overflow="ellipsis", pad=True)
        segments += Segment.apply_style(styled.render(console), ink(line.ink))
    elif isinstance(line.left, str):
        segments.append(Segment(fit(line.left, room), ink(line.ink)))
    segments.append(Segment(right, ink("muted")))
    return Strip(segments).adjust_cell_length(width, ink("text"))


def in_one_or_two(
    left: str | Text, right: str, width: int, ink: str = "text"
) -> Iterator[InfoLine]:
    """Put both sides in one line, or in two if they do not fit."""
    size = left.cell_len if isinstance(left, Text) else cell_len(left)
    if size + 1 + cell_len(right) <= width:
        yield InfoLine(left, right, ink)
        return
    yield InfoLine(left, ink=ink)
    if cell_len(right) <= width:
        yield InfoLine("", right)
    else:
        yield from sentence(right, width)


def in_rows(
    items: Iterable[Item], sizes: Iterable[int], room: int
) -> Iterator[list[Item]]:
    """Divide items of the given sizes into rows of at most `room` cells; yield at least one row."""
    row: list[Item] = []
    left = room
    for item, size in zip(items, sizes, strict=True):
        if row and size > left:
            yield row
            row = []
            left = room
        row.append(item)
        left -= size
    yield row


def sentence(
    text: str, width: int, ink: str = "muted", lead: str = "", most: int | None = None
) -> Iterator[InfoLine]:
    """Wrap a sentence into lines of `width` cells, at most `most` of them."""
    room = max(8, width - cell_len(lead))
    rows: list[str] = []
    for word in visible(text).split():
        # A combining mark alone has no cells, and so no pieces.
        pieces = chop_cells(word, room) or [word]
        if rows and cell_len(f"{rows[-1]} {pieces[0]}") <= room:
            rows[-1] += f" {pieces[0]}"
            rows += pieces[1:]
        else:
            rows += pieces
    if most is not None and len(rows) > most:
        rows = rows[:most]
        rows[-1] += " …"
    for row in rows:
        yield InfoLine(row, ink=ink, lead=lead)


def _no_style() -> Style | None:
    return None


class Lines(ScrollView, can_focus=True):
    """A column of lines that scrolls if they do not fit."""

    COMPONENT_CLASSES = INK_CLASSES

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[InfoLine] = ()
        self.token_style: Callable[[], Style | None] = _no_style
        """Returns the style of the token that the lines describe."""

    def show_lines(self, lines: Iterable[InfoLine]) -> None:
        lines = list(lines)
        if lines != self._lines:
            old_lines = self._lines
            self._lines = lines
            # Assigning virtual_size would lay out the whole screen again.
            self.set_reactive(Widget.virtual_size, Size(self.size.width, len(lines)))
            self._scroll_update(self.virtual_size)
            self.scroll_to(0, 0, animate=False)
            for y, (old, new) in enumerate(zip_longest(old_lines, lines)):
                # The color of the token may have changed, too.
                if old != new or new.ink == "token":
                    self.refresh_lines(y)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        y += self.scroll_offset.y
        if y >= len(self._lines):
            return Strip.blank(width, ink_of(self, "text"))
        return info_strip(
            self._lines[y],
            width,
            partial(ink_of, self),
            self.app.console,
            self.token_style(),
        )
