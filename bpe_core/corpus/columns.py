"""Texts in the columns of parquet and arrow files, unpacked in portions of bounded size.

A file says in its headers what its parts unpack to. These headers are checked before pyarrow unpacks
a part, so that a small hostile file cannot take all memory.
"""

import io
import struct
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, NamedTuple

from bpe_core.corpus.reading import BLOCK, Limits, NotText, decoded, in_blocks
from bpe_core.process import installed

pyarrow: Any = installed("pyarrow", "a .parquet or .arrow file", "corpora")
_LISTS: Final = pyarrow.ListScalar
_WRAPPERS: Final = pyarrow.DictionaryScalar, pyarrow.ExtensionScalar
_TEXTS: Final = pyarrow.StringScalar
_ROWS: Final = 1024  # of a parquet file that are unpacked at a time, at most
_SHORT: Final = 1 << 22  # bytes of a batch of which all texts may be made at once
_PORTION: Final = 1 << 28  # bytes that they may take, if each is as long as a page
# A page cannot be looked up at an address without fetching all before it; most have 1 MB.
_REMOTE_PAGE: Final = 1 << 22
# How a stream of arrow.apache.org/docs/format/Columnar.html ends, and a file, which is a stream
# with a frame.
_ARROW_ENDS: Final = (b"\xff\xff\xff\xff\0\0\0\0", b"ARROW1")
_CONTINUES: Final = b"\xff\xff\xff\xff"  # before the length of a message
_DICTIONARY_BATCH: Final = 2
_RECORD_BATCH: Final = 3


class PageSizes(NamedTuple):
    """The bytes that the pages of some columns unpack to."""

    total: int
    largest: int


def parquet_batches(file: IO[bytes], names: Any, limits: Limits) -> Iterator[Any]:
    """Yield record batches of the columns that `names` chooses from a schema of Arrow."""
    library = installed("pyarrow.parquet", "a .parquet file", "corpora")
    table = library.ParquetFile(file, buffer_size=BLOCK, pre_buffer=False)
    columns = names(table.schema_arrow)
    for number in range(table.num_row_groups):
        group = table.metadata.row_group(number)
        sizes = _page_sizes(file, group, columns)
        limits.unpack(sizes.total)
        limits.check_portion("a page", sizes.largest)
        # A row is no longer than a page, but rows may share the same bytes of a dictionary.
        portion = min(_PORTION, limits.largest_portion)
        n_rows = max(1, min(_ROWS, portion // max(1, sizes.largest)))
        yield from table.iter_batches(
            batch_size=n_rows, row_groups=[number], columns=columns, use_threads=False
        )


def _page_sizes(file: IO[bytes], group: Any, columns: list[str]) -> PageSizes:
    total = 0
    largest = 0
    is_on_disk = isinstance(getattr(file, "raw", None), io.FileIO)
    flat = set(columns)
    nested = tuple(f"{name}." for name in columns)
    for number in range(group.num_columns):
        chunk = group.column(number)
        path = chunk.path_in_schema
        if path not in flat and not path.startswith(nested):
            continue
        if not is_on_disk:
            total += chunk.total_uncompressed_size
            largest = max(largest, _REMOTE_PAGE)
            continue
        place = chunk.dictionary_page_offset or chunk.data_page_offset
        end = place + chunk.total_compressed_size
        while place < end:
            file.seek(place)
            header = _thrift_struct(file)
            unpacked_size = header[2]
            packed_size = header[3]
            place = file.tell() + max(0, packed_size)
            total += unpacked_size
            largest = max(largest, unpacked_size)
    return PageSizes(total, largest)


def _thrift_struct(file: IO[bytes]) -> dict[int, Any]:
    """Read a struct in the compact protocol of Thrift: the header of a page of parquet.

    github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
    """
    fields: dict[int, Any] = {}
    number = 0
    while head := file.read(1)[0]:
        step = head >> 4
        number = number + step if step else _thrift_integer(file)
        fields[number] = _thrift_value(file, head & 15)
    return fields


def _thrift_value(file: IO[bytes], kind: int) -> Any:
    if kind in (1, 2):
        return kind == 1
    if kind in (4, 5, 6):
        return _thrift_integer(file)
    if kind == 12:
        return _thrift_struct(file)
    # The numbers and strings of statistics are passed over.
    if kind == 3:
        size = 1
    elif kind == 7:
        size = 8
    elif kind == 8:
        size = _thrift_varint(file)
    else:
        raise NotText("a header of its pages is damaged; download it again")
    file.seek(size, io.SEEK_CUR)
    return None


def _thrift_integer(file: IO[bytes]) -> int:
    zigzag = _thrift_varint(file)
    return (zigzag >> 1) ^ -(zigzag & 1)


def _thrift_varint(file: IO[bytes]) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            break
    return value


def arrow_batches(file: IO[bytes], names: Any, limits: Limits) -> Iterator[Any]:
    """Yield record batches of the columns that `names` chooses from a schema of Arrow."""
    library = installed("pyarrow.ipc", "a .arrow file", "corpora")
    is_file = file.read(6) == b"ARROW1"
    file.seek(-8, io.SEEK_END)
    if not file.read().endswith(_ARROW_ENDS):
        raise NotText("it ends too early, without the mark of its end; get it anew")
    start = 8 if is_file else 0
    file.seek(start)
    _check_message(file, limits)  # the schema
    file.seek(start)
    reader = library.open_stream(file)
    columns = names(reader.schema)
    while True:
        start = file.tell()
        while _check_message(file, limits) == _DICTIONARY_BATCH:
            pass
        file.seek(start)
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        batch.validate(full=True)
        yield batch.select(columns)


def _check_message(file: IO[bytes], limits: Limits) -> int:
    """Pass over a message and return its kind, or 0 at the end. Check what it unpacks to."""
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
        batch = batch.table(1)
    if kind in (_RECORD_BATCH, _DICTIONARY_BATCH):
        size = _unpacked_size(file, body, body_length, batch)
        limits.unpack(size)
        limits.check_portion("a batch", size)
    file.seek(body + body_length)
    return kind


def _unpacked_size(
    file: IO[bytes], body: int, body_length: int, batch: "FlatTable"
) -> int:
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


class FlatTable(NamedTuple):
    """A table of a flatbuffer: flatbuffers.dev/internals."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> "FlatTable":
        return cls(data, *struct.unpack_from("<I", data))

    def place_of(self, field: int) -> int:
        """Where the value of a field begins; 0 if it has none."""
        (distance,) = struct.unpack_from("<i", self.data, self.place)
        fields = self.place - distance
        (size,) = struct.unpack_from("<H", self.data, fields)
        if 4 + 2 * field >= size:
            return 0
        (offset,) = struct.unpack_from("<H", self.data, fields + 4 + 2 * field)
        return self.place + offset if offset else 0

    def integer(self, field: int, format: str) -> int:
        place = self.place_of(field)
        return int(struct.unpack_from(format, self.data, place)[0]) if place else 0

    def table(self, field: int) -> "FlatTable":
        place = self.place_of(field)
        return FlatTable(self.data, place + self.integer(field, "<I"))

    def structs(self, field: int, size: int) -> range:
        """Where the structs in a vector begin."""
        start = self.place_of(field) + self.integer(field, "<I")
        (n,) = struct.unpack_from("<I", self.data, start)
        return range(start + 4, start + 4 + size * n, size)


def values_of(batch: Any, limits: Limits) -> list[Iterable[Any]]:
    """Return the values of each column: texts, or scalars of Arrow, whose texts may be long."""
    plain = pyarrow.string(), pyarrow.large_string()
    if batch.nbytes > _SHORT or any(
        column.type not in plain for column in batch.columns
    ):
        return list(batch.columns)
    limits.give_out(batch.nbytes, batch.num_rows)
    return [column.to_pylist() for column in batch.columns]


def text_in(record: Any, keys: list[str], limits: Limits) -> Iterator[str] | None:
    """Return the text that is found by these keys, one in the other, in blocks.

    The values of the record are those of `values_of`. None: the value is not a text.

    Raises:
        LookupError, TypeError, ValueError: There is no such value.
    """
    value = record[keys[0]]
    if isinstance(value, str):
        return in_blocks(value) if len(keys) == 1 else None
    for key in keys[1:]:
        value = value[int(key) if isinstance(value, _LISTS) else key]
    while isinstance(value, _WRAPPERS):
        value = value.value
    if not isinstance(value, _TEXTS) or not value.is_valid:
        return None
    buffer = value.as_buffer()
    limits.give_out(buffer.size)
    if buffer.size > BLOCK:
        return decoded(pyarrow.BufferReader(buffer), "utf-8")
    return iter(filter(None, (str(buffer, "utf-8"),)))
