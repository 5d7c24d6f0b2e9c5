"""Tokenizer files: what a file is, its content says, not its name."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol

from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import native
from bpe_core.formats.atomic import write_atomically
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

__all__ = ["FORMATS", "load", "save"]


class Format(Protocol):
    """What the file of one format offers."""

    def recognizes(self, data: bytes) -> bool:
        """Whether the content is of this format, be it whole or broken."""

    def read(self, data: bytes, where: str, pattern: str | None) -> Tokenizer:
        """The tokenizer in it; `where` names the file in errors. Raises `FormatError`."""

    def write(self, tokenizer: Tokenizer) -> Iterator[str]:
        """The text of a file that holds the tokenizer, in parts."""


FORMATS: Final[Mapping[str, Format]] = {"native": native}
"""Name -> what reads and writes it."""

_LARGEST_FILE: Final = 1 << 30


def load(path: str | os.PathLike[str], *, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file, whose format is recognized by its content.

    `pattern` takes the place of the file's split pattern. Raises `FormatError` if the file cannot be read, is broken,
    or is of a kind that is not supported.
    """
    where = visible(os.fspath(path))
    data = _content(path, where)
    for known in FORMATS.values():
        if known.recognizes(data):
            return known.read(data, where, pattern)
    what = "is empty" if not data.strip() else "is no tokenizer file that is known here"
    raise FormatError(f"{where} {what}; supported: {', '.join(FORMATS)}.")


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str = "native") -> None:
    """Write a tokenizer to a file, completely or not at all; a file that stood there before is replaced.

    Raises `OptionError` for an unknown format, `FormatError` if the file cannot be written.
    """
    if format not in FORMATS:
        raise OptionError(f"There is no format {format!r}; choose one of {', '.join(FORMATS)}.")
    write_atomically(path, FORMATS[format].write(tokenizer))


def _content(path: str | os.PathLike[str], where: str) -> bytes:
    try:
        if os.path.getsize(path) > _LARGEST_FILE:
            raise FormatError(f"{where} is too large for a tokenizer file.")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        problem = error.strerror if isinstance(error, OSError) else error
        raise FormatError(f"{where} cannot be read: {problem}.") from None
