"""The kernel's table of pieces where it is treated badly; that it counts rightly is in `corpus/test_counts.py`."""

import threading

import pytest

from bpe_core import PATTERNS, kernel
from bpe_core.kernel.grammars import scanner

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

TEXT = "".join(f"piece number {n} of {n * n}, é and 中 " for n in range(2000))


def table(*texts: str) -> kernel.PieceTable:
    """A table of documents."""
    found = scanner(PATTERNS["gpt2"])
    assert found
    new = kernel.PieceTable(found)
    for number, text in enumerate(texts):
        new.add(text.encode(), number)
    return new


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(TypeError):
        kernel.PieceTable(None).add(b"a text, and no scanner to split it", 0)
    itself = many = table("a a a")
    with pytest.raises(ValueError, match="using this table"):
        itself.append(itself, 0)
    with pytest.raises(MemoryError):
        for _ in range(9):
            more = table()
            more.append(many, 0, 1 << 62)
            more.append(many, 0, 1 << 62)
            many = more


def test_pieces_are_counted_as_texts_are():
    pieces = table()
    pieces.add_pieces(["a", " b", "", "a", "é" * 50], 0)
    pieces.add_pieces(["a"], 3)
    assert pieces.counts() == {"a": 3, " b": 1, "é" * 50: 1}
    assert pieces.few_documents() == {"a": (0, 3), " b": (0,), "é" * 50: (0,)}
    assert (len(pieces), pieces.n_pieces) == (3, 5)


def test_pieces_of_every_length_are_told_apart() -> None:
    pieces = ["x" * n + end for n in range(80) for end in "xyz"]
    counted = table(*pieces, *pieces[::-1]).counts()
    assert list(counted) == list(dict.fromkeys(pieces))
    assert sum(counted.values()) == 2 * len(pieces)
    assert all(counted[piece] == 2 * pieces.count(piece) for piece in pieces)


def test_tables_are_put_together_in_order() -> None:
    together = table("a b", "b")
    together.append(table("b c", "d"), 2)
    assert together.counts() == {"a": 1, " b": 1, "b": 2, " c": 1, "d": 1}
    assert together.few_documents() == {"a": (0,), " b": (0,), "b": (1, 2), " c": (2,), "d": (3,)}
    together.append(table("d", "b"), 3, 5)
    assert together.counts() == {"a": 1, " b": 1, "b": 7, " c": 1, "d": 6}
    assert (len(together), together.n_pieces) == (5, 8)
    assert together.few_documents() == {"a": (0,), " b": (0,), " c": (2,), "d": (3,)}


def test_other_threads_may_not_use_the_table_meanwhile() -> None:
    found, refused, done = table(), 0, threading.Event()

    def count() -> None:
        found.add(TEXT.encode() * 100, 0)
        done.set()

    thread = threading.Thread(target=count)
    thread.start()
    while not done.is_set():
        try:
            found.counts()
        except ValueError:
            refused += 1
    thread.join()
    assert refused
