"""Counts larger than memory: tables of pieces go to a temporary file as runs, and from there to the file of counts.

A run is a slice of a table in the order of first appearance, sorted into parts by a hash of the pieces. One part of all
runs fits into memory: there its pieces are counted, and the new ones of each run keep their places in it. Sorted by
these, the new pieces of one run after the other are all pieces in the order of first appearance. Every row is written
twice, so the time is linear.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import Any, Final
from weakref import WeakSet

from bpe_core import kernel
from bpe_core.corpus.counts_file import SCHEMA, batch_of, batches, compute, pa, rows
from bpe_core.errors import FormatError, OptionError
from bpe_core.visible import visible

LEAST: Final = 1 << 28  # bytes of memory that counting needs anyway
PARTS: Final = 64  # of a run: so many times the different pieces that memory holds are counted exactly within it
ROWS: Final = 1 << 19  # of a run, at most
_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class TableRun:
    batch: int  # number of its first part in the temporary file
    document: int = 0  # number of the document that is number 0 in it
    weight: int = 1  # how many times each of its pieces is counted


class SpilledTable:
    """A table that can be larger than memory: runs, and behind them what was appended since the last; see `Spill`."""

    def __init__(self, spill: "Spill") -> None:
        self._spill, self.held = spill, kernel.PieceTable(None)
        self._open: int | None = (
            None  # the document that may have begun in the last run; -1: that of the next append
        )
        self.n_pieces, self.runs = 0, list[TableRun]()

    def __len__(self) -> int:
        """How many different pieces there are; 0 if nobody knows."""
        return 0 if self.runs else len(self.held)

    def append(
        self, other: "kernel.PieceTable | SpilledTable", document: int, weight: int = 1
    ) -> None:
        if self._open == -1:
            self._open = document
        elif self._open not in (None, document):
            self.to_runs()  # or it would not be seen that a document of three or more stands in the run before, too
            self._open = None
        self.n_pieces += other.n_pieces
        if isinstance(other, SpilledTable):
            if other.runs:
                self.to_runs()
                other.to_runs()
            self.runs += (
                replace(
                    run, document=run.document + document, weight=run.weight * weight
                )
                for run in other.runs
            )
            other = other.held
        self.held.append(other, document, weight)
        self._spill.check()

    def extend(self, pieces: Any, columns: Any, document: int) -> bytes:
        is_new = self.held.extend(pieces, columns, document)
        self._spill.check()
        return is_new

    def to_runs(self) -> None:
        self.runs += self._spill.taken(self.held)
        self.held, self._open = kernel.PieceTable(None), -1


class Spill:
    """Where tables spill that together are larger than memory: a temporary file that goes whatever happens."""

    def __init__(self, memory: int, folder: str | os.PathLike[str]) -> None:
        """`memory`: bytes for all that counts; `folder`: with room for all runs, twice. FormatError, from all methods,
        if the temporary file cannot be written, such as on a full disk."""
        self._rows = min(
            ROWS, max(memory, LEAST) >> 11
        )  # of a run, some 200 bytes each on its way
        self.memory = memory
        self._most = (
            memory * 2 // 5
        )  # the rest: a table while it grows, those of the threads, a run on its way
        self._folder = folder
        with self._disk_errors_named():
            self._file = TemporaryFile(dir=folder)  # noqa: SIM115
        self._tables = WeakSet[SpilledTable]()
        self._writer: Any = None
        self._n_batches = 0

    def close(self) -> None:
        with suppress(OSError):  # of the last write, and the file goes anyway
            self._file.close()

    @contextmanager
    def _disk_errors_named(self) -> Iterator[None]:
        """Turn an error of the temporary file into a sentence about it: an OSError without a file name would be taken
        for one of stdout, or of the file of counts."""
        try:
            yield
        except OSError as error:
            folder = visible(os.fspath(self._folder))
            raise FormatError(
                f"A temporary file in {folder} cannot be written: {error.strerror or error}; "
                "free some space there, or let more memory be used with --memory."
            ) from error

    def table(self) -> SpilledTable:
        self._tables.add(table := SpilledTable(self))
        return table

    def check(self) -> None:
        """Make runs of all tables if these are too large."""
        size = 0
        for table in self._tables:
            n = len(table.held)
            slots = 4 ** max(
                6, ((9 * n // 4).bit_length() + 1) // 2
            )  # when it has grown once more: see pieces.h
            size += 36 * n + table.held.long_bytes + 10 * slots
        if size > self._most:
            for table in self._tables:
                table.to_runs()

    def taken(self, table: "kernel.PieceTable") -> Iterator[TableRun]:
        """Write the runs of a table, and give them in order."""
        for start in range(0, len(table), self._rows):
            batch, hashes = batch_of(table, start, self._rows)
            of_part = pa.py_buffer(
                hashes.translate(bytes(hash % PARTS for hash in range(256)))
            )
            parts = pa.Array.from_buffers(pa.uint8(), len(hashes), [None, of_part])
            sizes = {
                pair["values"]: pair["counts"]
                for pair in compute.value_counts(parts).to_pylist()
            }
            order = compute.sort_indices(parts)
            batch = pa.record_batch(
                [*batch.take(order).columns, order], [*SCHEMA.names, "place"]
            )
            at = 0
            with self._disk_errors_named():
                if self._writer is None:
                    self._writer = _new_file(self._file, batch.schema)
                for part in range(PARTS):
                    n = sizes.get(part, 0)
                    self._writer.write_batch(batch.slice(at, n))
                    at += n
            yield TableRun(self._n_batches)
            self._n_batches += PARTS

    def batches(
        self, table: SpilledTable, progress: Callable[[int, int], object]
    ) -> Iterator[Any]:
        """The rows of all pieces in the order of first appearance, in record batches of some. No table can be used
        after that. `progress` is called with how many of how many parts are done."""
        if not table.runs:
            yield from batches(table.held, progress)
            return
        table.to_runs()
        n = len(table.runs)
        with self._disk_errors_named():
            self._writer.close()
            file = pa.ipc.open_file(self._file)
            sorted_file = TemporaryFile(dir=self._folder)  # noqa: SIM115  closed below
        try:
            with self._disk_errors_named():
                writer = _new_file(sorted_file, file.schema)
            for part in range(PARTS):
                progress(part, 2 * PARTS)
                of_part = (
                    (run, file.get_batch(run.batch + part)) for run in table.runs
                )
                with self._disk_errors_named():
                    for batch in _counted(of_part):
                        writer.write_batch(batch)
            with self._disk_errors_named():
                writer.close()
                file = pa.ipc.open_file(sorted_file)
            for number in range(n):
                progress(PARTS + PARTS * number // n, 2 * PARTS)
                with self._disk_errors_named():
                    new = pa.Table.from_batches(
                        [file.get_batch(part * n + number) for part in range(PARTS)]
                    )
                in_order = new.sort_by("place").select(SCHEMA.names)
                yield from in_order.combine_chunks().to_batches()
        finally:
            with suppress(OSError):  # as in `close`
                sorted_file.close()


def _counted(part: Iterable[tuple[TableRun, Any]]) -> Iterator[Any]:
    """What is known of the pieces of one part that are new in each of the runs, from all of them."""
    table, places, start = kernel.PieceTable(None), list[Any](), 0
    for run, batch in part:
        is_new = table.extend(*rows(batch), run.document, run.weight)
        mask = pa.Array.from_buffers(
            pa.uint8(), len(is_new), [None, pa.py_buffer(is_new)]
        )
        places.append(batch["place"].filter(mask.cast(pa.bool_())))
    for place in places:
        batch, _ = batch_of(table, start, len(place))
        yield pa.record_batch([*batch.columns, place], [*SCHEMA.names, "place"])
        start += len(place)


def _new_file(file: Any, schema: Any) -> Any:
    return pa.ipc.new_file(
        file, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
    )


def parsed_memory(text: str) -> int:
    """The bytes in a text such as "1GB" or "500M"; "" is half of what the machine has. Raises `OptionError`."""
    if not text:
        return max(LEAST, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    found = re.fullmatch(
        r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE
    )
    memory = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if memory < LEAST:
        raise OptionError(
            f"--memory {text} is less than counting needs (300MB), or no size; write one such as 1GB."
        )
    return memory
