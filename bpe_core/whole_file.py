"""Writing files whole: at any time there is either the complete old file or the complete new one."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from bpe_core.errors import FormatError
from bpe_core.visible import shortened, visible


def replace_files(
    *files: tuple[Path, Iterable[bytes] | Callable[[IO[bytes]], object]],
) -> None:
    """Write the parts of each file to a new one in its folder, flush it to disk, and rename them to the targets.

    Instead of parts there may be what writes them. An existing file's permissions are kept. Raises OSError, and what
    making the parts raises; then all targets are unchanged and the new files removed. An interruption once the first
    has its name comes after the last has.
    """
    news = list[tuple[Path, Path]]()
    try:
        for target, parts in files:
            new = new_beside(target)
            news.append((new, target))
            with open(new, "xb") as file:
                parts(file) if callable(parts) else file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                new.chmod(stat.S_IMODE(target.stat().st_mode))
        for new, target in news:
            os.replace(new, target)
    except BaseException:
        has_begun = bool(news) and not news[0][0].exists()
        for new, target in news:
            with suppress(OSError):
                os.replace(new, target) if has_begun else new.unlink()
        raise


def new_beside(target: Path) -> Path:
    """A path for a temporary file in the folder of `target`: hidden, and with a random part."""
    return target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.new")


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
