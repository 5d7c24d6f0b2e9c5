"""Connecting to the workers of Dask, or starting them on this machine, so that Ctrl+C ends it."""

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import active_children, resource_tracker
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, Final

from bpe_core.errors import ClusterError, Stopped
from bpe_core.process import installed
from bpe_core.visible import quoted, shortened, visible
from bpe_core.worker.cluster import Cluster

WAIT: Final = 10
"""Maximum seconds until a scheduler answers and has a worker."""
_LOOK_EVERY: Final = 0.05
"""Seconds between two calls of `look`."""
_SILENT: Final = logging.CRITICAL + 1
"""A log level that no message reaches: an error is reported in one sentence instead."""

Look = Callable[[], object]
"""A function that is called several times a second during a wait. If it raises, the work ends."""


@contextmanager
def connected(
    address: str, seconds: float = WAIT, look: Look = bool
) -> Iterator[Cluster]:
    """Connect to the Dask workers of a scheduler, or start some on this machine.

    Args:
        address: The address of the scheduler, or "local" for one worker per core of this machine.
            Local workers end when the context ends.
        seconds: How long the scheduler may take to answer and to have a worker.
        look: Called several times a second while waiting for workers. If it raises, the work ends.

    Raises:
        ClusterError: The scheduler does not answer in time or has no workers, or the local workers
            don't start.
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
        client = _connect(distributed, scheduler, address, seconds, look)
        stack.callback(client.close)
        as_completed = partial(distributed.as_completed, loop=client.loop)
        yield Cluster(client, partial(in_turn, as_completed, look))


def in_turn(
    as_completed: Callable[[list[Any]], Any], look: Look, futures: list[Any]
) -> Iterator[Any]:
    """Yield futures as they end.

    Yielded futures are not kept, because workers hold a result as long as its future exists.
    """
    waiting = as_completed(futures)
    del futures
    while waiting.count():
        ended = waiting.next_batch(block=False)
        if not ended:
            look()
            sleep(_LOOK_EVERY)
        while ended:
            yield ended.pop(0)


@contextmanager
def _local_cluster(distributed: Any, look: Look) -> Iterator[Any]:
    """Start one worker per core of this machine, each with one thread.

    An exception kills the workers at once.
    """
    other_children = {process.pid for process in active_children()}

    def kill_workers() -> None:
        for process in active_children():
            is_worker = process.name.startswith("Dask Worker")
            if is_worker and process.pid not in other_children:
                process.kill()

    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # Python's resource tracker unblocks SIGINT when it starts. Workers must inherit it blocked.
        resource_tracker.ensure_running()
        starting = _InThread(partial(_start_workers, distributed, folder))
        try:
            cluster = starting.result(look)
        except (RuntimeError, OSError) as error:  # a worker was killed while it started
            raise ClusterError(
                f"The Dask workers of this machine did not start ({_reason(error)}); "
                "try again, or count without --dask."
            ) from None
        except BaseException:
            with suppress(Exception):  # the workers were killed before all had started
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


def _start_workers(distributed: Any, folder: str) -> Any:
    """Start a scheduler and workers that keep their files in `folder`."""
    return distributed.LocalCluster(
        threads_per_worker=1,
        # No limit: the last merges take the memory of several workers, and Dask would end such
        # a worker.
        memory_limit=0,
        dashboard_address=None,
        silence_logs=_SILENT,
        local_directory=folder,
        scheduler_kwargs={
            "local_directory": folder,
            # Any free port: Dask warns if the usual one is taken.
            "dashboard_address": "127.0.0.1:0",
        },
    )


class _InThread:
    """Runs a call in a separate thread, so that Ctrl+C ends the wait for the call."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call: Final = call
        self._future: Final[Future[Any]] = Future()
        Thread(target=self._run, daemon=True).start()

    def result(self, look: Look) -> Any:
        """Return the result of the call, or raise its exception. An exception of `look` ends the wait."""
        while not wait([self._future], _LOOK_EVERY).done:
            look()
        return self._future.result()

    def _run(self) -> None:
        # Ctrl+C reaches all processes of a terminal. Workers inherit that it is blocked, so that
        # only this process handles it.
        if hasattr(signal, "pthread_sigmask"):  # not on Windows
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self._future.set_result(self._call())
        except BaseException as error:
            self._future.set_exception(error)


def _connect(
    distributed: Any, scheduler: Any, address: str, seconds: float, look: Look
) -> Any:
    """Connect to a scheduler and wait for its first worker. Raises `ClusterError` if that fails or takes too long."""
    clients = []
    has_given_up = Event()
    deadline = monotonic() + seconds

    def connect() -> None:
        quiet_client = _client_class(distributed, seconds)
        client = quiet_client(scheduler, timeout=seconds, set_as_default=False)
        clients.append(client)
        if has_given_up.is_set():
            client.close()
        else:
            client.wait_for_workers(1, timeout=seconds)

    def look_at_clock() -> None:
        look()
        if monotonic() > deadline:
            raise TimeoutError(f"no answer within {seconds:g} s")

    try:
        # In a thread, since Dask waits for ever for a scheduler that does not answer.
        _InThread(connect).result(look_at_clock)
    except BaseException as error:
        has_given_up.set()
        for client in clients:
            client.close()
        if isinstance(error, Stopped) or not isinstance(error, Exception):
            raise
        raise ClusterError(_why_not_connected(error, address)) from None
    return clients[0]


def _client_class(distributed: Any, seconds: float) -> Any:
    """Return a class like Dask's client, but with one clock for the whole handshake.

    If the handshake fails, it leaves no thread and prints nothing.
    """

    class QuietClient(distributed.Client):  # type: ignore[misc]
        def __del__(self) -> None:
            """Do nothing: a client without a scheduler would print its error again when it is freed."""

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
    """Return a sentence about an address without a usable scheduler."""
    name = quoted(address, 100)
    if isinstance(error, MemoryError | AssertionError):
        return (
            f"The server at {name} is not a Dask scheduler (it may be the dashboard); "
            "give the address of the scheduler, such as tcp://10.0.0.1:8786."
        )
    if isinstance(
        error, TypeError | ImportError
    ):  # such as tls:// without certificates
        return (
            f"Dask can't use the address {name} ({_reason(error)}); "
            "give one such as tcp://10.0.0.1:8786, or configure Dask for it."
        )
    return (
        f"No Dask cluster found at {name} ({_reason(error)}); "
        "start one with `dask scheduler` and `dask worker`, or use --dask local."
    )


def _reason(error: Exception) -> str:
    reason = str(error) or type(error).__name__
    return visible(shortened(reason, 200)).rstrip(".")
