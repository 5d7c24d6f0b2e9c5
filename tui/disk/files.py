"""The files that the app keeps: read whole if they are files at all, written whole, locked, and never lost."""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Final

from bpe_core.whole_file import replace_file

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # a system without it: there every copy believes that it is the only one
    flock = None  # type: ignore[assignment]

MOST: Final = 1 << 28  # bytes of a file that is read: what is larger was not written by this app


def read_file(path: Path, most: int = MOST) -> bytes:
    """What is in a file. Raises OSError; also for a folder, and for what would keep one waiting or has no end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, "it is too large", str(path))
    return data


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Make `parts`, one behind the other, what is in a file, in one step; a link stays one.

    Raises OSError, and then nothing has changed.
    """
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not target.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    replace_file(target, parts)


def set_aside(path: Path) -> Path:
    """Give what cannot be read another name, under which it stays. Raises OSError."""
    return path.rename(_free_name(path, lambda taken: False))


def copy_aside(path: Path, data: bytes) -> Path:
    """Keep what is in a file under another name, unless that was done before. Raises OSError."""
    aside = _free_name(path, lambda taken: taken.is_file() and taken.read_bytes() == data)
    if not os.path.lexists(aside):
        write_file(aside, (data,))
    return aside


def _free_name(path: Path, will_do: Callable[[Path], bool]) -> Path:
    names = (path.with_name(f"{path.stem}.aside-{number}{path.suffix}") for number in count(1))
    return next(aside for aside in names if not os.path.lexists(aside) or will_do(aside))


def lock(file: int) -> bool:
    """Lock an open file until it is closed; false if another copy of the app has. Where there are no locks, true."""
    try:
        if flock is not None:
            flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that knows no locks, such as one of another computer
        pass
    return True


def modified(path: Path) -> int:
    """When it was changed last, in nanoseconds since 1970; 0 where that cannot be told."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
