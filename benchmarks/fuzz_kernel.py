"""`python -m benchmarks.fuzz_kernel`: the compiled kernel held against `regex`, Python and the reference, at random.

Prints a line for each thing that is tried, and says what differs, with the seed and number that bring it back.
"""

import os
import random
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Final

import regex

from benchmarks import fuzz_encoder
from bpe_core import PATTERNS, kernel, reference
from bpe_core.kernel import grammars
from bpe_core.trainer.learner import CompiledLearner, PythonLearner, Rules, Step
from bpe_core.trainer.ties import TIES, alphabet

SCANNED: Final = tuple(name for name in PATTERNS if grammars.scanner(PATTERNS[name]))
"""The named patterns that the kernel splits by."""

_VOCABULARIES: Final = os.environ.get("BPESCOPE_VOCABS", "")
"""A folder with published rank files, such as cl100k_base.tiktoken; without it, texts are not encoded."""

KINDS: Final = (
    *("aestvrdmlx", "ASTLZ", "ſßéжﬁ𐐨", "ÉЖΩ𐐀", "ǅᾈ", "ʰـ々", "中あªאก𠀀", "\u0301\u093e\u20dd\u180b\U0001d165"),
    *("0123", "²½١Ⅳ𝟙", " ", "  ", "\t\x0b\x0c\x1c\x1f", "\x85\xa0\u2028\u3000", "\n", "\r"),
    *("'", "'", "’", "/", ".,!?-_()", "=\x00\x7f", "😊€\u200b\u200d\ufeff\ufffd\ue000\U000f0000", "K"),
)
"""Characters that a pattern may treat in ways of their own, those of a kind together."""


def texts(rng: random.Random) -> Iterator[str]:
    """Short texts, each of a few characters; now and then any character there is."""
    while True:
        few = [rng.choice(kind) for kind in rng.choices(KINDS, k=rng.choice((2, 4, 8)))]
        if rng.random() < 0.2:
            few.append(chr(rng.choice((rng.randrange(0x80, 0xD800), rng.randrange(0xE000, 0x110000)))))
        for _ in range(20):
            yield "".join(rng.choices(few, k=rng.choice((1, 2, 3, 5, 8, 20))))


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


def try_training(rng: random.Random, ties: str) -> str:
    """What differs between the merges of the kernel, of the Python beside it, and of the reference."""
    letters = rng.choice(("a", "ab", "abc", "aé", "abcdefgh", "\xa0\xadab"))
    pieces: dict[str, int] = {}
    for _ in range(rng.randrange(1, 10)):
        piece = "".join(rng.choices(letters, k=rng.choice((1, 2, 3, 5, 8, 20, 60))))
        pieces[piece] = pieces.get(piece, 0) + rng.choice((1, 1, 2, 5))
    rules = Rules(ties, rng.choice((1, 1, 2, 3)), rng.choice((None, None, 2, 3, 5)), rng.choice(("", "", "</w>")))
    found, beside = CompiledLearner(_table(pieces), rules, None), PythonLearner(pieces, rules, None)
    steps = found.learn(rng.randrange(30))
    steps += found.learn(30 - len(steps))
    what = f"{rules} {pieces}"
    if steps != beside.learn(30) or sorted(found.pairs()) != sorted(beside.pairs()):
        return f"{what}: not as the Python beside it"
    return "" if rules.end_of_word or steps == _reference_steps(pieces, rules) else f"{what}: not as the reference"


def _table(pieces: dict[str, int]) -> kernel.PieceTable:
    table = kernel.PieceTable(None)
    for piece, weight in pieces.items():
        one = kernel.PieceTable(None)
        one.add_pieces([piece], 0)
        table.append(one, 0, weight)
    return table


def _reference_steps(pieces: dict[str, int], rules: Rules) -> list[Step]:
    words = [piece.encode() for piece, count in pieces.items() for _ in range(count)]
    number = {byte: place for place, byte in enumerate(alphabet(rules.ties))}
    rows = reference.train(words, 30, rules.ties, rules.min_count, rules.max_length)
    return [
        (number.get(left, left), number.get(right, right), count, tied, left_over)
        for left, right, _, count, tied, left_over in rows
    ]


def try_counts(rng: random.Random, name: str) -> str:
    """What differs between the counts of a few documents and those of the pieces that `regex` finds."""
    scanner = grammars.scanner(PATTERNS[name])
    assert scanner
    source = texts(rng)
    documents = ["".join(next(source) for _ in range(rng.randrange(4))) for _ in range(rng.randrange(1, 6))]
    tables = [kernel.PieceTable(scanner) for _ in range(2)]
    middle = rng.randrange(len(documents))
    for number, document in enumerate(documents):
        data = document.encode()
        cut = scanner.last_cut(data[: rng.randrange(len(data) + 1)])
        for part in filter(None, (data[:cut], data[cut:])):
            tables[number >= middle].add(part, number - middle * (number >= middle))
    tables[0].append(tables[1], middle)
    where: dict[str, list[int]] = {}
    for number, document in enumerate(documents):
        for piece in _compiled(name).findall(document):
            where.setdefault(piece, []).append(number)
    few = {piece: tuple(dict.fromkeys(numbers)) for piece, numbers in where.items() if len(set(numbers)) < 3}
    counts = [(piece, len(numbers)) for piece, numbers in where.items()]
    right = list(tables[0].counts().items()) == counts and tables[0].few_documents() == few
    return "" if right else f"{documents!r} cut at {middle}"


_compiled: Final = {name: regex.compile(PATTERNS[name]) for name in SCANNED}.__getitem__


def main() -> int:
    """Try everything; the exit code."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="tries of each thing, at most")
    parser.add_argument("--seconds", type=float, default=60, help="for each thing, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="things whose name holds this")
    asked = parser.parse_args()
    failed = 0
    for name, tries in _things(asked.seed).items():
        if asked.only in name:
            failed += _run(name, tries, asked.count, asked.seconds)
    return 1 if failed else 0


def _things(seed: int) -> dict[str, Iterator[str]]:
    """What is tried -> what differs in one try after the other."""
    things = {f"split {name}": map(partial(try_split, name), texts(random.Random(seed))) for name in SCANNED}
    for name in SCANNED:
        things[f"count {name}"] = map(try_counts, repeat(random.Random(seed)), repeat(name))
    for ties in TIES:
        things[f"train {ties}"] = map(try_training, repeat(random.Random(seed)), repeat(ties))
    for name in SCANNED if _VOCABULARIES else ():
        things[f"encode {name}"] = _encoded(name, seed)
    things["merge"] = fuzz_encoder.random_merges(seed)
    return things


def _encoded(name: str, seed: int) -> Iterator[str]:
    published = fuzz_encoder.Published(name, Path(_VOCABULARIES))
    known = frozenset("".join(KINDS))
    yield from (published.difference(text, known) for text in texts(random.Random(seed)))


def _run(name: str, tries: Iterator[str], count: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    number = 0
    for number, difference in enumerate(tries, 1):
        if difference:
            print(f"{name}: number {number:,} differs: {difference}")
            return True
        if number == count or (number % 64 == 0 and time.monotonic() > until):
            break
    print(f"{name}: {number:,} agree", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
