"""Counting by several threads: whatever the corpus is cut into, the result is that of one thread."""

import gzip
import random
from threading import Event

import pytest

from bpe_core import PATTERNS, Counts, kernel
from bpe_core.corpus import counts, find_files
from bpe_core.kernel.grammars import scanner as scanner_of

pytestmark = pytest.mark.skipif(
    not kernel.available, reason=f"the kernel is {kernel.why_not}"
)
SMALL = 60
ALPHABETS = ("ab ", "ab c\n", "aé中😀 .\n", "a" * 9 + " ", "it's 123 4\r\n", "中文")


@pytest.fixture
def small(monkeypatch):
    """Shares and parts of a few bytes."""
    monkeypatch.setattr(counts, "_SHARES", (SMALL, SMALL))
    monkeypatch.setattr(counts, "_PART", SMALL)


def corpus(folder, seed):
    """Texts from empty to many portions long, some packed, some with a mark, some unreadable from the middle on."""
    rng = random.Random(seed)
    folder.mkdir()
    for number in range(rng.randrange(1, 12)):
        text = "".join(
            rng.choices(rng.choice(ALPHABETS), k=rng.choice((0, 9, 50, 300, 900)))
        )
        data = rng.choice(
            (
                text.encode(),
                text.encode(),
                text.encode("utf-8-sig"),
                text.encode("utf-16"),
            )
        )
        if data.startswith(text[:50].encode()) and rng.random() < 0.15:
            data += b"a" * 9000 + b"\xff" + b"a b" * 60
        (folder / f"{number:02}.txt").write_bytes(
            gzip.compress(data) if rng.random() < 0.1 else data
        )
    (folder / "zz.txt").write_text("the end")
    return find_files(folder).files


def everything(counted):
    """All that is known of a corpus, order included."""
    known = {
        name: value
        for name, value in vars(counted).items()
        if name not in ("splitter", "table", "_pieces")
    }
    numbers = counted.n_pieces, len(counted.table)
    return known | {
        "pieces": list(counted.pieces.items()),
        "documents": counted.few_documents(),
        "n": numbers,
    }


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\W", r"(?<=a)b|\w+"])
def test_several_threads_count_what_one_counts(tmp_path, small, pattern):
    for seed in range(2):
        files = corpus(tmp_path / str(seed), seed)
        together = Counts.read(files, pattern, workers=2 + seed % 2)
        assert everything(together) == everything(
            Counts.read(files, pattern, workers=1)
        ), f"seed {seed}"


@pytest.mark.parametrize(
    "pattern",
    [name for name in PATTERNS if kernel.available and scanner_of(PATTERNS[name])],
)
def test_no_piece_lies_across_a_cut(pattern):
    scanner = scanner_of(PATTERNS[pattern])
    rng, n_cuts = random.Random(1), 0
    for _ in range(200):
        alphabet = rng.choice(
            ("ab \n", "a.\n/ ", "é中\n😀\r", "1'\ns\u3000\u0301", "中\n\x85\u2028a")
        )
        data = "".join(rng.choices(alphabet, k=rng.randrange(12))).encode()
        part = data[: rng.randrange(len(data) + 1)]
        cut = scanner.last_cut(part)
        n_cuts += cut > 0
        assert not cut or cut.to_bytes(8, "little") in {
            bytes(scanner.ends(data)[at : at + 8]) for at in range(0, 8 * len(data), 8)
        }, data
        assert (
            not cut
            or scanner.ends(data[:cut])
            == scanner.ends(data)[: len(scanner.ends(data[:cut]))]
        ), data
    assert n_cuts > 10


def test_a_text_without_any_place_to_cut_is_joined_not_more_often_than_it_doubles(
    monkeypatch,
):
    class Nowhere:
        looked = 0

        def last_cut(self, text):
            self.looked += len(text)
            return 0

    blocks = [b"a" * 10] * 1000
    assert list(counts.cut_between_pieces(iter(blocks), Nowhere(), 10)) == [
        b"a" * 10_000
    ]
    list(counts.cut_between_pieces(iter(blocks), Nowhere(), 10))
    assert Nowhere.looked < 30_000


def test_an_interruption_waits_for_no_thread(tmp_path, small, monkeypatch):
    (tmp_path / "a.txt").write_text("some words\n" * 900)
    begun, held, ended = Event(), Event(), Event()

    def at_work(*_):
        begun.set()
        held.wait(20)
        ended.set()

    def interrupt(*_):
        if begun.is_set():
            raise KeyboardInterrupt

    monkeypatch.setattr(Counts, "_count_share", at_work)
    try:
        with pytest.raises(KeyboardInterrupt):
            Counts.read(find_files(tmp_path).files, progress=interrupt, workers=2)
        assert not held.is_set()
    finally:
        held.set()
