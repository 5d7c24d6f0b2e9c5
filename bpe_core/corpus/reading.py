"""Read files in blocks, exactly: no newline is translated, no character is replaced.

Packed files are unpacked. Files whose rows are documents are opened here and read by `rows`, which
is imported late, since few files need its libraries.
"""

import codecs
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, Self, TypeVar, cast

from bpe_core.corpus.recognition import (
    HEAD,
    TABLES,
    TEXTS,
    NotText,
    not_in_encoding,
    packing_of,
    recognize,
)
from bpe_core.corpus.unpacking import BLOCK, MEMORY, Budget, Limits, unpacked
from bpe_core.errors import FetchError, TextError
from bpe_core.process import installed
from bpe_core.visible import shortened, visible

T = TypeVar("T")

OnRead = Callable[[int, int, str], object]
"""Called with (bytes on disk that are read, bytes of all files, name of the current file)."""

CHANGED: Final = (
    "it changed while it was being read; try again when no program is writing to it"
)
_SPECIAL: Final = {
    "d": "a link to a folder; name it yourself to have it read",
    "p": "a named pipe",
    "s": "a socket",
    "c": "a device",
    "b": "a device",
}
"""Type of a file, as the letter that `ls -l` shows -> why it is not read."""
_REASONS: Final[Mapping[type, str]] = {
    FileNotFoundError: "there is no such file or folder",
    IsADirectoryError: "it is a folder, without a file of a usual name; name the file",
    PermissionError: "you don't have permission to read it",
    MemoryError: "it needs more memory to unpack than is available; unpack it first",
    EOFError: "the compressed data is cut off; get the file again",
}
"""Type of an error -> the reason why a file cannot be read."""


class Unreadable(TextError):
    """One file cannot be read."""

    def __init__(self, name: str, reason: str) -> None:
        """Make the error.

        Args:
            name: The name of the file.
            reason: A clause without a full stop, to follow "cannot be read:".
        """
        super().__init__(f"{name} cannot be read: {reason}.")
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.name, self.reason)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not read, or not completely."""

    path: Path
    reason: str
    """Why, and which rows; a clause to follow "cannot be read:"."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that `recognize_file` has recognized, or a part of one."""

    path: Path
    name: str
    """A short name that is safe to show."""
    size: int = 0
    """Bytes on disk."""
    codec: str = "utf-8"
    """From `codec_of`; removes the byte order mark if there is one."""
    packing: str = ""
    """"gzip", "xz", "bzip2", "zstd" or ""."""
    empty: bool = False
    required: bool = True
    """Whether it is an error if the file is unreadable: its path was given, not only a folder."""
    start: int = 0
    """The byte offset of a part of a file that is not packed, between two characters."""
    end: int | None = None
    """The byte offset where the part ends; None: at the end of the file."""
    address: str = ""
    """The address by which the file is opened if it is not on a disk."""
    form: str = ""
    """How the file holds its documents, see `form_of`; "" if it is one text."""
    field: str = ""
    """The field of each row that holds the document; "" if rows have no fields."""
    fields: tuple[str, ...] = ()
    """All fields that hold texts, if the field was guessed."""
    skip_bad: bool = False
    """Whether rows that are not texts are left out. Otherwise they make the file unreadable."""
    chosen: bytes | None = None
    """A byte for each document: 1 if it is read. None: all are read."""
    memory: int = MEMORY
    """Bytes of memory for counting. Rows that would need too much of it are refused."""

    @property
    def source_name(self) -> str:
        """The name by which counts list this file as a source: with its field, or with the bytes that it covers."""
        if self.field:
            return f"{self.name}::{visible(self.field)}"
        if self.end is None:
            return self.name
        return f"{self.name} (bytes {self.start:,} to {self.end:,})"

    def part(self, start: int, end: int) -> Self:
        """Return the part from byte `start` to byte `end`.

        Both are between two characters, and the file is not packed.
        """
        return replace(self, size=end - start, start=start, end=end)

    def blocks(self, progress: Callable[[int], None] = lambda _: None) -> Iterator[str]:
        """Yield the text in blocks of 1 to 65,536 characters. A file with rows is one text here.

        Args:
            progress: Called with the bytes on disk that are read, before each block. If it raises
                an error, reading ends with that error, even if it is an OSError.

        Raises:
            Unreadable: The file has vanished or changed, is not in its encoding, or cannot be read
                as one text.
        """
        if self.form not in TEXTS:
            raise Unreadable(
                self.name, f"it holds rows ({self.form}), and is not one text"
            )
        # Only the beginning of a file can have a byte order mark.
        codec = "utf-8" if self.start else self.codec
        blocks_in = partial(decoded, codec=codec, start=self.start, end=self.end)
        for position, text in self._read(blocks_in):
            progress(position)
            yield text

    def documents(
        self,
        progress: Callable[[int], None] = lambda _: None,
        skipped: list[Skipped] | None = None,
    ) -> Iterator[Iterator[str]]:
        """Yield the documents of the file, each in blocks. Read each one before advancing.

        Args:
            progress: See `blocks`.
            skipped: The rows that are left out are added to it.

        Raises:
            Unreadable: See `blocks`; possibly after some documents.
        """
        if not self.form:
            yield self.blocks(progress)
            return
        from bpe_core.corpus.rows import RowReader

        reader = RowReader(self.field, self.skip_bad, self.limits())
        documents_in = partial(reader.documents, form=self.form)
        n_documents = 0
        for position, blocks in self._read(documents_in):
            if self._is_chosen(n_documents):
                progress(position)
                yield blocks
            n_documents += 1
        if reader.omitted and skipped is not None:
            reason = (
                f"{len(reader.omitted):,} left out, {n_documents:,} read: "
                f"{first_three(reader.omitted)}"
            )
            skipped.append(Skipped(self.path, reason))

    def limits(self) -> Limits:
        """Return the limits on memory and unpacked bytes for reading the rows of this file."""
        return Limits(self.memory, self.size)

    def _is_chosen(self, document: int) -> bool:
        if self.chosen is None:
            return True
        # A slice, not an index: a file that has changed may have more documents.
        return self.chosen[document : document + 1] == b"\1"

    def _read(
        self, texts_in: Callable[[IO[bytes]], Iterator[T]]
    ) -> Iterator[tuple[int, T]]:
        """Yield (bytes on disk that are read, text) for each text in the unpacked file.

        A text is a block, or the blocks of a document: `texts_in` yields them from the opened file.
        """
        with as_unreadable(self.name), open_file(self) as disk:
            modified = self._time_modified(disk)
            file = unpacked(disk, self.packing, Budget(self.size))
            if self.start:
                file.seek(self.start)
            for text in texts_in(file):
                yield min(disk.tell() - self.start, self.size), text
            if self._time_modified(disk) != modified:
                raise NotText(CHANGED)

    def _time_modified(self, disk: IO[bytes]) -> int:
        """Return when the file was modified, in nanoseconds; 0 if it is at an address."""
        if self.address:
            return 0
        return os.fstat(disk.fileno()).st_mtime_ns


class Reading:
    """Reads files one after the other, and reports progress over all of them."""

    def __init__(self, files: Iterable[TextFile], progress: OnRead | None) -> None:
        self.total: Final = sum(file.size for file in files)
        """Bytes on disk."""
        self._n_read = 0
        self._name = ""
        self._progress = progress

    def documents(
        self, file: TextFile, skipped: list[Skipped] | None = None
    ) -> Iterator[Iterator[str]]:
        """Yield the documents of the next file; see `TextFile.documents`."""
        n_before = self._n_read
        self._name = file.name

        def report(position: int) -> None:
            self._n_read = n_before + position
            self.report()

        yield from file.documents(report, skipped)
        self._n_read = n_before + file.size

    def report(self) -> None:
        """Report how much is read."""
        if self._progress:
            self._progress(self._n_read, self.total, self._name)


def recognize_file(
    file: TextFile, status: os.stat_result | None, guess_field: bool = True
) -> TextFile:
    """Recognize a file by its first bytes: return it with its size, packing, form, field and codec.

    Args:
        file: If it has a `field` and is `required`, a text holds JSON lines. If it has no `field`,
            and its rows have fields, one is guessed.
        status: None for a file at an address. Pipes, devices and sockets are refused unopened,
            since opening one could wait forever.
        guess_field: False if a file with rows is read as one text, so that it needs no field.

    Raises:
        Unreadable: The file is missing or not permitted, or it is not a text in a known encoding
            and has no rows with texts.
    """
    with as_unreadable(file.name):
        if status and not stat.S_ISREG(status.st_mode):
            letter = stat.filemode(status.st_mode)[0]
            raise NotText(f"it is {_SPECIAL.get(letter, 'not an ordinary file')}")
        with open_file(file) as disk:
            head = disk.read(HEAD)
            size = status.st_size if status else disk.seek(0, io.SEEK_END)
            disk.seek(0)
            packing = packing_of(head)
            if packing:
                head = unpacked(disk, packing).read(HEAD)
        is_named_field = bool(file.field and file.required)
        found = recognize(head, file.name, "jsonl" if is_named_field else "")
        recognized = replace(
            file,
            size=size,
            packing=packing,
            codec=found.codec,
            form=found.form,
            empty=found.is_empty,
        )
        if not found.form:
            return replace(recognized, field="")
        needs_field = guess_field and found.form in TABLES and not file.field
        if needs_field and not found.is_empty:
            from bpe_core.corpus.rows import with_guessed_field

            return with_guessed_field(recognized)
        return recognized


def decoded(
    file: IO[bytes], codec: str, start: int = 0, end: int | None = None
) -> Iterator[str]:
    """Yield the text of a file or stream in blocks that are not empty.

    Args:
        file: Opened, with the position at `start`.
        codec: A codec of Python.
        start: The byte offset where the text begins.
        end: The byte offset where the text ends; None: at the end of the file.

    Raises:
        NotText: A byte is not in the encoding, or the file ends before `end`.
    """
    decoder = codecs.getincrementaldecoder(codec)()
    offset = start
    is_at_end = False
    while not is_at_end:
        n_bytes = BLOCK
        if end is not None:
            n_bytes = min(BLOCK, end - offset)
        data = file.read(n_bytes)
        offset += len(data)
        is_at_end = not data
        try:
            text = decoder.decode(data, is_at_end)
        except UnicodeDecodeError as error:
            # The decoder also had the bytes of a character that began in the block before.
            wrong_offset = offset - len(error.object) + error.start
            wrong_byte = error.object[error.start]
            raise NotText(not_in_encoding(wrong_byte, wrong_offset, codec)) from None
        if text:
            yield text
    if end is not None and offset < end:
        raise NotText(CHANGED)


def in_blocks(text: str) -> Iterator[str]:
    """Return the blocks of a text, as `TextFile.blocks` yields them."""
    return (text[start : start + BLOCK] for start in range(0, len(text), BLOCK))


def split_field(path: str) -> tuple[str, str]:
    """Return a path without the field that may follow it, and the field or "".

    >>> split_field("reviews.parquet::text"), split_field("memory://a.jsonl")
    (('reviews.parquet', 'text'), ('memory://a.jsonl', ''))
    """
    before, colons, field = path.rpartition("::")
    # The name of a file may contain `::`, and fsspec chains addresses with it: zip://a::s3://b.
    if not colons or "://" in field or os.path.exists(path):
        return path, ""
    return before, field


def first_three(places: list[str]) -> str:
    """List the first three places."""
    listed = ", ".join(places[:3])
    return f"{listed}, …" if len(places) > 3 else listed


def open_file(file: TextFile) -> IO[bytes]:
    """Open a file for reading, from its address or path. Raises OSError, NotText or FetchError."""
    if file.address:
        system, path = file_system(file.address)
        return cast(IO[bytes], system.open(path, "rb"))
    return file.path.open("rb", buffering=0)


def file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it. Raises NotText or FetchError."""
    purpose = "an address such as s3://, hf:// or https://"
    fsspec = installed("fsspec", purpose, "corpora")
    try:
        return cast(tuple[Any, str], fsspec.core.url_to_fs(address))
    except (ImportError, ValueError) as error:
        reason = visible(shortened(str(error), 200))
        raise NotText(f"it cannot be reached ({reason})") from None


@contextmanager
def as_unreadable(name: str) -> Iterator[None]:
    """Turn every error of reading or unpacking a file into `Unreadable`."""
    try:
        yield
    except Exception as error:
        raise Unreadable(name, reason_of(error)) from None


def reason_of(error: Exception) -> str:
    """Return why a file cannot be read, to follow "cannot be read:".

    Args:
        error: Raised by the system, or by a library that unpacks or fetches. Any other error is not
            about the file, and is raised again.
    """
    if type(error) in _REASONS:
        return _REASONS[type(error)]
    if isinstance(error, NotText | FetchError):
        return str(error).rstrip(".")
    # A library has up to a dozen types of errors, so it is known by the module of the type.
    library = type(error).__module__.partition(".")[0].strip("_")
    if isinstance(error, OSError) and library != "gzip":
        reason = error.strerror or f"{error}; get it again, or try again"
        return visible(reason).lower().rstrip(".")
    is_ours = library in ("builtins", "bpe_core")
    if is_ours and not isinstance(error, UnicodeError | RuntimeError | LookupError):
        raise error
    first_line = str(error).partition("\n")[0]
    problem = visible(shortened(first_line, 100))
    return f"it is damaged, or cannot be reached ({library}: {problem}); get it again"
