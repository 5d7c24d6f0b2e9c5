"""The kernel's trainer where it is treated badly; that it learns as the oracle does is in `trainer/test_trainer.py`."""

import signal
import threading
import time

import pytest

from bpe_core import kernel

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

BYTES = bytes(range(256))
PIECES = {f"piece number {n} of {n * n}": n % 7 + 1 for n in range(300)}
NO_LIMIT = (1 << 63) - 1


def table(pieces: dict[str, int]) -> kernel.PieceTable:
    """Pieces with these counts."""
    whole = kernel.PieceTable(None)
    for piece, count in pieces.items():
        one = kernel.PieceTable(None)
        one.add_pieces([piece], 0)
        whole.append(one, 0, count)
    return whole


def trainer(pieces: dict[str, int], ties: int = 0) -> kernel.Trainer:
    return kernel.Trainer(table(pieces), ties, 1, NO_LIMIT, BYTES, b"")


def test_more_merges_may_be_asked_for_than_there_are() -> None:
    found = trainer({"abab": 1})
    assert found.learn(0) == b""
    assert len(found.learn(1 << 60)) == 2 * 40
    assert found.learn(1) == b"" == found.pair_table()


def test_more_tokens_than_can_be_counted_are_refused() -> None:
    with pytest.raises((OverflowError, MemoryError)):
        trainer({"a" * 8: 1 << 62})


def test_pieces_of_no_length_or_one_symbol_have_no_pair() -> None:
    found = trainer({"": 5, "a": 3, "é": 2})
    assert found.n_tokens == 3 + 4
    assert len(found.learn(9)) == 40


def test_a_table_that_another_trainer_reads_is_given_back() -> None:
    pieces = table({"abab": 1})
    with pytest.raises(ValueError):
        kernel.Trainer(pieces, 0, 1, 9, BYTES[:255], b"")

    def look(*_: object) -> None:
        with pytest.raises(ValueError, match="using this table"):
            large.counts()
        raise BrokenPipeError

    large = table({"ab" * 100_000: 1})
    with pytest.raises(BrokenPipeError):
        kernel.Trainer(large, 0, 1, 9, BYTES, b"", look)
    assert len(large.counts()) == len(pieces.counts()) == 1


def test_counts_need_more_than_32_bits() -> None:
    found = trainer({"ab": 1 << 40, "cab": 1 << 41})
    assert memoryview(found.learn(1)).cast("Q").tolist() == [97, 98, 3 << 40, 1, (1 << 40) + (1 << 42)]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers on this system")
def test_an_interruption_comes_through_and_learning_goes_on_where_it_was() -> None:
    pieces = {"".join(map(str, range(200_000))): 1}
    wanted = trainer(pieces).learn(1000)
    found = trainer(pieces)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    parts = []
    try:
        for delay in (0.001, 0.003, 0.01, 0.02):
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                parts.append(found.learn(999))
            except KeyboardInterrupt:
                interrupted += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted
    parts.append(found.learn(1000))
    assert b"".join(parts).startswith(wanted)


def test_other_threads_run_meanwhile_and_may_not_learn_from_the_same_trainer() -> None:
    found = trainer({"".join(map(str, range(300_000))): 1})
    ticks, done = 0, threading.Event()

    def learn() -> None:
        found.learn(2000)
        done.set()

    thread = threading.Thread(target=learn)
    thread.start()
    refused = 0
    while not done.is_set():
        ticks += 1
        try:
            found.learn(1)
        except ValueError:
            refused += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3 and refused
