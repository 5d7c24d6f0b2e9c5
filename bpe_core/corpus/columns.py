"""Read texts in the columns of parquet and arrow files, in portions of limited size.

A file has in its headers the sizes that its parts unpack to. They are checked before pyarrow
unpacks a part, so that a small malicious file cannot take all memory.
"""

import io
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, Final, NamedTuple

from bpe_core.corpus.headers import FlatTable, thrift_struct
from bpe_core.corpus.reading import decoded, in_blocks
from bpe_core.corpus.recognition import NotText
from bpe_core.corpus.unpacking import BLOCK, Limits
from bpe_core.process import installed

pyarrow: Any = installed("pyarrow", "a .parquet or .arrow file", "corpora")

_LIST: Final = pyarrow.ListScalar
_WRAPPERS: Final = (pyarrow.DictionaryScalar, pyarrow.ExtensionScalar)
_TEXT: Final = pyarrow.StringScalar

Choose = Callable[[Any], list[str]]
"""Returns the names of the columns to read, of a schema of Arrow."""

_ROWS: Final = 1024
"""Rows of a parquet file that are unpacked at a time, at most."""
_SHORT_BATCH: Final = 1 << 22
"""Bytes of a batch whose texts may all be made at once."""
_PORTION: Final = 1 << 28
"""Bytes that the rows unpacked at a time may take, if each is as long as a page."""
_REMOTE_PAGE: Final = 1 << 22
"""Assumed bytes of a page at an address, since its header cannot be read alone. Most have 1 MB."""

_DICTIONARY_BATCH: Final = 2
_RECORD_BATCH: Final = 3
"""Kinds of messages in arrow files."""

_FILE_MARK: Final = b"ARROW1"
"""The beginning and the end of an arrow file, which is a stream in a frame."""
_CONTINUES: Final = b"\xff\xff\xff\xff"
"""Precedes the length of a message."""
_STREAM_END: Final = _CONTINUES + bytes(4)


class PageSizes(NamedTuple):
    """The bytes that the pages of some columns unpack to."""

    total: int
    largest: int


def parquet_batches(file: IO[bytes], choose: Choose, limits: Limits) -> Iterator[Any]:
    """Yield record batches of the chosen columns. Raises `NotText` if a limit is exceeded."""
    library = installed("pyarrow.parquet", "a .parquet file", "corpora")
    table = library.ParquetFile(file, buffer_size=BLOCK, pre_buffer=False)
    columns = choose(table.schema_arrow)
    for number in range(table.num_row_groups):
        group = table.metadata.row_group(number)
        sizes = _page_sizes(file, group, columns)
        limits.unpacked.spend(sizes.total)
        limits.check_portion("a page", sizes.largest)
        # A row can be as long as a page, and so can many rows that share a text of a dictionary.
        portion = min(_PORTION, limits.largest_portion)
        n_rows = portion // max(1, sizes.largest)
        yield from table.iter_batches(
            batch_size=max(1, min(_ROWS, n_rows)),
            row_groups=[number],
            columns=columns,
            use_threads=False,
        )


def _page_sizes(file: IO[bytes], group: Any, columns: list[str]) -> PageSizes:
    """Return what the pages of a row group unpack to, of these columns and those within them.

    The headers are described in
    github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
    """
    total = 0
    largest = 0
    is_on_disk = isinstance(getattr(file, "raw", None), io.FileIO)
    names = set(columns)
    within = tuple(f"{name}." for name in columns)
    for number in range(group.num_columns):
        chunk = group.column(number)
        path = chunk.path_in_schema
        if path not in names and not path.startswith(within):
            continue
        if not is_on_disk:
            total += chunk.total_uncompressed_size
            largest = max(largest, _REMOTE_PAGE)
            continue
        place = chunk.dictionary_page_offset or chunk.data_page_offset
        end = place + chunk.total_compressed_size
        while place < end:
            file.seek(place)
            header = thrift_struct(file)  # a PageHeader
            unpacked_size = header[2]
            packed_size = header[3]
            place = file.tell() + max(0, packed_size)
            total += unpacked_size
            largest = max(largest, unpacked_size)
    return PageSizes(total, largest)


def arrow_batches(file: IO[bytes], choose: Choose, limits: Limits) -> Iterator[Any]:
    """Yield record batches of the chosen columns. Raises `NotText` if a limit is exceeded."""
    library = installed("pyarrow.ipc", "a .arrow file", "corpora")
    is_file = file.read(6) == _FILE_MARK
    file.seek(-8, io.SEEK_END)
    if not file.read().endswith((_STREAM_END, _FILE_MARK)):
        raise NotText("it is cut off: its end marker is missing; download it again")
    start = 8 if is_file else 0
    file.seek(start)
    _check_message(file, limits)  # the schema
    file.seek(start)
    reader = library.open_stream(file)
    columns = choose(reader.schema)
    while True:
        # Check all messages up to the next record batch, and then let pyarrow read them.
        start = file.tell()
        kind = _DICTIONARY_BATCH
        while kind == _DICTIONARY_BATCH:
            kind = _check_message(file, limits)
        file.seek(start)
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        batch.validate(full=True)
        yield batch.select(columns)


def _check_message(file: IO[bytes], limits: Limits) -> int:
    """Skip a message and return its kind, or 0 at the end. Check its size, packed and unpacked, against the limits.

    Messages are described in arrow.apache.org/docs/format/Columnar.html.
    """
    prefix = file.read(4)
    if prefix == _CONTINUES:
        prefix = file.read(4)
    length = int.from_bytes(prefix, "little")
    if not length:
        return 0
    limits.check_portion("a batch", length)
    message = FlatTable.root(file.read(length))
    body_length = message.integer(3, "<q")
    limits.check_portion("a batch", body_length)
    body = file.tell()
    kind = message.integer(1, "<B")
    batch = message.table(2)
    if kind == _DICTIONARY_BATCH:
        batch = batch.table(1)  # the record batch in it
    if kind in (_RECORD_BATCH, _DICTIONARY_BATCH):
        size = _unpacked_size(file, body, body_length, batch)
        limits.unpacked.spend(size)
        limits.check_portion("a batch", size)
    file.seek(body + body_length)
    return kind


def _unpacked_size(
    file: IO[bytes], body: int, body_length: int, batch: FlatTable
) -> int:
    """Return how many bytes the buffers of a batch unpack to.

    In a packed batch, each buffer begins with its unpacked size, or -1 if it is not packed.
    """
    is_packed = batch.place_of(3)
    if not is_packed:
        return body_length
    total = 0
    for place in batch.structs(2, size=16):
        offset, length = struct.unpack_from("<qq", batch.data, place)
        if length > 0:
            file.seek(body + offset)
            size = int.from_bytes(file.read(8), "little", signed=True)
            total += length if size < 0 else size
    return total


def values_of(batch: Any, limits: Limits) -> list[Iterable[Any]]:
    """Return the values of each column: texts, or scalars of Arrow, if texts may be long."""
    text_types = (pyarrow.string(), pyarrow.large_string())
    are_texts = all(column.type in text_types for column in batch.columns)
    if not are_texts or batch.nbytes > _SHORT_BATCH:
        return list(batch.columns)
    limits.give_out(batch.nbytes, batch.num_rows)
    return [column.to_pylist() for column in batch.columns]


def text_in_columns(
    limits: Limits, record: Any, keys: list[str]
) -> Iterator[str] | None:
    """Return the text at a path of keys, in blocks.

    The record is a dict of values from `values_of`. Returns None if the value is not a text.
    Raises LookupError, TypeError or ValueError if there is nothing at the path.
    """
    value = record[keys[0]]
    if isinstance(value, str):
        return in_blocks(value) if len(keys) == 1 else None
    for key in keys[1:]:
        value = value[int(key) if isinstance(value, _LIST) else key]
    while isinstance(value, _WRAPPERS):
        value = value.value
    if not isinstance(value, _TEXT) or not value.is_valid:
        return None
    buffer = value.as_buffer()
    limits.give_out(buffer.size)
    if buffer.size > BLOCK:
        return decoded(pyarrow.BufferReader(buffer), "utf-8")
    text = str(buffer, "utf-8")
    return iter([text] if text else [])
