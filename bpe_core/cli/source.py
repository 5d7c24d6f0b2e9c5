"""The bytes a command reads that are in no ordinary file, and those of a file of ids."""

import codecs
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Final

from bpe_core.errors import TextError
from bpe_core.visible import shortened, visible

_BLOCK: Final = 1 << 18
"""Bytes read at a time."""

_STDIN: Final = ("-", "/dev/stdin")


def is_stream(path: str) -> bool:
    """Whether `path` is stdin, or a pipe that a shell has laid: what is read but once, from one end to the other."""
    if path in _STDIN or path == os.devnull:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: str) -> bytes:
    """Everything in the file, or on stdin if `path` is "-". TextError if it cannot be read, and for what never ends."""
    try:
        with _opened(path) as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def text_blocks(path: str) -> Iterator[str]:
    """The same as text, in blocks, every character kept: a byte order mark is one, and so is each kind of line ending.

    TextError if it is not UTF-8, once that shows.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    n_read = 0
    try:
        with _opened(path) as file:
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
        raise _unreadable(path, error) from error


def _opened(path: str) -> AbstractContextManager[IO[bytes]]:
    if path in _STDIN:
        return nullcontext(sys.stdin.buffer)
    if not is_stream(path) and stat.S_ISCHR(os.stat(path).st_mode):
        raise TextError(f"{_name(path)} cannot be read: it is a device.")
    return open(path, "rb")


def _unreadable(path: str, error: Exception) -> TextError:
    if isinstance(error, TextError):
        return error
    reason = error.strerror if isinstance(error, OSError) else error
    return TextError(f"Cannot read {_name(path)}: {reason}.")


def _name(path: str) -> str:
    return "stdin" if path in _STDIN else visible(shortened(path, 200))
