"""The tokens of a picture on a grid of cells, as in a terminal: where each begins, and where its lines are wrapped."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bpe_core.cells import cells
from bpe_core.pictures.picture import Chip


class Part(NamedTuple):
    """The part of a token on one line: `text` at `row` and `column`, in cells."""

    row: int
    column: int
    text: str
    color: int
    """-1 for what is not a token."""
    is_alike: bool = False
    """As that of its `Chip`."""


def laid_out(chips: Iterable[Chip], columns: int, row: int) -> Iterator[Part]:
    """The tokens placed on lines from `row` on, wrapped at `columns` cells."""
    column = 0
    for chip in chips:
        for number, line in enumerate(chip.lines):
            if number:
                row, column = row + 1, 0
            while line:
                fits = _fitting(line, columns - column)
                if fits:
                    yield Part(row, column, line[:fits], chip.color, chip.is_alike)
                    column += cells(line[:fits])
                    line = line[fits:]
                if line:
                    row, column = row + 1, 0


def _fitting(line: str, room: int) -> int:
    """How many of the first characters of `line` fit into `room` cells."""
    for index, character in enumerate(line):
        room -= cells(character)
        if room < 0:
            return index
    return len(line)
