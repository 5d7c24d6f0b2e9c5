"""Encoding documents to what is printed of them: where the kernel encodes, by several threads, otherwise by this one.

Documents are read and divided here, one after the other. Threads take what is divided, some of it at a time, and make
of it the ids as they are printed, which are put in order here. The kernel works free of the GIL.
"""

from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from bpe_core import kernel
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.specials import Choice

if TYPE_CHECKING:  # most texts are small
    from concurrent.futures import Future, ThreadPoolExecutor

SHARE: Final = 1 << 18
"""Characters that are handed to a thread at a time, at least. What is less at the end is encoded by this thread."""

_MOST: Final = 1 << 20
"""Characters in a share at most, or else it is encoded by this thread: an interruption reaches the kernel only here."""

_AHEAD: Final = 2
"""Shares that wait for each thread, at most: they are in memory, and so is what is printed of them."""

Part = str | list[int] | Exception | None
"""What `Tokenizer.divide` gives; what was raised instead of more; None behind the last part of a document."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a part of a document."""

    n: int
    """How many ids there are."""
    text: str
    """The ids as they are printed, separated; "" if only their number was asked for."""


class Encoding:
    """How documents are encoded, and their ids printed."""

    def __init__(self, tokenizer: Tokenizer, allowed: Choice, disallowed: Choice, between: str | None) -> None:
        """`allowed` and `disallowed` are special tokens as in `Tokenizer.encode`.

        `between` separates printed ids; None if only their number is asked for.
        """
        self._tokenizer, self._allowed, self._disallowed, self._between = tokenizer, allowed, disallowed, between

    def encode(self, documents: Iterable[Iterable[str]], n_threads: int) -> Generator[Ids | None, None, None]:
        """Yield the ids of documents, each of which comes in blocks: those of its parts in order, then None.

        It is the same for any number of threads, also what is yielded before an error: one of
        `Tokenizer.divide`, or of whoever reads the documents. Closing the iterator waits for no thread.
        """
        parts = self._parts(documents)
        if n_threads > 1 and kernel.available:
            shares = in_order(self._encoded_share, _shares(parts), n_threads, _stays)
        else:
            shares = ([self._encoded(part)] for part in parts)
        for share in shares:
            for ids in share:
                if isinstance(ids, Exception):
                    raise ids
                yield ids

    def _parts(self, documents: Iterable[Iterable[str]]) -> Iterator[Part]:
        options = {"allowed_special": self._allowed, "disallowed_special": self._disallowed}
        try:
            for blocks in documents:
                yield from self._tokenizer.divide(blocks, **options)
                yield None
        except Exception as error:
            yield error

    def _encoded_share(self, parts: Sequence[Part]) -> list[Ids | Exception | None]:
        return list(map(self._encoded, parts))

    def _encoded(self, part: Part) -> Ids | Exception | None:
        if part is None or isinstance(part, Exception):
            return part
        try:
            ids = self._tokenizer.encode_to_array(part) if isinstance(part, str) else part
            return Ids(len(ids), "" if self._between is None else _printed(ids, self._between))
        except Exception as error:
            return error


def _printed(ids: Sequence[int], between: str) -> str:
    return kernel.decimals((ids if isinstance(ids, array) else array("I", ids)).tobytes(), between)


def _size(part: Part) -> int:
    return len(part) if isinstance(part, str | list) else 0


def _shares(parts: Iterable[Part]) -> Iterator[list[Part]]:
    share: list[Part] = []
    size = 0
    for part in parts:
        share.append(part)
        size += _size(part) + 1
        if size >= SHARE:
            yield share
            share, size = [], 0
    yield share


def _stays(share: Sequence[Part]) -> bool:
    """Whether a share is encoded by this thread: the last one, and one that takes long."""
    return not SHARE <= sum(map(_size, share)) + len(share) <= _MOST


def in_order(work: Callable[[T], R], jobs: Iterable[T], n_threads: int, stays: Callable[[T], bool]) -> Iterator[R]:
    """Yield what `work` makes of each job, in their order; so many threads work, on all jobs but those that `stays`.

    A few jobs are taken ahead of the result that is next. No thread is started before the first job that needs one.
    """
    threads: ThreadPoolExecutor | None = None
    waiting: deque[Future[R]] = deque()
    try:
        for job in jobs:
            if stays(job):
                while waiting:
                    yield waiting.popleft().result()
                yield work(job)
                continue
            if threads is None:
                threads = _new_threads(n_threads)
            waiting.append(threads.submit(work, job))
            if len(waiting) > _AHEAD * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        if threads:
            threads.shutdown(wait=False, cancel_futures=True)


def _new_threads(n_threads: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor  # late: most texts are small

    return ThreadPoolExecutor(n_threads)
