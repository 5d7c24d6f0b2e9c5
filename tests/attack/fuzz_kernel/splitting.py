"""The kernel's scanners held against `regex`: the pieces of texts, and the counts of the pieces of documents."""

import random
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Final

import regex

from bpe_core import PATTERNS, kernel
from bpe_core.kernel import grammars
from tests.nasty import texts

SCANNED: Final = tuple(name for name in PATTERNS if grammars.scanner(PATTERNS[name]))
"""The named patterns that the kernel splits by."""

_compiled: Final = {name: regex.compile(PATTERNS[name]) for name in SCANNED}.__getitem__


def split(scanner: kernel.Scanner, data: bytes) -> list[bytes]:
    """The pieces of a text in UTF-8."""
    start, pieces = 0, []
    for end in memoryview(scanner.ends(data)).cast("Q"):
        pieces.append(data[start:end])
        start = end
    return pieces


def try_split(name: str, text: str) -> str:
    """What differs between the pieces of the kernel and those of `regex`; "" if nothing does."""
    scanner = grammars.scanner(PATTERNS[name])
    assert scanner
    wanted = [piece.encode() for piece in _compiled(name).findall(text)]
    found = split(scanner, text.encode())
    return "" if found == wanted else f"{text!r}: {found} instead of {wanted}"


def splits(name: str, rng: random.Random) -> Iterator[str]:
    """What differs in one text after the other."""
    return map(partial(try_split, name), texts(rng))


def counts(name: str, rng: random.Random) -> Iterator[str]:
    """What differs between the counts of documents, cut where they may be, and of the pieces that `regex` finds."""
    source = texts(rng)
    while True:
        documents = [
            "".join(next(source) for _ in range(rng.randrange(4)))
            for _ in range(rng.randrange(1, 6))
        ]
        middle = rng.randrange(len(documents))
        table = _table(name, documents, middle, rng)
        where: dict[str, list[int]] = {}
        for number, document in enumerate(documents):
            for piece in _compiled(name).findall(document):
                where.setdefault(piece, []).append(number)
        wanted = [(piece, len(numbers)) for piece, numbers in where.items()]
        known = [
            (len(set(them)), them[0] if len(set(them)) < 3 else 0, them[-1])
            for them in where.values()
        ]
        columns = (
            memoryview(table.columns(0, len(table))[1])
            .cast("Q")[2 * len(table) + 1 :]
            .tolist()
        )
        right = list(table.counts().items()) == wanted and columns == list(
            chain(*zip(*known, strict=True))
        )
        yield "" if right else f"{documents!r} with tables joined at {middle}"


def _table(
    name: str, documents: list[str], middle: int, rng: random.Random
) -> kernel.PieceTable:
    """The pieces of all documents: two tables joined, each document cut at some place where it may be."""
    scanner = grammars.scanner(PATTERNS[name])
    assert scanner
    tables = [kernel.PieceTable(scanner) for _ in range(2)]
    for number, document in enumerate(documents):
        data = document.encode()
        cut = scanner.last_cut(data[: rng.randrange(len(data) + 1)])
        for part in filter(None, (data[:cut], data[cut:])):
            tables[number >= middle].add(part, number - middle * (number >= middle))
    tables[0].append(tables[1], middle)
    return tables[0]
