"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Self

from bpe_core import kernel
from bpe_core.corpus.piece_table import PieceTable
from bpe_core.corpus.progress import Progress, Reading, Stopped
from bpe_core.corpus.reading import BLOCK, Skipped, TextFile, Unreadable
from bpe_core.corpus.sources import Measure, Source
from bpe_core.errors import TextError
from bpe_core.parallel.pool_size import n_processes
from bpe_core.patterns import splitter
from bpe_core.plurals import counted
from bpe_core.surrogates import utf8

if TYPE_CHECKING:
    from bpe_core.corpus.sampling import Sample

__all__ = ["Counts", "Progress", "Source"]


BYTES_PER_WORKER: Final = 1 << 21
"""Bytes on disk that one more worker must have to count, to be worth starting."""

_HELD: Final = 6
"""Blocks of a document that are read before any is counted; a document with more is counted in a table of its own."""


class Counts:
    """How often each piece of a corpus occurs, the pieces in the order in which they first appear.

    A *document* is a file, or one of the texts given to `of`; a *piece* is what the split pattern cuts texts into.

    >>> dict(Counts.of("low low lower", "gpt4").pieces)
    {'low': 1, ' low': 1, ' lower': 1}
    """

    def __init__(self, pattern: str) -> None:
        """Nothing counted yet; PatternError if `pattern` is none. Use `Counts.of` or `Counts.read`."""
        self.pattern = pattern
        """The split pattern, as it was given."""
        self.sources: list[Source] = []
        """What is known of each document, in order; the texts given to `Counts.of` have a single one in common."""
        self.skipped: list[Skipped] = []
        """Files that could not be read to their end; nothing of them is counted."""
        self.n_lost = 0
        """Worker processes that could not be started or died; their portions were counted in this process."""
        self.stopped = False
        """Whether `stop` ended the reading early; only documents that were read to their ends are counted then."""
        self.n_bytes = 0
        """Size of the texts in UTF-8."""
        self.n_characters = 0
        """Code points of the texts."""
        self.sample = ""
        """What was taken of the files, for a person; "" if they were read whole."""
        self.splitter = splitter(pattern)
        """What cuts texts into pieces."""
        self._table = self._new_table()
        self._known: tuple[int, Mapping[str, int]] = (0, {})

    def __getstate__(self) -> dict[str, Any]:
        """All attributes but the splitter, which the process that unpickles this makes anew."""
        return {name: value for name, value in vars(self).items() if name != "splitter"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, splitter=splitter(state["pattern"]))

    @property
    def is_compiled(self) -> bool:
        """Whether the kernel counts: it releases the GIL, so threads serve instead of processes."""
        return kernel.available and self.splitter.scanner is not None

    def _new_table(self) -> Any:  # `add` of the kernel's takes a text, that of the one in Python its pieces
        return kernel.PieceTable(self.splitter.scanner) if self.is_compiled and self.splitter.scanner else PieceTable()

    @property
    def n_documents(self) -> int:
        """How many texts were counted."""
        return int(self._table.n_documents)

    @property
    def n_pieces(self) -> int:
        """How many pieces the texts were split into, with repetition; `len(pieces)` is how many differ."""
        return int(self._table.n_pieces)

    @property
    def n_weighted_bytes(self) -> int:
        """Size of the texts in UTF-8, each multiplied by its weight: what the pieces with their counts amount to."""
        return sum(source.bytes * source.weight for source in self.sources)

    @property
    def pieces(self) -> Mapping[str, int]:
        """Piece -> how often it occurs, in the order of first appearance. A new mapping after more was counted."""
        if self._known[0] != self.n_pieces:
            self._known = self.n_pieces, self._table.counts()
        return self._known[1]

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count a text, or texts each of which is a document. A lone surrogate counts as U+FFFD.

        Raises TextError for what is no str, PatternError for a wrong `pattern`.
        """
        counts = cls(pattern)
        measure = Measure()
        for number, text in enumerate([texts] if isinstance(texts, str) else texts):
            if not isinstance(text, str):
                raise TextError(f"Text {number + 1} is of type {type(text).__name__}, not str; decode it first.")
            if number:
                measure.next_text()
            whole = text if text.isascii() else utf8(text).decode()
            counts._add(measure.over(whole[i : i + BLOCK] for i in range(0, len(whole), BLOCK)))
        counts._keep(measure.source("text" if isinstance(texts, str) else counted(counts.n_documents, "text")))
        return counts

    @classmethod
    def read(
        cls,
        files: Iterable[TextFile],
        pattern: str = "gpt4",
        *,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
        workers: int | None = None,
        sample: "Sample | None" = None,
    ) -> Self:
        """Count files, each a document. They are read in blocks: only a pattern without safe cuts holds a whole text.

        `progress` and `stop` are called at most every 20 ms; if `stop` returns true, the counts made until then are
        returned, with `stopped` set. `workers` threads (processes without the kernel) count at a time; None: as many as
        the size is worth, up to the number of cores. The result is the same for any number. With a `sample` only a part
        of the files is read, in stretches that are documents each.
        Raises TextError if a `required` file, or every file, proves unreadable; PatternError for a wrong `pattern`.
        """
        counts = cls(pattern)
        files = tuple(files)
        taken = sample.stretches(files, counts.splitter) if sample else None
        reading = Reading(sum(one.size for one in taken or files), progress, stop)
        try:
            if workers is None:
                workers = n_processes(reading.total, BYTES_PER_WORKER)
            if sample and taken is not None:
                from bpe_core.corpus.counting import read_stretches

                read_stretches(counts, taken, reading, workers)
                counts.sample = str(sample)
            elif workers > 1 and counts.splitter.source:
                from bpe_core.corpus.counting import read_together  # late: most corpora are small

                read_together(counts, files, reading, workers)
            else:
                for file in files:
                    counts.add_file(file, reading.blocks(file))
        except Stopped:
            counts.stopped = True
            return counts
        if files and not counts.n_documents:
            raise TextError(f"None of the files could be read: {counts.skipped[0].reason}.")
        reading.finish()
        return counts

    @classmethod
    def weighted(cls, parts: Sequence[tuple[Self, int]]) -> Self:
        """The counts of one or more parts of a corpus, in order, each piece counted as many times as its part weighs.

        Exact: weights are whole numbers from 1 on. The parts have one pattern, and must not be used any more.
        """
        whole = cls(parts[0][0].pattern)
        pieces: dict[str, int] = {}
        for counts, weight in parts:
            for piece, n in counts.pieces.items():
                pieces[piece] = pieces.get(piece, 0) + n * weight
            counts.sources = [replace(source, weight=weight) for source in counts.sources]
            whole.append(counts)
            whole.sample = counts.sample
            whole.n_lost += counts.n_lost
            whole.stopped |= counts.stopped
        whole._known = whole.n_pieces, pieces
        return whole

    def add_file(self, file: TextFile, blocks: Iterable[str]) -> None:
        """Count one more document, whose text is `blocks`. If reading it fails, it is skipped (see `skip`)."""
        measure = Measure()
        try:
            self._add(measure.over(blocks))
        except Unreadable as error:
            self.skip(file, error)
        else:
            self._keep(measure.source(file.name))

    def skip(self, file: TextFile, error: Unreadable) -> None:
        """List an unreadable file in `skipped`; raises `error` if the file is `required`."""
        if file.required:
            raise error
        self.skipped.append(Skipped(file.path, error.reason))

    def append(self, other: "Counts") -> None:
        """Add the counts of the documents that follow those here, as if they had been counted here."""
        self._table.append(other._table)
        self.sources += other.sources
        self.skipped += other.skipped
        self.n_bytes += other.n_bytes
        self.n_characters += other.n_characters

    def append_to_last(self, part: "Counts") -> None:
        """Add the pieces of `part`, the next part of the single document here; `set_source` sets the sizes later."""
        self._table.append_to_last(part._table)

    def set_source(self, source: Source) -> None:
        """Set the source and the sizes of the single document here."""
        self.sources, self.n_bytes, self.n_characters = [source], source.bytes, source.characters

    def name_of(self, document: int) -> str:
        """The name of a document for a person; documents are numbered from 0."""
        one_each = len(self.sources) == self.n_documents
        return self.sources[document].name if one_each else f"text {document + 1:,}"

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Piece -> numbers of the one or two documents it occurs in. A piece that is missing is in three or more."""
        few: dict[str, tuple[int, ...]] = self._table.few_documents()
        return few

    def _add(self, blocks: Iterable[str]) -> None:
        """Count one document. If reading it raises, nothing of it is counted."""
        parts = self.splitter.parts(blocks)
        held = list(islice(parts, _HELD))
        is_long = len(held) == _HELD
        table = self._new_table() if is_long else self._table
        for part in chain(held, parts):
            table.add(part if self.is_compiled else self.splitter.split(part))
        table.end_document()
        if is_long:
            self._table.append(table)

    def _keep(self, source: Source) -> None:
        self.sources.append(source)
        self.n_bytes += source.bytes
        self.n_characters += source.characters
