"""Reading files in blocks, exactly: no newline is translated, no character replaced; what is packed is unpacked.

Accepted is what is valid UTF-8, or UTF-16 or UTF-32 with a byte order mark. No other encoding is guessed: a wrong guess
would silently train on characters that nobody wrote. A file that is no such text raises `Unreadable`. Files whose rows
are documents are opened here, and read in `rows`, which is imported late: few texts need its libraries.
"""

import codecs
import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, Self, TypeVar, cast

from bpe_core.errors import FetchError, TextError
from bpe_core.process import installed
from bpe_core.visible import shortened, visible

T = TypeVar("T")
BLOCK: Final = (
    1 << 16
)  # bytes read at a time; a block of text is at most as many characters
_PACKINGS: Final = {
    "gzip": "\x1f\x8b\x08",
    "xz": "\xfd7zXZ\0",
    "bzip2": "BZh[1-9]1A",
    "zstd": r"\(\xb5/\xfd",
}
_MODULES: Final = {"xz": "lzma", "bzip2": "bz2"}  # that unpack them
# What holds the documents of a file -> regular expressions of its first bytes, and of the ending of its name.
_FORMS: Final = {
    "parquet": ("PAR1", ""),
    "arrow": ("ARROW1|\xff{4}", r"\.arrow"),
    "warc": ("WARC/1\\.", ""),
    "tar": (".{257}ustar", ""),
    "zip": (
        "PK\x03\x04",
        r"\.zip",
    ),  # documents and programs begin so, too, and are not read
    "jsonl": ("", r"\.(jsonl|ndjson)"),
    "csv": ("", r"\.csv"),
    "tsv": ("", r"\.tsv"),
}
# By the letter that `ls` writes of a file.
_SPECIAL: Final = {
    "d": "a link to a folder; name it yourself to have it read",
    **{"p": "a named pipe", "s": "a socket", "c": "a device", "b": "a device"},
}
_UNPACKED: Final = (
    1 << 25
)  # bytes that a packed file may unpack to, however small it is
_ROW: Final = (
    8  # bytes that a row counts for in addition to its text: empty ones take time, too
)
MEMORY: Final = 1 << 32  # bytes that reading reckons with if nothing else is said
_LONGEST_ROW: Final = (
    1 << 26
)  # bytes of a row of JSON or CSV, which is parsed as a whole
_LARGEST_PORTION: Final = (
    1 << 29
)  # bytes of a page or batch, which is unpacked as a whole
_TIMES: Final = 100  # times its size that a larger one may (texts: 3 to 30); more is a decompression bomb
CHANGED: Final = "it changed while it was read; try again when nobody writes to it"
TOO_MUCH: Final = f"it unpacks to more than {_TIMES} times its size; if that is meant, unpack it first"
HEAD: Final = 8192  # bytes from the beginning of a file by which it is recognized

# Codec -> the byte order marks that it takes off; UTF-32 first, since its mark begins with that of UTF-16.
_MARKED: Final = {
    "utf-8-sig": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
# What a file is -> a regular expression of its first bytes, both as texts.
_KINDS: Final = json.loads(
    Path(__file__).with_name("file_kinds.json").read_text("utf-8")
)
_ERRORS: Final[Mapping[type, str]] = {
    FileNotFoundError: "there is no such file or folder",
    PermissionError: "you have no permission to read it",
    MemoryError: "its packing asks for more memory than there is; unpack it first",
    EOFError: "its packing ends too early; get it anew",
}
TEXTS: Final = (
    "",
    "jsonl",
    "csv",
    "tsv",
)  # forms of files that are also a text as they stand
COLUMNAR: Final = ("parquet", "arrow")  # whose rows are read from columns
TABLES: Final = ("jsonl", "csv", "tsv", "parquet", "arrow")  # whose rows have fields
# Control bytes that hardly occur in texts; line breaks, tabs and the escape of terminal recordings do.
_CONTROLS: Final = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))


class Unreadable(TextError):
    """One file cannot be read; `reason` is the part of the sentence after "cannot be read:"."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} cannot be read: {reason}.")
        self.name, self.reason = name, reason

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.name, self.reason)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not read, or rows of it, and the reason, to go on after "cannot be read:"."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file whose first bytes were recognized, by `recognize_file`, or a part of a text."""

    path: Path
    name: str  # what to call it on a screen: short, and safe to show
    size: int = 0  # bytes on disk
    codec: str = "utf-8"  # or one of `_MARKED`, which takes the byte order mark for no part of the text
    packing: str = ""  # "gzip", "xz", "bzip2", "zstd" or ""
    empty: bool = False
    required: bool = True  # it was named itself, not a folder above it: an error if it proves unreadable
    start: int = (
        0  # byte offset of a part of a file that is not packed, between two characters
    )
    end: int | None = None  # and where the part ends; None: at the end of the file
    address: str = ""  # by which it is opened if it is on no disk
    form: str = (
        ""  # what holds its documents, see `rows.form_of`; "" for a text, which is one
    )
    field: str = ""  # which of its fields are the documents; "" where there are none, or each member has its own
    fields: tuple[str, ...] = ()  # those that are texts, if the field was guessed
    skip_bad: bool = (
        False  # whether rows that are none are left out, or make the file unreadable
    )
    chosen: bytes | None = (
        None  # a byte for each document: 1 if it is read; None if all are
    )
    memory: int = (
        MEMORY  # bytes for all that counts; what would need too many of it is refused
    )

    @property
    def source_name(self) -> str:
        if self.field:
            return f"{self.name}::{visible(self.field)}"
        return self.name + (
            "" if self.end is None else f" (bytes {self.start:,} to {self.end:,})"
        )

    def part(self, start: int, end: int) -> Self:
        """The bytes from `start` to `end`, which lie between two characters of a file that is not packed."""
        return replace(self, size=end - start, start=start, end=end)

    def blocks(self, progress: Callable[[int], None] = lambda _: None) -> Iterator[str]:
        """The text in blocks of at most 65,536 characters, none empty; of a file with rows as it stands there.

        Before each block `progress` is called with the bytes on disk read; what it raises is passed on, also an
        OSError, which is not taken for one of the file. Raises Unreadable if the file has vanished or changed, or holds
        bytes that are not in its encoding, or rows that are no text.
        """
        if self.form not in TEXTS:
            raise Unreadable(
                self.name, f"it holds rows ({self.form}), and is not one text"
            )
        codec = "utf-8" if self.start else self.codec
        for position, text in self._read(
            lambda file: decoded(file, codec, self.start, self.end)
        ):
            progress(position)
            yield text

    def documents(
        self,
        progress: Callable[[int], None] = lambda _: None,
        skipped: list[Skipped] | None = None,
    ) -> Iterator[Iterator[str]]:
        """The documents of the file, each in blocks as from `blocks`, to be read before the next: the rows, or itself.

        What is left out of it is added to `skipped`. Raises Unreadable as `blocks`, possibly after some documents.
        """
        if not self.form:
            yield self.blocks(progress)
            return
        from bpe_core.corpus.rows import RowReader

        number = 0
        rows = RowReader(self.field, self.skip_bad, self.limits())
        for position, blocks in self._read(
            lambda file: rows.documents(file, self.form)
        ):
            if self.chosen is None or self.chosen[number : number + 1] == b"\1":
                progress(position)
                yield blocks
            number += 1
        if (omitted := rows.omitted) and skipped is not None:
            reason = f"{len(omitted):,} beside {number:,} documents that it has: {first_of(omitted)}"
            skipped.append(Skipped(self.path, reason))

    def limits(self) -> "Limits":
        """What reading the rows of this file may take."""
        return Limits(self.memory, self.size)

    def _read(
        self, texts_in: Callable[[IO[bytes]], Iterator[T]]
    ) -> Iterator[tuple[int, T]]:
        """(bytes on disk that are read, a text of the unpacked file that ends there) until all is read."""
        with one_sentence(self.name), opened(self) as disk:
            before = self.address or os.fstat(disk.fileno()).st_mtime_ns
            file = unpacked(disk, self.packing, Budget(self.size))
            if self.start:
                file.seek(self.start)
            for text in texts_in(file):
                yield min(disk.tell() - self.start, self.size), text
            if not self.address and os.fstat(disk.fileno()).st_mtime_ns != before:
                raise NotText(CHANGED)


def first_of(places: list[str]) -> str:
    """The first three, for a person."""
    return ", ".join(places[:3]) + (", …" if len(places) > 3 else "")


def form_of(head: bytes, name: str) -> str:
    """What holds the documents of a file that, unpacked, begins with `head`: "" for a text, which is one itself."""
    for form, (begin, ending) in _FORMS.items():
        is_named = not ending or re.search(
            rf"{ending}(\.(gz|xz|bz2|zst))?$", name, re.IGNORECASE
        )
        if is_named and re.match(begin.encode("latin-1"), head, re.DOTALL):
            return form
    return ""


def most_of(size: float) -> float:
    """How many bytes a file of this size may unpack to."""
    return max(_UNPACKED, _TIMES * size)


def decoded(
    file: IO[bytes], codec: str, at: int = 0, end: int | None = None
) -> Iterator[str]:
    """A file or stream in blocks that are not empty, read from the offset `at` to `end`. Raises `NotText`."""
    decode, data = codecs.getincrementaldecoder(codec)().decode, b"at first"
    while data:
        data = file.read(BLOCK if end is None else min(BLOCK, end - at))
        at += len(data)
        try:
            text = decode(data, not data)
        except UnicodeDecodeError as error:
            offset = at - len(error.object) + error.start
            raise NotText(
                not_in_encoding(error.object[error.start], offset, codec)
            ) from None
        if text:
            yield text
    if end is not None and at < end:
        raise NotText(CHANGED)


def in_blocks(text: str) -> Iterator[str]:
    """A text in blocks as from `TextFile.blocks`."""
    return (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))


def recognize_file(file: TextFile, status: os.stat_result | None) -> TextFile:
    """The file with its packing, form and encoding, recognized from its first bytes.

    Of one with rows `field` are the documents; if it is "", one is guessed; a text that was named itself, with a
    `field`, is one of JSON lines.
    Raises Unreadable if the file is missing, not permitted, or not a text in a known encoding, and has no rows that
    are. Pipes, devices and sockets are refused unopened, since opening one could block for ever. `status` is None for a
    file at an `address`.
    """
    with one_sentence(file.name):
        if status and not stat.S_ISREG(status.st_mode):
            raise NotText(
                f"it is {_SPECIAL.get(stat.filemode(status.st_mode)[0], 'no ordinary file')}"
            )
        with opened(file) as disk:
            head = disk.read(HEAD)
            size = status.st_size if status else disk.seek(0, io.SEEK_END)
            disk.seek(0)
            if packing := packing_of(head):
                head = unpacked(disk, packing).read(HEAD)
        form = form_of(head, file.name) or (
            "jsonl" if file.field and file.required else ""
        )
        codec = "utf-8" if form else recognize(head, whole=len(head) < HEAD)
        is_empty = form in TEXTS and not head.decode(codec, "replace")
        found = replace(
            file, size=size, codec=codec, packing=packing, empty=is_empty, form=form
        )
        if not form:
            return replace(found, field="")
        if form in TABLES and not (file.field or is_empty):
            from bpe_core.corpus.rows import guessed

            return guessed(found)
        return found


def split_field(path: str) -> tuple[str, str]:
    """The path of a source, and the field behind it, if there is one.

    >>> split_field("reviews.parquet::text"), split_field("memory://a.jsonl")
    (('reviews.parquet', 'text'), ('memory://a.jsonl', ''))
    """
    before, colons, field = path.rpartition("::")
    return (
        (path, "")
        if not colons or "://" in field or os.path.exists(path)
        else (before, field)
    )


def opened(file: TextFile) -> IO[bytes]:
    """It for reading, at its address, or else at its path. Raises OSError, NotText and FetchError."""
    if file.address:
        system, place = file_system(file.address)
        return cast(IO[bytes], system.open(place, "rb"))
    return file.path.open("rb", buffering=0)


def file_system(address: str) -> tuple[Any, str]:
    """The file system of fsspec that an address names, and the path there. Raises NotText and FetchError."""
    fsspec = installed(
        "fsspec", "an address such as s3://, hf:// or https://", "corpora"
    )
    try:
        return cast(tuple[Any, str], fsspec.core.url_to_fs(address))
    except (ImportError, ValueError) as error:
        raise NotText(
            f"it cannot be reached ({visible(shortened(str(error), 200))})"
        ) from None


def why_not(error: Exception) -> str:
    """The reason of an error of the system, or of what unpacks or fetches, as a clause to follow "cannot be read:"."""
    library = (
        type(error).__module__.partition(".")[0].strip("_")
    )  # which have a dozen types
    if isinstance(error, NotText | FetchError) or type(error) in _ERRORS:
        return _ERRORS.get(type(error), str(error).rstrip("."))
    if isinstance(error, OSError) and library != "gzip":
        return (
            visible(error.strerror or f"{error}; get it anew, or try again")
            .lower()
            .rstrip(".")
        )
    if library in ("builtins", "bpe_core") and not isinstance(
        error, UnicodeError | RuntimeError | LookupError
    ):
        raise error
    what = visible(shortened(str(error).partition("\n")[0], 100))
    return f"it is damaged, or cannot be reached ({library}: {what}); get it anew"


def packing_of(head: bytes) -> str:
    """What a file that begins with `head` is packed by: "gzip", "xz", "bzip2" or "zstd", else ""."""
    return _kind(head, _PACKINGS)


class Budget:
    """How many bytes a file of this size on disk may still unpack to, with all that is in it."""

    def __init__(self, size: float) -> None:
        self._left = most_of(size)

    def spend(self, n_bytes: int) -> None:
        """Raise NotText if there are fewer bytes left."""
        self._left -= n_bytes
        if self._left < 0:
            raise TooMuch(TOO_MUCH)


class Limits:
    """What reading rows may take: memory, and bytes unpacked, of all members of an archive together.

    A row of JSON or CSV takes up to ten times its length while it is parsed, a page or a batch up to
    three times its size. The limits leave most of the memory to the counts.
    """

    def __init__(self, memory: int, size: float) -> None:
        self.longest_row = min(memory >> 5, _LONGEST_ROW)
        self.largest_portion = min(memory >> 3, _LARGEST_PORTION)
        self._unpacked = Budget(size)
        self._given_out = Budget(size)

    def unpack(self, n_bytes: int) -> None:
        """Raise NotText if too much is unpacked, with these bytes."""
        self._unpacked.spend(n_bytes)

    def give_out(self, n_bytes: int, n_rows: int = 1) -> None:
        """Raise NotText if the rows together have too many bytes, with those of the next rows.

        A dictionary has a text once that may occur in any number of rows.
        """
        self._given_out.spend(n_bytes + _ROW * n_rows)

    def check_portion(self, name: str, size: int) -> None:
        """Raise NotText for a part of a file that is too large to be unpacked at once."""
        if not 0 <= size <= self.largest_portion:
            raise NotText(
                f"{name} of it has {size:,} bytes, more than the {self.largest_portion:,} that"
                " may be in memory; write it again in smaller ones, or allow more --memory"
            )

    def unpacked_file(self, file: IO[bytes], packing: str) -> io.BufferedReader:
        """Return a member of an archive, unpacked."""
        return unpacked(file, packing, self._unpacked)


class _Limited(io.RawIOBase):
    """A file whose bytes are taken from a budget, lest a small file unpacks to any amount."""

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
    """A file that is read onwards only; NotText instead of more bytes than the budget has."""
    return io.BufferedReader(_Limited(file, budget), BLOCK)


def unpacked(
    disk: IO[bytes], packing: str, budget: Budget | None = None
) -> io.BufferedReader:
    """The unpacked bytes of a file; NotText instead of too many. The libraries are imported late."""
    if not packing:
        return io.BufferedReader(cast(io.RawIOBase, disk), BLOCK)
    if packing == "zstd":
        library = installed("pyarrow", "a .zst file", "corpora")
        return limited(library.CompressedInputStream(disk, "zstd"), budget)
    try:
        library = import_module(_MODULES.get(packing, packing))
    except ImportError:
        raise NotText(
            f"this Python was built without {packing}; unpack the file first"
        ) from None
    return limited(library.open(disk), budget)


@contextmanager
def one_sentence(name: str) -> Iterator[None]:
    """Turn every error of reading or unpacking a file into Unreadable."""
    try:
        yield
    except Exception as error:
        raise Unreadable(name, why_not(error)) from None


OnRead = Callable[[int, int, str], object]
"""Called with how many bytes on disk are read, of all files together, and the name of the file being read."""


class Reading:
    def __init__(self, files: Iterable[TextFile], progress: OnRead | None) -> None:
        self.total: Final = sum(file.size for file in files)  # bytes on disk
        self._done, self._name = 0, ""
        self._progress = progress or (lambda *_: None)

    def documents(
        self, file: TextFile, skipped: list[Skipped] | None = None
    ) -> Iterator[Iterator[str]]:
        """Those of the next file, see `TextFile.documents`."""
        before, self._name = self._done, file.name

        def report(position: int) -> None:
            self._done = before + position
            self.report()

        yield from file.documents(report, skipped)
        self._done = before + file.size

    def report(self) -> None:
        self._progress(self._done, self.total, self._name)


class NotText(Exception):
    """The bytes are no text that can be read. The message is a clause without a full stop: why, and what to do."""


class TooMuch(NotText):
    """The budget of unpacked bytes is spent."""


def recognize(head: bytes, *, whole: bool) -> str:
    """The codec of a file that begins with `head`; `whole`: that is all of it. NotText."""
    codec = next(
        (codec for codec, marks in _MARKED.items() if head.startswith(marks)), "utf-8"
    )
    try:
        codecs.getincrementaldecoder(codec)().decode(head, whole)
    except UnicodeDecodeError as error:
        raise NotText(
            _why_not(head, len(head) - len(error.object) + error.start, codec)
        ) from None
    zeros = (
        head.count(0) if codec == "utf-8" else 0
    )  # a few NULs are allowed; with many it must be UTF-16 or binary
    if zeros > 0.1 * len(head) and (
        zeros >= 16 or (zeros > 0.3 * len(head) and _unmarked_utf16(head))
    ):
        raise NotText(_why_not(head, head.index(0), codec))
    return codec


def not_in_encoding(byte: int, offset: int, codec: str, guess: str = "") -> str:
    """The reason why a file with this undecodable byte at this offset is not read; `guess`: a likely other encoding."""
    name = codec.upper().removesuffix("-SIG")
    where = f"byte 0x{byte:02x} at offset {offset:,} is {'NUL' if guess and not byte else f'not {name}'}"
    if name != "UTF-8":
        return f"{where}, though its byte order mark says so"
    looks = f"; it looks like {guess}" if guess else ""
    return f"{where}{looks}: convert it first, for example with iconv -f {guess or 'ENCODING'} -t UTF-8"


def _why_not(head: bytes, offset: int, codec: str) -> str:
    if kind := _kind(head):
        return f"it is {kind}, not text"
    if codec != "utf-8":
        return not_in_encoding(head[offset], offset, codec)
    if guess := _unmarked_utf16(head):
        return not_in_encoding(head[offset], offset, "utf-8", guess)
    if b"\0" in head or _share(head, _CONTROLS) > 0.03:
        return (
            f"it is binary, not text (byte 0x{head[offset]:02x} at offset {offset:,})"
        )
    is_likely = _share(head, bytes(range(0x80, 0x100))) <= 0.3
    return not_in_encoding(
        head[offset], offset, "utf-8", "WINDOWS-1252" if is_likely else ""
    )


def _kind(head: bytes, kinds: Mapping[str, str] = _KINDS) -> str:
    return next(
        (
            kind
            for kind, begins in kinds.items()
            if re.match(begins.encode("latin-1"), head, re.DOTALL)
        ),
        "",
    )


def _unmarked_utf16(head: bytes) -> str:
    """The codec if the bytes make sense as UTF-16, else "". Spaces and line breaks put NULs at even or odd offsets."""
    for zeros, other, name in (
        (head[1::2], head[::2], "UTF-16LE"),
        (head[::2], head[1::2], "UTF-16BE"),
    ):
        if zeros.count(0) <= 20 * other.count(0):
            continue
        text = head[: len(head) & ~1].decode(name, "replace")[:-1] or "\ufffd"
        odd = sum(not (c.isprintable() or c.isspace()) or c == "\ufffd" for c in text)
        if odd <= 0.02 * len(text):
            return name
    return ""


def _share(head: bytes, of: bytes) -> float:
    return 1 - len(head.translate(None, of)) / len(head)
