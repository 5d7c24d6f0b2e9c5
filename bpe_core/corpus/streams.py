"""Texts that can be read only once and have no known size: standard input, and pipes such as `<(zcat x.gz)`."""

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf
from pathlib import Path
from typing import IO, Any, Final, cast

from bpe_core.corpus import Found, find_files
from bpe_core.corpus.reading import (
    HEAD,
    MEMORY,
    TABLES,
    TEXTS,
    Limits,
    NotText,
    Skipped,
    T,
    TextFile,
    form_of,
    one_sentence,
    packing_of,
    recognize,
    split_field,
    unpacked,
)
from bpe_core.errors import OptionError, TextError
from bpe_core.visible import shortened, visible

STDIN: Final = ("-", "/dev/stdin")
_PATIENCE: Final = 0.05  # seconds to wait for more data before looking whether to stop

Heed = Callable[[], object]
"""Called while a stream has nothing to read; what it raises ends the reading."""


def is_stream(path: str) -> bool:
    """Whether `path` can be read only once and has no size: stdin, /dev/null, or a pipe such as `<(...)` of a shell."""
    try:
        return path in (*STDIN, os.devnull) or stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def name_of(path: str) -> str:
    """What to call a stream in a sentence."""
    return "stdin" if path in STDIN else visible(shortened(path, 200))


def _short_name(path: str) -> str:
    """What to call a stream where its files are listed, such as "pipe 63" for the /dev/fd/63 of a shell's `<(...)`."""
    folder, _, name = path.rpartition("/")
    if path in STDIN:
        return "stdin"
    return f"pipe {name}" if folder in ("/dev/fd", "/proc/self/fd") else visible(name)


class _Stream(io.RawIOBase):
    """A pipe, whose first bytes may be looked at before it is read."""

    def __init__(self, descriptor: int, heed: Heed) -> None:
        self._descriptor, self._heed = descriptor, heed
        self._head = b""
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def look(self, size: int) -> bytes:
        """Return the first `size` bytes, or all if there are fewer; reading begins with them again."""
        while len(self._head) < size and (data := self._next(size)):
            self._head += data
        return self._head[:size]

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._next(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        self.n_read += len(data)
        return len(data)

    def _next(self, size: int) -> bytes:
        while not select.select([self._descriptor], [], [], _PATIENCE)[0]:
            self._heed()
        return os.read(self._descriptor, size)


@dataclass(frozen=True, slots=True)
class StreamFile(TextFile):
    """A stream as a text, or as rows. It is recognized when it is found, and can be read once."""

    source: "_Source" = field(kw_only=True, compare=False)

    def limits(self) -> Limits:
        return Limits(self.memory, inf)  # the size of a stream is unknown

    def _read(
        self, texts_in: Callable[[IO[bytes]], Iterator[T]]
    ) -> Iterator[tuple[int, T]]:
        source = self.source
        with one_sentence(self.name):
            if source.is_read:
                raise NotText(
                    "a pipe can be read only once; save its text to a file first"
                )
            source.is_read = True
            for text in texts_in(source.content):
                yield source.stream.n_read, text


@dataclass(slots=True)
class _Source:
    """What a stream is read from."""

    stream: _Stream
    content: io.BufferedReader  # unpacked
    is_read: bool = False


@contextmanager
def streams_and_files(
    paths: Iterable[str], *, skip_bad: bool, heed: Heed, memory: int = MEMORY
) -> Iterator[Found]:
    """Find the files of a corpus as `find_files` does, and take each pipe among `paths`, and "-" for stdin, as a text
    too; what is opened is closed at the end.

    Raises TextError as `find_files` does, and OptionError for a pipe that is named twice.
    """
    files, skipped, seen = list[TextFile](), list[Skipped](), set[object]()
    opened = list[int]()
    try:
        for are_streams, group in groupby(
            paths, lambda path: is_stream(split_field(path)[0])
        ):
            if are_streams:
                files += [
                    replace(_open(path, heed, seen, opened), memory=memory)
                    for path in group
                ]
                continue
            found = find_files(group, skip_bad=skip_bad, memory=memory)
            skipped += found.skipped
            files += [
                file
                for file in found.files
                if (os.path.realpath(file.path), file.field) not in seen
            ]
            seen.update(
                (os.path.realpath(file.path), file.field) for file in found.files
            )
        if all(file.empty for file in files):
            raise TextError(
                f"There is no text in {', '.join(file.name for file in files[:3])}: it is empty."
            )
        yield Found(tuple(files), tuple(skipped))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _open(given: str, heed: Heed, seen: set[object], opened: list[int]) -> StreamFile:
    """Open a stream and recognize its packing and encoding from its first bytes, as `recognize_file` does for a file.
    Its identity is added to `seen`, and its descriptor to `opened` if it is ours to close."""
    path, named_field = split_field(given)
    name = name_of(path)
    with one_sentence(name):
        descriptor = _descriptor(path, opened)
        status = os.fstat(descriptor)
        identity = status.st_dev, status.st_ino
        if identity in seen:
            raise OptionError(
                f"{name} is named twice, and a pipe can be read only once; name it once."
            )
        seen.add(identity)
        stream = _Stream(descriptor, heed)
        head = stream.look(HEAD)
        packing = packing_of(head)
        content = unpacked(cast(IO[bytes], stream), packing)
        if packing:
            head = content.peek(HEAD)[:HEAD]
        form = form_of(head, name) or ("jsonl" if named_field else "")
        if form == "zip":
            raise NotText(
                "a .zip file can't be read from a pipe; save it to a file first"
            )
        if form in TABLES and not named_field:
            raise NotText(
                "it holds rows; name the field that holds the documents with --field"
            )
        codec = "utf-8" if form else recognize(head, whole=len(head) < HEAD)
        is_empty = form in TEXTS and not head.decode(codec, "replace")
    return StreamFile(
        Path(path),
        _short_name(path),
        codec=codec,
        packing=packing,
        empty=is_empty,
        form=form,
        field=named_field if form else "",
        source=_Source(stream, content),
    )


def _descriptor(path: str, opened: list[int]) -> int:
    if path in STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return sys.stdin.fileno()
    opened.append(os.open(path, os.O_RDONLY))
    return opened[-1]
