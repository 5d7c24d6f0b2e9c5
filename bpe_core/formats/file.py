"""A tokenizer file as it was opened: its content, how errors name it, and the files beside it."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self

from bpe_core.errors import FormatError
from bpe_core.formats.limits import LARGEST_FILE
from bpe_core.visible import shortened, visible

_PACKED: Final = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd"}
"""How files begin that hold another one; a folder of data sets often does."""
_SHOWN: Final = 200
"""Characters of a path that are shown: room for the rest of the sentence."""


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """The content of a file that nobody vouches for."""

    data: bytes
    """All of it."""
    where: str
    """What errors call it, safe to show."""
    path: Path | None = None
    """Where it lies; None if it is not on a disk."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read it. Raises `FormatError`."""
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
        """The first of the files of these names that lies in the same folder; None if there is none."""
        for name in names if self.path else ():
            path = self.path.with_name(name) if self.path else Path(name)
            if path.is_file():
                return self.open(path)
        return None

    @property
    def stem(self) -> str:
        """Its name without the ending; "" if it has none."""
        return self.path.stem if self.path else ""

    @property
    def text(self) -> str:
        """The content as text in UTF-8. Raises `FormatError`."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            self.broken(f"it is not UTF-8 at byte {error.start}")

    def broken(self, problem: str) -> NoReturn:
        """Raise the error that says what is wrong in the file."""
        raise FormatError(f"{self.where} is broken: {problem}.")

    def unsupported(self, what: str) -> NoReturn:
        """Raise the error that names what bpescope cannot do."""
        raise FormatError(f"{self.where} cannot be used: {what}.")


def _content(path: str | os.PathLike[str]) -> bytes:
    """What is in a file. Raises OSError or ValueError before it reads what has no end, or keeps one waiting."""
    if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode):
        raise ValueError("it is no regular file; save it as one first")
    with open(path, "rb") as file:
        data = file.read(LARGEST_FILE + 1) if os.fstat(file.fileno()).st_size <= LARGEST_FILE else None
    if data is None or len(data) > LARGEST_FILE:
        raise ValueError(f"it is too large for a tokenizer file, of which none has {LARGEST_FILE >> 20} MB")
    return data
