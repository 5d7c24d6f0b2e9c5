"""Unpack files within limits on memory and on unpacked bytes."""

import io
from importlib import import_module
from typing import IO, Any, Final, cast

from bpe_core.corpus.recognition import NotText
from bpe_core.process import installed

BLOCK: Final = 1 << 16
"""Bytes read at a time. A block of text has at most as many characters."""
MEMORY: Final = 1 << 32
"""Bytes of memory that reading takes into account if no limit is given."""
_MODULES: Final = {"gzip": "gzip", "xz": "lzma", "bzip2": "bz2"}
"""Packing -> the module of Python that unpacks it."""
_SMALL: Final = 1 << 25
"""Bytes that any packed file may unpack to, however small it is."""
_TIMES: Final = 100
"""How many times its size a file may unpack to. Texts unpack to 3 to 30 times their size."""
TOO_MUCH: Final = (
    f"it unpacks to more than {_TIMES} times its size; "
    "if that is meant, unpack it first"
)
_ROW: Final = 8
"""Bytes that a row counts in addition to its text, since empty rows take time too."""
_LONGEST_ROW: Final = 1 << 26
"""Bytes of a row of JSON or CSV, which is parsed as a whole."""
_LARGEST_PORTION: Final = 1 << 29
"""Bytes of a page or batch, which is unpacked as a whole."""


class TooMuch(NotText):
    """The budget of unpacked bytes is spent."""


class Budget:
    """How many bytes a file may still unpack to, with all that is in it."""

    def __init__(self, size: float) -> None:
        """Make the budget of a file that has `size` bytes on disk; infinity if that is unknown."""
        self._n_left = max(_SMALL, _TIMES * size)

    def spend(self, n_bytes: int) -> None:
        """Raise `TooMuch` if fewer bytes are left."""
        self._n_left -= n_bytes
        if self._n_left < 0:
            raise TooMuch(TOO_MUCH)


class Limits:
    """The memory and the unpacked bytes that reading the rows of a file may use.

    All members of an archive have these limits together. A row of JSON or CSV takes up to ten times
    its length while it is parsed, a page or a batch up to three times its size. The limits leave
    most of the memory to the counts.
    """

    def __init__(self, memory: int, size: float) -> None:
        self.longest_row = min(memory >> 5, _LONGEST_ROW)
        self.largest_portion = min(memory >> 3, _LARGEST_PORTION)
        self.unpacked = Budget(size)
        """For all bytes that are unpacked."""
        self._given_out = Budget(size)

    def give_out(self, n_bytes: int, n_rows: int = 1) -> None:
        """Raise `TooMuch` if all rows so far, with these, hold too many bytes.

        This is more than was unpacked if rows share a text: a dictionary holds it once for any
        number of them.
        """
        self._given_out.spend(n_bytes + _ROW * n_rows)

    def check_portion(self, name: str, size: int) -> None:
        """Raise `NotText` if a part of a file is too large to be unpacked at once."""
        if not 0 <= size <= self.largest_portion:
            raise NotText(
                f"{name} of it has {size:,} bytes, "
                f"more than the {self.largest_portion:,} that may be in memory; "
                "write it again in smaller ones, or allow more --memory"
            )


class _Limited(io.RawIOBase):
    """A file that can only be read forward, and whose bytes are taken from a budget."""

    def __init__(self, file: IO[bytes], budget: Budget | None) -> None:
        self._file = file
        self._budget = budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        if self._budget:
            self._budget.spend(len(data))
        buffer[: len(data)] = data
        return len(data)


def limited(file: IO[bytes], budget: Budget | None = None) -> io.BufferedReader:
    """Return a file that can only be read forward. It raises `TooMuch` when its budget is spent."""
    return io.BufferedReader(_Limited(file, budget), BLOCK)


def unpacked(
    disk: IO[bytes], packing: str, budget: Budget | None = None
) -> io.BufferedReader:
    """Return a file with the unpacked bytes. Reading it raises `TooMuch` when the budget is spent.

    A file that is not packed (`packing` is "") has no budget, and can still be read from any place.

    Raises:
        NotText: This Python was built without the module that unpacks the file.
        FetchError: pyarrow, which unpacks zstd, is not installed.
    """
    if not packing:
        # BufferedReader only reads and seeks, which every opened binary file can do.
        raw_file = cast(io.RawIOBase, disk)
        return io.BufferedReader(raw_file, BLOCK)
    if packing == "zstd":
        library = installed("pyarrow", "a .zst file", "corpora")
        return limited(library.CompressedInputStream(disk, "zstd"), budget)
    try:
        library = import_module(_MODULES[packing])
    except ImportError:
        raise NotText(
            f"this Python was built without {packing}; unpack the file first"
        ) from None
    return limited(library.open(disk), budget)
