"""Lines of a narrow column: text cut to the cells it takes, sentences, numbers as bars; widgets that show them.

A CJK character or an emoji takes two cells, a combining mark none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.visible import counted, visible
from bpe_core.weighted import Count, Measure

if TYPE_CHECKING:
    from bpe_core.corpus.reading import TextFile
    from bpe_core.explain.places import CorpusPlace

Item = TypeVar("Item")

LETTERS: Final = (
    "ABCD"  # what the tokenizers that are compared are called, in their order
)

INKS: Final = ("text", "token", "muted", "faint", "accent", "secondary", "warning")
"""What a widget that draws its own lines draws in: component classes, which the style sheet gives colors."""
INK_CLASSES: Final = {f"ink--{ink}" for ink in INKS}


def ink_of(widget: Widget, name: str) -> Style:
    return widget.get_component_rich_style(f"ink--{name}")


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text`, safe to show, in exactly `width` cells: padded, or cut with an ellipsis.

    A combining mark that begins a text gets the dotted circle to stand on, as in a table of characters.

    >>> fit("merge", 7), fit("merge", 7, right=True), fit("日本語", 5)
    ('merge  ', '  merge', '日本…')
    """
    if not text.isprintable():
        text = visible(text)
    if text.isascii() and len(text) <= width:  # most texts: nothing to measure
        return text.rjust(width) if right else text.ljust(width)
    if text and cell_len(text[0]) == 0:
        text = "◌" + text
    text = cut(text, width)
    padding = " " * (width - cell_len(text))
    return padding + text if right else text + padding


def cut(text: str, width: int, keep: Literal["start", "ends", "end"] = "start") -> str:
    """`text`, or as much of its start, its end or both as `width` cells hold with an ellipsis.

    >>> cut("python-library-gpt4-2", 14, "ends"), cut("merges", 4), cut("merges", 4, "end")
    ('python-…gpt4-2', 'mer…', '…ges')
    """
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    behind = {"start": 0, "ends": (width - 1) // 2, "end": width - 1}[keep]
    first = set_cell_size(
        text, width - 1 - behind
    )  # where half of a wide character would fit, a space
    last = set_cell_size(text[::-1], behind)[::-1]
    return f"{first.rstrip(' ')}…" if keep == "start" else f"{first}…{last}"


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
    left: str | Text = ""  # text with styles of its own is drawn in these
    right: str = ""
    ink: str = "text"  # which of `INKS` `left` has
    lead: str = ""  # drawn before `left`: a box line, a mark, an indent
    target: "int | str | tuple[TextFile, CorpusPlace] | None" = (
        None  # what Enter leads to, as `hint` says
    )

    @property
    def hint(self) -> str:
        """What Enter does, in a sentence; empty if nothing."""
        if isinstance(self.target, int):
            return "Enter looks at this token."
        if isinstance(self.target, str):
            return "Enter puts this text into the editor; Alt+Z brings yours back."
        return (
            "Enter opens this text in the editor, at this line." if self.target else ""
        )


def info_strip(
    line: InfoLine,
    width: int,
    ink: Callable[[str], Style],
    console: Console,
    token: Style | None = None,
) -> Strip:
    """A line in `width` cells, one of them free at either end.

    `ink` gives the style of each of `INKS`, `token` the color that a token has elsewhere on the screen.
    """
    text = ink("text")
    room = max(
        0,
        width
        - 2
        - cell_len(line.lead)
        - (cell_len(line.right) + 1 if line.right else 0),
    )
    segments = [
        Segment(" ", text),
        Segment(line.lead, ink("faint" if line.ink == "text" else line.ink)),
    ]
    if (line.ink == "token" and token) or isinstance(line.left, Text):
        left = (
            line.left.copy()
            if isinstance(line.left, Text)
            else Text().append(line.left, token)
        )
        left.truncate(room, overflow="ellipsis", pad=True)
        segments += Segment.apply_style(left.render(console), ink(line.ink))
    else:
        segments.append(Segment(fit(line.left, room), ink(line.ink)))
    segments.append(Segment(" " + line.right if line.right else "", ink("muted")))
    return Strip(segments).adjust_cell_length(width, text)


def in_one_or_two(
    left: str | Text, right: str, width: int, ink: str = "text"
) -> Iterator[InfoLine]:
    """A line, or two where there is no room for both sides in one."""
    size = left.cell_len if isinstance(left, Text) else cell_len(left)
    fits = size + 1 + cell_len(right) <= width
    yield InfoLine(left, right if fits else "", ink)
    if not fits:
        yield from (
            [InfoLine("", right)]
            if cell_len(right) <= width
            else sentence(right, width)
        )


def in_rows(
    items: Iterable[Item], sizes: Iterable[int], room: int
) -> Iterator[list[Item]]:
    """Things of so many cells each in as many rows as they need, at least one, each with as many as fit in `room`."""
    row, left = list[Item](), room
    for item, size in zip(items, sizes, strict=True):
        if row and size > left:
            yield row
            row, left = [], room
        row.append(item)
        left -= size
    yield row


def sentence(
    text: str, width: int, ink: str = "muted", lead: str = "", most: int | None = None
) -> Iterator[InfoLine]:
    """A sentence in as many lines as it needs, or in `most`; cells count, not characters."""
    room = max(8, width - cell_len(lead))
    rows: list[str] = []
    for word in visible(text).split():
        first, *rest = chop_cells(word, room) or [
            word
        ]  # a combining mark alone has no cells
        longer = f"{rows[-1]} {first}" if rows else first
        if rows and cell_len(longer) <= room:
            rows[-1] = longer
        else:
            rows.append(first)
        rows += rest
    for row in rows[:most]:
        cut = (
            " …"
            if most is not None and len(rows) > most and row is rows[most - 1]
            else ""
        )
        yield InfoLine(row + cut, ink=ink, lead=lead)


def titles(
    names: Mapping[str, str], choice: str, width: int, keys: str, note: str = ""
) -> Text:
    """The titles of things that share a place, that of `choice` bright, then a note; the keys at the right."""
    text = Text("  ").join(
        Text(title, "bold" if name == choice else "dim")
        for name, title in names.items()
    )
    text.append(note, "dim")
    return text.append(" " * max(1, width - text.cell_len - cell_len(keys))).append(
        keys, "dim"
    )


def bar(value: Measure, most: Measure, width: int) -> str:
    """A bar of `width` cells, filled as far as `value` is of `most`; what is not nothing is seen.

    >>> bar(3, 4, 4), bar(1, 1000, 4), bar(0, 4, 4)
    ('███ ', '▏   ', '    ')
    """
    whole, rest = divmod(
        min(8 * width, ceil(8 * width * value / most)) if most > 0 else 0, 8
    )
    return ("█" * whole + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")).ljust(width)


def placed(values: Sequence[float], most: float, width: int) -> str:
    """The letters of some values, each as far to the right in `width` cells as its value is large, of `most`.

    Where several fall on one cell, it is ●.

    >>> placed([1.0, 3.0, 4.0], 4.0, 9), placed([4.0, 4.0], 4.0, 5)
    ('··A···B·C', '····●')
    """
    cells = [" "] * width
    for letter, value in zip(LETTERS, values if width > 0 else (), strict=False):
        place = (
            min(width - 1, max(0, round(value / most * (width - 1)))) if most > 0 else 0
        )
        cells[place] = letter if cells[place] == " " else "●"
    return "".join(cells).rstrip().replace(" ", "·")


def beside(ratios: Sequence[float], most: float, width: int) -> str:
    """The letters from B on, each as far to the right or left of a line in the middle, which is A, as its ratio to A is
    above or below 1; the ends of the `width` cells stand for 1 + `most` and 1 - `most`.

    >>> beside([1.5, 0.75], 0.5, 9), beside([1.0], 0.0, 5)
    ('  C·│···B', '  │')
    """
    if width < 1:
        return ""
    middle = width // 2
    cells = [" "] * width
    for letter, ratio in zip(LETTERS[1:], ratios, strict=False):
        place = min(1.0, max(-1.0, (ratio - 1) / most)) * middle if most > 0 else 0.0
        cell = min(width - 1, middle + round(place))
        cells[cell] = letter if cells[cell] == " " else "●"
        for between in range(min(cell, middle), max(cell, middle)):
            cells[between] = "·" if cells[between] == " " else cells[between]
    cells[middle] = "│"
    return "".join(cells).rstrip()


def shape(amounts: Mapping[int, int], last: int) -> str:
    """Bars for the amounts of 1 to `last`, those beyond it counted with `last`; the greatest is a whole cell.

    >>> shape({1: 4, 2: 8, 9: 1}, 4)
    '▄█ ▁'
    """
    heights = [amounts.get(place, 0) for place in range(1, last)]
    heights.append(sum(n for place, n in amounts.items() if place >= last))
    most = max(heights) or 1
    return "".join(" ▁▂▃▄▅▆▇█"[min(8, -(-8 * n // most))] for n in heights)


class Lines(ScrollView, can_focus=True):
    """A column of facts; it scrolls where they do not fit."""

    COMPONENT_CLASSES = INK_CLASSES

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[InfoLine] = ()
        self.token_style: Callable[[], Style | None] = lambda: (
            None
        )  # of the token that the lines are about

    @property
    def room(self) -> int:
        return max(8, self.size.width - 2)

    def show_lines(self, lines: Iterable[InfoLine]) -> None:
        lines = [*lines]
        if lines != self._lines:
            self._lines = lines
            # Not by assignment: that would lay out the whole screen again.
            self.set_reactive(Widget.virtual_size, Size(self.size.width, len(lines)))
            self._scroll_update(self.virtual_size)
            self.scroll_to(0, 0, animate=False)
            self.refresh()

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


class Titles(Widget):
    """One line: the titles of things that share a place, that of the one that is seen bright."""

    choice: reactive[str] = reactive("")  # which is seen: a key of the titles
    keys: reactive[str] = reactive("")  # what turns to the next; at the right
    note: reactive[str] = reactive("")  # what stands behind the titles

    def __init__(
        self, names: Mapping[str, str], keys: str = "", *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._names = names
        self.set_reactive(Titles.choice, next(iter(names)))
        self.set_reactive(Titles.keys, keys)

    def render(self) -> Text:
        return titles(
            self._names, self.choice, self.content_size.width, self.keys, self.note
        )
