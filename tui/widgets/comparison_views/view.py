"""One view of a comparison: its rows and columns, and the place in a text that each row leads to.

The compared tokenizers are called A to D, as in the headings of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from bpe_core.metrics.disagreements import TextPlace
from bpe_core.visible import visible
from tui.drawing.charts import LETTERS
from tui.drawing.lines import cut
from tui.state import ComparisonRun, PairWitness, PlaceInText
from tui.table.columns import Cell, Column

Found = Mapping[str, Any]
"""A part of the JSON that `compare --json` prints."""
Row = Mapping[str, Any]
"""The contents and the sort keys of a row, by column key."""
RowOf = Callable[[int], Row]


class Aspect(NamedTuple):
    """The choices that the user makes within a view."""

    metric: str = "tokens"
    """A key of `OF_PARTS`."""
    tokenizer: int = 0
    """The tokenizer that is shown, or that the first one is compared with."""
    reference: int = 0
    """The row whose tokens parity divides by."""


def _no_place(row: int) -> None:
    return None


@dataclass(frozen=True)
class View:
    """One table: its name, its columns, and what each row says and leads to.

    The user can change the fields of `Aspect` that `turns` names.
    """

    key: str
    title: str
    caption: str
    columns: Sequence[Column]
    n_rows: int
    hint: Callable[[int], str]
    target: Callable[[int], PlaceInText | PairWitness | None] = _no_place
    place: Callable[[int], TextPlace | None] = _no_place
    """The place in a text that a row is about, also if the text is not in a file."""
    turns: tuple[str, ...] = ()


NOTHING: Final = View("", "", "", columns=(), n_rows=0, hint=str)
"""The view before the first comparison. It has no row to ask for a hint."""


def text_column(
    row_of: RowOf, key: str, width: int, hint: str, *, sort_by: str = "", **more: Any
) -> Column:
    """Return a column of the texts that the rows have under `key`."""

    def cell(_: object, number: int) -> str | Cell:
        text: str | Cell = row_of(number).get(key, "")
        return text

    def sort(_: object, number: int) -> Any:
        value = row_of(number).get(sort_by)
        return value.casefold() if isinstance(value, str) else value

    if sort_by:
        more["sort"] = sort
    return Column(key, width, cell, hint, **more)


def number_column(
    row_of: RowOf, key: str, width: int, hint: str, form: str, **more: Any
) -> Column:
    """Return a column of the numbers that the rows have under `key`, written in a `form`."""

    def value(_: object, number: int) -> Any:
        return row_of(number).get(key)

    def cell(_: object, number: int) -> str:
        amount = row_of(number).get(key)
        return "" if amount is None else format(amount, form)

    return Column(
        key, width, cell, hint, right=True, sort=value, descending=True, **more
    )


def path_column(
    row_of: RowOf, key: str, width: int, hint: str, *, sort_by: str = "", **more: Any
) -> Column:
    """Return a column of paths. Cut them at the start, since paths in a folder differ at the end."""
    sort_by = sort_by or key
    column = text_column(row_of, key, width, hint, sort_by=sort_by, **more)

    def cell(_: object, number: int) -> Cell:
        return Cell(partial(cut, row_of(number)[key], keep="end"))

    return replace(column, cell=cell)


def heading_of(index: int, comparison: ComparisonRun) -> str:
    """Return the heading of a tokenizer's column: its letter if there are several, and its name."""
    name = visible(comparison.tokenizers[index].name)
    if len(comparison.tokenizers) == 1:
        return name
    return f"{LETTERS[index]} {name}"
