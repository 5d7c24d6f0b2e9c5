"""A tokenizer file as it was opened: its content, how errors name it, and the files beside it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self

from bpe_core.errors import FormatError
from bpe_core.visible import visible

_LARGEST_FILE: Final = 1 << 30


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
        where = visible(os.fspath(path))
        try:
            if os.path.getsize(path) > _LARGEST_FILE:
                raise FormatError(f"{where} is too large for a tokenizer file.")
            return cls(Path(path).read_bytes(), where, Path(path))
        except (OSError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            problem = error.strerror if isinstance(error, OSError) else error
            raise FormatError(f"{where} cannot be read: {problem}.") from None

    def beside(self, names: Iterable[str]) -> Self | None:
        """The first of the files of these names that lies in the same folder; None if there is none."""
        for name in names if self.path else ():
            path = self.path.with_name(name) if self.path else Path(name)
            if path.is_file():
                return self.open(path)
        return None

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
