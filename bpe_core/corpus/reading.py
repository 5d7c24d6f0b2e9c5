"""Reading a text file in blocks, exactly: no newline is translated, no character replaced; gzip and xz are unpacked.

Accepted is what is valid UTF-8, or UTF-16 or UTF-32 with a byte order mark. No other encoding is guessed: a wrong guess
would silently train on characters that nobody wrote. A file that is no such text raises `Unreadable`.
"""

import codecs
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, Self, cast

from bpe_core.errors import TextError
from bpe_core.visible import visible

BLOCK: Final = 1 << 16  # bytes read at a time; a block of text is at most as many characters
_PACKINGS: Final = ((b"\x1f\x8b\x08", "gzip"), (b"\xfd7zXZ\x00", "xz"))
# By the letter that `ls` writes of a file.
_SPECIAL: Final = {"d": "a folder", "p": "a named pipe", "s": "a socket", "c": "a device", "b": "a device"}
_UNPACKED: Final = 1 << 25  # bytes that a packed file may unpack to, however small it is
_TIMES: Final = 100  # times its size that a larger one may (texts: 3 to 30); more is a decompression bomb
CHANGED: Final = "it became shorter while it was read; try again when nobody writes to it"
HEAD: Final = 8192  # bytes from the beginning of a file by which it is recognized

# What a byte order mark says; UTF-32 first, since its mark begins with that of UTF-16.
_MARKED: Final = ("utf-8", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
# What a file is -> a regular expression of its first bytes, both as texts.
_KINDS: Final = json.loads(Path(__file__).with_name("file_kinds.json").read_text("utf-8"))
# Control bytes that hardly occur in texts; line breaks, tabs and the escape of terminal recordings do.
_CONTROLS: Final = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))


class Unreadable(TextError):
    """One file cannot be read; `reason` is the part of the sentence after "cannot be read:"."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} cannot be read: {reason}.")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file in a folder that is not read, and the reason, to go on after "cannot be read:"."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file whose first bytes were recognized as text, or a part of one; made by `recognize_file`."""

    path: Path
    name: str  # what to call it on a screen: short, and safe to show
    size: int  # bytes on disk
    codec: str
    mark: int  # bytes of the byte order mark, which comes first and is not part of the text; 0 without one
    packing: str  # "gzip", "xz" or ""
    empty: bool
    required: bool = True  # it was named itself, not a folder above it: an error if it proves unreadable
    start: int = 0  # byte offset of a part of a file that is not packed, between two characters
    end: int | None = None  # and where the part ends; None: at the end of the file

    @property
    def source_name(self) -> str:
        return self.name + ("" if self.end is None else f" (bytes {self.start:,} to {self.end:,})")

    def part(self, start: int, end: int) -> Self:
        """The bytes from `start` to `end`, which lie between two characters of a file that is not packed."""
        return replace(self, size=end - start, start=start, end=end)

    def with_mark(self) -> Self:
        """This file, read so that a byte order mark in UTF-8 is a character; other encodings need theirs."""
        return replace(self, mark=0, empty=False) if self.codec == "utf-8" and self.mark else self

    def blocks(self, progress: Callable[[int], None] = lambda _: None) -> Iterator[str]:
        """The text in blocks of at most 65,536 characters, none empty.

        Before each block `progress` is called with the bytes on disk read; what it raises is passed on, also an
        OSError, which is not taken for one of the file. Raises Unreadable if the file has vanished or become shorter,
        or holds bytes that are not in its encoding.
        """
        for position, text in self._read():
            if text:
                progress(min(position - self.start, self.size))
                yield text

    def _read(self) -> Iterator[tuple[int, str]]:
        """(position in bytes on disk, text read up to there) until all is read."""
        begin = max(self.start, self.mark)
        with one_sentence(self.name), self.path.open("rb", buffering=0) as disk, unpacked(disk, self.packing) as file:
            fed = at = file.seek(begin) if begin else 0
            for fed, text in decoded(file, self.codec, at, self.end):
                if self.packing and fed > max(_UNPACKED, _TIMES * self.size):
                    raise NotText(f"it unpacks to more than {_TIMES} times its size; if that is meant, unpack it first")
                yield disk.tell() if self.packing else fed, text
            if self.end is not None and fed < self.end:
                raise NotText(CHANGED)


def decoded(file: IO[bytes], codec: str, at: int = 0, end: int | None = None) -> Iterator[tuple[int, str]]:
    """(offset, text up to there) of a file or stream that is read from the offset `at` to `end`. Raises `NotText`."""
    decode, data = codecs.getincrementaldecoder(codec)().decode, b"at first"
    while data:
        data = file.read(BLOCK if end is None else min(BLOCK, end - at))
        at += len(data)
        try:
            yield at, decode(data, not data)
        except UnicodeDecodeError as error:
            offset = at - len(error.object) + error.start
            raise NotText(not_in_encoding(error.object[error.start], offset, codec)) from None


def recognize_file(path: Path, name: str, status: os.stat_result, *, required: bool) -> TextFile:
    """The file at `path`, its packing and encoding recognized from its first bytes; `name` is what messages call it.

    Raises Unreadable if it is missing, not permitted, or not a text in a known encoding. Pipes, devices and sockets are
    refused unopened, since opening one could block for ever.
    """
    with one_sentence(name):
        if not stat.S_ISREG(status.st_mode):
            raise NotText(f"it is {_SPECIAL.get(stat.filemode(status.st_mode)[0], 'no ordinary file')}")
        with path.open("rb") as disk:
            head = disk.read(HEAD)
            if packing := packing_of(head):
                disk.seek(0)
                with unpacked(disk, packing) as file:
                    head = file.read(HEAD)
        codec, mark = recognize(head, whole=len(head) < HEAD)
    return TextFile(path, name, status.st_size, codec, mark, packing, len(head) == mark, required)


def why_not(error: OSError) -> str:
    """The reason of an OSError as a clause to follow "cannot be read:"."""
    known = {FileNotFoundError: "there is no such file or folder", PermissionError: "you have no permission to read it"}
    return known.get(type(error)) or visible(error.strerror or str(error)).lower()


def packing_of(head: bytes) -> str:
    """ "gzip" or "xz" if a file that begins with `head` is packed by it, else ""."""
    return next((name for magic, name in _PACKINGS if head.startswith(magic)), "")


@contextmanager
def unpacked(disk: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
    """The unpacked bytes of `disk`. gzip and lzma are imported only here, as they are seldom needed."""
    if packing == "gzip":
        import gzip

        with gzip.GzipFile(fileobj=disk) as file:
            yield cast(IO[bytes], file)
    elif packing == "xz":
        try:
            import lzma
        except ImportError:
            raise NotText("this Python was built without xz; unpack the file first") from None
        try:
            with lzma.LZMAFile(disk) as packed:
                yield cast(Any, packed)
        except lzma.LZMAError as error:
            raise NotText(f"its xz packing is damaged ({visible(str(error))}); get it anew") from None
    else:
        yield disk


@contextmanager
def one_sentence(name: str) -> Iterator[None]:
    """Turn every error of reading or unpacking a file into Unreadable."""
    try:
        yield
        return
    except NotText as error:
        reason = str(error)
    except MemoryError:
        reason = "its packing asks for more memory than there is; unpack it first"
    except EOFError:
        reason = "its packing ends too early; get it anew"
    except (zlib.error, OSError) as error:
        reason = f"its gzip packing is damaged ({visible(str(error))}); get it anew"
        if isinstance(error, OSError) and type(error).__name__ != "BadGzipFile":
            reason = why_not(error)
    raise Unreadable(name, reason) from None


OnRead = Callable[[int, int, str], object]
"""Called with how many bytes on disk are read, of all files together, and the name of the file being read."""


class Reading:
    def __init__(self, files: Iterable[TextFile], progress: OnRead | None) -> None:
        self.total: Final = sum(file.size for file in files)  # bytes on disk
        self._done, self._name = 0, ""
        self._progress = progress or (lambda *_: None)

    def blocks(self, file: TextFile) -> Iterator[str]:
        """The text of the next file, see `TextFile.blocks`."""
        before, self._name = self._done, file.name

        def report(position: int) -> None:
            self._done = before + position
            self.report()

        yield from file.blocks(report)
        self._done = before + file.size

    def report(self) -> None:
        self._progress(self._done, self.total, self._name)


class NotText(Exception):
    """The bytes are no text that can be read. The message is a clause without a full stop: why, and what to do."""


def recognize(head: bytes, *, whole: bool) -> tuple[str, int]:
    """(codec, bytes of the byte order mark) of a file that begins with `head`; `whole`: that is all of it. NotText."""
    codec = next((codec for codec in _MARKED if head.startswith("\ufeff".encode(codec))), "")
    codec, mark = (codec, len("\ufeff".encode(codec))) if codec else ("utf-8", 0)
    try:
        codecs.getincrementaldecoder(codec)().decode(head[mark:], whole)
    except UnicodeDecodeError as error:
        raise NotText(_why_not(head, error.start + mark, codec, mark)) from None
    body = head[mark:]
    zeros = body.count(0) if codec == "utf-8" else 0  # a few NULs are allowed; with many it must be UTF-16 or binary
    if len(body) >= 4 and zeros > 0.3 * len(body) and (guess := _unmarked_utf16(body)):
        raise NotText(not_in_encoding(0, body.index(0), "utf-8", guess).replace("is not UTF-8", "is NUL", 1))
    if zeros >= 16 and zeros > 0.1 * len(body):
        raise NotText(f"it is {_kind(body) or 'binary'}, not text ({zeros:,} of its first {len(body):,} bytes are NUL)")
    return codec, mark


def not_in_encoding(byte: int, offset: int, codec: str, guess: str = "") -> str:
    """The reason why a file with this undecodable byte at this offset is not read; `guess`: a likely other encoding."""
    name = codec.upper().removesuffix("-LE").removesuffix("-BE")
    where = f"byte 0x{byte:02x} at offset {offset:,} is not {name}"
    if name != "UTF-8":
        return f"{where}, though its byte order mark says so"
    looks = f"; it looks like {guess}" if guess else ""
    return f"{where}{looks}: convert it first, for example with iconv -f {guess or 'ENCODING'} -t UTF-8"


def _why_not(head: bytes, offset: int, codec: str, mark: int) -> str:
    if kind := _kind(head):
        return f"it is {kind}, not text"
    if mark:
        return not_in_encoding(head[offset], offset, codec)
    if guess := _unmarked_utf16(head):
        return not_in_encoding(head[offset], offset, "utf-8", guess)
    if b"\0" in head or _share(head, _CONTROLS) > 0.03:
        return f"it is binary, not text (byte 0x{head[offset]:02x} at offset {offset:,} is not UTF-8)"
    guess = "WINDOWS-1252" if _share(head, bytes(range(0x80, 0xA0))) else "ISO-8859-1"
    is_likely = _share(head, bytes(range(0x80, 0x100))) <= 0.3
    return not_in_encoding(head[offset], offset, "utf-8", guess if is_likely else "")


def _kind(head: bytes) -> str:
    return next((kind for kind, begins in _KINDS.items() if re.match(begins.encode(), head, re.DOTALL)), "")


def _unmarked_utf16(head: bytes) -> str:
    """The codec if the bytes make sense as UTF-16, else "". Spaces and line breaks put NULs at even or odd offsets."""
    for zeros, other, name in ((head[1::2], head[::2], "UTF-16LE"), (head[::2], head[1::2], "UTF-16BE")):
        if zeros.count(0) <= 20 * other.count(0):
            continue
        text = head[: len(head) & ~1].decode(name, "replace")[:-1] or "\ufffd"
        odd = sum(not (c.isprintable() or c.isspace()) or c == "\ufffd" for c in text)
        if odd <= 0.02 * len(text):
            return name
    return ""


def _share(head: bytes, of: bytes) -> float:
    return 1 - len(head.translate(None, of)) / len(head)
