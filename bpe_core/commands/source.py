"""The bytes a command reads: a file's, or those that come in on stdin."""

import codecs
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Final

from bpe_core.errors import TextError

_BLOCK: Final = 1 << 18
"""Bytes read at a time."""


def read_bytes(path: str) -> bytes:
    """Everything in the file, or on stdin if `path` is "-"; TextError if it cannot be read."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise TextError(f"Cannot read {_name(path)}: {error.strerror}.") from error


def text_blocks(path: str) -> Iterator[str]:
    """The same as text, in blocks, every character kept: a byte order mark is one, and so is each kind of line ending.

    TextError if it is not UTF-8, once that shows.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    n_read = 0
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as file:
            data = b"at first"
            while data:
                data = file.read(_BLOCK)
                n_read += len(data)
                yield decode(data, final=not data)
    except UnicodeDecodeError as error:
        offset = n_read - len(error.object) + error.start
        raise TextError(
            f"{_name(path)} is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {offset:,}; "
            "convert it to UTF-8 first."
        ) from error
    except OSError as error:
        raise TextError(f"Cannot read {_name(path)}: {error.strerror}.") from error


def _name(path: str) -> str:
    return "stdin" if path == "-" else path
