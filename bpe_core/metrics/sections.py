"""The sections of a long text, each below a line "# Title"."""

from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile, groupby
from operator import attrgetter
from typing import NamedTuple


class TextSection(NamedTuple):
    """A part of a text below a line "# Title"."""

    title: str
    line: int  # the number of its first line that is not empty, counted from 1
    blocks: Iterator[str]
    """The text without newlines at either end. Read it before the next section."""


class _Line(NamedTuple):
    """A line with its newline, or a part of a long line."""

    text: str
    number: int  # counted from 1
    n_titles: int  # titles up to this line


def sections(blocks: Iterable[str]) -> Iterator[TextSection]:
    """Yield the sections of a text that comes in blocks.

    Text before the first title is left out, and so are sections with an empty title.
    """
    for n_titles, lines in groupby(_lines(blocks), key=attrgetter("n_titles")):
        section = _section(lines) if n_titles else None
        if section:
            yield section


def _section(lines: Iterator[_Line]) -> TextSection | None:
    """Return the section of these lines; None if its title, in the first line, is empty."""
    title = next(lines)
    name = title.text.removeprefix("# ").strip()
    if not name:
        return None
    from_text_on = dropwhile(lambda line: line.text == "\n", lines)
    first = next(from_text_on, None)
    if first is None:
        return TextSection(name, title.number + 1, iter(()))
    blocks = _without_last_newlines(chain([first], from_text_on))
    return TextSection(name, first.number, blocks)


def _lines(blocks: Iterable[str]) -> Iterator[_Line]:
    """Yield the lines of a text. A line longer than a block comes in parts, except a title."""
    number = 1
    n_titles = 0
    is_inside = False  # whether the beginning of the current line was yielded already
    rest = ""  # of the current line, not yielded yet
    for block in blocks:
        complete_lines = (rest + block).split("\n")
        rest = complete_lines.pop()
        for line in complete_lines:
            if line.startswith("# ") and not is_inside:
                n_titles += 1
            yield _Line(f"{line}\n", number, n_titles)
            number += 1
            is_inside = False
        may_be_title = not is_inside and (rest.startswith("# ") or len(rest) < 2)
        if rest and not may_be_title:
            yield _Line(rest, number, n_titles)
            rest = ""
            is_inside = True
    if rest.startswith("# ") and not is_inside:
        n_titles += 1
    if rest:
        yield _Line(rest, number, n_titles)


def _without_last_newlines(lines: Iterable[_Line]) -> Iterator[str]:
    """Yield the text of the lines. Newlines are held back until more text follows them."""
    n_newlines = 0
    for line in lines:
        text = line.text.rstrip("\n")
        if text:
            yield "\n" * n_newlines + text
            n_newlines = 0
        n_newlines += len(line.text) - len(text)
