"""TokenTable: all tokens of a vocabulary, what an audit found first; and TokenPanel: lines about one of them.

Some lines lead to another token, to a text for the editor, or to a place in a file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.reactive import var

from bpe_core.auditing.findings import KINDS, Severity
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from bpe_core.weighted import Measure
from tui.commands.command import features_of
from tui.commands.keys import PartBindings
from tui.drawing.lines import InfoLine, info_strip, sentence, titles
from tui.drawing.token_rows import (
    HOLE,
    INKS,
    MARKS,
    SPECIAL,
    TokenRows,
    number,
    place_of_kind,
)
from tui.state import Audit, PlaceInText, TokenLines
from tui.table.row_list import RowList
from tui.table.rows import Search
from tui.table.table import Cell, Choices, Column, Table
from tui.terminal.background import SlicedWork, Steps
from tui.text.token_lines import TokenFacts, lines_of_texts, token_lines

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.vocabulary import Vocabulary

T = TypeVar("T")

_SEVERITIES: Final = {
    0: "",
    1: "○ and worse",
    2: "● and worse",
    3: "▲ only",
}  # what is shown, by the least severity
_MEANINGS: Final = {
    SPECIAL: "Special tokens: no merge makes them.",
    HOLE: "Ids that no token has, below the greatest.",
}


def _of_verdict(
    tell: "Callable[[Verdict], T]", otherwise: T
) -> "Callable[[TokenTable, int], T]":
    """What is told of the verdict on a token; `otherwise` where there is none."""
    return lambda table, row: (
        tell(verdict) if (verdict := table.rows.verdict(row)) else otherwise
    )


def _token(table: "TokenTable", row: int) -> Cell:
    rows = table.rows
    if rows.hole(row):
        return Cell("")
    return Cell(
        token_label(rows.tokens[row]), bold=True, tint=table.token_style(rows.ids[row])
    )


def _kinds(table: "TokenTable", row: int) -> str:
    rows = table.rows
    if verdict := rows.verdict(row):
        return ", ".join(verdict.kinds)
    return HOLE if rows.hole(row) else SPECIAL if rows.ids[row] in rows.specials else ""


def _id(table: "TokenTable", row: int) -> int:
    return table.rows.ids[row]


def _measure(key: str, width: int, rank: int, hint: str, **more: Any) -> Column:
    def value(table: "TokenTable", row: int) -> Measure | None:
        return table.rows.measures.get(key, {}).get(table.rows.ids[row])

    def cell(table: "TokenTable", row: int) -> str:
        return "" if (known := value(table, row)) is None else number(key, known)

    return Column(key, width, cell, hint, right=True, rank=rank, sort=value, **more)


_MARKS: Final = "▲ a problem, ● a warning, ○ good to know."
_SCORE: Final = "How suspicious the token is, 0 to 1; the panel tells how that is made."
_ID: Final = "The token's id: its number in the vocabulary."
_TOKEN: Final = "The token's bytes as text. ␣ is a space, ↵ a line end, \\xNN a byte."
_KINDS: Final = (
    "What was found; first what counts most. Left and right show one kind only."
)
_REASON: Final = "Why it was found, in words; or what the token is made of."
_by_score: Final = _of_verdict(lambda verdict: verdict.score, None)
_by_kind: Final = _of_verdict(lambda verdict: place_of_kind(*verdict.kinds[:1]), None)
_written: Final = _of_verdict(lambda verdict: f"{verdict.score:.2f}", "")
_mark: Final = _of_verdict(
    lambda one: Cell(MARKS[it := one.severity or Severity.NOTE], INKS[it]), Cell("")
)
COLUMNS: Final = (
    Column(
        "severity", 1, _mark, _MARKS, title=" ", gap=1, sort=_by_score, descending=True
    ),
    Column("score", 7, _written, _SCORE, right=True, sort=_by_score, descending=True),
    Column(
        "id",
        5,
        lambda table, row: f"{_id(table, row):,}",
        _ID,
        right=True,
        ink="muted",
        sort=_id,
    ),
    Column(
        "token",
        12,
        _token,
        _TOKEN,
        most=24,
        sort=lambda table, row: table.rows.labels[row],
    ),
    Column("kinds", 12, _kinds, _KINDS, most=22, rank=1, sort=_by_kind),
    _measure("count", 7, 3, "How often the token occurs in the chosen texts."),
    _measure("reference", 9, 5, "How often it occurs in the reference."),
    _measure(
        "document_frequency", 9, 5, "In how many texts it occurs.", title="documents"
    ),
    _measure(
        "largest_share",
        8,
        6,
        "The largest share of its occurrences in one text.",
        title="in one",
    ),
    _measure(
        "indicator",
        9,
        4,
        "Of its row in the model: the lower, the less trained it looks.",
    ),
    Column(
        "reason",
        20,
        lambda table, row: table.reason(row),
        _REASON,
        most=120,
        rank=2,
        ink="muted",
    ),
)
_ALWAYS: Final = frozenset(
    {"severity", "id", "token", "kinds", "reason"}
)  # columns that need no audit


class TokenTable(Table):
    """A row for each token, the most suspicious first until another column is chosen; unused ids at the end.

    `choice` is the only kind of rows that is shown; "" stands for all tokens.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Tokens")
    COLUMNS = COLUMNS

    severity: var[int] = var(
        0, init=False
    )  # the least severity shown; 0 for tokens without a finding too

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(TokenTable.sort_key, "score")
        self.rows = TokenRows()  # what is listed, shown or not
        self.waits_for = ""  # what the table says while it lists nothing
        self._vocabulary: Vocabulary | None = None
        self._reading = SlicedWork[TokenRows](self)
        self._chosen = False  # whether the user has gone to a row of this vocabulary
        self._fit_columns()

    # Rows in

    @property
    def is_working(self) -> bool:
        return self._reading.is_working or self._arranging.is_working

    def list_tokens(self, vocabulary: "Vocabulary | None") -> None:
        """List the tokens of this vocabulary, of which no audit has said anything, from the first."""
        self._vocabulary, self._chosen = vocabulary, False
        self._reading.cancel()
        self.show_rows(
            ()
        )  # now, not when they are sorted: until then the cursor would be on a row that is gone
        self.set_reactive(TokenTable.choice, "")
        self.set_reactive(TokenTable.severity, 0)
        self._list(TokenRows())
        if vocabulary is not None:
            self.judge((), {})

    def _list(self, rows: TokenRows, then: Callable[[], None] = lambda: None) -> None:
        self.rows, self.n_rows = rows, len(rows)
        self.rows_changed()
        self._fit_columns()
        self.rearrange(then)

    def judge(
        self,
        verdicts: "Sequence[Verdict]",
        measures: Mapping[str, Mapping[int, Measure]],
    ) -> None:
        """What an audit says of the listed tokens. Order, filter and search stay, and so does the cursor's row."""

        def steps() -> Steps[TokenRows]:
            rows = self.rows
            if self._vocabulary is not None and not len(rows):
                rows = yield from TokenRows().read(self._vocabulary)
            return (yield from rows.judge(verdicts, measures))

        self._reading.run(steps(), self._judged)

    def _judged(self, rows: TokenRows) -> None:
        if self.choice not in rows.n_of_kind:
            self.set_reactive(TokenTable.choice, "")
        if self.sort_key not in {*_ALWAYS, *rows.greatest}:
            self.set_reactive(TokenTable.sort_key, "score")
        above = self.cursor - self.scroll_offset.y

        def stay() -> None:
            if self._chosen:
                self.scroll_top(self.cursor - above)
            else:
                self.move_to(0)

        self._list(rows, stay)

    def _fit_columns(self) -> None:
        rows = self.rows
        least = {
            name: len(number(name, greatest))
            for name, greatest in rows.greatest.items()
        }
        shown = {*_ALWAYS, *least, *(("score",) if rows.verdicts else ())}
        hidden = {column.key for column in COLUMNS} - shown
        self.fit_columns({**least, "id": len(f"{rows.largest_id:,}")}, hidden)

    # What a row says

    def reason(self, row: int) -> str:
        """What is wrong with a token, or what it is made of."""
        rows, vocabulary, token = self.rows, self._vocabulary, self.rows.ids[row]
        if verdict := rows.verdict(row):
            return verdict.reason
        if hole := rows.hole(row):
            return hole.sentence
        if vocabulary is None or not vocabulary.knows_merges or token not in vocabulary:
            return ""
        return " + ".join(
            token_label(vocabulary.token_bytes(part))
            for part in vocabulary.parents(token) or ()
        )

    def row_hint(self, row: int) -> str:
        kind = _kinds(self, row).partition(", ")[0]
        return KINDS[kind].meaning if kind in KINDS else _MEANINGS.get(kind, "")

    # Which rows are shown

    @property
    def choices(self) -> Choices:
        return (
            [
                (kind, f"{kind or 'all'} {n:,}")
                for kind, n in self.rows.n_of_kind.items()
            ]
            if len(self.rows)
            else ()
        )

    @property
    def note(self) -> tuple[str, str]:
        worst = _SEVERITIES[self.severity] if len(self.rows) else ""
        shown = (
            f"{worst}{' · ' * bool(worst)}{self.row_count:,} shown "
            if self.search or worst
            else ""
        )
        return f" {shown}", "accent" if worst else "muted"

    @property
    def empty(self) -> str:
        if not len(self.rows):
            return self.waits_for
        what = [f"of the kind {self.choice}"] if self.choice else []
        what += [f"with {_SEVERITIES[self.severity]}"] if self.severity else []
        what += (
            [f"with “{self.search}” in its text, its id or its bytes"]
            if self.search
            else []
        )
        return f"No token {', '.join(what)}."

    @property
    def test(self) -> Callable[[int], bool] | None:
        """Holes are shown only if they are chosen, or sought."""
        rows, kind, severity = self.rows, self.choice, self.severity
        if kind == HOLE:
            return rows.n_tokens.__le__
        if kind == SPECIAL:
            return lambda row: rows.ids[row] in rows.specials and row < rows.n_tokens
        if not kind and not severity:
            return None if self.search else rows.n_tokens.__gt__
        return lambda row: (
            (verdict := rows.verdict(row)) is not None
            and (verdict.severity or 0) >= severity
            and (not kind or kind in verdict.kinds)
        )

    def match(self, row: int, search: Search) -> int:
        rows = self.rows
        if hole := rows.hole(row):
            return (
                3
                if search.id is not None and hole.first <= search.id <= hole.last
                else 0
            )
        return search.match(rows.labels[row] or "", rows.tokens[row], rows.ids[row])

    watch_severity = Table.watch_choice

    def action_severity(self) -> None:
        self.severity = (self.severity + 1) % len(_SEVERITIES)

    def go_to(self, token: int) -> None:
        """Put the cursor on a token; what hides it is taken away."""
        if (row := self.rows.row_of(token)) is not None:
            if row not in self.order:
                self.severity = 0
            self.reveal(row, tell=True)

    # What the user did

    def row_highlighted(self, row: int) -> None:
        self._chosen = True
        self.watch_cursor()

    def row_selected(self, row: int) -> None:
        if self.rows.hole(row) is None:
            audit = features_of(self).audit
            audit.open_token(self.rows.ids[row], self.rows.verdict(row))


SIDES: Final = {
    "token": "Token",
    "lines": "Lines",
    "about": "Kinds",
}  # what can be seen -> its title


class TokenPanel(RowList):
    """Asks the screen to find out what is not known yet of the token, once somebody looks at that side."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Evidence")
    side: var[str] = var("token", init=False)  # what is seen: a key of `SIDES`
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](
        None, init=False, always_update=True
    )
    audit: var[Audit] = var(Audit(), init=False)
    token_lines: var[TokenLines] = var(TokenLines(), init=False)

    lines: Sequence[InfoLine] = ()
    _before: tuple[str, int | None] = (
        "",
        None,
    )  # the side that was drawn last, and of which token

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
                features_of(self).audit.try_text(text, self.token)
            case (file, at):
                back = "F5 returns to the list."
                place = PlaceInText(
                    str(file.path), at.line, at.column, len(at.left), back
                )
                features_of(self).texts.open_place(place)

    @property
    def token(self) -> int | None:
        """The id under the cursor of the table; None on a hole."""
        row, rows = self._table.current, self._table.rows
        return None if row is None or rows.hole(row) else rows.ids[row]

    def show_token(self) -> None:
        """Show the side that is to be seen, of the token under the cursor of the table as it is now."""
        tokenizer, token, room = self.tokenizer, self.token, max(8, self.row_width - 2)
        lines: Iterable[InfoLine] = ()
        if self.side == "about" or tokenizer is None or not len(self._table.rows):
            lines = self._about(room)
        elif token is None or token not in tokenizer.vocabulary:
            row = self._table.current
            if row is not None and (hole := self._table.rows.hole(row)):
                lines = sentence(hole.sentence, room, "text")
        elif self.side == "token":
            measures = {
                name: column[token]
                for name, column in self.audit.measures.items()
                if token in column
            }
            facts = TokenFacts(
                tokenizer, token, self.audit.verdicts.get(token), measures
            )
            lines = token_lines(facts, room)
        elif self.token_lines.token == token:
            lines = lines_of_texts(self.token_lines, room)
        else:
            return features_of(self).audit.find_lines(token)
        if (lines := [*lines]) != self.lines:
            self.lines = lines
            self.show_rows(range(len(lines)))
            if self._before != (self.side, token):
                self.move_to(0)
        self._before = self.side, token

    def _about(self, room: int) -> Iterator[InfoLine]:
        """What an audit looks for, with how much it found."""
        found = self._table.rows.n_of_kind if self.audit.subject else {}
        yield from sentence(
            "An audit looks for tokens that a model hardly learns.", room, "text"
        )
        for name, kind in KINDS.items():
            yield InfoLine(name, f"{found.get(name, 0):,}" if found else "", "accent")
            yield from sentence(kind.meaning, room, lead="  ")

    def render_header(self, width: int) -> Iterable[Segment]:
        base = self.style_of("text")
        yield Segment(" ", base)
        yield from Segment.apply_style(
            titles(SIDES, self.side, width - 2, "w").render(self.app.console), base
        )

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        token = self.token
        color = self._table.token_style(token) if token is not None else None
        return info_strip(
            self.lines[row], width, partial(self._ink, base), self.app.console, color
        )

    def _ink(self, base: Style, name: str) -> Style:
        return self.style_of(
            "text" if name == "token" else name, base
        )  # a token has its color
