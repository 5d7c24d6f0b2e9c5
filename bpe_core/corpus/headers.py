"""Read binary headers: structs of Thrift (parquet files) and flatbuffers (arrow files)."""

import io
import struct
from typing import IO, Any, NamedTuple

from bpe_core.corpus.recognition import NotText


def thrift_struct(file: IO[bytes]) -> dict[int, Any]:
    """Read a struct in the compact protocol of Thrift: number of a field -> value.

    Values other than booleans, integers and structs are skipped, and become None.
    See github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
    """
    fields: dict[int, Any] = {}
    number = 0
    while True:
        head = file.read(1)[0]
        if not head:
            return fields
        step = head >> 4  # from the number of the field before; 0 if it is too large
        number = number + step if step else _thrift_integer(file)
        fields[number] = _thrift_value(file, kind=head & 15)


def _thrift_value(file: IO[bytes], kind: int) -> Any:
    if kind in (1, 2):  # true or false
        return kind == 1
    if kind in (4, 5, 6):  # an integer of 16, 32 or 64 bits
        return _thrift_integer(file)
    if kind == 12:
        return thrift_struct(file)
    if kind == 3:  # a byte
        size = 1
    elif kind == 7:  # a double
        size = 8
    elif kind == 8:  # bytes
        size = _thrift_varint(file)
    else:  # a list, set or map, which the header of a page never has
        raise NotText("the header of a page is damaged; get the file again")
    file.seek(size, io.SEEK_CUR)
    return None


def _thrift_integer(file: IO[bytes]) -> int:
    """Read a signed integer: 0, 1, 2, 3, … mean 0, -1, 1, -2, …"""
    zigzag = _thrift_varint(file)
    return (zigzag >> 1) ^ -(zigzag & 1)


def _thrift_varint(file: IO[bytes]) -> int:
    """Read an integer of at most ten bytes.

    Each byte has seven bits of it, the lowest first. The eighth bit is 0 in the last byte.
    """
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            break
    return value


class FlatTable(NamedTuple):
    """A table of a flatbuffer. See flatbuffers.dev/internals.

    Offsets are relative to their own place.
    """

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> "FlatTable":
        """Return the table of a flatbuffer that holds all others."""
        (place,) = struct.unpack_from("<I", data)
        return cls(data, place)

    def place_of(self, field: int) -> int:
        """Return where the value of a field begins; 0 if it has none."""
        # A table begins with the distance back to its list of offsets, which begins with its own
        # size and the size of the table.
        (distance,) = struct.unpack_from("<i", self.data, self.place)
        offsets = self.place - distance
        (size,) = struct.unpack_from("<H", self.data, offsets)
        place_in_offsets = 4 + 2 * field
        if place_in_offsets >= size:
            return 0
        (offset,) = struct.unpack_from("<H", self.data, offsets + place_in_offsets)
        return self.place + offset if offset else 0

    def integer(self, field: int, format: str) -> int:
        """Return the value of a field, in a format of the module `struct`; 0 if it has none."""
        place = self.place_of(field)
        if not place:
            return 0
        return int(struct.unpack_from(format, self.data, place)[0])

    def table(self, field: int) -> "FlatTable":
        """Return the table that is the value of a field."""
        place = self.place_of(field)
        return FlatTable(self.data, place + self.integer(field, "<I"))

    def structs(self, field: int, size: int) -> range:
        """Return where the structs begin, of `size` bytes each, that are the value of a field."""
        start = self.place_of(field) + self.integer(field, "<I")
        (n_structs,) = struct.unpack_from("<I", self.data, start)
        return range(start + 4, start + 4 + size * n_structs, size)
