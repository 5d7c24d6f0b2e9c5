"""The lines of a corpus that a token occurs in, found by reading its files again: file, line number, and context."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from bpe_core.auditing.end_of_word import text_bytes
from bpe_core.corpus.reading import TextFile
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer

LINES_A_SLICE: Final = 256
"""Lines read between two values that `occurrences` yields, so that its caller can do something else, or stop."""
_AROUND: Final = 60
"""Characters of context at each side."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a token in a text, once that is tokenized."""

    file: str
    """The name of the file, as `find_files` gives it."""
    line: int
    """The number of the line, from 1."""
    column: int
    """Characters of the line before the token, from 0."""
    before: str
    """What stands before it on the line, the last 60 characters of it."""
    text: str
    """The token's text; U+FFFD for what is no character by itself."""
    after: str
    """What stands behind it on the line, the first 60 characters of it."""


def occurrences(tokenizer: Tokenizer, token: int, files: Iterable[TextFile]) -> Iterator[Occurrence | None]:
    """The occurrences of `token` in these files, in order; None after every 256 lines, found or not.

    Lines end with a line feed. Each is tokenized with its neighbors, if the token's text is in it: as in the whole
    text, unless a piece reaches over more lines than that. One occurrence a line is given. A token of a tokenizer that
    changes a text first is placed where its text is found. O(bytes of the files). Raises `Unreadable` for a file that
    cannot be read any more.
    """
    its = text_bytes(tokenizer.vocabulary, token)
    text = its.decode(errors="replace")
    whole = text if "�" not in text else ""  # a part of a character: every line has to be tokenized
    n = 0
    for file in files:
        previous = ""
        lines = chain(_lines(file.blocks()), [""])
        line = next(lines)
        for number, following in enumerate(lines, 1):
            if whole in line + following and line:
                column = _column(tokenizer, token, its, (previous, line, following))
                if column is not None:
                    yield Occurrence(
                        file.name,
                        number,
                        column,
                        line[max(0, column - _AROUND) : column],
                        text,
                        line[column + len(text) : column + len(text) + _AROUND].rstrip("\n"),
                    )
            previous, line = line, following
            n += 1
            if n % LINES_A_SLICE == 0:
                yield None


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    """The lines of a text with their line feeds."""
    rest: list[str] = []
    for block in blocks:
        *ended, last = block.split("\n")
        for line in ended:
            yield "".join((*rest, line, "\n"))
            rest = []
        rest.append(last)
    if last := "".join(rest):
        yield last


def _column(tokenizer: Tokenizer, token: int, its: bytes, around: tuple[str, str, str]) -> int | None:
    """Where the token begins in the middle one of three lines, in characters; None if it begins nowhere in it."""
    previous, line, _ = around
    try:
        ids = tokenizer.encode_ordinary("".join(around))
    except UnknownTokenError:
        return None
    if token not in ids:
        return None
    if not tokenizer.by_piece:
        found = line.find(its.decode(errors="replace").strip())
        return found if found >= 0 else None
    start, size, at = len(previous.encode()), len(line.encode()), 0
    for each in ids:
        if each == token and start <= at < start + size:
            return len(line.encode()[: at - start].decode(errors="ignore"))
        at += len(tokenizer.token_bytes(each))
    return None
