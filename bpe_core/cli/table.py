"""Rows as the lines of a table, its columns aligned as a terminal shows them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bpe_core.cells import cells, fitted

_WIDEST: Final = 36
"""Terminal cells of a column at most."""


def table(rows: Sequence[Sequence[str]], numbers: Iterable[int] | None = None, widest: int = _WIDEST) -> Iterator[str]:
    """Yield the rows as lines, with a rule below the first row, the head; a column takes `widest` cells at most.

    The columns `numbers` (indices; by default all but the first) are aligned on the right, the others on the left.
    """
    right = set(range(1, len(rows[0])) if numbers is None else numbers)
    shown = [[fitted(cell, widest) for cell in row] + [""] * (len(rows[0]) - len(row)) for row in rows]
    widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
    for number, row in enumerate(shown):
        padded = [
            " " * (width - cells(cell)) + cell if index in right else cell + " " * (width - cells(cell))
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(padded).rstrip()
        if not number:
            yield "─" * (sum(widths) + 2 * (len(widths) - 1))
