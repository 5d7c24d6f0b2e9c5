"""Keep counts that are larger than memory: tables of pieces wait in a temporary file, in runs.

A run is a slice of a table in the order of first appearance. It is sorted into parts by a hash of
the pieces, and one part of all runs fits into memory. In two passes over the temporary file:

1. Part by part, the pieces of all runs are counted. Of each run the new pieces are written, with
   their places in it.
2. Run by run, the new pieces of all parts are sorted by these places. This gives all pieces in the
   order of first appearance, for the file of counts.

Every row is written twice, so the time is linear.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import IO, Any, Final
from weakref import WeakSet

from bpe_core import kernel
from bpe_core.corpus.counts_file import (
    SCHEMA,
    batch_of,
    batches_of,
    columns_of,
    compute,
    pa,
)
from bpe_core.errors import FormatError, OptionError
from bpe_core.visible import visible

LEAST: Final = 1 << 28
"""Bytes of memory that counting needs in any case."""
PARTS: Final = 64
"""Parts of a run. A corpus may have 64 times the different pieces that fit into memory."""
ROWS: Final = 1 << 19
"""Rows of a run, at most."""
_UNITS: Final = ("", "K", "M", "G", "T")
"""Prefixes of bytes: each is 1,000 times the one before, or 1,024 times if an i follows, as in GiB."""
_NEXT: Final = -1
"""In place of the number of a document: the next one that is appended."""


@dataclass(frozen=True, slots=True)
class TableRun:
    """A run in the temporary file."""

    batch: int
    """The number of its first part among the record batches of the file."""
    document: int = 0
    """The number of its document 0 in the table."""
    weight: int = 1
    """How many times each of its pieces is counted."""


class SpilledTable:
    """A `PieceTable` that can be larger than memory.

    It begins with runs in the file, and ends with a table in memory for what was appended since. A
    piece can be in several runs and in the held table.
    """

    def __init__(self, spill: "Spill") -> None:
        self.held = kernel.PieceTable(None)
        """The pieces that were appended after the last run."""
        self.runs: list[TableRun] = []
        self.n_pieces = 0
        self._spill = spill
        self._split_document: int | None = None
        """The document that is possibly in the last run and in the held table, or `_NEXT`."""

    def __len__(self) -> int:
        """Return how many different pieces there are; 0 if that is unknown."""
        return 0 if self.runs else len(self.held)

    def append(
        self, other: "kernel.PieceTable | SpilledTable", document: int, weight: int = 1
    ) -> None:
        """Append the counts of texts that follow these texts.

        Args:
            other: Don't use it afterwards.
            document: The number that its document 0 gets.
            weight: How many times each of its pieces is counted.
        """
        if self._split_document == _NEXT:
            self._split_document = document
        elif self._split_document not in (None, document):
            # The last run may end inside a document, which the held table then continues. Both count
            # that document, and joining them subtracts it again for a piece that has it in both. To
            # see this, the held table must say which documents a piece is in, which it knows only for
            # pieces in one or two documents. So it holds the continued document and no others.
            self.to_runs()
            self._split_document = None
        self.n_pieces += other.n_pieces
        if isinstance(other, SpilledTable):
            if other.runs:
                self.to_runs()
                other.to_runs()
            for run in other.runs:
                moved = replace(
                    run, document=run.document + document, weight=run.weight * weight
                )
                self.runs.append(moved)
            self.held.append(other.held, document, weight)
        else:
            self.held.append(other, document, weight)
        self._spill.check()

    def extend(self, pieces: Any, columns: Any, document: int) -> bytes:
        """Add rows of a file of counts; see `PieceTable.extend`."""
        is_new = self.held.extend(pieces, columns, document)
        self._spill.check()
        return is_new

    def to_runs(self) -> None:
        """Write the held table to the temporary file, and begin another."""
        self.runs += self._spill.write_runs(self.held)
        self.held = kernel.PieceTable(None)
        self._split_document = _NEXT


class Spill:
    """A temporary file for tables that together are larger than memory. It is deleted in any case.

    All methods raise `FormatError` if the file cannot be written, such as on a full disk.
    """

    def __init__(self, memory: int, folder: str | os.PathLike[str]) -> None:
        """Create the temporary file.

        Args:
            memory: Bytes of memory for counting.
            folder: Has room for all runs, twice.
        """
        self.memory = memory
        # A row takes about 200 bytes while it is written, so a run takes a tenth of the memory.
        self._n_rows = min(ROWS, max(memory, LEAST) >> 11)
        # The rest of the memory is for a table that grows, the tables of the threads, and a run
        # being written.
        self._most_held = memory * 2 // 5
        self._folder = folder
        with self._disk_errors_named():
            self._file = TemporaryFile(dir=folder)  # noqa: SIM115  see `close`
        self._tables = WeakSet[SpilledTable]()
        self._writer: Any = None
        self._n_batches = 0

    def close(self) -> None:
        """Delete the temporary file."""
        with suppress(OSError):  # of a last write, to a file that is not needed
            self._file.close()

    def table(self) -> SpilledTable:
        """Return a new table that spills here."""
        table = SpilledTable(self)
        self._tables.add(table)
        return table

    def check(self) -> None:
        """Write all tables to the file if they are too large together."""
        size = sum(_grown_size(table.held) for table in self._tables)
        if size > self._most_held:
            for table in self._tables:
                table.to_runs()

    def write_runs(self, table: "kernel.PieceTable") -> list[TableRun]:
        """Write a table to the file, and return its runs in order."""
        runs: list[TableRun] = []
        for start in range(0, len(table), self._n_rows):
            runs.append(TableRun(self._n_batches))
            self._write_run(table, start)
        return runs

    def _write_run(self, table: "kernel.PieceTable", start: int) -> None:
        """Write the rows of a table from `start` on, sorted by the parts of their pieces."""
        batch, hashes = batch_of(table, start, self._n_rows)
        part_of_hash = bytes(hash % PARTS for hash in range(256))
        part_of_row = hashes.translate(part_of_hash)
        buffers = [None, pa.py_buffer(part_of_row)]
        parts = pa.Array.from_buffers(pa.uint8(), len(hashes), buffers)
        places = compute.sort_indices(parts)
        sorted_batch = _with_places(batch.take(places), places)
        with self._disk_errors_named():
            if self._writer is None:
                self._writer = _new_arrow_file(self._file, sorted_batch.schema)
            part_start = 0
            for part in range(PARTS):
                n_rows = part_of_row.count(part)
                self._writer.write_batch(sorted_batch.slice(part_start, n_rows))
                part_start += n_rows
        self._n_batches += PARTS

    def batches(
        self, table: SpilledTable, progress: Callable[[int, int], object]
    ) -> Iterator[Any]:
        """Yield the rows of all pieces in the order of first appearance, in record batches.

        Don't use any table afterwards.

        Args:
            table: The table.
            progress: Called with (done, total).
        """
        if not table.runs:
            yield from batches_of(table.held, progress)
            return
        table.to_runs()
        n_runs = len(table.runs)
        with self._disk_errors_named():
            sorted_file = TemporaryFile(dir=self._folder)  # noqa: SIM115  closed below
        try:
            self._count_parts(table.runs, sorted_file, progress)
            with self._disk_errors_named():
                reader = pa.ipc.open_file(sorted_file)
            for number in range(n_runs):
                progress(PARTS + PARTS * number // n_runs, 2 * PARTS)
                with self._disk_errors_named():
                    of_run = [
                        reader.get_batch(part * n_runs + number)
                        for part in range(PARTS)
                    ]
                new_rows = pa.Table.from_batches(of_run).sort_by("place")
                in_order = new_rows.select(SCHEMA.names)
                yield from in_order.combine_chunks().to_batches()
        finally:
            with suppress(OSError):  # as in `close`
                sorted_file.close()

    def _count_parts(
        self,
        runs: list[TableRun],
        sorted_file: IO[bytes],
        progress: Callable[[int, int], object],
    ) -> None:
        """Write the rows of the pieces that are new in each run: part 0 of all runs, then part 1.

        Args:
            runs: The runs of a table.
            sorted_file: Gets a record batch per part and run.
            progress: Called with (done, total).
        """
        with self._disk_errors_named():
            self._writer.close()
            reader = pa.ipc.open_file(self._file)
            writer = _new_arrow_file(sorted_file, reader.schema)
        for part in range(PARTS):
            progress(part, 2 * PARTS)
            of_part = ((run, reader.get_batch(run.batch + part)) for run in runs)
            with self._disk_errors_named():
                for batch in _count_part(of_part):
                    writer.write_batch(batch)
        with self._disk_errors_named():
            writer.close()

    @contextmanager
    def _disk_errors_named(self) -> Iterator[None]:
        """Turn an error of the temporary file into a sentence about it.

        An OSError without a file name would be reported as one of stdout, or of the file of counts.
        """
        try:
            yield
        except OSError as error:
            folder = visible(os.fspath(self._folder))
            raise FormatError(
                f"A temporary file in {folder} cannot be written: {error.strerror or error}; "
                "free some space there, or let more memory be used with --memory."
            ) from error


def _grown_size(table: "kernel.PieceTable") -> int:
    """Return the bytes of a table after it has grown once more; see pieces.h."""
    n = len(table)
    n_bits = (9 * n // 4).bit_length()
    n_slots = 4 ** max(6, (n_bits + 1) // 2)
    return int(36 * n + table.long_bytes + 10 * n_slots)


def _count_part(runs: Iterable[tuple[TableRun, Any]]) -> Iterator[Any]:
    """Count one part of all runs. Yield, for each run, the rows of the pieces that are new in it.

    Args:
        runs: The runs in order, each with its rows of the part.
    """
    table = kernel.PieceTable(None)
    places_in_run: list[Any] = []
    for run, batch in runs:
        pieces, numbers = columns_of(batch)
        is_new = table.extend(pieces, numbers, run.document, run.weight)
        no_validity_bitmap = None
        buffers = [no_validity_bitmap, pa.py_buffer(is_new)]
        mask = pa.Array.from_buffers(pa.uint8(), len(is_new), buffers)
        places_in_run.append(batch["place"].filter(mask.cast(pa.bool_())))
    # The table holds the new pieces of the first run, then the new ones of the second, and so on.
    start = 0
    for places in places_in_run:
        batch, _ = batch_of(table, start, len(places))
        yield _with_places(batch, places)
        start += len(places)


def _with_places(batch: Any, places: Any) -> Any:
    """Add the places of the pieces in their run to their rows."""
    columns = [*batch.columns, places]
    return pa.record_batch(columns, [*SCHEMA.names, "place"])


def _new_arrow_file(file: Any, schema: Any) -> Any:
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    return pa.ipc.new_file(file, schema, options=options)


def parsed_memory(text: str) -> int:
    """Return the bytes in a text such as "1GB", "500M" or "2GiB"; for "" half of the memory of the machine.

    Raises:
        OptionError: The text is not a size, or a size too small for counting.
    """
    if not text:
        n_bytes = 0
        if hasattr(os, "sysconf"):  # not on Windows
            n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return max(LEAST, n_bytes // 2)
    size = r"(?P<number>\d+(?:\.\d+)?)\s*(?:(?P<unit>[KMGT])(?P<binary>i?))?B?"
    found = re.fullmatch(size, text.strip(), re.IGNORECASE)
    memory = 0
    if found:
        base = 1024 if found["binary"] else 1000
        power = _UNITS.index((found["unit"] or "").upper())
        memory = int(float(found["number"]) * base**power)
    if memory < LEAST:
        raise OptionError(
            f"Invalid --memory {text}; write a size such as 1GB, at least 300MB."
        )
    return memory
