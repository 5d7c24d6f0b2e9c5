"""Lets one allocation after another fail while the kernel works: `python without_memory.py trainer`, or table, ends ...

To be run in a process of its own: the failures hit whatever thread allocates next.
"""

import _testcapi
import sys
import tracemalloc
from binascii import b2a_base64

from bpe_core import PATTERNS, kernel
from bpe_core.kernel.grammars import scanner

PIECES = [f"piece number {n} of {n * n}" for n in range(300) for _ in range(n % 7 + 1)]
TEXT = "".join(f"piece number {n} of {n * n}, é and 中 " for n in range(2000))


def failing(nth, work):
    """What comes of `work` where the nth allocation fails; None if it says so with a MemoryError."""
    _testcapi.set_nomemory(nth, nth + 1)
    try:
        return work()
    except MemoryError:
        return None
    finally:
        _testcapi.remove_mem_hooks()


def new_trainer():
    """A trainer with all structures that there are."""
    pieces = kernel.PieceTable(None)
    pieces.add_pieces(PIECES, 0)
    return kernel.Trainer(pieces, 2, 1, 1 << 40, bytes(range(256)), b"")


def trainer(nth):
    """How many calls fail; what is learned in spite of them is what is learned anyway."""
    found = failing(nth, new_trainer)
    if found is None:
        return 1
    parts = [failing(later, lambda: found.learn(20)) for later in range(nth, nth + 20)]
    assert b"".join((*filter(None, parts), found.learn(500))).startswith(new_trainer().learn(500))
    return parts.count(None)


def new_table(*texts):
    """A table of documents."""
    table = kernel.PieceTable(scanner(PATTERNS["gpt2"]))
    for number, text in enumerate(texts):
        table.add(text.encode(), number)
    return table


def table(nth):
    """How many calls fail of those that put two tables together."""

    def work():
        counted = new_table(TEXT)
        counted.append(new_table(TEXT, "b"), 1)
        return counted.counts()

    return failing(nth, work) is None


def ends(nth):
    """How many calls fail of those that split a text."""
    return failing(nth, lambda: scanner(PATTERNS["gpt2"]).ends(TEXT.encode())) is None


def ranks(nth):
    """How many calls fail of those that read a rank file."""
    lines = b"".join(b"%s %d\n" % (b2a_base64(b"token %d" % n, newline=False), n) for n in range(100))
    return failing(nth, lambda: kernel.read_ranks(lines)) is None


def decimals(nth):
    """How many calls fail of those that print ids."""
    return failing(nth, lambda: kernel.decimals(bytes(4000), ", ")) is None


def main(what, n_rounds, at_least):
    """Fail at each of the first allocations, twice: of the first time something may stay that is no leak."""
    failed, grown = 0, []
    new_table(TEXT)
    tracemalloc.start()
    for _ in range(2):
        before = tracemalloc.get_traced_memory()[0]
        failed += sum(map(what, range(n_rounds)))
        grown.append(tracemalloc.get_traced_memory()[0] - before)
    assert failed >= at_least, failed
    assert grown[1] < 20_000, grown


if __name__ == "__main__":
    main(
        *{
            "trainer": (trainer, 120, 50),
            "table": (table, 60, 20),
            "ends": (ends, 12, 4),
            "ranks": (ranks, 60, 40),
            "decimals": (decimals, 4, 2),
        }[sys.argv[1]]
    )
