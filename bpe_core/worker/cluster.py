"""Counting and encoding on many machines: functions for a partition of a corpus, that know nothing but what they are
given, and Dask, whose workers take partitions, and put counts together as a tree.

Counts go from one to the next as bytes, those of a file of counts:

>>> counts = [Counts.of(texts, "words").to_bytes() for texts in (["low lower", "low"], ["low"])]
>>> dict(Counts.load(merge_counts(counts)).pieces)
{'low': 3, 'lower': 1}
"""

import asyncio
import logging
import platform
import shutil
import signal
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial, reduce
from multiprocessing import active_children, resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from bpe_core.corpus import Counts, TextFile
from bpe_core.corpus.reading import OnRead, Reading
from bpe_core.corpus.sampling import stretches
from bpe_core.errors import BpeError, ClusterError, Stopped, TextError
from bpe_core.process import installed
from bpe_core.tokenizer import Choice, Tokenizer
from bpe_core.visible import quoted, shortened, visible
from bpe_core.whole_file import as_format_error, new_beside, write_whole

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill

LARGEST: Final = (
    1 << 26
)  # bytes on disk of a partition, about: a second or two of counting
AT_ONCE: Final = 8  # counts that one task puts together: four levels of such tasks are enough for 4,096 partitions
_SILENT: Final = logging.CRITICAL + 1  # what goes wrong is said in one sentence
WAIT: Final = 10
"""Seconds in which a scheduler must answer and have a worker."""
_LOOK_EVERY: Final = 0.05  # seconds between two looks at the clock


def partitions(files: Sequence[TextFile]) -> list[list[TextFile]]:
    """The files in order, in some 64 partitions of 1 MB on disk or more, or in many of 64 MB. A file is in one."""
    size = min(max(sum(file.size for file in files) // 64, 1 << 20), LARGEST)
    return list(
        stretches(
            [replace(file, path=file.path.absolute()) for file in files], None, size
        )
    )


def check(partition: Iterable[TextFile]) -> None:
    """Raise `TextError` if a file is not to be seen from here: of a folder it would only be skipped."""
    for file in partition:
        if not (file.address or file.path.exists()):
            where = f"{visible(str(file.path))} is not to be seen on {platform.node()}"
            raise TextError(
                f"{where}; name it by a path that is the same on all machines."
            )


def count_partition(partition: Sequence[TextFile], pattern: str) -> bytes:
    """The counts of a partition, made by one thread: what `Counts.save` writes. `TextError` as from `Counts.read`, and
    for a file that is not there."""
    check(partition)
    counts = Counts(pattern)
    counts.add(partition, Reading(partition, None))
    return counts.to_bytes()


def merge_counts(counts: Iterable[bytes]) -> bytes:
    """Counts as if counted together, in this order. Merging some first, and then the rest, gives the same."""
    return reduce(
        Counts.merge, map(Counts.load, counts)
    ).to_bytes()  # one at a time: each may be large


def encode_partition(
    partition: Sequence[TextFile], tokenizer: Tokenizer, path: str, **specials: Any
) -> int:
    """Write the ids of files to a parquet file, a row a document: `source` and `ids`; how many ids there are.
    `specials` are those of `Tokenizer.encode`; all ids of the partition are held."""
    pa, parquet = (
        installed(module, "A file of ids", "dask")
        for module in ("pyarrow", "pyarrow.parquet")
    )
    check(partition)
    ids, ends, sources = array("I"), [0], list[str]()
    for file in partition:
        for blocks in file.documents():
            for part in tokenizer.divide(blocks, **specials):
                ids += (
                    tokenizer.encode_to_array(part)
                    if isinstance(part, str)
                    else array("I", part)
                )
            ends.append(len(ids))
            sources.append(file.source_name)
    values = pa.Array.from_buffers(pa.uint32(), len(ids), [None, pa.py_buffer(ids)])
    rows = {
        "source": pa.array(sources, pa.string()),
        "ids": pa.LargeListArray.from_arrays(ends, values),
    }
    write_whole(path, partial(parquet.write_table, pa.table(rows), compression="zstd"))
    return len(ids)


class Cluster:
    """Workers of Dask, each of which counts or encodes on one thread; made by `connected`.

    The task of a worker that dies is done again by another. What `progress` raises ends the work. Raises `ClusterError`
    where the workers cannot do it and `TextError` for a file that they do not see.
    """

    def __init__(
        self, client: Any, in_turn: Callable[[list[Any]], Iterator[Any]]
    ) -> None:
        self._client, self._in_turn = client, in_turn

    def read(
        self,
        files: Sequence[TextFile],
        pattern: str,
        *,
        progress: OnRead = lambda *_: None,
        spill: "Spill | None" = None,
    ) -> Counts:
        """What `Counts.read` gives, counted in `partitions`. The last counts are merged here, where they may spill."""
        leaves = {
            self._submit(count_partition, part, pattern): part
            for part in partitions(files)
        }
        counts = [*leaves]
        progress(0, sum(file.size for file in files), files[0].name)
        while len(counts) > AT_ONCE:
            counts = [
                self._submit(merge_counts, counts[i : i + AT_ONCE])
                for i in range(0, len(counts), AT_ONCE)
            ]
        loaded = (
            Counts.load(self._result(counts.pop(0), leaves, progress), spill)
            for _ in range(len(counts))
        )
        whole, given = (
            reduce(Counts.merge, loaded),
            {file.path.absolute(): file.path for file in files},
        )
        whole.skipped = [replace(one, path=given[one.path]) for one in whole.skipped]
        return whole.checked()

    def encode(
        self,
        files: Sequence[TextFile],
        tokenizer: Tokenizer,
        folder: Path,
        progress: OnRead,
        **specials: Choice,
    ) -> int:
        """Make the folder, which the workers must see too, with a parquet file of ids for each partition, or nothing;
        how many ids there are. `specials` are as in `Tokenizer.encode`."""
        leaves, new = dict[Any, list[TextFile]](), new_beside(folder)
        with as_format_error(folder):
            if folder.exists():
                raise ValueError("it is there; name a new folder")
            new.mkdir()
        try:
            shared = self._client.scatter(tokenizer, broadcast=True)
            for number, part in enumerate(partitions(files)):
                leaves[
                    self._submit(
                        encode_partition,
                        part,
                        shared,
                        f"{new}/{number:06}.parquet",
                        **specials,
                    )
                ] = part
            n = self._result(self._submit(sum, [*leaves]), leaves, progress)
            new.rename(folder)
            return int(n)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise

    def _submit(self, work: Callable[..., object], *given: Any, **options: Any) -> Any:
        """The future of `work`. Not "pure" in Dask's sense: in the next run the same path may be another text. Merging
        comes before counting, lest all counts of a corpus wait in memory."""
        return self._client.submit(
            work, *given, pure=False, priority=int(work is merge_counts), **options
        )

    def _result(
        self, wanted: Any, leaves: dict[Any, list[TextFile]], progress: OnRead
    ) -> Any:
        """The result of `wanted`. The leaves below are let go when they are done, so that the workers forget them."""
        done, total = 0, sum(file.size for part in leaves.values() for file in part)
        for leaf in self._in_turn([*leaves]):
            part = leaves.pop(leaf)
            if leaf.status != "finished":
                wanted = leaf
                break
            del leaf
            done += sum(file.size for file in part)
            progress(done, total, part[-1].name)
        for _ in self._in_turn([wanted]):  # which looks for Ctrl+C meanwhile
            pass
        try:
            return wanted.result()
        except BpeError:
            raise
        except Exception as error:  # of Dask: a worker that died four times at one task, a scheduler that is gone
            what = visible(shortened(f"{type(error).__name__}: {error}", 200)).rstrip(
                "."
            )
            raise ClusterError(
                f"The workers cannot do it ({what}); look into their log, and begin again."
            ) from None


@contextmanager
def connected(
    address: str, seconds: float = WAIT, look: Callable[[], object] = bool
) -> Iterator[Cluster]:
    """Connect to the Dask workers of a scheduler, or start some on this machine.

    Args:
        address: The address of the scheduler; "local" for one worker per core of this machine, which end at the end.
        seconds: How long the scheduler may take to answer and to have a worker.
        look: Called several times a second while the workers are waited for. What it raises ends the work.

    Raises:
        ClusterError: The scheduler does not answer in time or has no workers, or the local workers don't start.
        FetchError: Dask is not installed.
    """
    distributed = installed("distributed", "Work on many machines", "dask")
    log = logging.getLogger("distributed")
    with ExitStack() as stack:
        stack.callback(log.setLevel, log.level)
        log.setLevel(_SILENT)
        scheduler: Any = address
        if address == "local":
            scheduler = stack.enter_context(_local_cluster(distributed, look))
        client = _Connection(distributed, scheduler).client(seconds, address, look)
        stack.callback(client.close)

        def in_turn(futures: list[Any]) -> Iterator[Any]:
            """Yield the futures as they end."""
            ended = distributed.as_completed(futures, loop=client.loop)
            while ended.count():
                batch = ended.next_batch(block=False)
                yield from batch
                if not batch:
                    look()
                    sleep(_LOOK_EVERY)

        yield Cluster(client, in_turn)


@contextmanager
def _local_cluster(distributed: Any, look: Callable[[], object]) -> Iterator[Any]:
    """Start one worker per core of this machine, with one thread each. An exception kills the workers at once."""
    others = {process.pid for process in active_children()}

    def kill_workers() -> None:
        for process in active_children():
            if process.pid not in others and process.name.startswith("Dask Worker"):
                process.kill()

    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        resource_tracker.ensure_running()  # it would unblock SIGINT if it were started later
        starting = _InThread(
            lambda: distributed.LocalCluster(
                threads_per_worker=1,
                # No limit: the last merges take the memory of several workers, and Dask would end such a worker.
                memory_limit=0,
                dashboard_address=None,
                silence_logs=_SILENT,
                local_directory=folder,
                # Any free port for the dashboard: Dask warns if the usual one is taken.
                scheduler_kwargs={
                    "local_directory": folder,
                    "dashboard_address": "127.0.0.1:0",
                },
            )
        )
        try:
            cluster = starting.result(look)
        except (RuntimeError, OSError) as error:  # a worker was killed while it started
            raise ClusterError(
                f"The Dask workers of this machine did not start ({_short(error)}); try again, or count without --dask."
            ) from None
        except BaseException:
            with suppress(Exception):  # such as that the workers were killed
                cluster = starting.result(kill_workers)
                _InThread(cluster.close).result(kill_workers)
            raise
        try:
            yield cluster
        except BaseException:
            with suppress(Exception):
                _InThread(cluster.close).result(kill_workers)
            raise
        cluster.close()


class _InThread:
    """A call in a thread of its own, so that Ctrl+C ends the wait for it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call: Final = call
        self._future: Final[Future[Any]] = Future()
        Thread(target=self._run, daemon=True).start()

    def result(self, look: Callable[[], object]) -> Any:
        """Return or raise what the call does. `look` is called while it runs; what that raises ends the wait."""
        while not wait([self._future], _LOOK_EVERY).done:
            look()
        return self._future.result()

    def _run(self) -> None:
        # Ctrl+C reaches all processes of a terminal. The workers inherit that it is blocked, and leave it to us.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self._future.set_result(self._call())
        except BaseException as error:
            self._future.set_exception(error)


class _Connection:
    """Connects to a scheduler in a thread, since a scheduler that never answers would block Dask for ever."""

    def __init__(self, distributed: Any, scheduler: Any) -> None:
        self._distributed: Final = distributed
        self._scheduler: Final = scheduler
        self._client: Any = None
        self._error: Exception | None = None
        self._has_ended: Final = Event()
        self._is_abandoned = False

    def client(self, seconds: float, address: str, look: Callable[[], object]) -> Any:
        """Return the client of a scheduler that has a worker. Raises `ClusterError`."""
        deadline = monotonic() + seconds
        Thread(target=self._connect, args=(seconds,), daemon=True).start()
        try:
            while not self._has_ended.wait(_LOOK_EVERY):  # Ctrl+C ends this wait
                look()
                if monotonic() > deadline:
                    raise TimeoutError(f"no answer within {seconds:g} s")
            if self._error is not None:
                raise self._error
        except BaseException as error:
            self._is_abandoned = True
            if self._client is not None:
                self._client.close()
            if isinstance(error, Stopped) or not isinstance(error, Exception):
                raise
            raise ClusterError(_why_not_connected(error, address)) from None
        return self._client

    def _connect(self, seconds: float) -> None:
        try:
            quiet_client = _client_class(self._distributed, seconds)
            self._client = quiet_client(
                self._scheduler, timeout=seconds, set_as_default=False
            )
            if self._is_abandoned:
                self._client.close()
            else:
                self._client.wait_for_workers(1, timeout=seconds)
        except (
            Exception
        ) as error:  # of many types: Dask's, those of the system and of its protocols
            self._error = error
        finally:
            self._has_ended.set()


def _client_class(distributed: Any, seconds: float) -> Any:
    """Return Dask's client, but with one clock for the handshake, and without threads or words after a failure."""

    class QuietClient(distributed.Client):  # type: ignore[misc]
        def __del__(self) -> None:
            """A client that finds no scheduler would complain again when it is freed."""

        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self._loop_runner.stop()
                raise

        async def _start(self, **options: Any) -> Any:
            try:
                return await asyncio.wait_for(super()._start(**options), seconds)
            except TimeoutError as error:
                sentence = str(error) or f"no answer within {seconds:g} s"
                raise TimeoutError(sentence) from None

    return QuietClient


def _why_not_connected(error: Exception, address: str) -> str:
    """Return the sentence about an address that is not that of a usable scheduler."""
    name = quoted(address, 100)
    if isinstance(error, MemoryError | AssertionError):
        return (
            f"What answers at {name} is not a Dask scheduler, perhaps its dashboard; give the address of the scheduler, "
            "such as tcp://10.0.0.1:8786."
        )
    if isinstance(
        error, TypeError | ImportError
    ):  # such as tls:// without certificates
        return (
            f"Dask can't use the address {name} ({_short(error)}); give one such as tcp://10.0.0.1:8786, or configure "
            "Dask for it."
        )
    return (
        f"No Dask cluster is at {name} ({_short(error)}); `dask scheduler` and `dask worker` start one, and "
        "--dask local needs none."
    )


def _short(error: Exception) -> str:
    return visible(shortened(str(error) or type(error).__name__, 200)).rstrip(".")
