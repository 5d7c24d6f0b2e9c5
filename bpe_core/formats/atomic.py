"""Writing tokenizer files atomically: completely, or not at all and with a `FormatError`."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from bpe_core.errors import FormatError
from bpe_core.visible import shortened, visible
from bpe_core.whole_file import new_beside, replace_files


def refuse(target: str, problem: str) -> NoReturn:
    """Raise the `FormatError` that a tokenizer cannot be written; `target` says as what, `problem` is a clause."""
    raise FormatError(f"This tokenizer cannot be written {target}: {problem}; choose another format.")


def write_atomically(*files: tuple[str | os.PathLike[str], Iterable[str]]) -> None:
    """Write the lines of each file as UTF-8 to a temporary one in the same folder, and rename all to their paths.

    Of a symbolic link the target is replaced. An existing file's permissions are kept. A pipe or a device is written to
    directly. Raises `FormatError` if one cannot be written; then the files are unchanged.
    """
    with as_format_error(files[0][0]):
        targets = [file_of(path) for path, _ in files]
        whole = zip(targets, files, strict=True)
        replace_files(*((target, map(str.encode, lines)) for target, (_, lines) in whole if target))
        for path, lines in (one for target, one in zip(targets, files, strict=True) if not target):
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise `FormatError` unless a file can be written at `path`; free disk space is not checked."""
    with as_format_error(path):
        if target := file_of(path):
            probe = new_beside(target)
            open(probe, "x").close()
            probe.unlink()
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def file_of(path: str | os.PathLike[str]) -> Path | None:
    """The regular file, existing or not, that `path` leads to; None for a pipe, a device, or an open file descriptor.

    Raises OSError or ValueError for a path that leads nowhere.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {visible(shortened(str(target.parent), 200))}; make it first")
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
    except FormatError:  # from whoever makes the lines: this tokenizer cannot be written so
        raise
    except (OSError, ValueError) as error:  # ValueError also of a path with a NUL character
        reason = error.strerror if isinstance(error, OSError) else error
        raise FormatError(f"{visible(shortened(os.fspath(path), 200))} cannot be written: {reason}.") from error
