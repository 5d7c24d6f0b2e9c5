"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Any, Final, Self

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

__all__ = ["Counts", "Progress", "Source"]


EACH: Final = 1 << 21
"""Bytes on disk from which on a worker more is worth starting; a process counts half as many meanwhile."""

_HELD: Final = 6
"""Blocks of a text that are held until a document has ended; one of more counts as long."""


class Counts:
    """How often each piece of a corpus occurs, in the order in which the pieces first appear.

    >>> dict(Counts.of("low low lower", "gpt4").pieces)
    {'low': 1, ' low': 1, ' lower': 1}
    """

    def __init__(self, pattern: str) -> None:
        """Nothing counted yet; PatternError if `pattern` is none. Use `Counts.of` or `Counts.read`."""
        self.pattern = pattern
        """The split pattern, as it was given."""
        self.sources: list[Source] = []
        """One for each file read, by document number; a single one for all texts that were given as such."""
        self.skipped: list[Skipped] = []
        """Files that turned out to be unreadable further on; nothing of them is counted."""
        self.n_lost = 0
        """Portions that a helping process did not come to count, as it died; they were counted without it."""
        self.stopped = False
        """Whether reading was stopped before the end; documents counted until then are counted whole."""
        self.n_bytes = 0
        """Of the texts in UTF-8."""
        self.n_characters = 0
        self.splitter = splitter(pattern)
        """What cuts texts into pieces."""
        self._table = self._new_table()
        self._known: tuple[int, Mapping[str, int]] = (0, {})

    def __getstate__(self) -> dict[str, Any]:
        """All but the splitter, which every process makes for itself."""
        return {name: value for name, value in vars(self).items() if name != "splitter"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, splitter=splitter(state["pattern"]))

    @property
    def is_compiled(self) -> bool:
        """Whether the kernel counts; then several threads are as good as several processes."""
        return kernel.available and self.splitter.scanner is not None

    def _new_table(self) -> Any:  # the kernel's takes texts, its equal in Python their pieces
        return kernel.PieceTable(self.splitter.scanner) if self.is_compiled and self.splitter.scanner else PieceTable()

    @property
    def n_documents(self) -> int:
        """How many texts were counted."""
        return int(self._table.n_documents)

    @property
    def n_pieces(self) -> int:
        """With repetition."""
        return int(self._table.n_pieces)

    @property
    def pieces(self) -> Mapping[str, int]:
        """Piece -> how often it occurs."""
        if self._known[0] != self.n_pieces:
            self._known = self.n_pieces, self._table.counts()
        return self._known[1]

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count a text, or texts each of which is a document of its own. A lone surrogate counts as U+FFFD."""
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
    ) -> Self:
        """Count files in blocks, each a document, never holding a whole text (unless the pattern needs it whole).

        `progress` and `stop` are called at most every 20 ms; if `stop` says so, what was read until then is returned.
        What is large is counted by several `workers` (None: as many as can work at once), with the same result: threads
        where the kernel counts, processes elsewhere.
        TextError if a file that was named directly proves unreadable, or if all do.
        """
        counts = cls(pattern)
        files = tuple(files)
        reading = Reading(sum(file.size for file in files), progress, stop)
        try:
            if workers is None:
                workers = n_processes(reading.total, EACH)
            if workers > 1 and counts.splitter.source:
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

    def add_file(self, file: TextFile, blocks: Iterable[str]) -> None:
        """Count one more document, the `blocks` of a file. If it proves unreadable, it is skipped, or Unreadable."""
        measure = Measure()
        try:
            self._add(measure.over(blocks))
        except Unreadable as error:
            self.skip(file, error)
        else:
            self._keep(measure.source(file.name))

    def skip(self, file: TextFile, error: Unreadable) -> None:
        """Do without a file, unless somebody asked for this very one."""
        if file.required:
            raise error
        self.skipped.append(Skipped(file.path, error.reason))

    def append(self, other: "Counts") -> None:
        """Take in the counts of the documents that follow, as if they had been counted here."""
        self._table.append(other._table)
        self.sources += other.sources
        self.skipped += other.skipped
        self.n_bytes += other.n_bytes
        self.n_characters += other.n_characters

    def go_on(self, part: "Counts") -> None:
        """Take in the counts of what follows of the same, single document; `is_of` tells its source."""
        self._table.append_to_last(part._table)

    def is_of(self, source: Source) -> None:
        """Say which single document these are the counts of."""
        self.sources, self.n_bytes, self.n_characters = [source], source.bytes, source.characters

    def name_of(self, document: int) -> str:
        """What to call a document, numbered from 0."""
        one_each = len(self.sources) == self.n_documents
        return self.sources[document].name if one_each else f"text {document + 1:,}"

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Piece -> the one or two documents it occurs in. A piece that is not in here occurs in three or more."""
        few: dict[str, tuple[int, ...]] = self._table.few_documents()
        return few

    def _add(self, blocks: Iterable[str]) -> None:
        """Count one document, by itself until it is read to its end: nothing of it stays if that cannot be."""
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
