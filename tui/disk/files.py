"""The files that the app keeps: read whole if they are files at all, written whole, locked, and never lost."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from fcntl import LOCK_EX, LOCK_NB, flock
from itertools import count
from pathlib import Path
from typing import Final

from bpe_core.whole_file import replace_files

MOST: Final = 1 << 28  # bytes of a file that is read: what is larger was not written by this app


def read_file(path: Path) -> bytes:
    """What is in a file. Raises OSError; also for a folder, and for what would keep one waiting or has no end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    with open(path, "rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise OSError(errno.EFBIG, "it is too large", str(path))
    return data


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Make `parts`, one behind the other, what is in a file, in one step; a link stays one.

    Raises OSError, and then nothing has changed.
    """
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not target.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    replace_files((target, parts))


def read_or_set_aside(path: Path, tell: Callable[[str], object]) -> bytes | None:
    """What is in a file of ours; None if there is none, or none that can be read: that gets another name."""
    try:
        return read_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    try:
        aside = next(name for name in _other_names(path) if not os.path.lexists(name))
        tell(f"{path.name} {problem}; it is kept as {path.rename(aside)}.")
    except OSError as error:
        tell(f"{path} {problem}, nor can it be renamed: {error.strerror}.")
    return None


def keep_copy(path: Path, data: bytes, what: str, tell: Callable[[str], object]) -> None:
    """Keep what was in a file of ours under another name, unless that was done before, and tell where."""

    def holds_it(taken: Path) -> bool:
        return taken.is_file() and taken.read_bytes() == data

    try:
        copy = next(name for name in _other_names(path) if not os.path.lexists(name) or holds_it(name))
        if not os.path.lexists(copy):
            write_file(copy, (data,))
        tell(f"{what}; {copy} keeps what it was.")
    except OSError as error:
        tell(f"{what}; it cannot be copied: {error.strerror}.")


def _other_names(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.stem}.aside-{number}{path.suffix}") for number in count(1))


def lock(file: int) -> bool:
    """Lock an open file until it is closed; false if another copy of the app has. Where there are no locks, true."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that knows no locks, such as one of another computer
        pass
    return True


def size_and_time(path: str | Path) -> tuple[int, int]:
    """Bytes of a file, and when it was changed last, in nanoseconds since 1970; zeros where that cannot be told."""
    try:
        file = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return file.st_size, file.st_mtime_ns
