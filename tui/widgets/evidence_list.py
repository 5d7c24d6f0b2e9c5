"""EvidenceList: lines about one token, some of which lead to another token, to a text, or to a place in one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.reactive import var

from tui.commands import bindings
from tui.drawing.cells import fit
from tui.drawing.evidence_lines import Line
from tui.drawing.info_lines import info_strip
from tui.table.row_list import RowList

SIDES: Final = {"about": "What is sought", "token": "Token", "lines": "Lines"}
"""What can be seen -> its title."""


class EvidenceList(RowList):
    """The titles of what can be seen here, the lines of what is seen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Evidence")
    side: var[str] = var("about", init=False)
    """What is seen: a key of `SIDES`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Sequence[Line] = ()
        """What is shown; whoever derives from this says what, and where each leads to."""
        self.token_style: Callable[[], Style | None] | None = None
        """Style of the token that the lines are about."""

    @property
    def room(self) -> int:
        """Cells that a line may fill."""
        return max(8, self.row_width - 2)

    def show_lines(self, lines: Sequence[Line], *, anew: bool = True) -> None:
        """Show these lines; `anew`: from the first, for they are about something else."""
        if lines == self.lines:
            return
        self.lines = lines
        self.show_rows(range(len(lines)))
        if anew:
            self.move_to(0)

    def action_turn(self, by: int) -> None:
        """See the next."""
        names = list(SIDES)
        self.side = names[(names.index(self.side) + by) % len(names)]

    def header_clicked(self, x: int) -> None:
        """Turn to the title that was clicked."""
        for start, name, title in self._titles():
            if start <= x < start + len(title):
                self.side = name

    def row_hint(self, row: int) -> str:
        """Where Enter leads to."""
        return self.lines[row].hint

    # Drawing

    def _titles(self) -> Iterable[tuple[int, str, str]]:
        x = 1
        for name, title in SIDES.items():
            yield x, name, title
            x += len(title) + 2

    def render_header(self, width: int) -> Iterable[Segment]:
        """The titles, that of what is seen bright, and the key that turns."""
        muted, bright = self.style_of("muted"), self.style_of("row") + Style(bold=True)
        x = 0
        for start, name, title in self._titles():
            yield Segment(" " * (start - x) + title, bright if name == self.side else muted)
            x = start + len(title)
        yield Segment(fit("w ", max(0, width - x), right=True), muted)

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One line."""
        info = self.lines[row].info
        if info.ink == "token" and self.token_style and isinstance(info.left, str):
            info = replace(info, left=Text(info.left, self.token_style() or ""))

        def ink(name: str) -> Style:
            name = {"text": "row", "token": "row", "lines": "faint"}.get(name, name)
            return self.style_of(name, base)

        return info_strip(info, width, ink, self.app.console)
