"""Atomic writes: at any time, a path holds the complete old file or the complete new one."""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple
from zlib import crc32

from bpe_core.errors import FormatError
from bpe_core.visible import shortened, visible

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MACHINE_NAME: Final = (
    os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
)
MACHINE: Final = f"{crc32(os.fsencode(_MACHINE_NAME)):08x}"
"""Part of the names of temporary files: locks are only visible on the same machine."""
_TEMPORARY: Final = re.compile(rf"\..*\.{MACHINE}[0-9a-f]{{8}}\.new", re.DOTALL)


class _NewFile(NamedTuple):
    file: IO[bytes]
    path: Path
    target: Path


def replace_files(
    *files: tuple[Path, Iterable[bytes] | Callable[[IO[bytes]], object]],
) -> None:
    """Write new files next to their targets, flush them to disk, and rename them all at the end.

    Existing files keep their permissions. Temporary files of killed processes are removed. If
    something fails before the first rename, all targets are unchanged and the new files removed.
    After the first rename, the others are renamed too before an interruption or error is raised.

    Args:
        files: Each target with the parts to write, or with a function that writes them.

    Raises:
        OSError: A file cannot be written.
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
            if fcntl is None:
                # Windows renames only files that are closed.
                new.file.close()
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
    """Return a hidden path with a random part, for a temporary file next to `target`."""
    name = os.fsencode(target.name)[:100].decode(errors="ignore")
    return target.with_name(f".{name}.{MACHINE}{os.urandom(4).hex()}.new")


def _create(stack: ExitStack, target: Path) -> _NewFile:
    """Open a temporary file, locked for the lifetime of this process.

    The stack closes it, and removes it unless it was renamed.
    """
    while True:
        path = new_beside(target)
        stack.callback(_remove, path)
        file = stack.enter_context(open(path, "xb"))  # noqa: SIM115
        # On a disk without locks, no file counts as abandoned.
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have removed it as abandoned just before the lock.
        if os.fstat(file.fileno()).st_nlink:
            return _NewFile(file, path, target)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of killed processes; those of running processes are locked.

    Without locks, as on Windows, all are left.
    """
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_ours = _TEMPORARY.fullmatch(entry.name)
            if is_ours and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry, "r+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry)


def write_atomically(*files: tuple[str | os.PathLike[str], Iterable[str]]) -> None:
    """Write the lines of each file as UTF-8, and replace all files at the end.

    A symbolic link keeps its name and its target is replaced. Existing files keep their
    permissions. A pipe or a device is written to directly.

    Raises:
        FormatError: A file cannot be written. The files are unchanged in that case.
    """
    with as_format_error(files[0][0]):
        regular_files = []
        streams = []
        for path, lines in files:
            target = file_of(path)
            if target:
                regular_files.append((target, map(str.encode, lines)))
            else:
                streams.append((path, lines))
        replace_files(*regular_files)
        for path, lines in streams:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)


def write_whole(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]
) -> None:
    """Let `write` make a file, and move the file to `path` only if no error occurs."""
    with as_format_error(path):
        target = file_of(path)
        if target:
            replace_files((target, write))
        else:
            with open(path, "wb") as file:
                write(file)


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise `FormatError` if no file can be written at `path`; disk space is not checked."""
    with as_format_error(path):
        target = file_of(path)
        if target:
            remove_abandoned(target.parent)
            with ExitStack() as stack:
                _create(stack, target)
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def file_of(path: str | os.PathLike[str]) -> Path | None:
    """Resolve `path` to a regular file, existing or not.

    Returns:
        The file, or None for a pipe, a device, or an open file descriptor.

    Raises:
        OSError: The path cannot be read.
        ValueError: Its folder does not exist, or it is a folder, a socket or a disk.
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
        raise ValueError("it is a socket or a disk, not a file")
    # A file that a shell has opened is written to, not replaced: /dev/stdout, /dev/fd/3.
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return None
    return target


@contextmanager
def as_format_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of writing the file at `path` into a `FormatError`."""
    try:
        yield
    except FormatError:
        # The lines could not be made: the format cannot hold this tokenizer.
        raise
    except (OSError, ValueError) as error:
        # A path with a NUL character raises ValueError too.
        reason = error.strerror if isinstance(error, OSError) else error
        name = visible(shortened(os.fspath(path), 200))
        raise FormatError(f"{name} cannot be written: {reason}.") from error
