"""What a view of a comparison is made of: its columns, its rows, their order, and the places they lead to.

Pure; knows no widget. The tokenizers that are compared are called A to D, as in the heads of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.cells import cell_len

from bpe_core.visible import visible
from tui.drawing.columns import Column
from tui.drawing.small_plots import LETTERS
from tui.state.comparison import Comparison

Widths = Mapping[str, int]
"""Key of a column -> its cells; empty where a row is not drawn."""


class Choices(NamedTuple):
    """What of a comparison is looked at."""

    metric: str = "tokens"
    """One of `OF_PARTS`."""
    tokenizer: int = 0
    """For which tokenizer lines are told, and, but for the first, with which one the first is compared."""
    reference: int = 0
    """The row that parity relates to."""


class Target(NamedTuple):
    """A place in a text, to be shown in the editor."""

    path: str
    line: int
    """From 1."""
    column: int
    """Characters before it in the line."""
    length: int
    """Characters to be selected."""


class Row(NamedTuple):
    """A row: what stands in its columns, and what it leads to."""

    texts: Mapping[str, str]
    """Key of a column -> text."""
    hint: str = ""
    """The row in a sentence."""
    target: Target | None = None


@dataclass(frozen=True)
class View:
    """One table."""

    key: str
    title: str
    """What it is called among the others."""
    caption: str
    """What it shows, in a line."""
    columns: Sequence[Column]
    n_rows: int
    row: Callable[[int, Widths], Row]
    """A row by its number."""
    value: Callable[[int, str], Any] | None = None
    """What a row is sorted by in a column; None where the rows have one order."""
    choices: tuple[str, ...] = ()
    """Which of "metric", "tokenizer" and "reference" can be turned to something else here."""


def named(index: int, comparison: Comparison) -> str:
    """A tokenizer in the head of a column: its letter, where there are several, and its name."""
    name = visible(comparison.tokenizers[index].name)
    return f"{LETTERS[index]} {name}" if len(comparison.tokenizers) > 1 else name


def per_tokenizer(comparison: Comparison, width: int, most: int, hint: str) -> list[Column]:
    """A column of numbers for each tokenizer, with the keys t0, t1, and so on."""
    return [
        Column(f"t{index}", width, most, right=True, title=named(index, comparison), hint=hint)
        for index in range(len(comparison.tokenizers))
    ]


def ending(name: str, width: int) -> str:
    """A name cut to `width` cells at its beginning, for by the end those of one folder differ; 0: not cut.

    >>> ending("sample_texts/chant.txt", 10)
    '…chant.txt'
    """
    if width < 2 or cell_len(name) <= width:
        return name
    name = name[1 - width :]
    while cell_len(name) >= width:
        name = name[1:]
    return f"…{name}"


def where(one: Mapping[str, Any], widths: Widths) -> str:
    """The text and the line of a place, as JSON has it; cut to the column "where"."""
    return ending(f"{visible(one['in'])}:{one['line']}", widths.get("where", 0))


def target(comparison: Comparison, place: Sequence[int], length: int) -> Target | None:
    """Where a place, as JSON has it, is to be shown; None if its text lies in no file."""
    text, line, column = place
    if not 0 <= text < len(comparison.texts) or not comparison.texts[text].path:
        return None
    return Target(comparison.texts[text].path, line, column, length)


def times(n: int) -> str:
    """A number of occurrences.

    >>> times(1), times(2000)
    ('once', '2,000 times')
    """
    return "once" if n == 1 else f"{n:,} times"
