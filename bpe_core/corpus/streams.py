"""Read texts that can be read only once: standard input, and pipes such as `<(zcat x.gz)`."""

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from pathlib import Path
from typing import IO, Any, Final, cast

from bpe_core.corpus import Found, find_files
from bpe_core.corpus.reading import Skipped, T, TextFile, as_unreadable, split_field
from bpe_core.corpus.recognition import HEAD, TABLES, NotText, packing_of, recognize
from bpe_core.corpus.unpacking import MEMORY, Limits, unpacked
from bpe_core.errors import OptionError, TextError
from bpe_core.visible import shortened, visible

STDIN: Final = ("-", "/dev/stdin")
"""Paths of standard input."""
_PATIENCE: Final = 0.05
"""Seconds to wait for more data before looking whether to stop."""

Heed = Callable[[], object]
"""Called while a stream has nothing to read. If it raises an error, reading ends."""


def is_stream(path: str) -> bool:
    """Whether `path` can be read only once and has no size: stdin, /dev/null or a pipe."""
    if path in STDIN or path == os.devnull:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def name_of(path: str) -> str:
    """Return the name of a stream for a sentence."""
    return "stdin" if path in STDIN else visible(shortened(path, 200))


def _short_name(path: str) -> str:
    """Return the name of a stream for a list of files.

    A shell passes `<(...)` as a path such as /dev/fd/63, which is called "pipe 63".
    """
    if path in STDIN:
        return "stdin"
    folder, _, name = path.rpartition("/")
    if folder in ("/dev/fd", "/proc/self/fd"):
        return f"pipe {name}"
    return visible(name)


class _Stream(io.RawIOBase):
    """A pipe whose first bytes can be looked at before it is read."""

    def __init__(self, descriptor: int, heed: Heed) -> None:
        self._descriptor = descriptor
        self._heed = heed
        self._head = b""
        """Bytes that were looked at and are not read yet."""
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def look(self, size: int) -> bytes:
        """Return the first `size` bytes, or all if there are fewer. Reading returns them again."""
        while len(self._head) < size:
            data = self._next(size)
            if not data:
                break
            self._head += data
        return self._head[:size]

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)]
        self._head = self._head[len(data) :]
        if not data:
            data = self._next(len(buffer))
        buffer[: len(data)] = data
        self.n_read += len(data)
        return len(data)

    def _next(self, size: int) -> bytes:
        """Wait for data and return at most `size` bytes; none at the end."""
        if sys.platform != "win32":  # where select accepts only sockets
            while not self._is_ready():
                self._heed()
        return os.read(self._descriptor, size)

    def _is_ready(self) -> bool:
        """Whether data, or the end, comes within `_PATIENCE`."""
        ready, _, _ = select.select([self._descriptor], [], [], _PATIENCE)
        return bool(ready)


@dataclass(slots=True)
class _Source:
    """An open stream."""

    stream: _Stream
    content: io.BufferedReader
    """The unpacked bytes of the stream."""
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class StreamFile(TextFile):
    """A stream as a text, or as rows. It is recognized when it is found, and can be read once."""

    source: _Source = field(kw_only=True, compare=False)

    def limits(self) -> Limits:
        return Limits(self.memory, inf)  # the size of a stream is unknown

    def _read(
        self, texts_in: Callable[[IO[bytes]], Iterator[T]]
    ) -> Iterator[tuple[int, T]]:
        source = self.source
        with as_unreadable(self.name):
            if source.is_read:
                raise NotText(
                    "a pipe can be read only once; save its text to a file first"
                )
            source.is_read = True
            for text in texts_in(source.content):
                yield source.stream.n_read, text


@contextmanager
def streams_and_files(
    paths: Iterable[str], *, skip_bad: bool, heed: Heed, memory: int = MEMORY
) -> Iterator[Found]:
    """Find the files of a corpus as `find_files` does, with streams, which are closed at the end.

    Args:
        paths: Files, folders, addresses and pipes, and "-" for stdin.
        skip_bad: See `find_files`.
        heed: Called while a pipe has nothing to read. If it raises an error, reading ends.
        memory: See `find_files`.

    Raises:
        TextError: One of the paths cannot be read, or no text is found.
        OptionError: A pipe is named twice.
    """
    opener = _StreamOpener(heed, memory)
    files: list[TextFile] = []
    skipped: list[Skipped] = []
    # `find_files` lists a file once, but it is called again for the paths after each stream.
    seen_files: set[tuple[str, str]] = set()
    try:
        groups = groupby(paths, key=lambda path: is_stream(split_field(path)[0]))
        for are_streams, group in groups:
            if are_streams:
                files += map(opener.open, group)
                continue
            found = find_files(group, skip_bad=skip_bad, memory=memory)
            skipped += found.skipped
            for file in found.files:
                identity = (os.path.realpath(file.path), file.field)
                if identity not in seen_files:
                    seen_files.add(identity)
                    files.append(file)
        if all(file.empty for file in files):
            names = ", ".join(file.name for file in files[:3])
            raise TextError(f"No text found in {names}: it is empty.")
        yield Found(tuple(files), tuple(skipped))
    finally:
        opener.close()


class _StreamOpener:
    """Opens streams, each once, and closes them."""

    def __init__(self, heed: Heed, memory: int) -> None:
        self._heed = heed
        self._memory = memory
        self._seen: set[tuple[int, int]] = set()
        self._descriptors: list[int] = []
        """Descriptors to close."""

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def open(self, source: str) -> StreamFile:
        """Open a stream and recognize it from its first bytes, as `recognize_file` does."""
        path, named_field = split_field(source)
        name = name_of(path)
        with as_unreadable(name):
            descriptor = self._descriptor(path)
            status = os.fstat(descriptor)
            identity = (status.st_dev, status.st_ino)
            if identity in self._seen:
                raise OptionError(
                    f"{name} is named twice, and a pipe can be read only once; name it once."
                )
            self._seen.add(identity)
            stream = _Stream(descriptor, self._heed)
            head = stream.look(HEAD)
            packing = packing_of(head)
            content = unpacked(cast(IO[bytes], stream), packing)
            if packing:
                head = content.peek(HEAD)[:HEAD]
            found = recognize(head, name, "jsonl" if named_field else "")
            if found.form == "zip":
                raise NotText(
                    "a .zip file can't be read from a pipe; save it to a file first"
                )
            if found.form in TABLES and not named_field:
                raise NotText(
                    "it holds rows; name the field that holds the documents with --field"
                )
        return StreamFile(
            Path(path),
            _short_name(path),
            codec=found.codec,
            packing=packing,
            empty=found.is_empty,
            form=found.form,
            field=named_field if found.form else "",
            memory=self._memory,
            source=_Source(stream, content),
        )

    def _descriptor(self, path: str) -> int:
        if path in STDIN:
            if sys.stdin is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return sys.stdin.fileno()
        descriptor = os.open(path, os.O_RDONLY)
        self._descriptors.append(descriptor)
        return descriptor
