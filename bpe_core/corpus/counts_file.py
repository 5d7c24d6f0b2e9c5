"""Write counts to a parquet file, and read them again.

The file has one row per piece, in the order of first appearance. The rest is JSON in its metadata.
The columns:

- `piece`: the piece in UTF-8.
- `count`: the number of its occurrences, times `scale`, since weights may be fractions.
- `documents`: the number of documents that it occurs in.
- `first_document`: the first of them if there are one or two, otherwise 0.
- `last_document`: the last of them.

A digest covers all of it, so a damaged file is refused. Files of version 1 had no digest. They are
refused too, and the texts have to be counted again.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from bpe_core import kernel, untrusted_json
from bpe_core.corpus.counts import (
    KEY,
    LARGEST,
    LARGEST_COUNT,
    MOST_DOCUMENTS,
    Counts,
)
from bpe_core.corpus.measure import Source
from bpe_core.corpus.reading import Skipped, reason_of
from bpe_core.errors import FormatError, PatternError
from bpe_core.process import installed
from bpe_core.visible import counted, shortened, visible
from bpe_core.weighted import count_text, exact_fraction, formatted, weighted_count

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill

pa = installed("pyarrow", "A file of counts", "corpora")
parquet = installed("pyarrow.parquet", "A file of counts", "corpora")
compute = installed("pyarrow.compute", "A file of counts", "corpora")

VERSION: Final = 2
DIGEST: Final = b"bpescope.digest"
"""Key of the digest in the metadata; see `_Digest`."""
ROWS: Final = 1 << 16
"""Rows that are written at a time."""
SCHEMA: Final = pa.schema(
    {
        "piece": pa.large_binary(),
        "count": pa.int64(),
        "documents": pa.int64(),
        "first_document": pa.int64(),
        "last_document": pa.int64(),
    }
)
_NUMBERS: Final = SCHEMA.names[1:]
"""The columns of numbers."""
_ORDER: Final = (
    "Rows are in the order of first appearance. A merge keeps the rows of the first file in order, "
    "and appends the new pieces of the next file. So training with the tie rule "
    '"first" gives the same merges as training on the texts in that order. The other rules do not '
    "depend on the order."
)
_PARQUET_OPTIONS: Final = {
    "compression": "zstd",
    "use_dictionary": _NUMBERS,
    "write_page_checksum": True,
}
_DAMAGED: Final = "it is damaged: its digest does not match"
_EXACT: Final = pa.decimal128(38)
"""A type that holds any sum of numbers of 64 bits."""


class _Digest:
    """A SHA-256 of the JSON, and one of the JSON and all rows.

    The digest does not depend on the sizes of the record batches.
    """

    def __init__(self, about: bytes) -> None:
        self.of_about = sha256(about).hexdigest()
        # The digests of the columns. Pieces are digested as their lengths and all bytes.
        self._lengths = sha256()
        self._pieces = sha256()
        self._numbers = [sha256() for _ in _NUMBERS]

    def add(self, batch: Any) -> None:
        """Add the rows of a record batch."""
        if not len(batch):
            return
        column_size = 8 * len(batch)
        data, numbers = columns_of(batch)
        offsets = memoryview(numbers)[: column_size + 8].cast("q")
        self._pieces.update(memoryview(data)[offsets[0] : offsets[-1]])
        lengths = compute.binary_length(batch["piece"])
        self._lengths.update(memoryview(lengths.buffers()[1])[:column_size])
        start = column_size + 8
        for digest in self._numbers:
            digest.update(memoryview(numbers)[start : start + column_size])
            start += column_size

    def __str__(self) -> str:
        """Return the text that is kept in the file."""
        digests = [self.of_about]
        for column in [self._lengths, self._pieces, *self._numbers]:
            digests.append(column.hexdigest())
        of_all = sha256(" ".join(digests).encode())
        return f"{self.of_about} {of_all.hexdigest()}"


@dataclass
class _Sums:
    """Exact sums over rows."""

    rows: int = 0
    occurrences: int = 0
    bytes: int = 0
    """Bytes of all occurrences."""

    def add(self, batch: Any) -> None:
        """Add the rows of a record batch. Raises ValueError if counts are too large."""
        lengths = compute.binary_length(batch["piece"])
        try:
            n_bytes = compute.multiply_checked(batch["count"], lengths)
        except pa.ArrowInvalid:
            raise ValueError("its counts are above 2^63") from None
        self.rows += len(batch)
        self.occurrences += _sum(batch["count"])
        self.bytes += _sum(n_bytes)


def _sum(numbers: Any) -> int:
    # Arrow adds whole numbers of 64 bits modulo 2^64, without an error.
    return int(compute.sum(numbers.cast(_EXACT)).as_py() or 0)


def write(
    counts: Counts,
    file: IO[bytes],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> None:
    """Write counts to an opened file. `progress` is called with (done, total)."""
    about: dict[str, Any] = {
        "pattern": counts.pattern,
        "sample": counts.sample,
        "weights": counts.weights,
        "scale": counts.scale,
        "n_documents": counts.n_documents,
        "lacks_rare": counts.lacks_rare,
        "n_pieces": counts.n_pieces,
        "version": VERSION,
        "order": _ORDER,
    }
    about["sources"] = [
        asdict(source) | {"weight": count_text(source.weight)}
        for source in counts.sources
    ]
    about["skipped"] = [
        {"path": str(skipped.path), "reason": skipped.reason}
        for skipped in counts.skipped
    ]
    make_batches = counts.spill.batches if counts.spill else batches_of
    write_rows(about, make_batches(counts.table, progress), file)


def write_rows(
    about: dict[str, Any], row_batches: Iterable[Any], file: IO[bytes]
) -> None:
    """Write a file of counts.

    Args:
        about: The JSON.
        row_batches: Record batches of `SCHEMA`.
        file: Opened for writing.
    """
    data = json.dumps(about).encode()
    digest = _Digest(data)
    schema = SCHEMA.with_metadata({KEY: data})
    with parquet.ParquetWriter(file, schema, **_PARQUET_OPTIONS) as writer:
        for batch in row_batches:
            digest.add(batch)
            writer.write_batch(batch)
        writer.add_key_value_metadata({DIGEST: str(digest)})


def batches_of(
    table: kernel.PieceTable, progress: Callable[[int, int], object]
) -> Iterator[Any]:
    """Yield record batches with the rows of all pieces. `progress` is called with (done, total)."""
    for start in range(0, len(table), ROWS):
        progress(start, len(table))
        batch, _ = batch_of(table, start, ROWS)
        yield batch


def batch_of(table: kernel.PieceTable, start: int, most: int) -> tuple[Any, bytes]:
    """Return a record batch of at most `most` rows, and a byte of the hash of each piece."""
    # The numbers are n + 1 offsets of the pieces, and n numbers of each other column.
    data, packed_numbers, hashes = table.columns(start, start + most)
    n = len(hashes)
    numbers = pa.py_buffer(packed_numbers)
    pieces = [None, numbers, pa.py_buffer(data)]
    columns = [pa.Array.from_buffers(pa.large_binary(), n, pieces)]
    for index in range(len(_NUMBERS)):
        offset = n + 1 + n * index
        column = pa.Array.from_buffers(pa.int64(), n, [None, numbers], offset=offset)
        columns.append(column)
    return pa.record_batch(columns, SCHEMA), hashes


def columns_of(batch: Any) -> tuple[Any, Any]:
    """Return the bytes of the pieces and the numbers of a record batch, for `PieceTable.extend`."""
    if not len(batch):
        return b"", b""
    pieces = batch["piece"]
    _, offset_buffer, data = pieces.buffers()
    # A batch can be a slice of a larger one, with buffers in common.
    offsets = pa.Array.from_buffers(
        pa.int64(), len(batch) + 1, [None, offset_buffer], offset=pieces.offset
    )
    numbers = pa.concat_arrays([offsets, *batch.columns[1 : len(SCHEMA)]])
    _, packed_numbers = numbers.buffers()
    return data, packed_numbers


def read(source: Any, spill: "Spill | None" = None, least: int = 1) -> Counts:
    """Return the counts in a file.

    Args:
        source: An opened file, or a path.
        spill: See `Counts.load`.
        least: See `Counts.load`.

    Raises:
        FormatError: The file cannot be read, or is not a whole file of counts.
    """
    name = visible(shortened(source, 200)) if isinstance(source, str) else "This"
    try:
        with parquet.ParquetFile(source, page_checksum_verification=True) as file:
            return _read(file, spill, least)
    except (PatternError, FormatError):
        raise
    except (
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        pa.ArrowException,
    ) as error:
        if isinstance(error, OSError) and error.errno:
            raise FormatError(f"{name} cannot be read: {reason_of(error)}.") from error
        reason = shortened(visible(str(error).partition("\n")[0]), 200).rstrip(".")
        raise FormatError(
            f"{name} is not a complete file of counts that this version can read ({reason}); "
            "count the texts again."
        ) from error


def _read(file: Any, spill: "Spill | None", least: int) -> Counts:
    """Read an opened parquet file. Raises one of many errors if it is not a file of counts."""
    metadata = file.metadata.metadata or {}
    data = metadata.get(KEY, b"{}")
    about = _parsed_about(data)
    digest = _Digest(data)
    stored_digest = metadata.get(DIGEST, b"").decode()
    if stored_digest.partition(" ")[0] != digest.of_about:
        raise ValueError(_DAMAGED)

    counts = _counts_about(about, spill)
    sums = _Sums()
    rare = _Sums()
    n_new = 0
    for batch in file.iter_batches(ROWS, columns=SCHEMA.names):
        batch = batch.cast(SCHEMA)
        _check_rows(batch, counts.n_documents)
        digest.add(batch)
        sums.add(batch)
        _check_sums(counts, sums)
        if least > 1:
            limit = min(least * counts.scale, LARGEST_COUNT)
            is_rare = compute.less(batch["count"], limit)
            rare.add(batch.filter(is_rare))
            batch = batch.filter(compute.invert(is_rare))
        pieces, numbers = columns_of(batch)
        is_new = counts.table.extend(pieces, numbers, 0)  # a byte for each piece
        n_new += is_new.count(1)
    if str(digest) != stored_digest:
        raise ValueError(_DAMAGED)
    if n_new + rare.rows != sums.rows:
        raise ValueError("it contains a piece twice")
    n_pieces = _number(about, "n_pieces", 0, LARGEST_COUNT)
    _check_n_pieces(counts, n_pieces, sums.occurrences)

    counts.table.n_pieces = n_pieces
    if rare.rows:
        counts.lacks_rare = True
        # In a piece of b bytes a pair of tokens occurs at most b - 1 times.
        most = weighted_count(rare.bytes - rare.occurrences, counts.scale)
        lost = weighted_count(rare.occurrences, counts.scale)
        without = f"without {counted(rare.rows, 'piece')} that occur less than {least:,} times, {formatted(lost)} in all"
        bound = f"{without}: the count of a pair is right, or too low, by {formatted(most)} at most"
        counts.sample = "; ".join(filter(None, (counts.sample, bound)))
    return counts


def _parsed_about(data: bytes) -> dict[str, Any]:
    """Parse the JSON in the metadata. Raises ValueError if it is not of this version."""
    about = untrusted_json.parse(data)
    if not isinstance(about, dict) or not about:
        raise ValueError("its metadata have no counts")
    if about.get("version") != VERSION:
        raise ValueError(f"it is of version {about.get('version')}, not {VERSION}")
    return about


def _counts_about(about: dict[str, Any], spill: "Spill | None") -> Counts:
    """Return counts without pieces: all that the JSON holds, checked. Raises ValueError."""
    counts = Counts(_text(about, "pattern"), spill)
    counts.sample = _text(about, "sample")
    counts.weights = _text(about, "weights")
    counts.scale = _number(about, "scale", 1, LARGEST)
    counts.lacks_rare = about.get("lacks_rare") is True
    counts.add_sources(map(_source, about["sources"]))
    for stored in about["skipped"]:
        path = Path(_text(stored, "path"))
        counts.skipped.append(Skipped(path, _text(stored, "reason")))
    n_documents = _number(about, "n_documents", 0, MOST_DOCUMENTS)
    if counts.n_documents != n_documents:
        raise ValueError("its texts do not add up to its documents")
    if counts.scale * counts.weighted_bytes > LARGEST_COUNT:
        raise ValueError("its texts are above 2^63 bytes")
    return counts


def _source(stored: Any) -> Source:
    """Return a source that the JSON holds. Raises ValueError."""
    try:
        weight = exact_fraction(_text(stored, "weight"))
    except ValueError:
        weight = Fraction(0)
    if weight <= 0:
        raise ValueError("its weight of a text is not a number above 0")
    return Source(
        name=_text(stored, "name"),
        bytes=_number(stored, "bytes", 0, LARGEST_COUNT),
        characters=_number(stored, "characters", 0, LARGEST_COUNT),
        sha256=_text(stored, "sha256"),
        weight=weighted_count(weight),
        documents=_number(stored, "documents", 0, MOST_DOCUMENTS),
    )


def _number(stored: Any, name: str, least: int, most: int) -> int:
    value = stored.get(name)
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"its {name} is not a whole number from {least:,} to {most:,}")
    return value


def _text(stored: Any, name: str) -> str:
    value = stored.get(name)
    if not isinstance(value, str):
        raise ValueError(f"its {name} is not a text")
    return value


def _check_rows(batch: Any, n_documents: int) -> None:
    """Raise ValueError if a value is missing or out of its range."""
    if not len(batch):
        return
    if any(column.null_count for column in batch.columns):
        raise ValueError("a value is missing")
    compute.cast(batch["piece"], pa.large_string())  # ValueError if it is not UTF-8
    if compute.min(compute.binary_length(batch["piece"])).as_py() < 1:
        raise ValueError("a piece is empty")
    if compute.min(batch["count"]).as_py() < 1:
        raise ValueError("a count is below 1")
    first = batch["first_document"]
    last = batch["last_document"]
    are_in_order = compute.all(compute.less_equal(first, last)).as_py()
    documents = compute.min_max(batch["documents"]).as_py()
    if (
        not are_in_order
        or compute.min(first).as_py() < 0
        or compute.max(last).as_py() >= n_documents
        or documents["min"] < 1
        or documents["max"] > n_documents
    ):
        raise ValueError("a piece is in a document that does not exist")


def _check_sums(counts: Counts, sums: _Sums) -> None:
    """Raise ValueError if the pieces are more than the texts hold."""
    if sums.bytes > counts.scale * counts.weighted_bytes:
        raise ValueError("its pieces are longer than its texts")


def _check_n_pieces(counts: Counts, n_pieces: int, occurrences: int) -> None:
    """Raise ValueError if `n_pieces`, times the weights of the texts, cannot be the counts."""
    weights = [source.weight for source in counts.sources] or [1]
    least = n_pieces * counts.scale * min(weights)
    most = n_pieces * counts.scale * max(weights)
    if occurrences > most or (occurrences < least and not counts.lacks_rare):
        raise ValueError("its counts do not add up to its n_pieces")
