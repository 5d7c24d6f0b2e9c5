"""TokenTable: all tokens of a vocabulary, what an audit found first; sorted, filtered, searched without a wait."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from bpe_core.auditing.findings import KINDS
from tui.commands import bindings
from tui.drawing.choice_line import choice_at, choice_line
from tui.drawing.columns import PlacedColumn, fit, place_at
from tui.drawing.token_columns import number, token_places
from tui.drawing.token_lines import SEVERITIES, kind_titles, none_shown, reason, shown_told, title_line, token_line
from tui.drawing.token_rows import ALL, HOLE, SPECIAL, TokenRows, Wanted
from tui.requests import requests
from tui.terminal.background import SlicedWork
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.vocabulary import Vocabulary

_MEANINGS: Final = {SPECIAL: "Special tokens: no merge makes them.", HOLE: "Ids below the greatest that no token has."}


class TokenTable(RowList):
    """A row for each token, the most suspicious first until another column is chosen; unused ids at the end."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Tokens")
    FOOTER = True
    sort_key: var[str] = var("score", init=False)
    """The column the rows are sorted by."""
    reverse: var[bool] = var(False, init=False)
    """Whether they are sorted the other way round."""
    kind: var[str] = var(ALL, init=False)
    """The only kind shown, see `Wanted.kind`."""
    severity: var[int] = var(0, init=False)
    """The least severity shown."""
    search: var[str] = var("", init=False)
    """What is sought, see `tui.drawing.token_search`."""

    class Highlighted(Message):
        """The cursor is on another row, or there is something else to say of it."""

        def __init__(self, row: int | None) -> None:
            super().__init__()
            self.row = row

        def can_replace(self, message: Message) -> bool:
            """Only the newest place of the cursor matters."""
            return isinstance(message, TokenTable.Highlighted)

    class Listed(Message):
        """All rows are there, or all that an audit says of them."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.token_style: Callable[[int], Style | None] | None = None
        """Style of a token by its id, where the tokens have colors elsewhere on the screen."""
        self.rows = TokenRows()
        """What is listed, shown or not."""
        self.empty = ""
        """What the table says while it lists nothing."""
        self._vocabulary: Vocabulary | None = None
        self._reading = SlicedWork[TokenRows](self)
        self._judging = SlicedWork[TokenRows](self)
        self._sorting = SlicedWork[list[int]](self)
        self._waiting: tuple[Sequence[Verdict], Mapping[str, Mapping[int, float]]] | None = None
        self._chosen = False
        """Whether the user has gone to a row of this vocabulary."""

    # Rows in

    @property
    def is_working(self) -> bool:
        """Whether rows are being read, judged or sorted."""
        return self._reading.is_working or self._judging.is_working or self._sorting.is_working

    @property
    def verdict(self) -> "Verdict | None":
        """What the audit says of the token under the cursor."""
        return None if self.current is None else self.rows.verdicts.get(self.rows.ids[self.current])

    def list_tokens(self, vocabulary: "Vocabulary | None") -> None:
        """List the tokens of this vocabulary, of which no audit has said anything, from the first."""
        self._vocabulary, self._chosen, self._waiting = vocabulary, False, None
        self._reading.cancel()
        self._judging.cancel()
        self.show_rows(())  # now, not when they are sorted: until then the cursor would be on a row that is gone
        self.rows = TokenRows()
        self.set_reactive(TokenTable.kind, ALL)
        self.set_reactive(TokenTable.severity, 0)
        self._arrange()
        if vocabulary is not None:
            self._reading.run(TokenRows().read(vocabulary), self._read)

    def _read(self, rows: TokenRows) -> None:
        self.rows = rows
        self._arrange()
        self.post_message(self.Listed())
        if self._waiting is not None:
            self.judge(*self._waiting)

    def judge(self, verdicts: "Sequence[Verdict]", measures: Mapping[str, Mapping[int, float]]) -> None:
        """What an audit says of the listed tokens. Order, filter and search stay, and so does the cursor's row."""
        if self._reading.is_working:
            self._waiting = verdicts, measures
        else:
            self._waiting = None
            self._judging.run(self.rows.judge(verdicts, measures), self._judged)

    def _judged(self, _: TokenRows) -> None:
        if self.kind not in self.rows.choices:
            self.set_reactive(TokenTable.kind, ALL)
        if self.sort_key not in {place.column.key for place in self.header_places(self.row_width)}:
            self.set_reactive(TokenTable.sort_key, "score")
        above = self.cursor - self.scroll_offset.y

        def stay() -> None:
            if self._chosen:
                self._scroll_top(self.cursor - above)
                self._tell()
            else:
                self.move_to(0)

        self._arrange(stay)
        self.post_message(self.Listed())

    def row_hint(self, row: int) -> str:
        """What the kind of finding means that counts most, or what the row is."""
        if self.rows.hole(row):
            return _MEANINGS[HOLE]
        verdict = self.rows.verdicts.get(self.rows.ids[row])
        kind = verdict.kinds[0] if verdict and verdict.kinds else ""
        return KINDS.get(kind, _MEANINGS[SPECIAL] if self.rows.ids[row] in self.rows.specials else "")

    # Sorting, filtering, searching

    @property
    def wanted(self) -> Wanted:
        """Which rows are shown, and in which order."""
        return Wanted(self.sort_key, self.reverse, self.kind, self.severity, self.search)

    def watch_sort_key(self) -> None:
        """Another column: look at its beginning."""
        self._arrange(lambda: self.move_to(0))

    def watch_reverse(self) -> None:
        """The other way round: look at its beginning."""
        self.watch_sort_key()

    def watch_search(self) -> None:
        """Something else is sought: look at what fits best."""
        self.watch_sort_key()

    def watch_kind(self) -> None:
        """Another kind is shown: the cursor stays where it is if that is still shown."""
        before = self.current
        self._arrange(lambda: self.move_to(self.cursor if self.current == before else 0))

    def watch_severity(self) -> None:
        """More or less is shown."""
        self.watch_kind()

    def _arrange(self, then: Callable[[], None] | None = None) -> None:
        """Show what is wanted in the order that is wanted, then do the rest; a later call takes its place."""

        def arranged(rows: list[int]) -> None:
            before = self.current
            self.show_rows(rows)
            if then is not None:
                then()
            if self.current != before:
                self._tell()

        self._sorting.run(self.rows.rows(self.wanted), arranged)

    def sort_by(self, key: str) -> None:
        """Sort by a column; by the same again: the other way round."""
        if key == "severity":
            key = "score"
        if key == self.sort_key:
            self.reverse = not self.reverse
        elif key != "reason":
            self.set_reactive(TokenTable.reverse, False)
            self.sort_key = key

    def action_sort_next(self) -> None:
        """Sort by the next of the columns in sight."""
        places = self.header_places(self.row_width)
        keys = [place.column.key for place in places if place.column.key not in ("severity", "reason")]
        self.sort_by(keys[(keys.index(self.sort_key) + 1) % len(keys)] if self.sort_key in keys else keys[0])

    def action_reverse(self) -> None:
        """Turn the order around."""
        self.reverse = not self.reverse

    def action_kind(self, by: int) -> None:
        """Show only the next kind, or all again."""
        kinds = list(self.rows.choices)
        self.kind = kinds[(kinds.index(self.kind) + by) % len(kinds)] if self.kind in kinds else ALL

    def action_severity(self) -> None:
        """Show only what is worse, or all again."""
        self.severity = (self.severity + 1) % len(SEVERITIES)

    def go_to(self, token: int) -> None:
        """Put the cursor on a token; what hides it is taken away."""
        row = self.rows.row_of(token)
        if row is None:
            return
        if row not in self.order:
            for name in ("kind", "severity", "search"):
                self.set_reactive(getattr(TokenTable, name), type(getattr(self, name))())
            self._arrange(lambda: self.move_to(list(self.order).index(row), tell=True))
        else:
            self.move_to(self.order.index(row), tell=True)

    # What the user did

    def row_highlighted(self, row: int) -> None:
        """The user has gone to a row."""
        self._chosen = True
        self._tell()

    def _tell(self) -> None:
        self.post_message(self.Highlighted(self.current))

    def row_selected(self, row: int) -> None:
        """A token was chosen."""
        if self.rows.hole(row) is None:
            requests(self).open_token(self.rows.ids[row], self.verdict)

    def header_clicked(self, x: int) -> None:
        """Sort by the column clicked."""
        if place := place_at(self.header_places(self.row_width), x):
            self.sort_by(place.column.key)

    def footer_clicked(self, x: int) -> None:
        """Show only the kind clicked."""
        kinds, room = kind_titles(self.rows.choices), self.row_width - cell_len(self._shown_told)
        if (kind := choice_at(kinds, self.kind, room, x)) is not None:
            self.kind = kind

    # Drawing

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        """The columns that fit."""
        rows = self.rows
        numbers = [("id", len(f"{rows.largest_id:,}"))]
        if rows.verdicts:
            numbers.append(("score", 0))
        numbers += [(name, len(number(name, greatest))) for name, greatest in rows.greatest.items()]
        return token_places(width, tuple(numbers))

    def render_header(self, width: int) -> Iterable[Segment]:
        """The titles, an arrow at the one that sorts."""
        return title_line(self.header_places(width), self.wanted, self.style_of("header"), self.style_of("accent"))

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One token, or one hole."""
        rows, style_of = self.rows, partial(self.style_of, base=base)
        tint = self.token_style(rows.ids[row]) if self.token_style and not rows.hole(row) else None
        why = reason(rows, row, self._vocabulary)
        return token_line(rows, row, why, self.header_places(width), style_of, base, tint)

    def render_footer(self, width: int) -> Iterable[Segment]:
        """How many rows there are of each kind, and how many are shown."""
        if not len(self.rows):
            return
        style, accent, shown = self.style_of("footer"), self.style_of("accent"), self._shown_told
        yield from choice_line(kind_titles(self.rows.choices), self.kind, width - cell_len(shown), style, accent)
        yield Segment(shown, accent if self.wanted.severity else style)

    @property
    def _shown_told(self) -> str:
        return shown_told(self.wanted, self.row_count)

    def render_empty(self, width: int) -> Iterable[Segment]:
        """Why nothing is shown."""
        text = none_shown(self.wanted) if len(self.rows) else self.empty
        yield Segment(fit(" " + text, width), self.style_of("muted"))
