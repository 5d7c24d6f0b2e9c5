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
    for text in texts:
        new.add(text)
        new.end_document()
    return new


def test_wrong_arguments_are_refused() -> None:
    for wrong in ((), (None,), ("gpt2",), (table(),)):
        with pytest.raises(TypeError):
            kernel.PieceTable(*wrong)
    for wrong in (b"bytes", None, 1):
        with pytest.raises(TypeError):
            table().add(wrong)
        with pytest.raises(TypeError):
            table().append(wrong)
        with pytest.raises(TypeError):
            table().append_to_last(wrong)
    with pytest.raises(UnicodeEncodeError):
        table().add("a\ud800")
    itself = table("a")
    with pytest.raises(TypeError):
        itself.append(itself)


def test_pieces_of_every_length_are_told_apart() -> None:
    pieces = ["x" * n + end for n in range(80) for end in "xyz"]
    counted = table(*pieces, *pieces[::-1]).counts()
    assert list(counted) == list(dict.fromkeys(pieces))
    assert sum(counted.values()) == 2 * len(pieces)
    assert all(counted[piece] == 2 * pieces.count(piece) for piece in pieces)


def test_tables_are_put_together_in_order() -> None:
    together = table("a b", "b")
    together.append(table("b c", "d"))
    assert together.counts() == {"a": 1, " b": 1, "b": 2, " c": 1, "d": 1}
    assert together.few_documents() == {"a": (0,), " b": (0,), "b": (1, 2), " c": (2,), "d": (3,)}
    together.append_to_last(table("d", "b"))
    assert together.n_documents == 5 and together.n_pieces == 8
    assert together.few_documents() == {"a": (0,), " b": (0,), " c": (2,), "d": (3,)}


def test_other_threads_may_not_use_the_table_meanwhile() -> None:
    found, refused, done = table(), 0, threading.Event()

    def count() -> None:
        found.add(TEXT * 100)
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
