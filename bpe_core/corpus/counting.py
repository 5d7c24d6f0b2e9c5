"""Counting by the kernel: files are read here, one after the other, and their pieces counted by several threads.

The threads work free of the GIL, each on the next share of the corpus; their tables are put together in its order, so
the result is that of one thread.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import chain, islice
from typing import Final

from bpe_core import kernel
from bpe_core.corpus.counts import Counts, Measure, Source, parts
from bpe_core.corpus.reading import REPORT_EVERY, Document, Reading, Unreadable

LEAST: Final = 1 << 18
"""Bytes that are handed to a thread at a time, at least, for a small corpus."""

_MOST: Final = 1 << 22
"""Bytes that are handed to a thread at a time, at most. The more shares, the more tables are to be put together."""

_AHEAD: Final = 2
"""Shares that wait for each thread, at most: they are in memory."""


def count_together(
    counts: Counts, documents: Iterable[Document], scanner: "kernel.Scanner", reading: Reading, n_threads: int
) -> None:
    """Count documents as `Counts.add` does, by so many threads.

    `reading` is asked meanwhile whether to stop; when it raises `Stopped`, the shares under way are not waited for, and
    the first documents of the corpus are counted.
    """
    threads = ThreadPoolExecutor(n_threads)
    shares = _Shares(counts, scanner, reading, threads, n_threads)
    try:
        for document in documents:
            shares.add(document)
        shares.finish()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


class _Shares:
    """The shares of a corpus on their way to its counts: small documents together, large ones in parts."""

    def __init__(
        self, counts: Counts, scanner: "kernel.Scanner", reading: Reading, threads: ThreadPoolExecutor, n_threads: int
    ) -> None:
        self._counts, self._scanner, self._reading, self._threads = counts, scanner, reading, threads
        self._size = min(max(reading.total // 16, LEAST), _MOST)
        self._most = _AHEAD * n_threads
        self._small: list[tuple[bytes, Source]] = []
        self._counted: deque[tuple[Future[kernel.PieceTable], Callable[[kernel.PieceTable], None]]] = deque()

    def add(self, document: Document) -> None:
        """Read a document and have it counted; if that fails, it is skipped."""
        measure = Measure()
        texts = parts(measure.encoded(document.blocks), self._scanner, self._size)
        try:
            held = list(islice(texts, 2))
            if len(held) == 2:
                self._add_in_parts(chain(held, texts), lambda: measure.source(document.name))
                return
            self._small.append((b"".join(held), measure.source(document.name)))
        except Unreadable as error:
            self._counts.skip(document.file, error)
        if sum(len(text) for text, _ in self._small) >= self._size:
            self._submit_small()

    def _add_in_parts(self, texts: Iterator[bytes], source: Callable[[], Source]) -> None:
        self._submit_small()
        whole = kernel.PieceTable(None)
        for text in texts:
            self._submit([text], lambda table: whole.append(table, 0))
        self._submit([], lambda _: self._counts.take(whole, [source()]))

    def _submit_small(self) -> None:
        if self._small:
            texts, sources = zip(*self._small, strict=True)
            self._small = []
            self._submit(texts, partial(self._counts.take, sources=sources))

    def _submit(self, texts: Sequence[bytes], then: "Callable[[kernel.PieceTable], None]") -> None:
        self._counted.append((self._threads.submit(_counted, self._scanner, texts), then))
        while len(self._counted) > self._most:
            self._take_first()

    def _take_first(self) -> None:
        table, then = self._counted[0]
        while not table.done():
            self._reading.look()
            wait((table,), REPORT_EVERY)
        self._counted.popleft()
        then(table.result())

    def finish(self) -> None:
        """Put everything together that has been read."""
        self._submit_small()
        while self._counted:
            self._take_first()


def _counted(scanner: "kernel.Scanner", texts: Sequence[bytes]) -> "kernel.PieceTable":
    """The pieces of documents, numbered from 0."""
    table = kernel.PieceTable(scanner)
    for number, text in enumerate(texts):
        table.add(text, number)
    return table
