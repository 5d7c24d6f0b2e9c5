"""`python -m benchmarks.fuzz_kernel`: the compiled kernel held against `regex` and the Python engine, on random input.

Prints a line for each thing that is tried, and says what differs, with the seed and number that bring it back.
"""

import random
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from typing import Final

import regex

from bpe_core import PATTERNS, kernel
from bpe_core.kernel import grammars

SCANNED: Final = tuple(name for name in PATTERNS if grammars.scanner(PATTERNS[name]))
"""The named patterns that the kernel splits by."""

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
    return {f"split {name}": map(partial(try_split, name), texts(random.Random(seed))) for name in SCANNED}


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
