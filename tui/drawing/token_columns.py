"""The columns of the table of tokens, and the mark and the color of each severity."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from bpe_core.auditing.findings import Severity
from tui.drawing.columns import Column, PlacedColumn, place_columns

COLUMNS: Final = (
    Column("severity", 1, title=" ", gap=1, hint="▲ a problem, ● a warning, ○ good to know."),
    Column("score", 7, right=True, hint="How suspicious the token is, 0 to 1; the panel tells how that is made."),
    Column("id", 5, right=True, hint="The token's id: its number in the vocabulary."),
    Column("token", 12, 24, hint="The token's bytes as text. ␣ is a space, ↵ a line end, \\xNN a byte."),
    Column("kinds", 12, 22, rank=1, hint="What was found, what counts most first. Left and right show one kind only."),
    Column("count", 7, right=True, rank=3, hint="How often the token occurs in the chosen texts."),
    Column("reference", 9, right=True, rank=5, hint="How often it occurs in the reference."),
    Column("document_frequency", 9, right=True, rank=5, title="documents", hint="In how many texts it occurs."),
    Column(
        "largest_share", 8, right=True, rank=6, title="in one", hint="The largest part of them that one text holds."
    ),
    Column("indicator", 9, right=True, rank=4, hint="Of its row in the model: the lower, the less trained it looks."),
    Column("reason", 20, 120, rank=2, hint="Why it was found, in words; or what the token is made of."),
)
MARKS: Final = {Severity.PROBLEM: "▲", Severity.WARNING: "●", Severity.NOTE: "○"}
INKS: Final = {Severity.PROBLEM: "warning", Severity.WARNING: "accent", Severity.NOTE: "muted"}

_ALWAYS: Final = frozenset({"severity", "id", "token", "kinds", "reason"})


@lru_cache(maxsize=64)
def token_places(width: int, numbers: tuple[tuple[str, int], ...]) -> tuple[PlacedColumn, ...]:
    """The columns that fit into `width` cells, of numbers those that are named, with the cells that theirs need."""
    widths: Mapping[str, int] = dict(numbers)
    columns = [
        replace(column, width=max(column.width, widths.get(column.key, 0)))
        for column in COLUMNS
        if column.key in _ALWAYS or column.key in widths
    ]
    return place_columns(columns, width)


def number(column: str, value: float) -> str:
    """A number of a column as it is shown.

    >>> number("count", 12345), number("largest_share", 0.625), number("indicator", 0.123456)
    ('12,345', '62 %', '0.123')
    """
    if column == "largest_share":
        return f"{100 * value:.0f} %"
    return f"{value:,.0f}" if column != "indicator" else f"{value:.3g}"
