"""The rows of a comparison, and the text that each leads to; and one view: its columns and rows.

The compared tokenizers are called A to D, as in the headings of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, Self

from bpe_core.difference import DecodedWitness, Witness
from bpe_core.metrics.disagreements import TextPlace
from tui.commands.command import features_of
from tui.drawing.lines import cut
from tui.state import PairWitness, PlaceInText
from tui.table.columns import Cell, Column
from tui.table.row_list import RowList

Found = Mapping[str, Any]
"""A part of the JSON that `compare --json` prints."""


class Aspect(NamedTuple):
    """The choices that the user makes within a view."""

    metric: str = "tokens"
    """A key of `OF_PARTS`."""
    tokenizer: int = 0
    """The tokenizer that is shown, or that the first one is compared with."""
    reference: int = 0
    """The row whose tokens parity divides by."""


@dataclass
class Row:
    """A row of a view."""

    hint: str
    cells: dict[str, str | Cell]
    """Key of a column -> what it shows; a column without a key here is empty."""
    sort_keys: dict[str, Any] = field(default_factory=dict)
    """Key of a column -> the value to sort by."""
    target: PlaceInText | PairWitness | None = None
    place: TextPlace | None = None
    """The place in a text that the row is about, also if the text is not in a file."""

    @classmethod
    def about(
        cls, other: int, sentence: str, witness: Witness | DecodedWitness | None
    ) -> Self:
        """Return a row about a difference. Enter puts its text, if there is one, into the editor."""
        if isinstance(witness, Witness):
            hint = f"{sentence} Enter puts the text into the editor."
            return cls(hint, {}, target=PairWitness(other, witness))
        return cls(sentence, {})

    def add_number(self, key: str, number: float, form: str) -> None:
        self.cells[key] = format(number, form)
        self.sort_keys[key] = number

    def add_path(self, key: str, path: str) -> None:
        """Add a path. It is cut at the start, since paths in a folder differ at the end."""
        self.cells[key] = Cell(partial(cut, path, keep="end"))


class LeadingRows(RowList):
    """A list whose rows lead to a place in a text, or to a text that two tokenizers encode differently."""

    def row_of(self, number: int) -> Row | None:
        """Return a row; None if there is no such row now."""
        raise NotImplementedError

    @property
    def current_row(self) -> Row | None:
        """The row under the cursor."""
        return None if self.current is None else self.row_of(self.current)

    @property
    def target(self) -> str:
        return "text" if self.current_row and self.current_row.target else ""

    def row_hint(self, row: int) -> str:
        found = self.row_of(row)
        return found.hint if found else ""

    def row_selected(self, row: int) -> None:
        match self.current_row and self.current_row.target:
            case PlaceInText() as place:
                features_of(self).texts.open_place(place)
            case PairWitness() as witness:
                features_of(self).comparison.show_witness(witness)


@dataclass(frozen=True)
class View:
    """One table. The user can change the fields of `Aspect` that `turns` names."""

    key: str
    title: str
    caption: str
    columns: Sequence[Column]
    n_rows: int
    row: Callable[[int], Row]
    turns: tuple[str, ...] = ()


def _no_row(number: int) -> Row:
    raise IndexError(number)


NOTHING: Final = View("", "", "", columns=(), n_rows=0, row=_no_row)
"""The view before the first comparison."""


def column_of(
    row_of: Callable[[int], Row],
    key: str,
    width: int,
    hint: str,
    *,
    sorts: bool = False,
    **more: Any,
) -> Column:
    """Return a column that shows the cell `key` of each row. `sorts` is whether the rows can be sorted by it."""

    def cell(_: object, number: int) -> str | Cell:
        return row_of(number).cells.get(key, "")

    def sort_key(_: object, number: int) -> Any:
        return row_of(number).sort_keys.get(key)

    return Column(key, width, cell, hint, sort=sort_key if sorts else None, **more)


number_column = partial(column_of, right=True, sorts=True, descending=True)
