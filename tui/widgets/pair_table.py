"""PairTable: the pairs of the corpus at a step, the most frequent first."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from rich.cells import cell_len

from bpe_core.explain.merge_choice import PairRanking, PairRow
from bpe_core.visible import counted
from bpe_core.weighted import Count, formatted
from tui.drawing.charts import bar
from tui.drawing.lines import how_often
from tui.table.columns import Cell, Column
from tui.table.table import Table

_WIDEST: Final = 28
"""The most cells that the column of pairs takes before it would push out the numbers."""
_MEASURED: Final = 60
"""The column of pairs fits this many first rows."""


def _mark(table: "PairTable", row: int) -> str:
    if table.is_next(row):
        return "▸"
    return "=" if table.is_tied(row) else ""


def _pair(table: "PairTable", row: int) -> Cell:
    return Cell(table.written(table.pairs[row]), bold=table.is_next(row))


def _bar(table: "PairTable", row: int) -> Cell:
    most = table.pairs[0].times
    count = table.pairs[row].times
    ink = "" if table.is_next(row) else "muted"
    return Cell(lambda width: bar(count, most, width), ink)


def _count(table: "PairTable", row: int) -> str:
    return formatted(table.pairs[row].times)


def _change(table: "PairTable", row: int) -> Cell:
    pair = table.pairs[row]
    if not pair.change:
        return Cell("", "warning")
    mark = "*" if pair.change == pair.times else " "
    ink = "accent" if pair.change > 0 else "warning"
    return Cell(formatted(pair.change, signed=True) + mark, ink)


class PairTable(Table):
    """Pairs in the order of their counts after the merges shown. The ties for the next merge are marked."""

    # In a narrow table the pair is cut, and no number.
    COLUMNS = (
        Column(
            "mark",
            1,
            _mark,
            "▸ the pair that is merged next, = pairs that are as frequent (ties).",
            title=" ",
            gap=1,
        ),
        Column(
            "pair", 9, _pair, "The left and the right part of the pair.", most=10, gap=1
        ),
        Column(
            "bar",
            5,
            _bar,
            "The count, compared with that of the most frequent pair.",
            most=30,
            rank=1,
            title=" ",
            gap=1,
        ),
        Column(
            "count",
            5,
            _count,
            "How often the pair occurs in the corpus at this step.",
            right=True,
            gap=1,
        ),
        Column(
            "change",
            6,
            _change,
            "How much the newest merge changed the count. * marks a new pair.",
            right=True,
        ),
    )

    pairs: Sequence[PairRow] = ()
    """The rows."""
    _ranking: PairRanking | None = None

    def show(
        self,
        ranking: PairRanking | None,
        following: tuple[int, int] | None = None,
        write: Callable[[int], str] = str,
    ) -> None:
        """Show pairs, or nothing for None. `following` is merged next; `write` writes a token."""
        self._ranking = ranking
        self._next = following
        self._write = write
        self.pairs = ranking.rows if ranking else ()
        self.n_rows = len(self.pairs)
        widths: dict[str, int] = {}
        if self.pairs:
            # The numbers must not be cut: a cut number is another number.
            widest = max(
                cell_len(self.written(pair)) for pair in self.pairs[:_MEASURED]
            )
            change: Count = max(abs(Fraction(pair.change)) for pair in self.pairs)
            widths["pair"] = min(widest, _WIDEST)
            widths["count"] = len(formatted(self.pairs[0].times))
            widths["change"] = len(f"+{formatted(change)}*")
        self.fit_columns(widths)
        self.rearrange()

    def written(self, pair: PairRow) -> str:
        return f"{self._write(pair.left)} + {self._write(pair.right)}"

    def is_next(self, row: int) -> bool:
        pair = self.pairs[row]
        return (pair.left, pair.right) == self._next

    def is_tied(self, row: int) -> bool:
        """Whether a pair is one of several that are the most frequent."""
        return self._ranking is not None and row < self._ranking.n_tied > 1

    def row_ink(self, row: int) -> str:
        if self.is_next(row):
            return "accent"
        return "secondary" if self.is_tied(row) else ""

    def row_hint(self, row: int) -> str:
        pair = self.pairs[row]
        hint = f"{self.written(pair)} occurs {how_often(pair.times)}"
        if pair.change == pair.times:
            hint += ", all made by the newest merge"
        elif pair.change:
            change = formatted(pair.change, signed=True)
            hint += f", {change} since the newest merge"
        if self.is_next(row):
            hint += "; it is merged next"
        elif self._ranking and self.is_tied(row):
            hint += f"; one of {self._ranking.n_tied:,} ties"
        return f"{hint}."

    @property
    def note(self) -> tuple[str, str]:
        ranking = self._ranking
        if ranking is None:
            return "", "muted"
        pairs = counted(ranking.n_pairs, "pair")
        note = f" {pairs} in {counted(ranking.n_tokens, 'token')}"
        if self.n_rows < ranking.n_pairs:
            note += f", the first {self.n_rows:,} shown"
        return note, "muted"

    @property
    def empty(self) -> str:
        if self._ranking is None:
            return ""
        return "There are no pairs: no two tokens are next to each other."
