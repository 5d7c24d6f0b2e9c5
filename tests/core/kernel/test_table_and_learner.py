"""The kernel's table of pieces and its learner where they are treated badly; that they count and learn rightly is in
`corpus/test_counts.py` and `trainer/test_trainer.py`.
"""

import signal
import threading
from contextlib import suppress

import pytest

from bpe_core import PATTERNS, kernel
from bpe_core.kernel import fallback
from bpe_core.kernel.grammars import scanner

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

BYTES = bytes(range(256))
NO_LIMIT = (1 << 63) - 1
TEXT = "".join(f"piece number {n} of {n * n}, é and 中 " for n in range(2000))


def table(*texts: str) -> kernel.PieceTable:
    """A table of documents."""
    found = scanner(PATTERNS["gpt2"])
    assert found
    new = kernel.PieceTable(found)
    for number, text in enumerate(texts):
        new.add(text.encode(), number)
    return new


def documents(table: kernel.PieceTable) -> dict[str, tuple[int, ...]]:
    """Piece -> in how many documents it is, the first of them if these are one or two, the last."""
    n, numbers = (
        len(table),
        memoryview(table.columns(0, len(table))[1]).cast("Q")[1:].tolist(),
    )
    rows = zip(
        numbers[2 * n : 3 * n], numbers[3 * n : 4 * n], numbers[4 * n :], strict=True
    )
    return dict(zip(table.counts(), rows, strict=True))


def table_of(pieces: dict[str, int]) -> kernel.PieceTable:
    """Pieces with these counts."""
    whole = table()
    for piece, count in pieces.items():
        one = table()
        kernel.add_pieces(one, [piece], 0)
        whole.append(one, 0, count)
    return whole


def learner(pieces: dict[str, int]) -> kernel.Learner:
    return kernel.Learner(table_of(pieces), 0, 1, NO_LIMIT, BYTES, b"")


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(TypeError):
        kernel.PieceTable(None).add(b"a text, and no scanner to split it", 0)
    itself = many = table("a a a")
    with pytest.raises(ValueError, match="using this table"):
        itself.append(itself, 0)
    with pytest.raises(ValueError, match="rows of pieces"):
        kernel.add_pieces(many, ["a", ""], 0)
    with pytest.raises(MemoryError):
        for _ in range(9):
            more = table()
            more.append(many, 0, 1 << 62)
            more.append(many, 0, 1 << 62)
            many = more


def test_pieces_are_counted_as_texts_are():
    pieces = table()
    kernel.add_pieces(pieces, ["a", " b", "a", "é" * 50], 0)
    kernel.add_pieces(pieces, ["a"], 3)
    assert pieces.counts() == {"a": 3, " b": 1, "é" * 50: 1}
    assert documents(pieces) == {"a": (2, 0, 3), " b": (1, 0, 0), "é" * 50: (1, 0, 0)}
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
    assert documents(together) == {
        "a": (1, 0, 0),
        " b": (1, 0, 0),
        "b": (2, 1, 2),
        " c": (1, 2, 2),
        "d": (1, 3, 3),
    }
    together.append(table("d", "b"), 3, 5)
    assert together.counts() == {"a": 1, " b": 1, "b": 7, " c": 1, "d": 6}
    assert (len(together), together.n_pieces) == (5, 8)
    assert documents(together) == {
        "a": (1, 0, 0),
        " b": (1, 0, 0),
        "b": (3, 0, 4),
        " c": (1, 2, 2),
        "d": (1, 3, 3),
    }


def test_columns_are_what_a_table_is_made_of() -> None:
    whole = table(*TEXT.split("7"), TEXT)
    for size in (1, 77, len(whole), 10**9):
        again, n_new = table(), 0
        for start in range(0, len(whole), size):
            n_new += again.extend(*whole.columns(start, start + size)[:2], 5).count(1)
        assert list(again.counts().items()) == list(whole.counts().items())
        assert (
            n_new == len(whole)
            and again.n_pieces == whole.n_pieces
            and again.long_bytes == whole.long_bytes
        )
        moved = {
            piece: (n, first + 5 * (n < 3), last + 5)
            for piece, (n, first, last) in documents(whole).items()
        }
        assert documents(again) == moved
    assert not any(whole.extend(*whole.columns(0, 10**9)[:2], 10**6, 3))
    assert list(whole.counts().values()) == [4 * n for n in again.counts().values()]
    assert len(set(whole.columns(0, 10**9)[2])) == 256, "the hashes are spread"


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


def test_more_merges_may_be_asked_for_than_there_are() -> None:
    found = learner({"abab": 1})
    for until, n_merges in ((0, 0), (1 << 60, 2), (3, 2)):
        found.learn(until)
        assert found.n_merges == len(found.merges(0)) == n_merges
    assert found.pairs() == found.merges(2) == found.merges(9) == []


def test_more_tokens_than_can_be_counted_are_refused() -> None:
    with pytest.raises((OverflowError, MemoryError)):
        learner({"a" * 8: 1 << 62})


def test_pieces_of_one_symbol_have_no_pair() -> None:
    found = learner({"a": 3, "é": 2})
    assert found.n_tokens == 3 + 4
    found.learn(9)
    assert found.n_merges == 1


def test_a_table_that_another_learner_reads_is_given_back() -> None:
    pieces = table_of({"abab": 1})
    with pytest.raises(ValueError):
        kernel.Learner(pieces, 0, 1, 9, BYTES[:255], b"")

    def refuse(*_: object) -> None:
        with pytest.raises(ValueError, match="using this table"):
            large.counts()
        raise BrokenPipeError

    large = table_of({"ab" * 100_000: 1})
    with pytest.raises(BrokenPipeError):
        kernel.Learner(large, 0, 1, 9, BYTES, b"", refuse)
    assert len(large.counts()) == len(pieces.counts()) == 1


def test_counts_need_more_than_32_bits() -> None:
    found = learner({"ab": 1 << 40, "cab": 1 << 41})
    found.learn(1)
    assert found.merges(0) == [(97, 98, 3 << 40, 1, (1 << 40) + (1 << 42))]


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="there are no timers on this system"
)
def test_an_interruption_comes_through_and_learning_goes_on_where_it_was() -> None:
    pieces = {"".join(map(str, range(200_000))): 1}
    undisturbed, found = learner(pieces), learner(pieces)
    undisturbed.learn(2000)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, interrupt)
    interrupted = 0
    try:
        while found.n_merges < 2000:
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.001)
                found.learn(2000)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            interrupted += found.n_merges < 2000
            made = found.merges(0)
            assert made == undisturbed.merges(0)[: found.n_merges]
            assert (
                found.n_tokens
                == sum(found.symbol_counts())
                == (made[-1][-1] if made else found.n_tokens)
            )
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert interrupted


def test_python_keeps_of_documents_what_the_kernel_keeps() -> None:
    """Neither keeps the first document of a piece that is in three or more."""
    data, numbers, _ = table("one two three").columns(0, 3)
    first, first_numbers, _ = table("one").columns(0, 1)
    columns = []
    for make in kernel.PieceTable, fallback.PieceTable:
        counted = make(None)
        for document in 4, 5:
            counted.extend(data, numbers, document)
        counted.extend(first, first_numbers, 6)
        columns.append(counted.columns(0, 3)[:2])
    assert columns[0] == columns[1]


def test_other_threads_run_meanwhile_and_may_not_learn_from_the_same_learner() -> None:
    refused: list[ValueError] = []

    def learn(found: kernel.Learner, together: threading.Barrier) -> None:
        together.wait()
        try:
            found.learn(500)
        except ValueError as error:
            refused.append(error)

    for _ in range(200):  # on a busy machine one may have ended before the other begins
        found, together = (
            learner({"".join(map(str, range(20_000))): 1}),
            threading.Barrier(2),
        )
        threads = [
            threading.Thread(target=learn, args=(found, together)) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if refused:
            break
    assert refused and found.n_merges == 500
