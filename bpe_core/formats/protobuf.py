"""The wire format of protobuf, in which SentencePiece models are written.

It has four kinds of values. bpescope reads eleven fields, which have not changed since 2018;
protobuf's library would be a dependency with compiled code and a schema.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

_VARINT: Final = 0
_FIXED64: Final = 1
_LENGTH_AND_BYTES: Final = 2
_FIXED32: Final = 5
_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}


class MessageField(NamedTuple):
    """A field of a message."""

    number: int
    value: int | bytes
    """The number of a varint; the bytes of any other value."""


def message_fields(data: int | bytes) -> Iterator[MessageField]:
    """Yield the fields of a message, in order.

    Raises:
        ValueError: The message is cut off, or is not in the wire format.
        KeyError: The same.

    Examples:
        >>> [tuple(field) for field in message_fields(bytes([0x0A, 2, 104, 105, 0x18, 7]))]
        [(1, b'hi'), (3, 7)]
    """
    data = bytes_in(data)
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number = tag >> 3
        kind = tag & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield MessageField(number, value)
            continue
        if kind == _LENGTH_AND_BYTES:
            size, place = _varint(data, place)
        else:
            size = _SIZES[kind]
        end = place + size
        if not number or end > len(data):
            raise ValueError
        yield MessageField(number, data[place:end])
        place = end


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """Return the number at `start` and the place after it. Each byte has 7 bits, lowest first."""
    number = 0
    for n_before, byte in enumerate(data[start : start + 10]):
        number |= (byte & 0x7F) << 7 * n_before
        is_last = byte < 0x80
        if is_last:
            return number, start + n_before + 1
    raise ValueError


def bytes_in(value: int | bytes) -> bytes:
    """Return the value of a field that must not be a varint. Raises ValueError if it is one."""
    if not isinstance(value, bytes):
        raise ValueError
    return value
