"""Dask's workers count and encode what one process does, whatever happens to one of them."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from contextlib import closing, contextmanager, suppress
from multiprocessing import active_children
from unittest.mock import patch

import pytest
from shell import ROOT

from bpe_core import Counts, Trainer, save, train
from bpe_core.corpus import find_files
from bpe_core.corpus.spill import Spill
from bpe_core.errors import ClusterError, FetchError, Stopped, TextError
from bpe_core.worker import cluster as cluster_module
from bpe_core.worker.cluster import Cluster
from bpe_core.worker.dask_connection import connected, in_turn
from tests.attack.fuzz_addresses import server

pytest.importorskip(
    "distributed",
    reason="counting on many machines needs distributed, of the extra [dask]",
)
pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # of Dask, about sockets of workers that were killed
SIZES = [3, 20_000, 0, 9_000, 60_000, 700, 30_000, 40_000, 25_000, 12_000]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("corpus"), random.Random(1)
    words = [
        "".join(rng.choices("abcdeéfgh中", k=rng.randint(1, 7))) for _ in range(5000)
    ]
    for number, size in enumerate(SIZES):
        (folder / f"{number}.txt").write_text(
            " ".join(rng.choices(words, k=size)), "utf-8"
        )
    (folder / "rows.jsonl").write_text(
        "".join(f"{json.dumps({'text': word})}\n" for word in words), "utf-8"
    )
    return folder


@contextmanager
def local_cluster(n_workers):
    """Workers of which each is started again when it is killed, however long that takes."""
    import dask
    import distributed

    options = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with (
        patch.dict(os.environ),
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, **options
        ) as cluster,
    ):
        yield cluster


def check_equal(counts, alone):
    """Check that counts are equal, part by part, so that a failure says what is different."""
    assert counts.skipped == alone.skipped
    assert counts.sources == alone.sources
    assert counts.n_documents == alone.n_documents
    assert counts.n_pieces == alone.n_pieces
    assert list(counts.pieces.items()) == list(alone.pieces.items())
    assert counts.to_bytes() == alone.to_bytes()


def merges(counts):
    trainer = Trainer(counts, vocab_size=400)
    trainer.learn(1000)
    return trainer.tokenizer().merges


@pytest.mark.slow
def test_one_of_four_workers_is_killed_in_mid_count_and_no_count_is_doubled(
    corpus, tmp_path, monkeypatch
):
    files = find_files(corpus).files
    alone = Counts.read(files, "gpt4")
    monkeypatch.setattr(cluster_module, "LARGEST", 1 << 16)
    with local_cluster(4) as four:
        for quarter in range(3):
            killed = []

            def kill(done, total, name, quarter=quarter, killed=killed):
                if done > quarter * total / 4 and not killed:
                    assert done < total
                    killed.append(list(four.workers.values())[quarter].pid)
                    os.kill(killed[0], signal.SIGKILL)

            with connected(four.scheduler_address) as cluster:
                counts = cluster.read(files, "gpt4", progress=kill)
            assert killed
            check_equal(counts, alone)
            assert merges(counts) == merges(alone)
        with (
            connected(four.scheduler_address) as cluster,
            closing(Spill(0, tmp_path)) as spill,
        ):
            cluster.read(files, "gpt4", spill=spill).save(tmp_path / "spilled")
            assert Counts.load(tmp_path / "spilled").to_bytes() == alone.to_bytes()
            with pytest.raises(Stopped):
                cluster.read(files, "gpt4", progress=stop)
            (tmp_path / "gone").write_text("low")
            gone = find_files(tmp_path / "gone").files
            (tmp_path / "gone").unlink()
            with pytest.raises(TextError, match=r"does not exist on .*; name it by a"):
                cluster.read(gone, "gpt4")
            # Last: Dask doesn't start a worker again that ends before it has fully started.
            with pytest.raises(
                ClusterError,
                match=r"The Dask workers failed \(KilledWorker: .*\); see",
            ):
                cluster._result(cluster._submit(os._exit, 1), {}, stop)


@pytest.mark.slow
def test_all_workers_are_killed_when_all_partitions_have_ended(
    corpus, tmp_path, monkeypatch
):
    """What Dask reported as ended is lost when the client looks at it."""
    parquet = pytest.importorskip("pyarrow.parquet")
    files = find_files(corpus).files
    tokenizer = train("low lower " * 9, vocab_size=262)
    monkeypatch.setattr(cluster_module, "LARGEST", 1 << 16)
    n_lost = 0
    with (
        local_cluster(2) as two,
        connected(two.scheduler_address) as cluster,
    ):

        def statuses():
            futures = list(cluster._client.futures.items())
            return [state.status for key, state in futures if "_partition-" in key]

        def wait_until(is_so):
            deadline = time.monotonic() + 60
            while not is_so():
                assert time.monotonic() < deadline
                time.sleep(0.01)

        def is_running(nanny):
            return nanny.process and nanny.process.status.name == "running"

        def kill(done, *_):
            nonlocal n_lost
            if done and not n_lost:
                wait_until(lambda: set(statuses()) == {"finished"})
                for worker in two.workers.values():
                    os.kill(worker.pid, signal.SIGKILL)
                wait_until(lambda: "lost" in statuses())
                n_lost = statuses().count("lost")

        counts = cluster.read(files, "gpt4", progress=kill)
        assert n_lost
        check_equal(counts, Counts.read(files, "gpt4"))
        n_lost = 0
        # Dask doesn't start a worker again that is killed before it has fully started.
        wait_until(lambda: all(map(is_running, two.workers.values())))
        n_ids = cluster.encode(files, tokenizer, tmp_path / "ids", kill)
        assert n_lost
    rows = parquet.read_table(tmp_path / "ids")["ids"].to_pylist()
    texts = ["".join(blocks) for file in files for blocks in file.documents()]
    assert rows == list(map(tokenizer.encode, texts))
    assert n_ids == sum(map(len, rows))


@pytest.mark.slow
def test_a_worker_is_killed_before_it_gets_the_tokenizer(corpus, tmp_path):
    files = find_files(corpus).files
    tokenizer = train("low lower " * 9, vocab_size=262)
    with (
        local_cluster(2) as two,
        connected(two.scheduler_address) as cluster,
    ):
        os.kill(two.workers[0].pid, signal.SIGKILL)
        n_ids = cluster.encode(files, tokenizer, tmp_path / "ids", lambda *_: None)
    assert n_ids


def stop(*_):
    raise Stopped


@pytest.fixture
def encode(corpus, tmp_path):
    """`bpescope encode` by local workers, in a process group of its own."""
    save(
        train("low lower " * 9, vocab_size=262, special_tokens=["<|end|>"]),
        tmp_path / "t.json",
    )
    line = [
        sys.executable,
        "-m",
        "bpe_core",
        "encode",
        "-t",
        "t.json",
        corpus,
        "--dask",
        "local",
        "-o",
        "ids",
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        line, cwd=tmp_path, env=environment, start_new_session=True, **pipes
    )


@pytest.mark.slow
def test_ids_are_a_row_a_document(corpus, tmp_path, encode):
    assert (encode.communicate(timeout=120), encode.returncode)[1] == 0
    found = (
        pytest.importorskip("pyarrow.parquet")
        .read_table(tmp_path / "ids")["ids"]
        .to_pylist()
    )
    tokenizer = train("low lower " * 9, vocab_size=262, special_tokens=["<|end|>"])
    texts = [path.read_text("utf-8") for path in sorted(corpus.glob("*.txt"))]
    assert (
        found[: len(texts)] == list(map(tokenizer.encode, texts))
        and len(found) == len(texts) + 5000
    )


@pytest.mark.slow
def test_ctrl_c_leaves_no_process_and_no_half_folder(tmp_path, encode):
    while not list(tmp_path.glob(".ids.*.new")):  # which is when the workers are there
        assert encode.poll() is None
    os.killpg(encode.pid, signal.SIGINT)
    _, said = encode.communicate(timeout=120)
    assert (encode.returncode, said) == (130, "python -m bpe_core: Interrupted.\n")
    assert [path.name for path in tmp_path.iterdir() if "ids" in path.name] == []
    left = subprocess.run(
        ["ps", "-o", "stat=", "-g", str(encode.pid)], capture_output=True, text=True
    ).stdout
    assert all(state.startswith("Z") for state in left.split())


@pytest.mark.slow
def test_local_workers_leave_nothing_behind(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    warnings.simplefilter("error", UserWarning)
    with socket.socket() as other, patch.dict(os.environ):
        with suppress(OSError):
            other.bind(
                ("127.0.0.1", 8787)
            )  # where Dask has its pages; or somebody else has that
            other.listen()
        with connected("local") as cluster:
            cluster.read(find_files(corpus).files, "gpt4")
            assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_out_has_the_path_that_was_given(corpus, monkeypatch):
    monkeypatch.chdir(corpus.parent)
    files = (
        find_files(f"{corpus.name}/rows.jsonl::none", skip_bad=True).files
        + find_files(corpus.name).files
    )
    assert (
        Cluster(Here, iter).read(files, "gpt4").to_bytes()
        == Counts.read(files, "gpt4").to_bytes()
    )


class Here:
    """A client whose futures are there at once."""

    status = "finished"

    def __init__(self, found):
        self.result = lambda: found

    @classmethod
    def submit(cls, work, given, *more, **_):
        if isinstance(given[0], cls):
            given = [one.result() for one in given]
        more = [one.result() if isinstance(one, cls) else one for one in more]
        return cls(work(given, *more))


@pytest.mark.parametrize("status", ["lost", "pending"])
def test_a_partition_that_was_lost_after_it_ended_is_not_taken_for_the_whole(
    status, tmp_path, monkeypatch
):
    """Its worker died before the client looked at it, and Dask repeats its task for the whole."""
    pytest.importorskip("pyarrow.parquet")
    texts = ["low lower " * number for number in range(1, 12)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number:02}").write_text(text)
    files = find_files(tmp_path).files
    tokenizer = train("low lower " * 9, vocab_size=262)
    done = []

    def note(n_done, total, _):
        done.append(n_done / total)

    monkeypatch.setattr(cluster_module, "LARGEST", 1)
    monkeypatch.setattr(Here, "status", status)
    cluster = Cluster(Here, iter)
    check_equal(cluster.read(files, "gpt4", progress=note), Counts.read(files, "gpt4"))
    assert len(done) == len(files) + 1 and done[-1] == 1
    n_ids = cluster.encode(files, tokenizer, tmp_path / "ids", note)
    assert n_ids == sum(len(tokenizer.encode(text)) for text in texts)


@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_a_partition_that_failed_ends_the_wait_for_the_whole(status):
    class Failed:
        def result(self):
            raise TextError("It is gone.")

    failed, whole = Failed(), Here("whole")
    failed.status = status
    waited_for = []

    def in_turn(futures):
        waited_for.extend(futures)
        return iter(futures)

    with pytest.raises(TextError, match=r"^It is gone\.$"):
        Cluster(Here, in_turn)._result(whole, {failed: []}, stop)
    assert whole not in waited_for


class Ended:
    """Stands for `as_completed` of Dask, if all futures ended before the first look."""

    def __init__(self, futures):
        self._futures = list(futures)

    def count(self):
        return len(self._futures)

    def next_batch(self, block):
        batch, self._futures = self._futures, []
        return batch


def test_a_worker_can_forget_a_result_that_was_yielded():
    for future in in_turn(Ended, stop, [Here(number) for number in range(3)]):
        reference = weakref.ref(future)
        del future
        assert reference() is None


@pytest.mark.parametrize("address", ["nowhere", "gibber://x:1"])
def test_an_address_without_a_scheduler_is_one_sentence(address):
    with (
        pytest.raises(ClusterError, match=f"No Dask cluster found at '{address}'"),
        connected(address),
    ):
        pass


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, "No Dask cluster found at '127.0.0.1:.*no answer within 0.3 s"),
        (b"", "No Dask cluster found at '127.0.0.1:"),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "is not a Dask scheduler .it may be the dashboard.; give the address of",
        ),
    ],
)
def test_a_server_that_is_no_scheduler_ends_the_handshake_in_time(answer, sentence):
    with (
        server(answer) as address,
        pytest.raises(ClusterError, match=sentence),
        connected(address, 0.3 if answer is None else 10),
    ):
        pass


def test_a_failed_handshake_leaves_no_thread():
    with server(None) as address:
        others = set(threading.enumerate())
        with pytest.raises(ClusterError), connected(address, 0.3):
            pass
        for thread in set(threading.enumerate()) - others:
            thread.join(60)
            assert not thread.is_alive()


def test_a_stop_ends_the_wait_for_a_handshake():
    with server(None) as address, pytest.raises(Stopped), connected(address, 60, stop):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("is_started", [False, True])
def test_a_stop_kills_the_local_workers(is_started, tmp_path, monkeypatch):
    """Without it, the work would last for an hour, and the end of the workers some seconds."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    works = threading.Event()

    def look():
        if works.is_set() or not is_started:
            raise Stopped

    with (
        patch.dict(os.environ),
        pytest.raises(Stopped),
        connected("local", look=look) as cluster,
    ):
        works.set()
        cluster._result(cluster._submit(time.sleep, 3600), {}, stop)
    assert not [one for one in active_children() if one.name.startswith("Dask")]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("protocol", ["tls", "ucx"])
def test_a_protocol_that_is_not_set_up_is_one_sentence(protocol):
    with (
        pytest.raises(ClusterError, match=r"^Dask can't use the address .*; give one"),
        connected(f"{protocol}://127.0.0.1:1"),
    ):
        pass


def test_workers_that_do_not_start_are_one_sentence(monkeypatch):
    import distributed

    def broken(**_):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", broken)
    with (
        pytest.raises(
            ClusterError, match=r"did not start \(Nanny failed to start\); try again"
        ),
        connected("local"),
    ):
        pass


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            FetchError,
            match=r'needs distributed\. .* pip install "bpescope\[dask\]"\.$',
        ),
        connected("local"),
    ):
        pass
