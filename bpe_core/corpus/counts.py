"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from io import BytesIO
from math import lcm
from typing import TYPE_CHECKING, Any, Final, Self

from bpe_core import kernel
from bpe_core.corpus.reading import (
    BLOCK,
    OnRead,
    Reading,
    Skipped,
    TextFile,
    Unreadable,
)
from bpe_core.errors import OptionError, TextError
from bpe_core.patterns import splitter
from bpe_core.process import in_order, most_threads
from bpe_core.typed_numbers import amount
from bpe_core.utf8 import utf8
from bpe_core.visible import counted
from bpe_core.whole_file import write_whole

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill, SpilledTable

KEY: Final = b"bpescope.counts"  # of what is known besides the pieces, in the metadata of a file of counts
LARGEST: Final = 1_000_000  # the largest weight as a whole number
LARGEST_COUNT: Final = (
    2**63 - 1
)  # of a piece, and of all bytes: files hold signed numbers
MOST_DOCUMENTS: Final = 2**31 - 1  # the kernel keeps their numbers in 31 bits
BYTES_PER_WORKER: Final = (
    1 << 21
)  # bytes on disk that one more thread must have to count, to be worth starting
_PART: Final = 1 << 18  # bytes of a document that the kernel counts at a time, about
_SHARES: Final = (
    1 << 18,
    1 << 22,
)  # bytes handed to a thread at a time; the more shares, the more tables to join
# Parts of documents, each with the number of its document in the share, or in a large file; and the files that end
# here: None where one goes on, [] where it proved unreadable.
_Share = tuple[list[tuple[int, Any]], "list[Source] | None"]


@dataclass(frozen=True, slots=True)
class Source:
    """What is kept of a file, or of texts, after the pieces are counted."""

    name: str  # as the file is called on the screen, or "text"
    bytes: int  # of its documents in UTF-8, unpacked, without byte order mark
    characters: int
    sha256: str  # of the documents in UTF-8, 0xFF between two of them, in hexadecimal
    weight: int = 1  # how many times each of its pieces is counted: an amount
    documents: int = 1


class Measure:
    """Adds up the sizes and the digest of documents that come in blocks."""

    def __init__(self) -> None:
        self.bytes = self.characters = self.documents = 0
        self.digest = hashlib.sha256()

    def document(self, blocks: Iterable[str]) -> Iterator[bytes]:
        """The blocks of the next document in UTF-8."""
        if self.documents:
            self.digest.update(b"\xff")  # no UTF-8 contains this byte
        self.documents += 1
        return map(self._encoded, blocks)

    def _encoded(self, block: str) -> bytes:
        data = block.encode()
        self.bytes += len(data)
        self.characters += len(block)
        self.digest.update(data)
        return data

    def source(self, name: str) -> Source:
        return Source(
            name,
            self.bytes,
            self.characters,
            self.digest.hexdigest(),
            documents=self.documents,
        )


def is_counts(path: str) -> bool:
    """Whether the file at `path` is one of counts, by its last bytes."""
    if not os.path.isfile(path):  # opening a named pipe could block for ever
        return False
    with suppress(OSError), open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        length, mark = int.from_bytes(file.read(4), "little"), file.read()
        file.seek(-8 - length, os.SEEK_END)
        return mark == b"PAR1" and KEY in file.read(length)
    return False


class Counts:
    """How often each piece of a corpus occurs, the pieces in the order in which they first appear.

    A *document* is a file, a row of one that has rows, or one of the texts given to `of`; a *piece* is what the split
    pattern cuts texts into.

    >>> dict(Counts.of("low low lower", "gpt4").pieces)
    {'low': 1, ' low': 1, ' lower': 1}
    """

    def __init__(self, pattern: str, spill: "Spill | None" = None) -> None:
        """Nothing counted yet; PatternError if `pattern` is none. Counts with a `spill` may be larger than memory, and
        can only be merged and saved."""
        self.pattern = pattern
        self.sources: list[
            Source
        ] = []  # of each file, in order; the texts given to `of` have one in common
        self.skipped: list[
            Skipped
        ] = []  # files that could not be read to their end; nothing of them is counted
        self.sample = (
            ""  # what was taken of the files, for a person; "" if they were read whole
        )
        self.weights = ""  # of the paths, as they were asked for, for a person; "" if there are none
        self.scale = 1  # what `table` has is multiplied by it: weights may be fractions, and it counts in whole numbers
        self.splitter = splitter(pattern)
        self.n_documents = 0
        self.weighted_bytes = 0  # of all sources, times their weights: an amount
        self.lacks_rare = False  # whether `load` left out rare pieces of some texts
        self.spill = spill
        self.table: Any = self._new_table()  # how often each piece occurs
        self._known: tuple[int, Mapping[str, int]] = (0, {})

    @property
    def n_pieces(self) -> int:
        """How many pieces the texts were split into, with repetition; `len(table)` is how many differ."""
        return int(self.table.n_pieces)

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
            exact = (
                found
                if scale == 1
                else {piece: amount(n, scale) for piece, n in found.items()}
            )
            self._known = self.n_pieces, exact
        return self._known[1]

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count a text, or texts each of which is a document. A lone surrogate counts as U+FFFD.

        Raises TextError for what is no str, PatternError for a wrong `pattern`.
        """
        counts = cls(pattern)
        measure = Measure()

        def numbered() -> Iterator[tuple[int, Any]]:
            for number, text in enumerate([texts] if isinstance(texts, str) else texts):
                if not isinstance(text, str):
                    raise TextError(
                        f"Text {number + 1} is of type {type(text).__name__}, not str; decode it first."
                    )
                whole = text if text.isascii() else utf8(text).decode()
                blocks = (whole[i : i + BLOCK] for i in range(0, len(whole), BLOCK))
                yield from (
                    (number, part)
                    for part in counts._parts(measure.document(blocks), _PART)
                )

        counts.table = counts._count(numbered(), 0)
        name = "text"
        if not isinstance(texts, str):
            name = counted(measure.documents, "text")
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
        """Count files. They are read in blocks: only a pattern without safe cuts holds a whole text.

        What `progress` raises ends the reading. `workers` threads count at a time, where the kernel can split the
        texts; None: as many as the size is worth, up to the number of cores. The result is the same for any number.
        Raises TextError if a `required` file, or every file, proves unreadable; PatternError for a wrong `pattern`.
        """
        counts = cls(pattern, spill)
        reading = Reading(files := list(files), progress)
        counts.add(
            files,
            reading,
            workers or max(1, min(most_threads(), reading.total // BYTES_PER_WORKER)),
        )
        return counts.checked() if files else counts

    def checked(self) -> Self:
        """These counts of files; TextError if not one document could be read."""
        if not self.n_documents:
            reason = self.skipped[0].reason if self.skipped else "they hold no rows"
            raise TextError(f"None of the files could be read: {reason}.")
        return self

    @classmethod
    def weighted(cls, parts: Sequence[tuple[Self, int | Fraction]]) -> Self:
        """The counts of parts of a corpus, one at least, in order, each piece counted as often as its part weighs, as
        `merge` does it. The parts must not be used any more."""
        if not parts or any(weight <= 0 for _, weight in parts):
            raise OptionError(
                "A corpus is put together of one part at least, each with a weight above 0."
            )
        whole = cls(parts[0][0].pattern, parts[0][0].spill)
        for counts, weight in parts:
            whole.merge(counts, weight)
        return whole

    def add(
        self, files: Iterable[TextFile], reading: Reading, n_workers: int = 1
    ) -> None:
        """Count further files; an unreadable one is skipped, or raises if `required`. Interrupted, drop these counts.

        So many threads count, where the kernel does; the result is that of one.
        """
        whole: Any = self._new_table()
        n_workers = n_workers if self.splitter.scanner else 1
        counted = in_order(
            self._counted,
            self._shares(files, reading),
            n_workers,
            here=lambda _: n_workers == 1,
            meanwhile=reading.report,
        )
        for table, first, sources in counted:
            n_new = first + sum(source.documents for source in sources or ())
            _check_documents(self.n_documents + n_new)
            if (
                sources is None or whole.n_pieces
            ):  # of a large file, which counts only when it has ended
                whole.append(table, first)
                if sources is None:
                    continue
                table, first, whole = whole, 0, self._new_table()
            if sources:
                self.table.append(table, self.n_documents + first)
                self.add_sources(sources)

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
        """Write all that is known to a parquet file; `FormatError` if that cannot be, then there is no part of it, and
        `FetchError` without pyarrow. What `progress` raises ends it, too."""
        from bpe_core.corpus.counts_file import (
            write,
        )  # late: few need it, and it needs this module

        write_whole(path, partial(write, self, progress=progress))

    @classmethod
    def load(
        cls,
        file: str | os.PathLike[str] | bytes,
        spill: "Spill | None" = None,
        *,
        least: int = 1,
    ) -> "Counts":
        """The counts in such a file, or what `to_bytes` gives; of pieces that occur `least` times or more, and `sample`
        says how much that leaves out. `FormatError` for any other file, and for half of one."""
        from bpe_core.corpus.counts_file import read

        return read(
            BytesIO(file) if isinstance(file, bytes) else os.fspath(file), spill, least
        )

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        from bpe_core.corpus.counts_file import write

        write(self, file := BytesIO())
        return file.getvalue()

    def merge(self, other: "Counts", weight: int | Fraction = 1) -> Self:
        """Add the counts of texts that come behind these, each piece as often as they weigh, exactly: the pieces keep
        their order, the new ones of `other` follow in theirs. So all is as if the texts had been counted together, in
        this order. Returns this object.

        Raises `OptionError` for counts of another pattern, if the weights have no common denominator that is small
        enough, and if a number would get too large for a file of counts. Then these counts are as they were.
        """
        if other.splitter.tree != self.splitter.tree:
            raise OptionError(
                f"Counts by {self.pattern!r} and by {other.pattern!r} cannot be merged; count again by one."
            )
        share = Fraction(weight) / other.scale
        scale = lcm(self.scale, share.denominator)
        if scale > LARGEST or share * scale > LARGEST:
            raise OptionError(
                f"The weights differ too much: as whole numbers, one would be above {LARGEST:,}."
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
            mine, self.table = self.table, self._new_table()
            self.table.append(mine, 0, scale // self.scale)
        self.table.append(other.table, self.n_documents, int(share * scale))
        self.scale = scale
        self.add_sources(
            replace(source, weight=amount(source.weight * weight))
            for source in other.sources
        )
        self.lacks_rare |= other.lacks_rare
        self.skipped += other.skipped
        self.sample, self.weights = (
            "; ".join(dict.fromkeys(filter(None, both)))
            for both in ((self.sample, other.sample), (self.weights, other.weights))
        )
        return self

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Piece -> the one or two documents it occurs in. A piece that is not in here occurs in three or more."""
        n, numbers = (
            len(self.table),
            memoryview(self.table.columns(0, len(self.table))[1]).cast("Q")[1:],
        )
        rows = zip(
            self.table.counts(),
            numbers[2 * n : 3 * n],
            numbers[3 * n : 4 * n],
            numbers[4 * n :],
            strict=True,
        )
        return {
            piece: (first, last)[:documents]
            for piece, documents, first, last in rows
            if documents <= 2
        }

    def name_of(self, document: int) -> str:
        """The name of a document for a person; documents are numbered from 0."""
        source = next(
            source
            for source in self.sources
            if (document := document - source.documents) < 0
        )
        row = document + source.documents + 1
        is_of_memory = source.name == counted(source.documents, "text")
        return (
            f"text {row:,}"
            if is_of_memory
            else source.name + (f" row {row:,}" if source.documents > 1 else "")
        )

    def _new_table(self) -> "kernel.PieceTable | SpilledTable":
        return (
            self.spill.table()
            if self.spill
            else kernel.PieceTable(self.splitter.scanner)
        )

    def _parts(self, encoded: Iterable[bytes], size: int) -> Iterator[Any]:
        """A document in parts: of bytes, which the kernel splits, about so many, or of pieces."""
        if self.splitter.scanner:
            return parts(encoded, self.splitter.scanner, size)
        return map(self.splitter.split, self.splitter.parts(map(bytes.decode, encoded)))

    def _count(
        self, numbered: Iterable[tuple[int, Any]], first: int
    ) -> "kernel.PieceTable":
        """Parts of documents, each with its number; the number `first` becomes 0."""
        table = kernel.PieceTable(self.splitter.scanner)
        add = table.add if self.splitter.scanner else partial(kernel.add_pieces, table)
        for number, part in numbered:
            add(part, number - first)
        return table

    def _counted(
        self, share: _Share
    ) -> "tuple[kernel.PieceTable, int, list[Source] | None]":
        first = share[0][0][0] if share[0] else 0
        return self._count(share[0], first), first, share[1]

    def _shares(self, files: Iterable[TextFile], reading: Reading) -> Iterator[_Share]:
        """Small files together, and the parts of a large one, with the last of which its source follows."""
        most = _SHARES[1] >> 2 * bool(
            self.spill
        )  # since several tables wait to be joined, each some times as large
        size = min(max(reading.total // 16, _SHARES[0]), most)
        texts, n_texts, n_documents, sources = (
            list[tuple[int, Any]](),
            0,
            0,
            list[Source](),
        )  # of files that ended
        for file in files:
            measure, own, n_own, is_large = Measure(), list[tuple[int, Any]](), 0, False
            try:
                for number, blocks in enumerate(reading.documents(file, self.skipped)):
                    is_cut = False
                    for part in self._parts(measure.document(blocks), size):
                        own.append((number, part))
                        n_own += len(part)
                        if sources and n_texts + n_own >= size:
                            yield texts, sources
                            texts, n_texts, n_documents, sources = [], 0, 0, []
                        if n_own >= size:
                            yield own, None
                            own, n_own, is_large, is_cut = [], 0, True, True
                    if (
                        is_cut and own
                    ):  # so that one table has no document that begins in another, and more
                        yield own, None
                        own, n_own = [], 0
                source = measure.source(file.source_name)
            except Unreadable as error:
                if file.required:
                    raise
                self.skipped.append(Skipped(file.path, error.reason))
                if is_large:
                    yield [], []  # what was counted of it goes
                continue
            if is_large:
                yield own, [source]
                continue
            texts += ((n_documents + number, part) for number, part in own)
            n_texts, n_documents = n_texts + n_own, n_documents + source.documents
            sources.append(source)
        yield texts, sources


def _check_documents(n_documents: int) -> None:
    """Raise `OptionError` if counts cannot have so many documents."""
    if n_documents > MOST_DOCUMENTS:
        raise OptionError(
            f"These are {n_documents:,} documents, and counts hold at most {MOST_DOCUMENTS:,}; "
            "count or merge fewer."
        )


def parts(
    blocks: Iterable[bytes], scanner: "kernel.Scanner", size: int
) -> Iterator[bytes]:
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
