"""The columns of the table of findings, and the mark and the color of each severity."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from bpe_core.auditing.findings import Severity
from tui.drawing.columns import Column, PlacedColumn, lay_out

COLUMNS: Final = (
    Column("severity", 1, title=" ", gap=1, hint="▲ a problem, ● a warning, ○ good to know."),
    Column("id", 5, right=True, hint="The token's id: its number in the vocabulary."),
    Column("token", 14, 24, hint="The token's bytes as text. ␣ is a space, ↵ a line end, \\xNN a byte."),
    Column("kind", 12, 21, hint="What was found. Left and right show one kind only."),
    Column("count", 7, right=True, rank=1, hint="How often the token occurs in the corpus."),
    Column("reason", 24, 90, rank=2, hint="Why it was found, in words."),
)
MARKS: Final = {Severity.PROBLEM: "▲", Severity.WARNING: "●", Severity.NOTE: "○"}
INKS: Final = {Severity.PROBLEM: "warning", Severity.WARNING: "accent", Severity.NOTE: "muted"}


@lru_cache(maxsize=64)
def token_places(width: int, largest_id: int, largest_count: int | None) -> tuple[PlacedColumn, ...]:
    """The columns that fit into `width` cells, with room for the largest id and the largest count, if there is one."""
    widths = {"id": len(f"{largest_id:,}"), "count": len(f"{largest_count or 0:,}")}
    columns = [
        replace(column, width=max(column.width, widths.get(column.key, 0)))
        for column in COLUMNS
        if column.key != "count" or largest_count is not None
    ]
    return lay_out(columns, width)
