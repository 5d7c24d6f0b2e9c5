"""An opened tokenizer file: its content, its name in errors, other files in its folder, and limits for all of them.

The limits keep a malicious or broken file from exhausting memory or time.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self

from bpe_core.errors import FormatError
from bpe_core.visible import shortened, visible

HOLDERS: Final = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "qwen.tiktoken", "tiktoken.model"),
    *("vocab.json", "encoder.json"),
)
"""Names of tokenizer files; of several in one folder, the first in this order is read, since it holds most."""

COMPANIONS: Final = ("tokenizer_config.json", "merges.txt", "vocab.bpe", "added_tokens.json")
"""Names of further files in the folder that are read with it if they exist."""


def holder_in(folder: Path) -> Path | None:
    """The path of the first of `HOLDERS` that exists in `folder`; None if none does."""
    return next((path for name in HOLDERS if os.path.isfile(path := folder / name)), None)


def tokenizer_at(path: Path) -> Path:
    """The tokenizer file that `path` means: the holder in a folder that has one, else `path` itself."""
    return (holder_in(path) if os.path.isdir(path) else None) or path


LARGEST_ID: Final = (1 << 31) - 1
"""The largest id; real ones are far below."""

LARGEST_FILE: Final = 1 << 27
"""Bytes of a file; the largest published ones have a quarter of it. It also limits the tokens that are written out."""

LONGEST_ADDED: Final = 10_000
"""Characters of an added token; real ones have a few dozen."""

MOST_VALUES: Final = 10_000_000
"""Values in a JSON file; the largest published ones have two million."""

MOST_MADE: Final = 1 << 24
"""Bytes of all tokens together in a file of merges, where a line can double a token; a million real ones have less."""

LONGEST_TOKEN: Final = 1 << 14
"""Bytes of a token in any format but the native one; fifteen merges that each double a token exceed it, and an audit of
longer ones takes minutes. The longest published ones have some hundreds."""


_PACKED: Final = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd"}
"""First bytes of compressed files -> compression."""
_SHOWN: Final = 200
"""Characters of a path that errors show at most."""


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """The content of an untrusted file."""

    data: bytes
    """The whole content."""
    where: str
    """The name of the file in errors, safe to show."""
    path: Path | None = None
    """Its path; None if the content is not from a file."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file. Raises `FormatError` if it cannot be read, is compressed, or is larger than `LARGEST_FILE`."""
        where = visible(shortened(os.fspath(path), _SHOWN))
        try:
            data = _content(path)
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else error
            raise FormatError(f"{where} cannot be read: {problem}.") from None
        for beginning, packer in _PACKED.items():
            if data.startswith(beginning):
                raise FormatError(f"{where} is packed with {packer}; unpack it, and open what is in it.")
        return cls(data, where, Path(path))

    def beside(self, names: Iterable[str]) -> Self | None:
        """The first of these file names that exists in the same folder, opened; None if none does."""
        for name in names if self.path else ():
            path = self.path.with_name(name) if self.path else Path(name)
            if path.is_file():
                return self.open(path)
        return None

    @property
    def stem(self) -> str:
        """The file name without its suffix; "" without a path."""
        return self.path.stem if self.path else ""

    @property
    def text(self) -> str:
        """The content as text in UTF-8. Raises `FormatError`."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            self.broken(f"it is not UTF-8 at byte {error.start}")

    def broken(self, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file is broken; `problem` is a clause."""
        raise FormatError(f"{self.where} is broken: {problem}.")

    def unsupported(self, what: str) -> NoReturn:
        """Raise the `FormatError` that the file cannot be used; `what` is a clause that says why."""
        raise FormatError(f"{self.where} cannot be used: {what}.")


def _content(path: str | os.PathLike[str]) -> bytes:
    """The content of a file. Raises OSError or ValueError, before reading from a pipe or device or a huge file."""
    if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode):
        raise ValueError("it is no regular file; save it as one first")
    with open(path, "rb") as file:
        data = file.read(LARGEST_FILE + 1) if os.fstat(file.fileno()).st_size <= LARGEST_FILE else None
    if data is None or len(data) > LARGEST_FILE:
        raise ValueError(f"it is too large for a tokenizer file, of which none has {LARGEST_FILE >> 20} MB")
    return data
