"""What a command is given: stdin, pipes and small files, without the checks of a corpus file; and tokenizers."""

import codecs
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Final

from bpe_core.errors import TextError
from bpe_core.formats import load
from bpe_core.hub import located
from bpe_core.process import print_to_stderr
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, visible

_BLOCK: Final = 1 << 18
"""Bytes read at a time."""

_STDIN: Final = ("-", "/dev/stdin")


def is_stream(path: str) -> bool:
    """Whether `path` can be read only once and has no size: stdin, /dev/null, or a pipe such as `<(...)` of a shell."""
    if path in _STDIN or path == os.devnull:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: str) -> bytes:
    """All bytes of the file, or of stdin if `path` is "-". TextError if it cannot be read, or is an endless device."""
    try:
        with _opened(path) as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def text_blocks(path: str) -> Iterator[str]:
    """The text of a file, or of stdin if `path` is "-", in blocks. Byte order marks and line endings are kept.

    Raises TextError if it cannot be read, and, at the block in question, for bytes that are not UTF-8.
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


def open_tokenizer(text: str, pattern: str | None = None) -> Tokenizer:
    """The tokenizer at the path `text` (a file or folder) or, if there is none, of that name, downloaded if need be.

    `pattern` overrides its split pattern. Raises `FetchError`, and what `load` raises.
    """
    return load(located(text, print_fetching), pattern=pattern)


def print_fetching(done: int, total: int, name: str) -> None:
    """Print to stderr which file is being downloaded, after `done` of `total` files."""
    print_to_stderr(f"Fetching {visible(name)} ({done + 1} of {total}) …")
