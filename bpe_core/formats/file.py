"""Open tokenizer files, find them by name, and make the errors of reading and writing them.

Files are untrusted: limits keep a malicious or broken file from exhausting memory or time.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self

from bpe_core import untrusted_json
from bpe_core.corpus.reading import Unreadable, as_unreadable
from bpe_core.corpus.recognition import NotText, packing_of
from bpe_core.corpus.unpacking import unpacked
from bpe_core.errors import FormatError
from bpe_core.formats.json_fields import Fields
from bpe_core.visible import shortened, visible

HOLDERS: Final = (
    "tokenizer.json",
    "tekken.json",
    "tokenizer.model",
    "qwen.tiktoken",
    "tiktoken.model",
    "vocab.json",
    "encoder.json",
)
"""Names of tokenizer files. Of several in one folder, the first in this order is read, because it
holds most."""

COMPANIONS: Final = (
    "tokenizer_config.json",
    "merges.txt",
    "vocab.bpe",
    "added_tokens.json",
)
"""Names of further files in the folder, which are read with the tokenizer file if they exist."""

LARGEST_FILE: Final = 1 << 27
"""Bytes of a file after unpacking. The largest published files have a quarter of it."""
MOST_VALUES: Final = 10_000_000
"""Values in a JSON file. The largest published files have two million."""
LONGEST_TOKEN: Final = 1 << 14
"""Bytes of a token in any format except the native one. Published tokens have some hundreds; an
audit of longer ones takes minutes."""
_UNREADABLE_PACKINGS: Final = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of a file -> the program that packed it."""


def holder_in(folder: Path) -> Path | None:
    """Return the path of the first of `HOLDERS` that exists in a folder, or None."""
    for name in HOLDERS:
        path = folder / name
        if os.path.isfile(path):
            return path
    return None


def tokenizer_at(path: Path) -> Path:
    """Return the tokenizer file in a folder, or `path` itself if it is not a folder with one."""
    if os.path.isdir(path):
        return holder_in(path) or path
    return path


def refuse(target: str, problem: str) -> NoReturn:
    """Raise the `FormatError` that a tokenizer cannot be written in a format.

    Args:
        target: The format, such as "as a tokenizer.json".
        problem: The reason, a clause.
    """
    raise FormatError(
        f"This tokenizer cannot be written {target}: {problem}; choose another format."
    )


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """A file that was read as a whole."""

    data: bytes
    """Its content, unpacked."""
    where: str
    """Its name in errors, safe to print to a terminal."""
    path: Path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file, and unpack it if it is packed by gzip, xz, bzip2 or zstd.

        Raises:
            FormatError: The file cannot be read, is an archive, or has more than `LARGEST_FILE`
                bytes after unpacking.
            FetchError: The library that unpacks zstd is missing.
        """
        where = visible(shortened(os.fspath(path), 200))
        try:
            with as_unreadable(where):
                data = _unpacked_content(path)
        except Unreadable as error:
            raise FormatError(str(error)) from None
        except ValueError as error:  # the path has a NUL character
            raise FormatError(f"{where} cannot be read: {error}.") from None
        for first_bytes, packer in _UNREADABLE_PACKINGS.items():
            if data.startswith(first_bytes):
                raise FormatError(
                    f"{where} is packed with {packer}; unpack it, and open the file inside."
                )
        return cls(data, where, Path(path))

    def open_sibling(self, *names: str) -> Self | None:
        """Open the first of these file names that exists in the same folder, or return None."""
        for name in names:
            path = self.path.with_name(name)
            if path.is_file():
                return self.open(path)
        return None

    @property
    def stem(self) -> str:
        """The file name without suffixes: "vocab" for vocab.json and for vocab.json.gz."""
        path = self.path
        if path.suffix in (".gz", ".xz", ".bz2", ".zst"):
            path = path.with_suffix("")
        return path.stem

    @property
    def text(self) -> str:
        """The content as text. Raises `FormatError` if it is not UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            self.broken(f"it is not UTF-8 at byte {error.start}")

    def fields(self) -> Fields:
        """Parse the content as a JSON object. Raises `FormatError` if it is not one."""
        try:
            value = untrusted_json.parse(self.data, most=MOST_VALUES)
        except ValueError as error:
            self.broken(str(error))
        return Fields(value, self.where)

    def broken(self, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file is broken; `problem` is a clause."""
        raise FormatError(f"{self.where} is broken: {problem}.")

    def unsupported(self, problem: str) -> NoReturn:
        """Raise the `FormatError` that the file cannot be used; `problem` is a clause."""
        raise FormatError(f"{self.where} cannot be used: {problem}.")


def _unpacked_content(path: str | os.PathLike[str]) -> bytes:
    """Read a file, and unpack it. Raises `NotText` if it is too large or not a regular file."""
    mode = os.stat(path).st_mode
    # A pipe or a device may never end. A folder has its own error when it is opened.
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise NotText("it is not a regular file; save it as one first")
    with (
        open(path, "rb") as packed_file,
        unpacked(packed_file, packing_of(packed_file.peek(6))) as file,
    ):
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise NotText(
            f"it has more than {LARGEST_FILE >> 20} MB, too large for a tokenizer file"
        )
    return data
