"""Counting by several workers: portions of the corpus are counted apart, and their counts appended to one another.

They are appended in the order of the corpus, so the result is the same as that of one worker.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
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
    """Count `files` by `n_workers` threads (where the kernel counts) or processes, and append the result to `counts`.

    `reading` is told how many bytes are done; raises `Stopped` when it does, and `Unreadable` for a required file.
    """
    document = _Document()
    jobs = portions(files, portion_size(reading.total, n_workers), safe_cut(counts.splitter))
    work_by = _by_threads if counts.is_compiled else _by_processes
    for portion, counted in work_by(counts, jobs, n_workers, reading.report):
        if portion.end is None:
            counts.append(counted)
        elif whole := document.add(portion, counted):
            counts.append(whole)
        reading.before += portion.size
        reading.name = portion.name


def read_stretches(counts: Counts, stretches: Sequence[Portion], reading: Reading, n_workers: int) -> None:
    """Count stretches of files, each a document, and append the result to `counts`; otherwise as `read_together`."""
    work_by = _alone if n_workers < 2 else _by_threads if counts.is_compiled else _by_processes
    for portion, counted in work_by(counts, stretches, n_workers, reading.report):
        if portion.end is not None:
            place = f" (bytes {portion.start:,} to {portion.end:,})"
            counted.sources = [replace(source, name=source.name + place) for source in counted.sources]
        counts.append(counted)
        reading.before += portion.size
        reading.name = portion.name


def _alone(
    counts: Counts, jobs: Iterable[Portion], n_workers: int, progress: OnProgress
) -> Iterator[tuple[Portion, Counts]]:
    work = CountPortion(counts.pattern)
    return ((job, work(job, progress)) for job in jobs)


def _by_processes(
    counts: Counts, jobs: Iterable[Portion], n_workers: int, progress: OnProgress
) -> Iterator[tuple[Portion, Counts]]:
    with ProcessPool(CountPortion(counts.pattern), n_workers) as pool:
        yield from pool.results(jobs, progress)
        counts.n_lost = pool.n_lost


def _by_threads(
    counts: Counts, jobs: Iterable[Portion], n_workers: int, progress: OnProgress
) -> Iterator[tuple[Portion, Counts]]:
    """Yield (job, its counts) in order. `progress` is called with the bytes done of the jobs not yet yielded."""
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
    """A function that finds where a text may be cut so that no piece lies across; None if the pattern proves no cut."""
    return partial(splitter.cut, at_least=1) if splitter.blockwise else None


@dataclass(frozen=True, slots=True)
class CountPortion:
    """The task of a worker: count whole files, or a part of one."""

    pattern: str

    def __call__(self, portion: Portion, progress: OnProgress) -> Counts:
        """The counts of a portion; `progress` is called with the bytes of it that are done. Raises Unreadable."""
        counts = Counts(self.pattern)
        for file, blocks in portion.texts(progress):
            counts.add_file(file, blocks)
        return counts


class _Document:
    """Puts together the counts of a large file whose parts were counted apart; used for one file after another."""

    def add(self, portion: Portion, part: Counts) -> Counts | None:
        """Add the counts of the next part; the counts of the whole file with its last part, None before.

        Reads the part once more for the size and digest of the file. If a part was unreadable, or is not as it was
        counted, the result holds no piece, but the file as skipped.
        """
        file = portion.files[0]
        if not portion.start:
            self._whole, self._measure = part, Measure()
        elif part.skipped:
            self._whole = part
        elif not self._whole.skipped:
            self._whole.append_to_last(part)
        if not self._whole.skipped:
            before = self._measure.bytes
            self._measure.part(portion.data(), part.n_characters)
            if self._measure.bytes - before == part.n_bytes:
                self._whole.set_source(self._measure.source(file.name))
            else:  # the file has changed since it was counted
                self._whole = Counts(part.pattern)
                self._whole.skip(file, Unreadable(file.name, CHANGED))
        return self._whole if portion.end == file.size else None
