"""Reading a text file in blocks, exactly: no newline is translated, no character replaced; gzip and xz are unpacked.

A file that cannot be read so raises `Unreadable`, whose message is one sentence.
"""

import codecs
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, Self, cast

from bpe_core.corpus.encodings import HEAD, NotText, not_in_encoding, recognize
from bpe_core.errors import TextError
from bpe_core.visible import visible

BLOCK: Final = 1 << 16  # bytes read at a time; a block of text is at most as many characters
_PACKINGS: Final = ((b"\x1f\x8b\x08", "gzip"), (b"\xfd7zXZ\x00", "xz"))

_SPECIAL: Final = {
    "d": "a folder",
    "p": "a named pipe",
    "s": "a socket",
    "c": "a device",
    "b": "a device",
}  # by `ls -l`

_UNPACKED: Final = 1 << 25  # bytes that a packed file may unpack to, however small it is
_TIMES: Final = 100  # times its size that a larger one may (texts: 3 to 30); more is a decompression bomb
CHANGED: Final = "it became shorter while it was read; try again when nobody writes to it"


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
        """The name, of a part with its place."""
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
        decode = codecs.getincrementaldecoder(self.codec)().decode
        begin = max(self.start, self.mark)
        with _one_sentence(self.name), self.path.open("rb", buffering=0) as disk, _unpacked(disk, self.packing) as file:
            fed = file.seek(begin) if begin else 0
            data = b"at first"
            while data:
                data = file.read(BLOCK if self.end is None else min(BLOCK, self.end - fed))
                fed += len(data)
                if self.packing and fed > max(_UNPACKED, _TIMES * self.size):
                    raise NotText(f"it unpacks to more than {_TIMES} times its size; if that is meant, unpack it first")
                try:
                    text = decode(data, not data)
                except UnicodeDecodeError as error:
                    offset = fed - len(error.object) + error.start
                    raise NotText(not_in_encoding(error.object[error.start], offset, self.codec)) from None
                yield disk.tell() if self.packing else fed, text
            if self.end is not None and fed < self.end:
                raise NotText(CHANGED)


def recognize_file(path: Path, name: str, status: os.stat_result, *, required: bool) -> TextFile:
    """The file at `path`, its packing and encoding recognized from its first bytes; `name` is what messages call it.

    Raises Unreadable if it is missing, not permitted, or not a text in a known encoding. Pipes, devices and sockets are
    refused unopened, since opening one could block for ever.
    """
    with _one_sentence(name):
        if not stat.S_ISREG(status.st_mode):
            raise NotText(f"it is {_SPECIAL.get(stat.filemode(status.st_mode)[0], 'no ordinary file')}")
        with path.open("rb") as disk:
            head = disk.read(HEAD)
            packing = next((name for magic, name in _PACKINGS if head.startswith(magic)), "")
            if packing:
                disk.seek(0)
                with _unpacked(disk, packing) as file:
                    head = file.read(HEAD)
        codec, mark = recognize(head, whole=len(head) < HEAD)
    return TextFile(path, name, status.st_size, codec, mark, packing, len(head) == mark, required)


def why_not(error: OSError) -> str:
    """The reason of an OSError as a clause to follow "cannot be read:"."""
    known = {FileNotFoundError: "there is no such file or folder", PermissionError: "you have no permission to read it"}
    return known.get(type(error)) or visible(error.strerror or str(error)).lower()


@contextmanager
def _unpacked(disk: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
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
def _one_sentence(name: str) -> Iterator[None]:
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
    """Reads files one after the other."""

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
