"""PairTable: how often each pair occurs after the merges in force, and what the newest of them changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from bpe_core.explain.merge_choice import PairRanking, PairRow
from bpe_core.plurals import counted
from tui.drawing.bars import bar
from tui.drawing.columns import Column, PlacedColumn, fit, line, place_columns
from tui.widgets.row_list import RowList

COLUMNS: Final = (
    Column("mark", 1, title=" ", gap=1, hint="▸ the pair that is next in line, = others as frequent: ties."),
    Column("pair", 9, gap=1, hint="The left and the right part of the pair."),
    Column("bar", 5, 30, rank=1, title=" ", gap=1, hint="How often the pair occurs, beside the most frequent one."),
    Column("count", 5, right=True, gap=1, hint="How often the pair occurs in the corpus now."),
    Column("change", 6, right=True, hint="By how much the newest merge changed that; * a pair that is new."),
)
_WIDEST: Final = 28
"""Cells of a pair that is not cut; room for longer ones would take that of the numbers."""
_SEEN: Final = 60
"""Rows after whose pairs the column of pairs is as wide as it is: those that are seen first."""


class PairTable(RowList):
    """Pairs in the order of their counts, those that are tied for the next merge marked."""

    DEFAULT_CSS = "PairTable > .pair-table--tied { color: $text-secondary; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"pair-table--tied"}
    FOOTER = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pairs: PairRanking | None = None
        self._next: tuple[int, int] | None = None
        self._write: Callable[[int], str] = str
        self._widths: dict[str, int] = {}

    def show(self, pairs: PairRanking, following: tuple[int, int] | None, write: Callable[[int], str]) -> None:
        """These pairs; `following` is merged next. `write` writes a token."""
        self._pairs, self._next, self._write = pairs, following, write
        # As wide as the longest of them, and a sign for what is new: a number that is cut is another number.
        most = max((abs(row.change) for row in pairs.rows), default=0)
        widest = max((cell_len(self._written(row)) for row in pairs.rows[:_SEEN]), default=0)
        self._widths = {
            "pair": min(widest, _WIDEST),
            "count": len(f"{pairs.rows[0].count if pairs.rows else 0:,}"),
            "change": len(f"{most:+,}*"),
        }
        self.show_rows(range(len(pairs.rows)))

    def clear(self) -> None:
        """No pairs are known."""
        self._pairs = None
        self.show_rows(range(0))

    def _row(self, row: int) -> PairRow:
        assert self._pairs is not None
        return self._pairs.rows[row]

    def _written(self, pair: PairRow) -> str:
        return f"{self._write(pair.left)} + {self._write(pair.right)}"

    def row_hint(self, row: int) -> str:
        """The pair in a sentence."""
        pair = self._row(row)
        told = f"{self._written(pair)} occurs {counted(pair.count, 'time')}"
        if pair.change:
            told += (
                ", all by the newest merge" if pair.change == pair.count else f", {pair.change:+,} by the newest merge"
            )
        assert self._pairs is not None
        if (pair.left, pair.right) == self._next:
            told += "; it is next in line"
        elif row < self._pairs.n_tied > 1:
            told += f"; one of {self._pairs.n_tied:,} ties"
        return f"{told}."

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        """The columns that fit, those of numbers as wide as the largest."""
        return _places(width, tuple(self._widths.items()))

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One pair."""
        pairs, pair = self._pairs, self._row(row)
        assert pairs is not None
        comes_next = (pair.left, pair.right) == self._next
        tied = pairs.n_tied > 1 and row < pairs.n_tied
        ink = self.style_of("accent" if comes_next else "row", base)
        if tied and not comes_next:
            ink = base + Style(color=self.get_component_rich_style("pair-table--tied").color)
        of_bar = ink if comes_next else self.style_of("muted", base)
        is_new = pair.change == pair.count
        texts = {
            "mark": ("▸" if comes_next else "=" if tied else "", ink),
            "pair": (self._written(pair), ink + Style(bold=comes_next)),
            "count": (f"{pair.count:,}", ink),
            "change": (
                f"{pair.change:+,}{'*' if is_new else ' '}" if pair.change else "",
                self.style_of("accent" if pair.change > 0 else "warning", base),
            ),
        }
        most = pairs.rows[0].count
        places = self.header_places(width)
        return line(
            (
                (place, bar(pair.count, most, place.width), of_bar)
                if place.column.key == "bar"
                else (place, *texts[place.column.key])
                for place in places
            ),
            base,
        )

    def render_footer(self, width: int) -> Iterable[Segment]:
        """How many pairs there are."""
        if self._pairs is None:
            return
        pairs = self._pairs
        told = f" {pairs.n_pairs:,} pairs in {pairs.n_tokens:,} tokens"
        if len(pairs.rows) < pairs.n_pairs:
            told += f", the first {len(pairs.rows):,} shown"
        yield Segment(fit(told, width), self.style_of("footer"))

    def render_empty(self, width: int) -> Iterable[Segment]:
        """There is none, or it is not known."""
        told = "" if self._pairs is None else " No two tokens stand side by side: there is no pair."
        yield Segment(fit(told, width), self.style_of("muted"))


@lru_cache(maxsize=16)
def _places(width: int, widths: tuple[tuple[str, int], ...]) -> tuple[PlacedColumn, ...]:
    wanted = dict(widths)
    columns = [replace(column, width=max(column.width, wanted.get(column.key, 0))) for column in COLUMNS]
    # Where even these have no room it is the pair that is cut, and no number.
    return place_columns([replace(it, most=it.width + 1) if it.key == "pair" else it for it in columns], width)
