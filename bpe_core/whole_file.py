"""Writing files whole: at any time there is either the complete old file or the complete new one."""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import IO, Final, NamedTuple
from zlib import crc32

from bpe_core.errors import FormatError
from bpe_core.visible import shortened, visible

MACHINE: Final = f"{crc32(os.fsencode(os.uname().nodename)):08x}"
"""A part of the names of temporary files: locks show only on the same machine whose process lives."""
_TEMPORARY: Final = re.compile(rf"\..*\.{MACHINE}[0-9a-f]{{8}}\.new", re.DOTALL)


class _NewFile(NamedTuple):
    file: IO[bytes]
    path: Path
    target: Path


def replace_files(
    *files: tuple[Path, Iterable[bytes] | Callable[[IO[bytes]], object]],
) -> None:
    """Write the parts of each file to a new one in its folder, flush it to disk, and rename them to the targets.

    Instead of parts there may be what writes them. An existing file's permissions are kept. Raises OSError, and what
    making the parts raises; then all targets are unchanged and the new files removed. Once the first has its name, an
    interruption or error is raised after the others have theirs. What a killed process left in the folders is removed.
    """
    with ExitStack() as stack:
        news = list[_NewFile]()
        for target, parts in files:
            remove_abandoned(target.parent)
            new = _create(stack, target)
            news.append(new)
            if callable(parts):
                parts(new.file)
            else:
                new.file.writelines(parts)
            new.file.flush()
            os.fsync(new.file.fileno())
            if target.exists():
                new.path.chmod(stat.S_IMODE(target.stat().st_mode))
        try:
            for new in news:
                os.replace(new.path, new.target)
        except BaseException:
            if not news[0].path.exists():
                for new in news[1:]:
                    with suppress(OSError):
                        os.replace(new.path, new.target)
            raise


def new_beside(target: Path) -> Path:
    """A path for a temporary file in the folder of `target`: hidden, and with a random part."""
    name = os.fsencode(target.name)[:100].decode(errors="ignore")
    return target.with_name(f".{name}.{MACHINE}{os.urandom(4).hex()}.new")


def _create(stack: ExitStack, target: Path) -> _NewFile:
    """Open a temporary file, locked as long as this process lives. The stack closes it, and removes it if it still has
    its name."""
    while True:
        path = new_beside(target)
        stack.callback(_remove, path)
        file = stack.enter_context(open(path, "xb"))  # noqa: SIM115
        with suppress(OSError):  # a disk without locks, on which nothing is abandoned
            flock(file, LOCK_EX)
        # Another process may have taken it for abandoned just before the lock.
        if os.fstat(file.fileno()).st_nlink:
            return _NewFile(file, path, target)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder. Those of living processes are locked."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_ours = _TEMPORARY.fullmatch(entry.name)
            if is_ours and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry, "r+b") as file:
                    flock(file, LOCK_EX | LOCK_NB)
                    os.unlink(entry)


def write_atomically(*files: tuple[str | os.PathLike[str], Iterable[str]]) -> None:
    """Write the lines of each file as UTF-8 to a temporary one in the same folder, and rename all to their paths.

    Of a symbolic link the target is replaced. An existing file's permissions are kept. A pipe or a device is written to
    directly. Raises `FormatError` if one cannot be written; then the files are unchanged.
    """
    with as_format_error(files[0][0]):
        placed = [(file_of(path), path, lines) for path, lines in files]
        replace_files(
            *((target, map(str.encode, lines)) for target, _, lines in placed if target)
        )
        for path, lines in (
            (path, lines) for target, path, lines in placed if not target
        ):
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)


def write_whole(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]
) -> None:
    """Have `write` make a file as `write_atomically` does: it is at `path` once all went well, and not before."""
    with as_format_error(path):
        if target := file_of(path):
            replace_files((target, write))
        else:
            with open(path, "wb") as file:
                write(file)


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise `FormatError` unless a file can be written at `path`; free disk space is not checked."""
    with as_format_error(path):
        if target := file_of(path):
            remove_abandoned(target.parent)
            with ExitStack() as stack:
                _create(stack, target)
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def file_of(path: str | os.PathLike[str]) -> Path | None:
    """The regular file, existing or not, that `path` leads to; None for a pipe, a device, or an open file descriptor.

    Raises OSError or ValueError for a path that leads nowhere.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise ValueError(
            f"there is no folder {visible(shortened(str(target.parent), 200))}; make it first"
        )
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise ValueError("it is a folder; name a file in it")
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return None
    if not stat.S_ISREG(mode):
        raise ValueError("it is a socket or a disk, and no file")
    # What a shell has opened is to be written to, and not replaced: /dev/stdout, /dev/fd/3.
    return None if os.path.abspath(path).startswith(("/dev/", "/proc/")) else target


@contextmanager
def as_format_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of writing the file at `path` into a `FormatError`."""
    try:
        yield
    except (
        FormatError
    ):  # from whoever makes the lines: this tokenizer cannot be written so
        raise
    except (
        OSError,
        ValueError,
    ) as error:  # ValueError also of a path with a NUL character
        reason = error.strerror if isinstance(error, OSError) else error
        raise FormatError(
            f"{visible(shortened(os.fspath(path), 200))} cannot be written: {reason}."
        ) from error
