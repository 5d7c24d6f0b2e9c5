"""The tokens of a picture on a grid of cells, as in a terminal: where each begins, and where its lines are wrapped."""

from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.cells import cells
from bpe_core.pictures.picture import Picture


class Part(NamedTuple):
    """The part of a token on one line: `text` at `row` and `column`, in cells."""

    row: int
    column: int
    text: str
    color: int


def laid_out(picture: Picture, columns: int, row: int) -> Iterator[Part]:
    """The tokens placed on lines from `row` on, wrapped at `columns` cells."""
    column = 0
    for chip in picture.chips:
        for number, line in enumerate(chip.lines):
            if number:
                row, column = row + 1, 0
            while line:
                fits = _fitting(line, columns - column)
                if fits:
                    yield Part(row, column, line[:fits], chip.color)
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
