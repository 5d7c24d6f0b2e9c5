"""Where a token occurs in texts: file, line and the line itself, found on demand, a block of text at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

from bpe_core.corpus.reading import TextFile
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a token."""

    file: TextFile
    line: int
    """From 1; lines end with a newline character only."""
    column: int
    """Characters of the line before it; 0 where that is not known."""
    length: int
    """Characters that it holds, as a whole or in part; 0 where that is not known."""
    text: str
    """The line."""


def occurrences(tokenizer: Tokenizer, token: int, file: TextFile) -> Iterator[Occurrence | None]:
    """The occurrences of `token` in a text, in order; None after each block of 65,536 characters that was looked at.

    Lines are encoded, many at a time, so a token is found where the tokenizer really makes it, and not wherever its
    bytes stand. Each line is told once. Where the tokenizer changes a text before it splits it, the place in the line
    is not known. Raises `Unreadable`.
    """
    needle = tokenizer.token_bytes(token)
    rest, line = "", 1
    for block in file.blocks():
        whole, newline, rest = (rest + block).rpartition("\n")
        if newline:
            yield from _in_lines(tokenizer, token, needle, file, whole + newline, line)
            line += whole.count("\n") + 1
        yield None
    if rest:
        yield from _in_lines(tokenizer, token, needle, file, rest, line)


def _in_lines(
    tokenizer: Tokenizer, token: int, needle: bytes, file: TextFile, text: str, first: int
) -> Iterator[Occurrence]:
    """The occurrences in some whole lines, of which the first has the number `first`."""
    if not (tokenizer.by_piece and tokenizer.vocabulary.is_faithful):
        for number, line in enumerate(text.split("\n"), first):
            if token in _encoded(tokenizer, line):
                yield Occurrence(file, number, 0, 0, line)
        return
    data = text.encode()
    if needle not in data:
        return
    lines, told = text.split("\n"), 0
    ends: list[int] = []
    for line in lines:
        ends.append((ends[-1] if ends else 0) + len(line.encode()) + 1)
    at, number = 0, 0
    for made in _encoded(tokenizer, text):
        while at >= ends[number]:
            number += 1
        if made == token and first + number > told:
            told = first + number
            start = ends[number - 1] if number else 0
            before = data[start:at].decode(errors="ignore")
            length = len(data[at : at + len(needle)].decode(errors="replace"))
            yield Occurrence(file, told, len(before), length, lines[number])
        at += len(tokenizer.token_bytes(made))


def _encoded(tokenizer: Tokenizer, text: str) -> list[int]:
    try:
        return tokenizer.encode_ordinary(text)
    except UnknownTokenError:  # a published vocabulary without all 256 bytes
        return []
