"""Counting by several processes: a corpus goes out in portions, and their counts come back and are put together.

The counts are taken in the order of the corpus, so the result is the same as that of one process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bpe_core.corpus.counts import Counts
from bpe_core.corpus.progress import Reading
from bpe_core.corpus.reading import CHANGED, TextFile, Unreadable
from bpe_core.corpus.sources import Measure
from bpe_core.parallel.portions import Cut, Portion, portion_size, portions
from bpe_core.parallel.process_pool import OnProgress, ProcessPool
from bpe_core.patterns import Splitter


def read_together(counts: Counts, files: Sequence[TextFile], reading: Reading, processes: int) -> None:
    """Append the counts of `files` to `counts`, as `Counts.read` does, by several processes."""
    document = _Document()
    size = portion_size(reading.total, processes)
    with ProcessPool(CountPortion(counts.pattern), processes) as pool:
        for portion, counted in pool.results(portions(files, size, safe_cut(counts.splitter)), reading.report):
            if portion.end is None:
                counts.append(counted)
            elif whole := document.take(portion, counted):
                counts.append(whole)
            reading.before += portion.size
            reading.name = portion.name
        counts.n_lost = pool.n_lost


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
