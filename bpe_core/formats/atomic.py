"""Writing a file so that there is never half of one: what stood there before stays until the new one is complete."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from errno import EISDIR
from pathlib import Path

from bpe_core.errors import FormatError
from bpe_core.visible import visible


def write_atomically(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write `lines` as UTF-8 to a new file beside `path` and, once it is safe on the disk, put it in its place.

    A symbolic link stays one; its target is replaced and keeps its permissions. Raises `FormatError` if it cannot be
    written; then nothing has changed, and nothing is left behind.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        _replace(target, lines)
    except FormatError:  # from whoever makes the lines: this tokenizer cannot be written so
        raise
    except (OSError, ValueError) as error:  # ValueError: no path can hold a NUL character
        problem = error.strerror if isinstance(error, OSError) else error
        raise FormatError(f"{visible(os.fspath(path))} cannot be written: {problem}.") from error


def _replace(target: Path, lines: Iterable[str]) -> None:
    new = target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.new")
    try:
        with open(new, "x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            new.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
