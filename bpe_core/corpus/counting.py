"""Counting by several workers: a corpus goes out in portions, and their counts come back and are put together.

The counts are taken in the order of the corpus, so the result is the same as that of one worker.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice

from bpe_core.corpus.counts import Counts
from bpe_core.corpus.progress import REPORT_EVERY, Reading
from bpe_core.corpus.reading import CHANGED, TextFile, Unreadable
from bpe_core.corpus.sources import Measure
from bpe_core.parallel.portions import Cut, OnProgress, Portion, portion_size, portions
from bpe_core.parallel.process_pool import ProcessPool
from bpe_core.patterns import Splitter


def read_together(counts: Counts, files: Sequence[TextFile], reading: Reading, n_workers: int) -> None:
    """Append the counts of `files` to `counts`, as `Counts.read` does, by several threads or processes."""
    document = _Document()
    jobs = portions(files, portion_size(reading.total, n_workers), safe_cut(counts.splitter))
    work_by = _by_threads if counts.is_compiled else _by_processes
    for portion, counted in work_by(counts, jobs, n_workers, reading.report):
        if portion.end is None:
            counts.append(counted)
        elif whole := document.take(portion, counted):
            counts.append(whole)
        reading.before += portion.size
        reading.name = portion.name


def _by_processes(
    counts: Counts, jobs: Iterable[Portion], n_workers: int, progress: OnProgress
) -> Iterator[tuple[Portion, Counts]]:
    with ProcessPool(CountPortion(counts.pattern), n_workers) as pool:
        yield from pool.results(jobs, progress)
        counts.n_lost = pool.n_lost


def _by_threads(
    counts: Counts, jobs: Iterable[Portion], n_workers: int, progress: OnProgress
) -> Iterator[tuple[Portion, Counts]]:
    """The jobs in order, counted. `progress` is told how much is done past the last one that was taken."""
    work, jobs = CountPortion(counts.pattern), iter(jobs)
    waiting: deque[tuple[Portion, Future[Counts]]] = deque()
    with ThreadPoolExecutor(n_workers) as threads:
        try:
            while True:
                for job in islice(jobs, 2 * n_workers - len(waiting)):
                    waiting.append((job, threads.submit(work, job, lambda _: None)))
                if not waiting:
                    return
                progress(sum(job.size for job, counted in waiting if counted.done()))
                first, counted = waiting[0]
                if counted.done():
                    waiting.popleft()
                    yield first, counted.result()
                else:
                    wait((counted,), REPORT_EVERY)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def safe_cut(splitter: Splitter) -> Cut | None:
    """Where no piece lies across; None if the pattern proves none."""
    return partial(splitter.cut, at_least=1) if splitter.blockwise else None


@dataclass(frozen=True, slots=True)
class CountPortion:
    """Counts whole files, or a part of one."""

    pattern: str

    def __call__(self, portion: Portion, progress: OnProgress) -> Counts:
        """The counts of a portion."""
        counts = Counts(self.pattern)
        for file, blocks in portion.texts(progress):
            counts.add_file(file, blocks)
        return counts


class _Document:
    """A document that comes in parts."""

    def take(self, portion: Portion, part: Counts) -> Counts | None:
        """The whole document, once its last part is here; without a piece if one of them was unreadable."""
        file = portion.files[0]
        if not portion.start:
            self._whole, self._measure = part, Measure()
        elif part.skipped:
            self._whole = part
        elif not self._whole.skipped:
            self._whole.go_on(part)
        if not self._whole.skipped:
            before = self._measure.bytes
            self._measure.part(portion.data(), part.n_characters)
            if self._measure.bytes - before == part.n_bytes:
                self._whole.is_of(self._measure.source(file.name))
            else:  # what was counted is not there any more
                self._whole = Counts(part.pattern)
                self._whole.skip(file, Unreadable(file.name, CHANGED))
        return self._whole if portion.end == file.size else None
