"""The bytes a command reads: a file's, or those that come in on stdin."""

import sys

from bpe_core.errors import TextError


def read_bytes(path: str) -> bytes:
    """Everything in the file, or on stdin if `path` is "-"; TextError if it cannot be read."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise TextError(f"Cannot read {_name(path)}: {error.strerror}.") from error


def read_text(path: str) -> str:
    """The same as text, every character kept: a byte order mark is one, and so is each kind of line ending."""
    data = read_bytes(path)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise TextError(
            f"{_name(path)} is not UTF-8: byte 0x{byte:02x} at offset {error.start:,}; convert it to UTF-8 first."
        ) from error


def _name(path: str) -> str:
    return "stdin" if path == "-" else path
