"""TokenPanel: lines about the token under the cursor of the audit's table.

Some lines lead to another token, to a text for the editor, or to a place in a file.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Click, MouseDown
from textual.reactive import var

from bpe_core.auditing.findings import KINDS
from bpe_core.tokenizer import Tokenizer
from tui.commands.command import features_of
from tui.commands.keys import PartBindings
from tui.drawing.lines import InfoLine, info_strip, sentence
from tui.state import Audit, PlaceInText, TokenLines
from tui.table.row_list import RowList
from tui.text.token_lines import TokenFacts, token_lines
from tui.text.token_places import lines_of_texts
from tui.widgets.side_titles import SideTitles
from tui.widgets.token_table import TokenTable

SIDES: Final = {"token": "Token", "lines": "Lines", "about": "Kinds"}
"""The sides of the panel, with their titles."""


class TokenPanel(RowList):
    """One of three sides: the token, the lines of the corpus that hold it, or all kinds of findings.

    The panel asks for the lines of a token only when the user looks at them.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Evidence")
    side: var[str] = var("token", init=False)
    """The side that is shown: a key of `SIDES`."""
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](
        None, init=False, always_update=True
    )
    audit: var[Audit] = var(Audit(), init=False)
    token_lines: var[TokenLines] = var(TokenLines(), init=False)

    lines: Sequence[InfoLine] = ()
    _drawn_side = ""
    _drawn_token: int | None = None
    _pressed: int | None = None
    """The row of the last press of the mouse; None before the first."""
    _pressed_before: int | None = None

    def __init__(self, table: TokenTable, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table = table

    def watch_side(self) -> None:
        self.refresh()
        self.show_token()

    def watch_token_lines(self) -> None:
        if self.side == "lines":
            self.show_token()

    def action_turn(self, by: int) -> None:
        names = list(SIDES)
        place = names.index(self.side) + by
        self.side = names[place % len(names)]

    def on_mouse_down(self, event: MouseDown) -> None:
        # The panel grows when it takes the focus, so the click arrives on another row. Act at once.
        offset = event.get_content_offset(self)
        if offset is None:
            return
        self._pressed_before = self._pressed
        self._pressed = None
        row = self.scroll_offset.y + offset.y - 1
        if offset.y > 0 and row < self.row_count:
            self._pressed = row
            self.move_to(row, tell=True)

    def on_click(self, event: Click) -> None:
        event.prevent_default()
        is_row = self._pressed is not None and self._pressed == self._pressed_before
        if event.chain == 2 and is_row:
            self.action_select()

    def row_hint(self, row: int) -> str:
        return self.lines[row].hint

    @property
    def target(self) -> str:
        row = self.current
        if row is None or row >= len(self.lines) or self.lines[row].target is None:
            return ""
        return "row"

    def row_selected(self, row: int) -> None:
        match self.lines[row].target:
            case int(token):
                self._table.go_to(token)
            case str(text):
                features_of(self).audit.try_text(text, self.token)
            case (file, place):
                target = PlaceInText(
                    str(file.path),
                    place.line,
                    place.column,
                    len(place.left),
                    "F5 returns to the list.",
                )
                features_of(self).texts.open_place(target)

    @property
    def token(self) -> int | None:
        """The id under the cursor of the table; None if no token has it."""
        row = self._table.current
        rows = self._table.rows
        if row is None or rows.hole(row):
            return None
        return rows.ids[row]

    def show_token(self) -> None:
        """Show the chosen side for the token under the cursor of the table."""
        token = self.token
        lines = self._lines_of(token, max(8, self.row_width - 2))
        if lines is None:
            return
        if lines != self.lines:
            self.lines = lines
            self.show_rows(range(len(lines)))
            if self._drawn_side != self.side or self._drawn_token != token:
                self.move_to(0)
        self._drawn_side = self.side
        self._drawn_token = token

    def _lines_of(self, token: int | None, room: int) -> list[InfoLine] | None:
        """Return the lines to show, or None after asking for them."""
        tokenizer = self.tokenizer
        if self.side == "about" or tokenizer is None or not len(self._table.rows):
            return list(self._kinds(room))
        if token is None or token not in tokenizer.vocabulary:
            row = self._table.current
            hole = None if row is None else self._table.rows.hole(row)
            return list(sentence(hole.sentence, room, "text")) if hole else []
        if self.side == "token":
            measures = {}
            for name, values in self.audit.measures.items():
                if token in values:
                    measures[name] = values[token]
            verdict = self.audit.verdicts.get(token)
            facts = TokenFacts(
                tokenizer, token, verdict, measures, self.audit.distribution
            )
            return list(token_lines(facts, room))
        if self.token_lines.token == token:
            return list(lines_of_texts(self.token_lines, room))
        features_of(self).lines.find(token)
        return None

    def _kinds(self, room: int) -> Iterator[InfoLine]:
        """Yield the kinds of findings, each with how many tokens an audit found."""
        counts = self._table.rows.n_of_kind if self.audit.subject else {}
        yield from sentence(
            "An audit looks for tokens that a model has barely learned.", room, "text"
        )
        yield from sentence(self.audit.subject, room)
        for name, kind in KINDS.items():
            count = f"{counts.get(name, 0):,}" if counts else ""
            yield InfoLine(name, count, "accent")
            yield from sentence(kind.meaning, room, lead="  ")

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        token = self.token
        color = None
        if token is not None:
            color = self._table.token_style(token)
        ink = partial(self._ink, base)
        return info_strip(self.lines[row], width, ink, self.app.console, color)

    def _ink(self, base: Style, name: str) -> Style:
        # A token has its own color.
        return self.style_of("text" if name == "token" else name, base)


class TokenSides(Vertical):
    """The panel, with the titles of its sides on the first row, which every list has free for a header."""

    def __init__(self, panel: TokenPanel, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._panel = panel
        self._titles = SideTitles(SIDES, "w")

    def compose(self) -> ComposeResult:
        yield self._panel
        yield self._titles

    def on_mount(self) -> None:
        self.watch(self._panel, "side", self._titles.show, init=False)

    @on(SideTitles.Chosen)
    def choose_side(self, event: SideTitles.Chosen) -> None:
        self._panel.side = event.side
