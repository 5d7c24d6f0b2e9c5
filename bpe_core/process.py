"""This process: standard streams, exit codes, optional libraries, threads, garbage collection."""

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from bpe_core.errors import FetchError, KernelError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

INTERRUPTED: Final = 130
"""The exit code after Ctrl+C."""
AHEAD: Final = 2
"""Maximum number of queued items per thread. The items and their results are in memory."""
_POLL_SECONDS: Final = 0.02
"""Seconds between two calls of `meanwhile`."""
T = TypeVar("T")
R = TypeVar("R")


def open_closed_streams() -> None:
    """Open /dev/null at each closed standard descriptor, so that no later file takes its number.

    stdin is opened for writing and stdout for reading, so that using them is still an error.
    Output to stderr is discarded.
    """
    for descriptor, name, mode in (
        (0, "stdin", os.O_WRONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number, which is this descriptor.
            os.open(os.devnull, mode)
        if getattr(sys, name) is None:
            stream_mode = "w" if descriptor else "r"
            stream = open(descriptor, stream_mode, closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


class Unfailing:
    """A text stream that discards output when writing fails, as to a closed terminal."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")
        self.isatty = stream.isatty
        self.fileno = stream.fileno

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def print_to_stderr(sentence: str) -> None:
    """Print a line to stderr, or discard it if stderr cannot be written to."""
    print(sentence, file=Unfailing(sys.stderr), flush=True)


def guarded(run: Callable[[], int], prog: str) -> int:
    """Run `run`, flush its output, and return the exit code.

    Returns:
        The code that `run` returns or exits with; 2 if stdout cannot be written to, 0 if its
        reader has closed the pipe.
    """
    open_closed_streams()
    try:
        try:
            code = run()
        except SystemExit as end:  # after --help, or wrong usage
            code = end.code if isinstance(end.code, int) else 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has enough
        return 0
    except OSError as error:
        print_to_stderr(
            f"{prog}: The output cannot be written: {error.strerror or error}."
        )
        return 2


def run_to_end(main: Callable[[], int], prog: str) -> NoReturn:
    """Run `main`, and end this process with its exit code.

    The code is 2 if the compiled kernel is required but missing, and INTERRUPTED after Ctrl+C.
    `os._exit` skips Python's shutdown, which waits for threads and frees a vocabulary of 200,000
    tokens one by one: 0.1 seconds and more.
    """
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if sys.platform == "win32":  # where pipes and files would get another encoding
            sys.stdout.reconfigure(encoding="utf-8")
            sys.stderr.reconfigure(encoding="utf-8")
        if os.environ.get("BPESCOPE_KERNEL") == "1":
            # It raises KernelError now, instead of at a late import.
            import_module("bpe_core.kernel")
        os._exit(main())
    except KernelError as error:
        print_to_stderr(f"{prog}: {error}")
        os._exit(2)
    except KeyboardInterrupt:
        # Exit while all frames are alive: freeing their objects can take seconds.
        print_to_stderr(f"{prog}: Interrupted.")
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(INTERRUPTED)


def installed(module: str, what: str, extra: str) -> Any:
    """Import a module of an optional library.

    Raises:
        FetchError: The library is not installed. The message says what `what` needs, and how to install it.
    """
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0].replace("_", "-")
        raise FetchError(
            f'{what} needs {name}. Install it with pip install "bpescope[{extra}]".'
        ) from None


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def most_threads() -> int:
    """Return the number of cores, at most 8: one thread joins all results, which limits the gain."""
    return min(available_cores(), 8)


def in_order(
    work: Callable[[T], R],
    items: Iterable[T],
    n_threads: int,
    *,
    in_this_thread: Callable[[T], bool] = lambda _: False,
    meanwhile: Callable[[], object] | None = None,
) -> Iterator[R]:
    """Yield the result of `work` for each item, in their order, computed by threads.

    A few items are read ahead of the next result. An exception, or closing the iterator, does not
    wait for the threads.

    Args:
        work: A function that releases the GIL.
        in_this_thread: Whether the calling thread does the work for an item itself.
        meanwhile: Called repeatedly while waiting for a result.
    """
    threads: Executor | None = None
    waiting: deque[Future[R]] = deque()

    def results(most: int) -> Iterator[R]:
        while len(waiting) > most:
            while meanwhile and not waiting[0].done():
                meanwhile()
                with suppress(TimeoutError):
                    waiting[0].exception(_POLL_SECONDS)
            yield waiting.popleft().result()

    try:
        for item in items:
            if in_this_thread(item):
                yield from results(0)
                yield work(item)
            else:
                # Imported late, since most texts are small.
                from concurrent.futures import ThreadPoolExecutor

                threads = threads or ThreadPoolExecutor(n_threads)
                waiting.append(threads.submit(work, item))
                yield from results(AHEAD * n_threads)
        yield from results(0)
    finally:
        if threads:
            threads.shutdown(wait=False, cancel_futures=True)


class Share(NamedTuple, Generic[T]):
    """A share of the items, for one thread."""

    size: int
    """The lengths of the items, plus 1 for each."""
    items: list[T]


def shares(items: Iterable[T], least: int) -> Iterator[Share[T]]:
    """Divide items into shares with a size of at least `least`, except for the last share.

    Each item has a length, or is None.
    """
    share = list[T]()
    size = 0
    for item in items:
        share.append(item)
        size += len(item or ()) + 1  # type: ignore[arg-type]
        if size >= least:
            yield Share(size, share)
            share = []
            size = 0
    yield Share(size, share)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, for all threads, while many objects without cycles are made."""
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()
