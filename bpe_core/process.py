"""This process: its standard streams, closed, full or without a reader; beginning and end; extras, threads, garbage."""

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from bpe_core.errors import FetchError, KernelError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

INTERRUPTED: Final = 130  # the exit code after Ctrl+C
AHEAD: Final = 2  # items that wait for each thread, at most: they are in memory, and so is what is made of them
_LOOK_EVERY: Final = 0.02  # seconds between two calls of `meanwhile`
T = TypeVar("T")
R = TypeVar("R")


def open_closed_streams() -> None:
    """Open /dev/null at each standard descriptor that is closed, lest the next file opened become stdout or stderr.

    stdin for writing and stdout for reading only, so that using them is still an error; what is printed to stderr is
    discarded.
    """
    for descriptor, name, mode in (
        (0, "stdin", os.O_WRONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # the lowest that is free, which is this one
        if getattr(sys, name) is None:
            stream = open(descriptor, "w" if descriptor else "r", closefd=False)  # noqa: SIM115  to the very end
            setattr(sys, name, stream)


class Unfailing:
    """Wraps a stream so that writing never raises OSError; what cannot be written (a closed terminal) is discarded."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")
        self.isatty, self.fileno = stream.isatty, stream.fileno

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def print_to_stderr(sentence: str) -> None:
    """Print a line to stderr; if that cannot be written to, discard it."""
    print(sentence, file=Unfailing(sys.stderr), flush=True)


def guarded(run: Callable[[], int], prog: str) -> int:
    """What `run` returns, or exits with, its output flushed: 2 if that cannot be written, 0 if its reader has left."""
    open_closed_streams()
    try:
        try:
            code = run()
        except SystemExit as end:  # after --help, or a sentence on what is wrong
            code = end.code if isinstance(end.code, int) else 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read our output has enough
        return 0
    except OSError as error:
        print_to_stderr(
            f"{prog}: What is to be printed cannot be written: {error.strerror or error}."
        )
        return 2


def run_to_end(main: Callable[[], int], prog: str) -> NoReturn:
    """Run `main`, and end this process with what it returns.

    With 2 and a sentence where the compiled kernel is required and not there; with INTERRUPTED after a Ctrl+C. Python's
    own way out waits for threads, and frees a vocabulary of 200,000 tokens one by one: 0.1 seconds and more.
    """
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if os.environ.get("BPESCOPE_KERNEL") == "1":
            import_module(
                "bpe_core.kernel"
            )  # which refuses now, and not where it is imported late
        os._exit(main())
    except KernelError as error:
        print_to_stderr(f"{prog}: {error}")
        os._exit(2)
    except (
        KeyboardInterrupt
    ):  # answered with all frames still there: to free what they hold can take seconds
        print_to_stderr(f"{prog}: Interrupted.")
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(INTERRUPTED)


def installed(module: str, what: str, extra: str) -> Any:
    """A module of a library, imported. Raises `FetchError`, which says that `what` needs the library of the extra."""
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0].replace("_", "-")
        raise FetchError(
            f"{what} needs {name}, of the extra [{extra}]: pip install {name}."
        ) from None


def available_cores() -> int:
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def most_threads() -> int:
    """As many threads as there are cores, at most 8: one puts all results together, which limits the gain of more."""
    return min(available_cores(), 8)


def in_order(
    work: Callable[[T], R],
    items: Iterable[T],
    n_threads: int,
    *,
    here: Callable[[T], bool] = lambda _: False,
    meanwhile: Callable[[], object] | None = None,
) -> Iterator[R]:
    """Yield what `work`, which is free of the GIL, makes of each item, in their order; by so many threads, but in this
    one where `here` says so. A few items are taken ahead of the result that is next.

    `meanwhile` is called while a result is waited for. Raising, or closing the iterator, waits for no thread.
    """
    threads: Executor | None = None
    waiting: deque[Future[R]] = deque()

    def results(most: int) -> Iterator[R]:
        while len(waiting) > most:
            while meanwhile and not waiting[0].done():
                meanwhile()
                with suppress(TimeoutError):
                    waiting[0].exception(_LOOK_EVERY)
            yield waiting.popleft().result()

    try:
        for item in items:
            if here(item):
                yield from results(0)
                yield work(item)
            else:
                from concurrent.futures import (
                    ThreadPoolExecutor,
                )  # late: most texts are small

                threads = threads or ThreadPoolExecutor(n_threads)
                waiting.append(threads.submit(work, item))
                yield from results(AHEAD * n_threads)
        yield from results(0)
    finally:
        if threads:
            threads.shutdown(wait=False, cancel_futures=True)


def shares(items: Iterable[T], least: int) -> Iterator[tuple[int, list[T]]]:
    """Items, each of which has a length or is None, put together until they are worth a thread, and their size: `least`
    or more, but of the last share."""
    share, size = list[T](), 0
    for item in items:
        share.append(item)
        size += len(item or ()) + 1  # type: ignore[arg-type]
        if size >= least:
            yield size, share
            share, size = [], 0
    yield size, share


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, for all threads, where many objects are made and no cycles; then it is as it was."""
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()
