"""Counts as a parquet file: a row a piece, in the order of first appearance, and what else is known, in JSON.

The columns: `piece` (UTF-8), `count`, `documents` (how many it occurs in), `first_document` (the first, where these are
one or two; else 0) and `last_document`. A count stands for count/scale occurrences, since weights may be fractions.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from operator import add
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from bpe_core import kernel
from bpe_core.corpus.counts import KEY, Counts, Source
from bpe_core.corpus.reading import Skipped, why_not
from bpe_core.errors import FormatError, PatternError
from bpe_core.process import installed
from bpe_core.typed_numbers import amount, exact_fraction
from bpe_core.visible import counted, shortened, visible

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill

pa, parquet, compute = (
    installed(name, "A file of counts", "corpora")
    for name in ("pyarrow", "pyarrow.parquet", "pyarrow.compute")
)
VERSION: Final = 1
ROWS: Final = 1 << 16  # that are written at a time
_NUMBERS: Final = ("count", "documents", "first_document", "last_document")
SCHEMA: Final = pa.schema(
    [("piece", pa.large_binary()), *((name, pa.int64()) for name in _NUMBERS)]
)
_ORDER: Final = (
    "Rows are in the order of first appearance. Merging keeps the order of the first file, then the new pieces of the "
    'next: so the tie rule "first" learns what it learns of the texts in that order, and the other rules need no order.'
)
_HOW: Final = {
    "compression": "zstd",
    "use_dictionary": _NUMBERS,
    "write_page_checksum": True,
}
_KEPT: Final = (
    "pattern",
    "sample",
    "weights",
    "scale",
    "n_documents",
)  # as they are in Counts


def write(
    counts: Counts,
    file: IO[bytes],
    progress: Callable[[int, int], object] = lambda *_: None,
) -> None:
    """Write all to an opened file; `progress` is called with how much of how much is done."""
    found = (
        counts.spill.batches(counts.table, progress)
        if counts.spill
        else batches(counts.table, progress)
    )
    about = {name: getattr(counts, name) for name in _KEPT} | {
        "n_pieces": counts.n_pieces
    }
    about |= {"version": VERSION, "order": _ORDER}
    about["sources"] = [
        asdict(source) | {"weight": str(source.weight)} for source in counts.sources
    ]
    about["skipped"] = [asdict(one) | {"path": str(one.path)} for one in counts.skipped]
    with parquet.ParquetWriter(
        file, SCHEMA.with_metadata({KEY: json.dumps(about)}), **_HOW
    ) as writer:
        for batch in found:
            writer.write_batch(batch)


def batches(
    table: kernel.PieceTable, progress: Callable[[int, int], object]
) -> Iterator[Any]:
    """The rows of a file for all pieces, in record batches of some."""
    for start in range(0, len(table), ROWS):
        progress(start, len(table))
        yield batch_of(table, start, ROWS)[0]


def batch_of(table: kernel.PieceTable, start: int, most: int) -> tuple[Any, bytes]:
    """(a record batch of some rows, a byte of hash for each)."""
    data, numbers, hashes = table.columns(start, start + most)
    n, numbers = len(hashes), pa.py_buffer(numbers)
    columns = [
        pa.Array.from_buffers(pa.large_binary(), n, [None, numbers, pa.py_buffer(data)])
    ]  # first n + 1 numbers
    others = range(1, len(SCHEMA))
    columns += (
        pa.Array.from_buffers(pa.int64(), n, [None, numbers], offset=n * i + 1)
        for i in others
    )
    return pa.record_batch(columns, SCHEMA), hashes


def rows(batch: Any) -> tuple[Any, Any]:
    """A record batch of the file as `PieceTable.extend` takes it."""
    if not len(batch):
        return b"", b""
    _, offsets, data = batch["piece"].buffers()
    places = pa.Array.from_buffers(
        pa.int64(), len(batch) + 1, [None, offsets], offset=batch["piece"].offset
    )
    return data, pa.concat_arrays([places, *batch.columns[1 : len(SCHEMA)]]).buffers()[
        1
    ]


def read(source: Any, spill: "Spill | None" = None, least: int = 1) -> Counts:
    """The counts in a file, opened or by its path; for the others see `Counts.load`. Raises `FormatError` for what is
    no whole file of counts."""
    name = visible(shortened(source, 200)) if isinstance(source, str) else "This"
    try:
        with parquet.ParquetFile(source, page_checksum_verification=True) as file:
            about = json.loads((file.schema_arrow.metadata or {}).get(KEY, "{}"))
            if about.get("version") != VERSION:
                raise ValueError(
                    f"it is of version {about['version']}"
                    if about
                    else "it is something else"
                )
            counts, n_rows, n_rare, n_lost, n_pairs = (
                Counts(about["pattern"], spill),
                0,
                0,
                0,
                0,
            )
            for batch in file.iter_batches(ROWS, columns=SCHEMA.names):
                batch = batch.cast(SCHEMA)
                if any(column.null_count for column in batch.columns):
                    raise ValueError("a value is missing")
                compute.cast(
                    batch.column(0), pa.large_string()
                )  # ValueError for what is not UTF-8
                if least > 1:
                    is_rare = compute.less(batch["count"], least * about["scale"])
                    rare, batch = (
                        batch.filter(is_rare),
                        batch.filter(compute.invert(is_rare)),
                    )
                    # In a piece of b bytes a pair of tokens occurs at most b - 1 times.
                    pairs = compute.multiply(
                        rare["count"],
                        compute.subtract(compute.binary_length(rare["piece"]), 1),
                    )
                    sums = (
                        compute.sum(numbers).as_py() or 0
                        for numbers in (rare["count"], pairs)
                    )
                    n_rare, n_lost, n_pairs = map(
                        add, (n_rare, n_lost, n_pairs), (len(rare), *sums)
                    )
                n_rows += counts.table.extend(*rows(batch), 0).count(1)
            if n_rows + n_rare != file.metadata.num_rows:
                raise ValueError("a piece is missing, or stands there twice")
        for key in _KEPT[1:]:
            setattr(counts, key, type(getattr(counts, key))(about[key]))
        counts.table.n_pieces = int(about["n_pieces"])
        weights = (
            amount(exact_fraction(source.pop("weight"))) for source in about["sources"]
        )
        counts.sources = [
            Source(**one, weight=weight)
            for one, weight in zip(about["sources"], weights, strict=True)
        ]
        counts.skipped = [
            Skipped(**one | {"path": Path(one["path"])}) for one in about["skipped"]
        ]
        if n_rare:
            lost, most = (amount(n, counts.scale) for n in (n_lost, n_pairs))
            without = f"without {counted(n_rare, 'piece')} that occur less than {least:,} times, {lost:,} in all"
            bound = f"{without}: the count of a pair is right, or too low, by {most:,} at most"
            counts.sample = "; ".join(filter(None, (counts.sample, bound)))
    except PatternError:
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
            raise FormatError(f"{name} cannot be read: {why_not(error)}.") from error
        reason = shortened(visible(str(error).partition("\n")[0]), 200).rstrip(".")
        raise FormatError(
            f"{name} is no whole file of counts that this bpescope reads: {reason}."
        ) from error
    return counts
