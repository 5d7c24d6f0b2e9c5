"""The files that the app keeps: read whole if they are files at all, written whole, locked, and never lost."""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from fcntl import LOCK_EX, LOCK_NB, flock
from itertools import count
from pathlib import Path

from bpe_core.whole_file import replace_files


def read_file(path: Path) -> bytes:
    """What is in a file. Raises OSError; also for a folder, and for what would keep one waiting or has no end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return path.read_bytes()


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
        keep_aside(path, None, f"{path.name} cannot be read ({error.strerror})", tell)
        return None


def keep_aside(path: Path, data: bytes | None, what: str, tell: Callable[[str], object]) -> None:
    """Give a file of ours another name, or a copy of its `data`, unless that was made before; and tell where."""

    def holds_it(taken: Path) -> bool:
        return data is not None and taken.is_file() and taken.read_bytes() == data

    names = (path.with_name(f"{path.stem}.aside-{number}{path.suffix}") for number in count(1))
    try:
        aside = next(name for name in names if not os.path.lexists(name) or holds_it(name))
        if data is None:
            path.rename(aside)
        elif not os.path.lexists(aside):
            write_file(aside, (data,))
        tell(f"{what}; {aside} keeps what it was.")
    except OSError as error:
        tell(f"{what}; it cannot be kept as another file: {error.strerror}.")


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
