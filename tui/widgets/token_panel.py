"""TokenPanel: lines about the token under the cursor of a table, and about what an audit looks for.

Some lines lead to another token, to a text for the editor, or to a place in a file.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.reactive import var

from bpe_core.auditing.findings import KINDS
from bpe_core.tokenizer import Tokenizer
from tui.commands import bindings
from tui.drawing.info_lines import InfoLine, info_strip, sentence, titles
from tui.state import Audit, PlaceInText, TokenLines, requests
from tui.table.row_list import RowList
from tui.text.token_lines import TokenFacts, lines_of_texts, token_lines
from tui.widgets.token_table import TokenTable

SIDES: Final = {"about": "What is sought", "token": "Token", "lines": "Lines"}  # what can be seen -> its title
_INKS: Final = {"text": "row", "token": "row", "lines": "faint"}
"""Style of a line -> that of a list, where it has another name."""


class TokenPanel(RowList):
    """Asks the screen to find out what is not known yet of the token, once somebody looks at that side."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Evidence")
    side: var[str] = var("about", init=False)  # what is seen: a key of `SIDES`
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None, init=False)
    audit: var[Audit] = var(Audit(), init=False)
    token_lines: var[TokenLines] = var(TokenLines(), init=False)

    def __init__(self, table: TokenTable, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Sequence[InfoLine] = ()
        self._table = table
        self._before: tuple[str, int | None] = "", None  # the side that was drawn last, and of which token

    def watch_side(self) -> None:
        self.refresh()
        self.show_token()

    def watch_token_lines(self) -> None:
        if self.side == "lines":
            self.show_token()

    def action_turn(self, by: int) -> None:
        names = list(SIDES)
        self.side = names[(names.index(self.side) + by) % len(names)]

    def header_clicked(self, x: int) -> None:
        start = 1
        for name, title in SIDES.items():
            if start <= x < start + len(title):
                self.side = name
            start += len(title) + 2

    def row_hint(self, row: int) -> str:
        return self.lines[row].hint

    def row_selected(self, row: int) -> None:
        match self.lines[row].target:
            case int(token):
                self._table.go_to(token)
            case str(text):
                requests(self).try_text(text, self.token)
            case (file, at):
                back = "F5 leads back to the list."
                requests(self).open_place(PlaceInText(str(file.path), at.line, at.column, len(at.left), back))

    @property
    def token(self) -> int | None:
        """The id under the cursor of the table; None on a hole."""
        row, rows = self._table.current, self._table.rows
        return None if row is None or rows.hole(row) else rows.ids[row]

    def show_token(self) -> None:
        """Show the side that is to be seen, of the token under the cursor of the table as it is now."""
        tokenizer, token, room = self.tokenizer, self.token, max(8, self.row_width - 2)
        if self.side == "about" or tokenizer is None:
            self._show_lines([*self._about(room)])
        elif token is None or token not in tokenizer.vocabulary:
            row = self._table.current
            hole = self._table.rows.hole(row) if row is not None else None
            self._show_lines([*sentence(hole.sentence, room, "text")] if hole else [])
        elif self.side == "lines":
            if self.token_lines.token != token:
                requests(self).find_lines(token)
            else:
                self._show_lines(lines_of_texts(self.token_lines, room), anew=not self.token_lines.found)
        else:
            measures = {name: column[token] for name, column in self.audit.measures.items() if token in column}
            facts = TokenFacts(tokenizer, token, self.audit.verdicts.get(token), measures, bool(self.audit.subject))
            self._show_lines(token_lines(facts, room), anew=self._before != ("token", token))
        self._before = self.side, token

    def _show_lines(self, lines: Sequence[InfoLine], *, anew: bool = True) -> None:
        """Show these lines; `anew`: from the first, for they are about something else."""
        if lines == self.lines:
            return
        self.lines = lines
        self.show_rows(range(len(lines)))
        if anew:
            self.move_to(0)

    def _about(self, room: int) -> Iterator[InfoLine]:
        """What an audit looks for, with how much it found, and how much others did in the same vocabulary."""
        rows = self._table.rows
        found = rows.n_of_kind if self.audit.subject else {}
        figures = rows.known.figures if rows.known else {}
        yield from sentence("An audit looks for tokens that a model hardly learns.", room, "text")
        if rows.known:
            yield from sentence(f"Known figures are those of {rows.known.name}.", room)
        for kind, meaning in KINDS.items():
            numbers = [f"{found.get(kind, 0):,}"] if found else []
            numbers += [f"known {figures[kind]:,}"] if kind in figures else []
            yield InfoLine(kind, " · ".join(numbers), "accent")
            yield from sentence(meaning, room, lead="  ")

    def render_header(self, width: int) -> Iterable[Segment]:
        yield Segment(" ")
        text = titles(SIDES, self.side, width - 2, "w")
        yield from Segment.apply_style(text.render(self.app.console), self.style_of("row"))

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        style, token = self._table.token_style, self.token
        color = style(token) if style and token is not None else None
        return info_strip(
            self.lines[row], width, lambda name: self.style_of(_INKS.get(name, name), base), self.app.console, color
        )
