"""A line of a narrow column: something at the left, a number or a name at the right edge, and sentences."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from bpe_core.visible import visible
from tui.drawing.cells import fit

if TYPE_CHECKING:
    from bpe_core.corpus.reading import TextFile
    from bpe_core.explain.places import CorpusPlace

STYLES: Final = ("token", "text", "muted", "lines", "accent", "tied", "warning")  # the styles that a column has


@dataclass(frozen=True, slots=True)
class InfoLine:
    """A line of such a column."""

    left: str | Text = ""  # text with styles of its own is drawn in these
    right: str = ""
    ink: str = "text"  # which of the column's styles `left` has
    lead: str = ""  # drawn before `left`: a box line, a mark, an indent
    target: "int | str | tuple[TextFile, CorpusPlace] | None" = None
    """What Enter leads to: a token, a text for the editor, or a place in a file."""

    @property
    def hint(self) -> str:
        """What Enter does, in a sentence; empty if nothing."""
        match self.target:
            case None:
                return ""
            case int():
                return "Enter looks at this token."
            case str():
                return "Enter puts this text into the editor; Ctrl+Z there brings yours back."
        return "Enter opens this text in the editor, at this line."


def info_strip(
    line: InfoLine, width: int, ink: Callable[[str], Style], console: Console, token: Style | None = None
) -> Strip:
    """A line in `width` cells, one of them free at either end.

    `ink` gives the column's styles by name, `token` the color that a token has elsewhere on the screen.
    """
    text = ink("text")
    room = max(0, width - 2 - cell_len(line.lead) - (cell_len(line.right) + 1 if line.right else 0))
    segments = [Segment(" ", text), Segment(line.lead, ink("lines" if line.ink == "text" else line.ink))]
    if (line.ink == "token" and token) or isinstance(line.left, Text):
        left = line.left.copy() if isinstance(line.left, Text) else Text().append(line.left, token)
        left.truncate(room, overflow="ellipsis", pad=True)
        segments += Segment.apply_style(left.render(console), ink(line.ink))
    else:
        segments.append(Segment(fit(line.left, room), ink(line.ink)))
    segments.append(Segment(" " + line.right if line.right else "", ink("muted")))
    return Strip(segments).adjust_cell_length(width, text)


def in_one_or_two(left: str | Text, right: str, width: int, ink: str = "text") -> Iterator[InfoLine]:
    """A line, or two where there is no room for both sides in one."""
    size = left.cell_len if isinstance(left, Text) else cell_len(left)
    fits = size + 1 + cell_len(right) <= width
    yield InfoLine(left, right if fits else "", ink)
    if not fits:
        yield InfoLine("", right)


def sentence(text: str, width: int, ink: str = "muted", lead: str = "", most: int | None = None) -> Iterator[InfoLine]:
    """A sentence in as many lines as it needs, or in `most`; cells count, not characters."""
    room = max(8, width - cell_len(lead))
    rows: list[str] = []
    for word in visible(text).split():
        first, *rest = chop_cells(word, room)
        longer = f"{rows[-1]} {first}" if rows else first
        if rows and cell_len(longer) <= room:
            rows[-1] = longer
        else:
            rows.append(first)
        rows += rest
    for row in rows[:most]:
        cut = " …" if most is not None and len(rows) > most and row is rows[most - 1] else ""
        yield InfoLine(row + cut, ink=ink, lead=lead)


def titles(names: Mapping[str, str], choice: str, width: int, keys: str, note: str = "") -> Text:
    """The titles of things that share a place, that of `choice` bright, then a note; the keys at the right."""
    text = Text("  ").join(Text(title, "bold" if name == choice else "dim") for name, title in names.items())
    text.append(note, "dim")
    return text.append(" " * max(1, width - text.cell_len - cell_len(keys))).append(keys, "dim")
