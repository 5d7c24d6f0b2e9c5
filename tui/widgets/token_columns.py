"""The columns of the table of tokens."""

from functools import partial
from typing import TYPE_CHECKING, Final

from bpe_core.auditing.findings import Severity
from bpe_core.visible import token_label
from bpe_core.weighted import Measure
from tui.drawing.charts import bar
from tui.drawing.token_rows import HOLE, INKS, MARKS, SPECIAL, number, place_of_kind
from tui.table.columns import Cell, Column

if TYPE_CHECKING:
    from tui.widgets.token_table import TokenTable


def _mark(table: "TokenTable", row: int) -> Cell:
    verdict = table.rows.verdict(row)
    if verdict is None:
        return Cell("")
    severity = verdict.severity or Severity.NOTE
    return Cell(MARKS[severity], INKS[severity])


def _suspicion(table: "TokenTable", row: int) -> int | None:
    """Return a number that falls from row to row, so that each family stays together below its highest score."""
    place = table.rows.place_of.get(table.rows.ids[row])
    return None if place is None else -place


def _family(table: "TokenTable", row: int) -> str:
    n_members = table.members_of(row)
    if not n_members:
        return ""
    mark = "▾" if table.rows.ids[row] in table.opened else "▸"
    return f"{mark} {n_members}"


def _score_cell(table: "TokenTable", row: int) -> str:
    verdict = table.rows.verdict(row)
    return f"{verdict.score:.2f}" if verdict else ""


def _score_bar(table: "TokenTable", row: int) -> Cell:
    verdict = table.rows.verdict(row)
    if verdict is None:
        return Cell("")
    ink = INKS[verdict.severity or Severity.NOTE]
    return Cell(partial(bar, verdict.score, 1), ink)


def _id(table: "TokenTable", row: int) -> int:
    return table.rows.ids[row]


def _id_cell(table: "TokenTable", row: int) -> str:
    return f"{table.rows.ids[row]:,}"


def _label(table: "TokenTable", row: int) -> str | None:
    return table.rows.labels[row]


def _token(table: "TokenTable", row: int) -> Cell:
    rows = table.rows
    if rows.hole(row):
        return Cell("")
    color = table.token_style(rows.ids[row])
    return Cell(token_label(rows.tokens[row]), bold=True, tint=color)


def kinds_of(table: "TokenTable", row: int) -> str:
    rows = table.rows
    verdict = rows.verdict(row)
    if verdict:
        return ", ".join(verdict.kinds)
    if rows.hole(row):
        return HOLE
    return SPECIAL if rows.ids[row] in rows.specials else ""


def _kind_place(table: "TokenTable", row: int) -> int | None:
    verdict = table.rows.verdict(row)
    if verdict is None:
        return None
    return place_of_kind(verdict.kinds[0]) if verdict.kinds else place_of_kind()


def _reason(table: "TokenTable", row: int) -> str:
    return table.reason(row)


def _measure(key: str, width: int, rank: int, hint: str, title: str = "") -> Column:
    """Return the column of a measure of tokens."""

    def value(table: "TokenTable", row: int) -> Measure | None:
        return table.rows.measures.get(key, {}).get(table.rows.ids[row])

    def cell(table: "TokenTable", row: int) -> str:
        measured = value(table, row)
        return "" if measured is None else number(key, measured)

    return Column(
        key, width, cell, hint, right=True, rank=rank, sort=value, title=title
    )


def _marked(table: "TokenTable", row: int) -> str:
    return "×" if table.rows.ids[row] in table.marked else ""


COLUMNS: Final = (
    Column(
        "marked",
        1,
        _marked,
        "Marked with Space; d shows the tokenizer without the marked tokens.",
        title="×",
        gap=1,
        ink="warning",
    ),
    Column(
        "severity",
        1,
        _mark,
        "▲ a problem, ● a warning, ○ good to know.",
        title=" ",
        gap=1,
        sort=_suspicion,
        descending=True,
    ),
    Column(
        "score",
        7,
        _score_cell,
        "How suspicious the token is, 0 to 1; the panel explains the score.",
        right=True,
        gap=1,
        sort=_suspicion,
        descending=True,
    ),
    Column("bar", 8, _score_bar, title=" ", rank=3),
    Column(
        "family",
        4,
        _family,
        "How many other tokens contain this one, or are in it. + shows them.",
        right=True,
        ink="muted",
        title="+",
        rank=2,
    ),
    Column(
        "id",
        5,
        _id_cell,
        "The token's id: its number in the vocabulary.",
        right=True,
        ink="muted",
        sort=_id,
    ),
    Column(
        "token",
        10,
        _token,
        "The token's bytes as text. ␣ is a space, ↵ a line end, \\xNN a byte.",
        most=20,
        sort=_label,
    ),
    Column(
        "kinds",
        19,
        kinds_of,
        "The findings, the most important first. ← and → show one kind only.",
        most=36,
        rank=1,
        sort=_kind_place,
    ),
    _measure("count", 7, 3, "How often the token occurs in the chosen texts."),
    _measure("reference", 9, 5, "How often the token occurs in the reference texts."),
    _measure(
        "document_frequency",
        9,
        5,
        "The number of texts with this token.",
        title="documents",
    ),
    _measure(
        "largest_share",
        8,
        6,
        "The largest share of the token's occurrences in a single text.",
        title="in one",
    ),
    _measure(
        "elsewhere",
        9,
        4,
        "How many tokens it becomes in other tokenizers of the list, on average.",
    ),
    _measure(
        "indicator",
        9,
        4,
        "Computed from the model's weights: the lower, the less trained it looks.",
    ),
    Column(
        "reason",
        40,
        _reason,
        "Why the token was found, or the two tokens that it is merged from.",
        most=120,
        rank=7,
        ink="muted",
    ),
)
ALWAYS_SHOWN: Final = frozenset({"severity", "id", "token", "kinds", "reason"})
"""The columns that need no audit."""
