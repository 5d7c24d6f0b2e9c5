"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice
from math import lcm
from typing import TYPE_CHECKING, Any, Final, Self

from bpe_core import kernel
from bpe_core.corpus.reading import BLOCK, OnRead, Reading, Skipped, TextFile, Unreadable
from bpe_core.errors import OptionError, TextError
from bpe_core.patterns import splitter
from bpe_core.process import in_order, most_threads
from bpe_core.typed_numbers import amount
from bpe_core.utf8 import utf8
from bpe_core.visible import counted

if TYPE_CHECKING:
    from bpe_core.corpus.sampling import Sample

LARGEST: Final = 1_000_000  # the largest weight as a whole number
BYTES_PER_WORKER: Final = 1 << 21  # bytes on disk that one more thread must have to count, to be worth starting
_PART: Final = 1 << 18  # bytes of a document that the kernel counts at a time, about
_SHARES: Final = (1 << 18, 1 << 22)  # bytes handed to a thread at a time; the more shares, the more tables to join
_Share = tuple[list[Any], "list[Source] | None"]  # whole documents; or a part of one, with None


@dataclass(frozen=True, slots=True)
class Source:
    """What is kept of a document after its pieces are counted."""

    name: str  # as the file is called on the screen, or "text"
    bytes: int  # its size in UTF-8, unpacked, without byte order mark
    characters: int
    sha256: str  # of the text in UTF-8, in hexadecimal
    weight: int = 1  # how many times each of its pieces is counted: an amount


class _Measure:
    """Adds up the sizes and the digest of a text that comes in blocks."""

    def __init__(self) -> None:
        self.bytes = self.characters = 0
        self.digest = hashlib.sha256()

    def encoded(self, block: str) -> bytes:
        data = block.encode()
        self.bytes += len(data)
        self.characters += len(block)
        self.digest.update(data)
        return data

    def source(self, name: str) -> Source:
        return Source(name, self.bytes, self.characters, self.digest.hexdigest())


class Counts:
    """How often each piece of a corpus occurs, the pieces in the order in which they first appear.

    A *document* is a file, or one of the texts given to `of`; a *piece* is what the split pattern cuts texts into.

    >>> dict(Counts.of("low low lower", "gpt4").pieces)
    {'low': 1, ' low': 1, ' lower': 1}
    """

    def __init__(self, pattern: str) -> None:
        """Nothing counted yet; PatternError if `pattern` is none."""
        self.pattern = pattern
        self.sources: list[Source] = []  # of each document, in order; the texts given to `of` have one in common
        self.skipped: list[Skipped] = []  # files that could not be read to their end; nothing of them is counted
        self.sample = ""  # what was taken of the files, for a person; "" if they were read whole
        self.weights = ""  # of the paths, as they were asked for, for a person; "" if there are none
        self.scale = 1  # what `table` has is multiplied by it: weights may be fractions, and it counts in whole numbers
        self.splitter = splitter(pattern)
        self.n_documents = 0
        self.table = kernel.PieceTable(self.splitter.scanner)  # how often each piece occurs
        self._known: tuple[int, Mapping[str, int]] = (0, {})

    @property
    def n_pieces(self) -> int:
        """How many pieces the texts were split into, with repetition; `len(table)` is how many differ."""
        return self.table.n_pieces

    @property
    def n_bytes(self) -> int:
        """In UTF-8."""
        return sum(source.bytes for source in self.sources)

    @property
    def n_characters(self) -> int:
        """Code points of the texts."""
        return sum(source.characters for source in self.sources)

    @property
    def pieces(self) -> Mapping[str, int]:
        """Piece -> how often it occurs, in the order of first appearance. A new mapping after more was counted."""
        if self._known[0] != self.n_pieces:
            found, scale = self.table.counts(), self.scale
            exact = found if scale == 1 else {piece: amount(n, scale) for piece, n in found.items()}
            self._known = self.n_pieces, exact
        return self._known[1]

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count a text, or texts each of which is a document. A lone surrogate counts as U+FFFD.

        Raises TextError for what is no str, PatternError for a wrong `pattern`.
        """
        counts = cls(pattern)
        measure = _Measure()
        for number, text in enumerate([texts] if isinstance(texts, str) else texts):
            if not isinstance(text, str):
                raise TextError(f"Text {number + 1} is of type {type(text).__name__}, not str; decode it first.")
            if number:
                measure.digest.update(b"\xff")  # separates the texts: no UTF-8 contains this byte
            whole = text if text.isascii() else utf8(text).decode()
            for part in counts._parts((whole[i : i + BLOCK] for i in range(0, len(whole), BLOCK)), measure, _PART):
                counts._add_to(counts.table, part, counts.n_documents)
            counts.n_documents += 1
        counts.sources.append(measure.source("text" if isinstance(texts, str) else counted(counts.n_documents, "text")))
        return counts

    @classmethod
    def read(
        cls,
        files: Iterable[TextFile],
        pattern: str = "gpt4",
        *,
        progress: OnRead | None = None,
        workers: int | None = None,
        sample: "Sample | None" = None,
    ) -> Self:
        """Count files, each a document. They are read in blocks: only a pattern without safe cuts holds a whole text.

        What `progress` raises ends the reading. `workers` threads count at a time, where the kernel can split the
        texts; None: as many as the size is worth, up to the number of cores. The result is the same for any number.
        With a `sample` only a part of the files is read, in stretches that are documents each. Raises TextError if a
        `required` file, or every file, proves unreadable; PatternError for a wrong `pattern`.
        """
        counts = cls(pattern)
        files = sample.documents(files, counts.splitter) if sample else list(files)
        reading = Reading(files, progress)
        counts.add(files, reading, workers or max(1, min(most_threads(), reading.total // BYTES_PER_WORKER)))
        counts.sample = "" if sample is None else str(sample)
        if files and not counts.n_documents:
            raise TextError(f"None of the files could be read: {counts.skipped[0].reason}.")
        return counts

    @classmethod
    def weighted(cls, parts: Sequence[tuple[Self, int | Fraction]]) -> Self:
        """The counts of parts of a corpus, one at least, in order, each piece counted as often as its part weighs.

        The parts have one pattern, and must not be used any more. Raises `OptionError` if their weights differ too
        much: the common denominator of all is the `scale`.
        """
        if not parts or any(weight <= 0 for _, weight in parts):
            raise OptionError("A corpus is put together of one part at least, each with a weight above 0.")
        whole = cls(parts[0][0].pattern)
        whole.scale = lcm(*(weight.denominator for _, weight in parts))
        if max(weight for _, weight in parts) * whole.scale > LARGEST:
            raise OptionError(f"The weights differ too much: as whole numbers, the largest would be above {LARGEST:,}.")
        for counts, weight in parts:
            whole.table.append(counts.table, whole.n_documents, int(weight * whole.scale))
            whole.sources += [replace(source, weight=amount(weight)) for source in counts.sources]
            whole.skipped += counts.skipped
            whole.n_documents += counts.n_documents
            whole.sample = counts.sample
        return whole

    def add(self, files: Iterable[TextFile], reading: Reading, n_workers: int = 1) -> None:
        """Count further documents; an unreadable one is skipped, or raises if `required`. Interrupted, drop these.

        So many threads count, where the kernel does; the result is that of one.
        """
        whole, is_one = kernel.PieceTable(self.splitter.scanner), n_workers == 1 or not self.splitter.scanner
        counted = in_order(
            self._counted, self._shares(files, reading), n_workers, here=lambda _: is_one, meanwhile=reading.report
        )
        for table, sources in counted:
            if sources is None:  # a part of a large document
                whole.append(table, 0)
                continue
            if whole.n_pieces:
                table, whole = whole, kernel.PieceTable(self.splitter.scanner)
            if sources:
                self.table.append(table, self.n_documents)
                self.n_documents += len(sources)
                self.sources += sources

    def name_of(self, document: int) -> str:
        """The name of a document for a person; documents are numbered from 0."""
        one_each = len(self.sources) == self.n_documents
        return self.sources[document].name if one_each else f"text {document + 1:,}"

    def _parts(self, blocks: Iterable[str], measure: _Measure, size: int) -> Iterator[Any]:
        """The next document in parts: of bytes, which the kernel splits, about so many, or of pieces."""
        encoded = map(measure.encoded, blocks)
        if self.splitter.scanner:
            return parts(encoded, self.splitter.scanner, size)
        return map(self.splitter.split, self.splitter.parts(map(bytes.decode, encoded)))

    def _add_to(self, table: "kernel.PieceTable", part: Any, number: int) -> None:
        (table.add if self.splitter.scanner else table.add_pieces)(part, number)

    def _counted(self, share: _Share) -> "tuple[kernel.PieceTable, list[Source] | None]":
        table = kernel.PieceTable(self.splitter.scanner)
        for number, part in enumerate(share[0]):
            self._add_to(table, part, number)
        return table, share[1]

    def _shares(self, files: Iterable[TextFile], reading: Reading) -> Iterator[_Share]:
        """Small documents together, and the parts of large ones, behind the last of which their source follows."""
        size = min(max(reading.total // 16, _SHARES[0]), _SHARES[1])
        texts, sources = list[Any](), list[Source]()
        for file in files:
            measure = _Measure()
            document = self._parts(reading.blocks(file), measure, size)
            try:
                held = list(islice(document, 2))
                if len(held) < 2:
                    texts += held or [b"" if self.splitter.scanner else []]
                    sources.append(measure.source(file.source_name))
                if texts and (len(held) > 1 or sum(map(len, texts)) >= size):
                    yield texts, sources
                    texts, sources = [], []
                if len(held) > 1:
                    for text in chain(held, document):
                        yield [text], None
                    yield [], [measure.source(file.source_name)]
            except Unreadable as error:
                self._skip(file, error)
                yield [], []  # what was counted of it goes
        yield texts, sources

    def _skip(self, file: TextFile, error: Unreadable) -> None:
        if file.required:
            raise error
        self.skipped.append(Skipped(file.path, error.reason))


def parts(blocks: Iterable[bytes], scanner: "kernel.Scanner", size: int) -> Iterator[bytes]:
    """One document in UTF-8 that comes in blocks, cut where no piece lies across into parts of `size` bytes or more."""
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
