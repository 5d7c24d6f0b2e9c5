"""A reader of protobuf's wire format, as needed for SentencePiece models.

The wire format has four kinds of values (developers.google.com/protocol-buffers/docs/encoding), and eleven fields are
read that have not changed since 2018; the library would be a dependency with compiled code and a schema.
"""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Truncated(ValueError):
    """The message is truncated, or is not in the wire format."""


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of each field of a message; a varint is an int, every other value its raw bytes.

    Raises `Truncated`.

    >>> list(fields(bytes([0x0A, 2, 104, 105, 0x18, 7])))
    [(1, b'hi'), (3, 7)]
    """
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind, number = tag & 7, tag >> 3
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise Truncated
        if not number or at + size > len(data):
            raise Truncated
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        if at >= len(data):
            raise Truncated
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Truncated
