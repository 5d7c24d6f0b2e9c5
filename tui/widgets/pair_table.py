"""PairTable: how often each pair occurs after the merges in force, and what the newest of them changed."""

from collections.abc import Callable
from typing import Final

from rich.cells import cell_len

from bpe_core.explain.merge_choice import PairRanking, PairRow
from bpe_core.plurals import counted
from tui.drawing.plots import bar
from tui.table.columns import Cell, Column
from tui.table.table import Table

_WIDEST: Final = 28
"""Cells of a pair that is not cut; room for longer ones would take that of the numbers."""
_SEEN: Final = 60
"""Rows after whose pairs the column of pairs is as wide as it is: those that are seen first."""
_COUNT: Final = "How often the pair occurs in the corpus now."


def _mark(table: "PairTable", row: int) -> str:
    return "▸" if table.is_next(row) else "=" if table.is_tied(row) else ""


def _pair(table: "PairTable", row: int) -> Cell:
    return Cell(table.written(table.pairs[row]), bold=table.is_next(row))


def _bar(table: "PairTable", row: int) -> Cell:
    most, count = table.pairs[0].count, table.pairs[row].count
    return Cell(lambda width: bar(count, most, width), "" if table.is_next(row) else "muted")


def _change(table: "PairTable", row: int) -> Cell:
    pair = table.pairs[row]
    sign = "*" if pair.change == pair.count else " "
    return Cell(f"{pair.change:+,}{sign}" if pair.change else "", "accent" if pair.change > 0 else "warning")


class PairTable(Table):
    """Pairs in the order of their counts, those that are tied for the next merge marked."""

    # Where even these columns have no room it is the pair that is cut, and no number.
    COLUMNS = (
        Column("mark", 1, _mark, "▸ the pair that is next in line, = others as frequent: ties.", title=" ", gap=1),
        Column("pair", 9, _pair, "The left and the right part of the pair.", most=10, gap=1),
        Column("bar", 5, _bar, "Its count, beside that of the most frequent one.", most=30, rank=1, title=" ", gap=1),
        Column("count", 5, lambda table, row: f"{table.pairs[row].count:,}", _COUNT, right=True, gap=1),
        Column("change", 6, _change, "By how much the newest merge changed that; * a pair that is new.", right=True),
    )

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._ranking: PairRanking | None = None
        self._next: tuple[int, int] | None = None
        self._write: Callable[[int], str] = str

    def show(self, ranking: PairRanking, following: tuple[int, int] | None, write: Callable[[int], str]) -> None:
        """These pairs; `following` is merged next. `write` writes a token."""
        self._ranking, self._next, self._write = ranking, following, write
        # As wide as the longest of them, and a sign for what is new: a number that is cut is another number.
        most = max((abs(pair.change) for pair in self.pairs), default=0)
        widest = max((cell_len(self.written(pair)) for pair in self.pairs[:_SEEN]), default=0)
        count = self.pairs[0].count if self.pairs else 0
        self.fit_columns({"pair": min(widest, _WIDEST), "count": len(f"{count:,}"), "change": len(f"{most:+,}*")})
        self.rearrange()

    def clear(self) -> None:
        """No pairs are known."""
        self._ranking = None
        self.rearrange()

    # What a row says

    @property
    def pairs(self) -> tuple[PairRow, ...]:
        """The rows."""
        return self._ranking.rows if self._ranking else ()

    def written(self, pair: PairRow) -> str:
        """Both parts of a pair."""
        return f"{self._write(pair.left)} + {self._write(pair.right)}"

    def is_next(self, row: int) -> bool:
        """Whether a pair is merged next."""
        pair = self.pairs[row]
        return (pair.left, pair.right) == self._next

    def is_tied(self, row: int) -> bool:
        """Whether a pair is as frequent as the one that is merged next."""
        return self._ranking is not None and row < self._ranking.n_tied > 1

    def row_ink(self, row: int) -> str:
        return "accent" if self.is_next(row) else "secondary" if self.is_tied(row) else ""

    def row_hint(self, row: int) -> str:
        pair = self.pairs[row]
        says = f"{self.written(pair)} occurs {counted(pair.count, 'time')}"
        if pair.change:
            whole = pair.change == pair.count
            says += ", all by the newest merge" if whole else f", {pair.change:+,} by the newest merge"
        if self.is_next(row):
            says += "; it is next in line"
        elif self._ranking and self.is_tied(row):
            says += f"; one of {self._ranking.n_tied:,} ties"
        return f"{says}."

    @property
    def n_rows(self) -> int:
        return len(self.pairs)

    @property
    def note(self) -> tuple[str, str]:
        """How many pairs there are."""
        if (ranking := self._ranking) is None:
            return "", "footer"
        says = f" {ranking.n_pairs:,} pairs in {ranking.n_tokens:,} tokens"
        if len(ranking.rows) < ranking.n_pairs:
            says += f", the first {len(ranking.rows):,} shown"
        return says, "footer"

    @property
    def empty(self) -> str:
        return "No two tokens stand side by side: there is no pair." if self._ranking else ""
