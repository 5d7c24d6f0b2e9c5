"""Count the pieces of a corpus. Training needs nothing else, and counts take far less memory than texts."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from io import BytesIO
from math import lcm
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from bpe_core import kernel
from bpe_core.corpus.measure import Measure, Source
from bpe_core.corpus.reading import (
    OnRead,
    Reading,
    Skipped,
    TextFile,
    Unreadable,
)
from bpe_core.corpus.unpacking import BLOCK
from bpe_core.errors import OptionError, TextError
from bpe_core.patterns import splitter
from bpe_core.process import in_order, most_threads
from bpe_core.utf8 import utf8
from bpe_core.visible import counted
from bpe_core.weighted import Count, weighted_count
from bpe_core.whole_file import write_whole

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill, SpilledTable

KEY: Final = b"bpescope.counts"
"""Key of the metadata of a file of counts."""
LARGEST: Final = 1_000_000
"""The largest weight as a whole number."""
LARGEST_COUNT: Final = 2**63 - 1
"""The largest count of a piece, and of all bytes: files hold signed numbers."""
MOST_DOCUMENTS: Final = 2**31 - 1
"""The kernel keeps the numbers of documents in 31 bits."""
BYTES_PER_WORKER: Final = 1 << 21
"""Bytes on disk that make one more thread worth starting."""
_PART: Final = 1 << 18
"""Bytes of a document that the kernel counts at a time, about."""
_SHARES: Final = (1 << 18, 1 << 22)
"""The least and the most bytes handed to a thread at a time. Each share makes a table, and tables must be joined."""

NumberedPart = tuple[int, Any]
"""A part of a document, as bytes or as pieces, and the number of the document in its share, or in its large file."""


class _Share(NamedTuple):
    """The work of one thread."""

    parts: list[NumberedPart]
    ended: list[Source] | None
    """The files that end here. None if a large file goes on; [] if it proved unreadable."""


class _CountedShare(NamedTuple):
    table: "kernel.PieceTable"
    first_document: int
    ended: list[Source] | None


def is_counts(path: str) -> bool:
    """Whether the file at `path` is a file of counts, by its last bytes."""
    if not os.path.isfile(path):  # opening a named pipe could block for ever
        return False
    with suppress(OSError), open(path, "rb") as file:
        # A parquet file ends with its metadata, their length and "PAR1".
        file.seek(-8, os.SEEK_END)
        n_metadata = int.from_bytes(file.read(4), "little")
        mark = file.read()
        file.seek(-8 - n_metadata, os.SEEK_END)
        return mark == b"PAR1" and KEY in file.read(n_metadata)
    return False


class Counts:
    """The number of times that each piece of a corpus occurs, in the order in which the pieces first appear.

    A *document* is a file, a row of a file with rows, or one of the texts given to `of`. A *piece* is what the split
    pattern cuts texts into.

    Examples:
        >>> dict(Counts.of("low low lower", "gpt4").pieces)
        {'low': 1, ' low': 1, ' lower': 1}
    """

    def __init__(self, pattern: str, spill: "Spill | None" = None) -> None:
        """Make empty counts.

        Args:
            pattern: The split pattern.
            spill: Keeps counts that are larger than memory. Such counts can only be merged and saved.

        Raises:
            PatternError: The pattern is not valid.
        """
        self.pattern = pattern
        self.sources: list[Source] = []
        """The files, in order. The texts given to `of` have one source in common."""
        self.skipped: list[Skipped] = []
        """Files that could not be read to their end. Nothing of them is counted."""
        self.sample = ""
        """What was read of the files, for a person; "" if they were read completely."""
        self.weights = ""
        """The weights of the paths as they were given, for a person; "" if there are none."""
        self.scale = 1
        """The factor by which counts in `table` are multiplied. Weights may be fractions, but it counts whole numbers."""
        self.splitter = splitter(pattern)
        self.n_documents = 0
        self.weighted_bytes: Count = 0
        """Bytes of all sources, times their weights."""
        self.lacks_rare = False
        """Whether `load` left out rare pieces of some texts."""
        self.spill = spill
        self.table: Any = self._new_table()
        """How often each piece occurs."""
        self._pieces: tuple[int, Mapping[str, int]] = (0, {})
        """(number of pieces then, mapping) of the last use of `pieces`."""

    @property
    def n_pieces(self) -> int:
        """The number of pieces in the texts. `len(table)` is the number of different pieces."""
        return int(self.table.n_pieces)

    @property
    def n_bytes(self) -> int:
        """Bytes of the texts in UTF-8."""
        return sum(source.bytes for source in self.sources)

    @property
    def n_characters(self) -> int:
        """Code points of the texts."""
        return sum(source.characters for source in self.sources)

    @property
    def pieces(self) -> Mapping[str, Count]:
        """Piece -> how often it occurs, in the order of first appearance. A new mapping if more was counted."""
        n_pieces, pieces = self._pieces
        if n_pieces != self.n_pieces:
            pieces = dict[str, Count](self.table.counts())
            if self.scale != 1:
                for piece, count in pieces.items():
                    pieces[piece] = weighted_count(count, self.scale)
            self._pieces = self.n_pieces, pieces
        return pieces

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count the pieces of a text, or of texts, each of which is a document. A lone surrogate counts as U+FFFD.

        Raises:
            TextError: A text is not a str.
            PatternError: The pattern is not valid.
        """
        counts = cls(pattern)
        measure = Measure()
        documents = [texts] if isinstance(texts, str) else texts

        def numbered_parts() -> Iterator[NumberedPart]:
            for number, text in enumerate(documents):
                if not isinstance(text, str):
                    raise TextError(
                        f"Text {number + 1} is of type {type(text).__name__}, not str; decode it first."
                    )
                if not text.isascii():
                    text = utf8(text).decode()  # without surrogates
                blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))
                for part in counts._parts(measure.document(blocks), _PART):
                    yield number, part

        counts.table = counts._count(numbered_parts(), 0)
        is_one = isinstance(texts, str)
        name = "text" if is_one else counted(measure.documents, "text")
        counts.add_sources([measure.source(name)])
        return counts

    @classmethod
    def read(
        cls,
        files: Iterable[TextFile],
        pattern: str = "gpt4",
        *,
        progress: OnRead | None = None,
        workers: int | None = None,
        spill: "Spill | None" = None,
    ) -> Self:
        """Count the pieces of files. They are read in blocks; only a pattern without safe cuts holds a whole text.

        Args:
            files: From `find_files`.
            pattern: The split pattern.
            progress: An `OnRead`. If it raises an error, reading ends.
            workers: How many threads count, if the kernel can split the texts; None for as many as the size is worth.
                The result is the same for any number.
            spill: Keeps counts that are larger than memory.

        Raises:
            TextError: A `required` file, or every file, cannot be read.
            PatternError: The pattern is not valid.
        """
        files = list(files)
        counts = cls(pattern, spill)
        reading = Reading(files, progress)
        if not workers:
            n_worth = reading.total // BYTES_PER_WORKER
            workers = max(1, min(most_threads(), n_worth))
        counts.add(files, reading, workers)
        return counts.checked() if files else counts

    def checked(self) -> Self:
        """Return these counts, or raise `TextError` if no document could be read."""
        if not self.n_documents:
            if not self.skipped:
                raise TextError("The files have no rows; choose files with texts.")
            first = self.skipped[0]
            raise TextError(
                f"None of the files could be read. The first one, {first.path}: {first.reason}."
            )
        return self

    @classmethod
    def weighted(cls, parts: Sequence[tuple[Self, int | Fraction]]) -> Self:
        """Merge the counts of parts of a corpus, in order, each with its weight. See `merge`.

        Don't use the parts afterwards. Raises `OptionError` if there are no parts, or a weight is not above 0.
        """
        if not parts or any(weight <= 0 for _, weight in parts):
            raise OptionError(
                "A corpus needs at least one part, and each part a weight above 0."
            )
        first = parts[0][0]
        merged = cls(first.pattern, first.spill)
        for counts, weight in parts:
            merged.merge(counts, weight)
        return merged

    def add(
        self, files: Iterable[TextFile], reading: Reading, n_workers: int = 1
    ) -> None:
        """Count the pieces of more files, with threads if the kernel splits the texts.

        A file that cannot be read is skipped, or raises `Unreadable` if it is `required`. If this is interrupted, the
        counts must not be used.
        """
        if not self.splitter.scanner:
            n_workers = 1
        counted_shares = in_order(
            self._count_share,
            self._shares(files, reading),
            n_workers,
            in_this_thread=lambda _: n_workers == 1,
            meanwhile=reading.report,
        )
        large_file: Any = self._new_table()  # a large file counts only if it has ended
        for table, first_document, ended in counted_shares:
            n_ended = sum(source.documents for source in ended or ())
            _check_documents(self.n_documents + first_document + n_ended)
            if ended is None:
                large_file.append(table, first_document)
                continue
            if large_file.n_pieces:
                large_file.append(table, first_document)
                table = large_file
                first_document = 0
                large_file = self._new_table()
            if ended:
                self.table.append(table, self.n_documents + first_document)
                self.add_sources(ended)

    def add_sources(self, sources: Iterable[Source]) -> None:
        """Note the files whose pieces are in the table."""
        for source in sources:
            self.sources.append(source)
            self.n_documents += source.documents
            self.weighted_bytes += source.bytes * source.weight

    def save(
        self,
        path: str | os.PathLike[str],
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> None:
        """Write everything to a parquet file, or nothing if it fails.

        Args:
            path: An existing file is replaced.
            progress: Called with (done, total). If it raises an error, nothing is written.

        Raises:
            FormatError: The file cannot be written.
            FetchError: pyarrow is not installed.
        """
        # Imported late: few need it, and it imports this module.
        from bpe_core.corpus.counts_file import write

        write_whole(path, partial(write, self, progress=progress))

    @classmethod
    def load(
        cls,
        file: str | os.PathLike[str] | bytes,
        spill: "Spill | None" = None,
        *,
        least: int = 1,
    ) -> "Counts":
        """Read counts that `save` has written.

        Args:
            file: A path, or what `to_bytes` returned.
            spill: Keeps counts that are larger than memory.
            least: Leave out pieces that occur less often than this. `sample` then says how much that is.

        Raises:
            FormatError: It is not a whole file of counts.
        """
        from bpe_core.corpus.counts_file import read

        if isinstance(file, bytes):
            return read(BytesIO(file), spill, least)
        return read(os.fspath(file), spill, least)

    def to_bytes(self) -> bytes:
        """Return what `save` writes."""
        from bpe_core.corpus.counts_file import write

        file = BytesIO()
        write(self, file)
        return file.getvalue()

    def merge(self, other: "Counts", weight: int | Fraction = 1) -> Self:
        """Add the counts of texts that follow these texts, as if all had been counted together, in this order.

        Pieces keep their order; the new ones of `other` follow in theirs. If this raises an error, the counts are
        unchanged.

        Args:
            other: Counts by the same pattern.
            weight: How many times each piece of `other` counts, exactly.

        Returns:
            These counts.

        Raises:
            OptionError: The patterns differ, the weights have no common denominator that is small enough, or a number
                would be too large for a file of counts.
        """
        if other.splitter.tree != self.splitter.tree:
            raise OptionError(
                f"These counts were made with pattern {other.pattern!r}, not {self.pattern!r}; count the texts again."
            )
        factor = Fraction(weight) / other.scale
        scale = lcm(self.scale, factor.denominator)
        if scale > LARGEST or factor * scale > LARGEST:
            raise OptionError(
                f"The weights are too far apart: as whole numbers, one would exceed {LARGEST:,}."
            )
        # A piece is part of a text, so no count is above the number of bytes.
        n_bytes = int(scale * (self.weighted_bytes + other.weighted_bytes * weight))
        if n_bytes > LARGEST_COUNT:
            raise OptionError(
                f"The counts could get as large as {n_bytes:,}, which is above 2^63; "
                "merge fewer of them, or give smaller weights."
            )
        _check_documents(self.n_documents + other.n_documents)
        if scale > self.scale:
            smaller = self.table
            self.table = self._new_table()
            self.table.append(smaller, 0, scale // self.scale)
        self.table.append(other.table, self.n_documents, int(factor * scale))
        self.scale = scale
        self.add_sources(
            replace(source, weight=weighted_count(source.weight * weight))
            for source in other.sources
        )
        self.lacks_rare |= other.lacks_rare
        self.skipped += other.skipped
        self.sample = _joined(self.sample, other.sample)
        self.weights = _joined(self.weights, other.weights)
        return self

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Return piece -> the one or two documents it occurs in. Pieces that occur in three or more are missing."""
        n = len(self.table)
        _, packed, _ = self.table.columns(0, n)
        # The columns are n + 1 offsets of the pieces, and n counts, numbers of documents, first and last documents.
        numbers = memoryview(packed).cast("Q")[n + 1 :]
        n_documents = numbers[n : 2 * n]
        first = numbers[2 * n : 3 * n]
        last = numbers[3 * n :]
        few: dict[str, tuple[int, ...]] = {}
        rows = zip(self.table.counts(), n_documents, first, last, strict=True)
        for piece, n_with_piece, first_document, last_document in rows:
            if n_with_piece == 1:
                few[piece] = (first_document,)
            elif n_with_piece == 2:
                few[piece] = (first_document, last_document)
        return few

    def name_of(self, document: int) -> str:
        """Return the name of a document for a person. Documents are numbered from 0."""
        row = document
        for source in self.sources:
            if row < source.documents:
                break
            row -= source.documents
        else:
            raise IndexError(document)
        if source.name == counted(source.documents, "text"):  # given to `of`
            return f"text {row + 1:,}"
        if source.documents > 1:
            return f"{source.name} row {row + 1:,}"
        return source.name

    def _new_table(self) -> "kernel.PieceTable | SpilledTable":
        if self.spill:
            return self.spill.table()
        return kernel.PieceTable(self.splitter.scanner)

    def _parts(self, blocks: Iterable[bytes], size: int) -> Iterator[Any]:
        """Yield a document in parts. A part is about `size` bytes if the kernel splits it, else a list of pieces."""
        if self.splitter.scanner:
            yield from cut_between_pieces(blocks, self.splitter.scanner, size)
            return
        for part in self.splitter.parts(map(bytes.decode, blocks)):
            yield self.splitter.split(part)

    def _count(
        self, numbered_parts: Iterable[NumberedPart], first_document: int
    ) -> "kernel.PieceTable":
        """Count parts of documents.

        In the table, `first_document` has the number 0: `append` adds the number that it gets in the corpus.
        """
        table = kernel.PieceTable(self.splitter.scanner)
        add = table.add if self.splitter.scanner else partial(kernel.add_pieces, table)
        for number, part in numbered_parts:
            add(part, number - first_document)
        return table

    def _count_share(self, share: _Share) -> _CountedShare:
        first_document = share.parts[0][0] if share.parts else 0
        table = self._count(share.parts, first_document)
        return _CountedShare(table, first_document, share.ended)

    def _shares(self, files: Iterable[TextFile], reading: Reading) -> Iterator[_Share]:
        """Yield several small files together, and a large file in parts; its source comes with the last part."""
        least, most = _SHARES
        if self.spill:
            # Several tables wait to be joined, and each is larger than its share.
            most //= 4
        size = min(max(reading.total // 16, least), most)
        small = _SmallFiles()
        for file in files:
            measure = Measure()
            own: list[NumberedPart] = []
            n_own = 0
            is_large = False
            try:
                for number, blocks in enumerate(reading.documents(file, self.skipped)):
                    is_cut = False  # whether the document is in several shares
                    for part in self._parts(measure.document(blocks), size):
                        own.append((number, part))
                        n_own += len(part)
                        if small.sources and small.size + n_own >= size:
                            yield small.share()
                            small = _SmallFiles()
                        if n_own >= size:
                            yield _Share(own, None)
                            own = []
                            n_own = 0
                            is_large = True
                            is_cut = True
                    if is_cut and own:
                        # The end of a document that began in another share has a table of its own.
                        yield _Share(own, None)
                        own = []
                        n_own = 0
                source = measure.source(file.source_name)
            except Unreadable as error:
                if file.required:
                    raise
                self.skipped.append(Skipped(file.path, error.reason))
                if is_large:
                    yield _Share([], [])  # forget what was counted of it
                continue
            if is_large:
                yield _Share(own, [source])
            else:
                small.add(own, n_own, source)
        yield small.share()


class _SmallFiles:
    """Small files that are counted together."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.size = 0
        self._parts: list[NumberedPart] = []
        self._n_documents = 0

    def add(self, parts: list[NumberedPart], size: int, source: Source) -> None:
        for number, part in parts:
            self._parts.append((self._n_documents + number, part))
        self.size += size
        self._n_documents += source.documents
        self.sources.append(source)

    def share(self) -> _Share:
        return _Share(self._parts, self.sources)


def _joined(text: str, other: str) -> str:
    """Join two descriptions, without an empty one or the same one twice."""
    return "; ".join(dict.fromkeys(filter(None, (text, other))))


def _check_documents(n_documents: int) -> None:
    """Raise `OptionError` if counts cannot have this many documents."""
    if n_documents > MOST_DOCUMENTS:
        raise OptionError(
            f"These are {n_documents:,} documents, and counts hold at most {MOST_DOCUMENTS:,}; "
            "count or merge fewer."
        )


def cut_between_pieces(
    blocks: Iterable[bytes], scanner: "kernel.Scanner", size: int
) -> Iterator[bytes]:
    """Cut one document, which comes in blocks of UTF-8, into parts that can be split separately.

    Once at least `size` bytes are held, a part ends at the last place that is certain to be between two pieces.
    """
    held: list[bytes] = []
    n_held = 0
    n_enough = size
    for block in blocks:
        held.append(block)
        n_held += len(block)
        if n_held < n_enough:
            continue
        text = b"".join(held)
        cut = scanner.last_cut(text)
        if cut:
            yield text[:cut]
        held = [text[cut:]]
        n_held = len(held[0])
        # If there is no cut, wait for twice as much text, so that the search stays linear.
        n_enough = size if cut else 2 * n_held
    if held:
        yield b"".join(held)
