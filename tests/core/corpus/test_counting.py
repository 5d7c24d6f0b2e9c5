"""Counting by several processes: whatever the corpus is cut into, the result is that of one process."""

import gzip
import pickle
import random

import pytest
from amounts import amount

from bpe_core import PATTERNS, Counts, TextError
from bpe_core.corpus import counting, counts, find_files
from bpe_core.parallel import portions, process_pool
from bpe_core.parallel.pool_worker import WorkerLost
from bpe_core.patterns import splitter

SMALL = 60
ALPHABETS = ("ab ", "ab c\n", "aé中😀 .\n", "a" * 9 + " ", "it's 123 4\r\n", "中文")


@pytest.fixture
def small(monkeypatch):
    """Portions of a few bytes, and documents of more than a few pieces held for long."""
    monkeypatch.setattr(portions, "SMALLEST", SMALL)
    monkeypatch.setattr(portions, "LARGEST", SMALL)
    monkeypatch.setattr(counts, "_HELD", 2)


only_in_python = pytest.mark.parametrize("engine", ["python"], indirect=True)


def corpus(folder, seed):
    """Texts from empty to many portions long, some packed, some with a mark, some unreadable from the middle on."""
    rng = random.Random(seed)
    folder.mkdir()
    for number in range(rng.randrange(1, 12)):
        text = "".join(rng.choices(rng.choice(ALPHABETS), k=rng.choice((0, 9, 50, 300, 900))))
        data = rng.choice((text.encode(), text.encode(), text.encode("utf-8-sig"), text.encode("utf-16")))
        if data.startswith(text[:50].encode()) and rng.random() < 0.15:
            data += b"a" * 9000 + b"\xff" + b"a b" * 60
        (folder / f"{number:02}.txt").write_bytes(gzip.compress(data) if rng.random() < 0.1 else data)
    (folder / "zz.txt").write_text("the end")
    return find_files(folder).files


def nobody(n_bytes):
    """Looks on."""


def everything(counted):
    """All that is known of a corpus, order included."""
    known = {name: value for name, value in vars(counted).items() if name not in ("splitter", "_table", "_known")}
    numbers = counted.n_pieces, counted.n_documents
    return known | {"pieces": list(counted.pieces.items()), "documents": counted.few_documents(), "n": numbers}


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\W", r"(?<=a)b|\w+"])
@amount(2, 8)
def test_portions_counted_one_by_one_make_the_counts_of_the_whole(tmp_path, small, pattern, amount):
    for seed in range(amount):
        files = corpus(tmp_path / str(seed), seed)
        whole, document, together = Counts.read(files, pattern, workers=1), counting._Document(), Counts(pattern)
        for portion in portions.portions(files, SMALL, counting.safe_cut(splitter(pattern))):
            counted = counting.CountPortion(pattern)(portion, nobody)
            done = counted if portion.end is None else document.add(portion, counted)
            if done:
                together.append(done)
        assert everything(together) == everything(whole), f"seed {seed}"


@pytest.mark.parametrize("processes", [2, 3])
def test_several_processes_count_what_one_counts(tmp_path, small, processes):
    files = corpus(tmp_path / "texts", processes)
    assert everything(Counts.read(files, workers=processes)) == everything(Counts.read(files, workers=1))


def test_a_large_text_is_parted_where_no_piece_lies_across(tmp_path, small):
    (tmp_path / "long.txt").write_text("some words, é and 😀\n" * 100)
    (tmp_path / "run.txt").write_text("a" * 2000)
    *parts, run = portions.portions(find_files(tmp_path).files, SMALL, counting.safe_cut(splitter("gpt4")))
    assert len(parts) > 20
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert sum(part.size for part in parts) == (tmp_path / "long.txt").stat().st_size
    assert run.end is None


def test_progress_is_told_and_a_wish_to_stop_is_heeded(tmp_path, small):
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text(f"text {number} " * 9)
    files, told = find_files(tmp_path).files, []
    total = sum(file.size for file in files)
    Counts.read(files, progress=told.append, workers=2)
    assert told[-1].done == told[-1].total == total
    assert [now.done for now in told] == sorted(now.done for now in told)
    stopped = Counts.read(files, stop=lambda: True, workers=2)
    assert stopped.stopped
    assert stopped.n_documents == 0


def test_errors_cross_from_process_to_process(tmp_path, small):
    (tmp_path / "broken.txt").write_bytes(b"a b " * 9000 + b"\xff")
    with pytest.raises(TextError, match=r"broken\.txt cannot be read: byte 0xff at offset 36,000"):
        Counts.read(find_files(tmp_path / "broken.txt").files, workers=2)
    with pytest.raises(TextError, match="None of the files could be read: byte 0xff"):
        Counts.read(find_files(tmp_path).files, workers=2)


@only_in_python
def test_the_work_of_a_process_that_dies_is_done_by_the_one_that_asked(tmp_path, small):
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"text {number}, of several words")
    files = find_files(tmp_path).files
    with process_pool.ProcessPool(counting.CountPortion("gpt4"), 3) as pool:
        for worker in (pool._idle.get(), pool._idle.get()):
            worker._process.kill()
            with pytest.raises(WorkerLost):
                worker.result(pickle.dumps("whatever"))
            pool._idle.put(worker)
        jobs = portions.portions(files, SMALL, counting.safe_cut(splitter("gpt4")))
        counted = [part.n_pieces for _, part in pool.results(jobs, nobody)]
    assert sum(counted) == Counts.read(files).n_pieces
    assert worker._process.returncode is not None


def asked(pool, jobs):
    """The results of jobs, and how often each worker was asked for one."""
    workers = [pool._idle.get() for _ in range(2)]
    n_asked = {}
    for number, worker in enumerate(workers):
        n_asked[number] = 0

        def result(job, number=number, given=worker.result):
            n_asked[number] += 1
            return given(job)

        worker.result = result
        pool._idle.put(worker)
    workers[0].kill()
    return [part.n_pieces for _, part in pool.results(jobs, nobody)], n_asked


@only_in_python
def test_a_process_that_has_died_is_not_given_another_job(tmp_path, small):
    for number in range(60):
        (tmp_path / f"{number:02}.txt").write_text(f"text {number}, of several words")
    files = find_files(tmp_path).files
    with process_pool.ProcessPool(counting.CountPortion("gpt4"), 3) as pool:
        counted, n_asked = asked(pool, portions.portions(files, SMALL, counting.safe_cut(splitter("gpt4"))))
        assert pool.n_lost == 1
    assert sum(counted) == Counts.read(files).n_pieces
    assert n_asked[0] <= 1


@only_in_python
def test_without_any_other_process_the_work_is_done_all_the_same(tmp_path, small, monkeypatch):
    def no_process(work):
        raise BlockingIOError("Resource temporarily unavailable")

    files = corpus(tmp_path / "texts", 3)
    whole = Counts.read(files, workers=1)
    monkeypatch.setattr(process_pool, "PoolWorker", no_process)
    together = Counts.read(files, workers=3)
    assert together.n_lost == 2
    assert everything(together) == everything(whole) | {"n_lost": 2}
