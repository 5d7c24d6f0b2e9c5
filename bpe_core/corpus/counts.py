"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Self

from bpe_core import kernel
from bpe_core.cores import n_threads
from bpe_core.corpus.reading import BLOCK, Document, Progress, Reading, Skipped, TextFile, Unreadable
from bpe_core.errors import Stopped, TextError
from bpe_core.patterns import splitter
from bpe_core.plurals import counted
from bpe_core.utf8 import utf8

if TYPE_CHECKING:
    from bpe_core.corpus.sampling import Sample


_BETWEEN_TEXTS = b"\xff"
"""Separates the texts that have a common digest; no UTF-8 contains this byte."""


@dataclass(frozen=True, slots=True)
class Source:
    """Name, sizes and digest of a document, kept after its pieces are counted."""

    name: str
    """As the file is called on the screen, or "text"."""
    bytes: int
    """Its size in UTF-8, unpacked, without byte order mark."""
    characters: int
    """Code points."""
    sha256: str
    """Digest of the text in UTF-8, in hexadecimal."""
    weight: int = 1
    """How many times each of its pieces is counted."""


class Measure:
    """Adds up the sizes and the digest of a text that comes in blocks."""

    def __init__(self) -> None:
        self.bytes = 0
        self.characters = 0
        self._digest = hashlib.sha256()

    def over(self, blocks: Iterable[str]) -> Iterator[str]:
        """Yield `blocks`, adding each to the sizes and the digest."""
        for block in blocks:
            self._add(block)
            yield block

    def encoded(self, blocks: Iterable[str]) -> Iterator[bytes]:
        """Yield `blocks` in UTF-8, adding each to the sizes and the digest."""
        return map(self._add, blocks)

    def _add(self, block: str) -> bytes:
        data = block.encode()
        self.bytes += len(data)
        self.characters += len(block)
        self._digest.update(data)
        return data

    def next_text(self) -> None:
        """Begin another text of the same source; a separator goes into the digest."""
        self._digest.update(_BETWEEN_TEXTS)

    def source(self, name: str) -> Source:
        """The `Source` of what was added so far."""
        return Source(name, self.bytes, self.characters, self._digest.hexdigest())


__all__ = ["Counts", "Document", "Progress", "Source"]


BYTES_PER_WORKER: Final = 1 << 21
"""Bytes on disk that one more thread must have to count, to be worth starting."""

_PART: Final = 1 << 18
"""Bytes of a document that the kernel counts at a time, about."""

_HELD: Final = 6
"""Parts of a document that are read before any is counted; a document with more is counted in a table of its own."""


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
        self.n_documents = 0
        """How many texts were counted."""
        self.table = kernel.PieceTable(self.splitter.scanner)
        """How often each piece occurs."""
        self._known: tuple[int, Mapping[str, int]] = (0, {})

    @property
    def n_pieces(self) -> int:
        """How many pieces the texts were split into, with repetition; `len(table)` is how many differ."""
        return self.table.n_pieces

    @property
    def n_weighted_bytes(self) -> int:
        """Size of the texts in UTF-8, each multiplied by its weight: what the pieces with their counts amount to."""
        return sum(source.bytes * source.weight for source in self.sources)

    @property
    def pieces(self) -> Mapping[str, int]:
        """Piece -> how often it occurs, in the order of first appearance. A new mapping after more was counted."""
        if self._known[0] != self.n_pieces:
            self._known = self.n_pieces, self.table.counts()
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
            counts._count((whole[i : i + BLOCK] for i in range(0, len(whole), BLOCK)), measure)
            counts.n_documents += 1
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
        returned, with `stopped` set. `workers` threads count at a time, where the kernel can split the texts; None:
        as many as the size is worth, up to the number of cores. The result is the same for any number. With a `sample`
        only a part of the files is read, in stretches that are documents each.
        Raises TextError if a `required` file, or every file, proves unreadable; PatternError for a wrong `pattern`.
        """
        counts = cls(pattern)
        files = tuple(files)
        reading = Reading(progress, stop)
        documents = sample.documents(files, counts.splitter, reading) if sample else reading.documents(files)
        n_workers = n_threads(reading.total, BYTES_PER_WORKER) if workers is None else workers
        try:
            if n_workers > 1 and counts.splitter.scanner:
                from bpe_core.corpus.counting import count_together  # late: most corpora are small

                count_together(counts, documents, counts.splitter.scanner, reading, n_workers)
            else:
                for document in documents:
                    counts.add(document)
        except Stopped:
            counts.stopped = True
            return counts
        counts.sample = "" if sample is None else str(sample)
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
        for counts, weight in parts:
            whole.table.append(counts.table, whole.n_documents, weight)
            whole.sources += [replace(source, weight=weight) for source in counts.sources]
            whole.skipped += counts.skipped
            whole.n_documents += counts.n_documents
            whole.n_bytes += counts.n_bytes
            whole.n_characters += counts.n_characters
            whole.sample = counts.sample
            whole.stopped |= counts.stopped
        return whole

    def add(self, document: Document) -> None:
        """Count one more document. If reading it fails, nothing of it is counted, and it is skipped (see `skip`)."""
        measure = Measure()
        try:
            self._count(document.blocks, measure)
        except Unreadable as error:
            self.skip(document.file, error)
        else:
            self.n_documents += 1
            self._keep(measure.source(document.name))

    def take(self, table: "kernel.PieceTable", sources: Sequence[Source]) -> None:
        """Add the pieces of documents, counted already and numbered from 0 in `table`, and what is known of them."""
        self.table.append(table, self.n_documents)
        self.n_documents += len(sources)
        for source in sources:
            self._keep(source)

    def skip(self, file: TextFile, error: Unreadable) -> None:
        """List an unreadable file in `skipped`; raises `error` if the file is `required`."""
        if file.required:
            raise error
        self.skipped.append(Skipped(file.path, error.reason))

    def name_of(self, document: int) -> str:
        """The name of a document for a person; documents are numbered from 0."""
        one_each = len(self.sources) == self.n_documents
        return self.sources[document].name if one_each else f"text {document + 1:,}"

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Piece -> numbers of the one or two documents it occurs in. A piece that is missing is in three or more."""
        return self.table.few_documents()

    def _count(self, blocks: Iterable[str], measure: Measure) -> None:
        """Count the pieces of the next document. If reading it raises, none of them is counted."""
        scanner = self.splitter.scanner
        texts: Iterator[Any] = (  # bytes, which the kernel splits, or lists of pieces
            parts(measure.encoded(blocks), scanner, _PART) if scanner else self.splitter.pieces(measure.over(blocks))
        )
        held = list(islice(texts, _HELD))
        is_long = len(held) == _HELD
        table, number = (kernel.PieceTable(scanner), 0) if is_long else (self.table, self.n_documents)
        add: Callable[[Any, int], None] = table.add if scanner else table.add_pieces
        for text in chain(held, texts):
            add(text, number)
        if is_long:
            self.table.append(table, self.n_documents)

    def _keep(self, source: Source) -> None:
        self.sources.append(source)
        self.n_bytes += source.bytes
        self.n_characters += source.characters


def parts(blocks: Iterable[bytes], scanner: "kernel.Scanner", size: int) -> Iterator[bytes]:
    """One document in UTF-8 that comes in blocks, cut where no piece lies across into parts of about `size` bytes.

    They are longer where there is no such place. Holds two parts at a time.
    """
    held: list[bytes] = []
    n_held, enough = 0, size
    for block in blocks:
        held.append(block)
        n_held += len(block)
        if n_held >= enough:
            text = b"".join(held)
            cut = scanner.last_cut(text)
            if cut:
                yield text[:cut]
            held = [text[cut:]]
            n_held, enough = len(held[0]), size if cut else 2 * n_held
    if held:
        yield b"".join(held)
