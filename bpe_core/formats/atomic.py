"""Writing a file so that there is never half of one: what stood there before stays until the new one is complete."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from bpe_core.errors import FormatError
from bpe_core.visible import visible


def write_atomically(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write `lines` as UTF-8 to a new file beside `path` and, once it is safe on the disk, put it in its place.

    A symbolic link stays one, and its target is replaced. Raises `FormatError` if it cannot be written; then nothing
    has changed, and nothing is left behind.
    """
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name[:100]}.{token_hex(4)}.new")
    try:
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        try:
            with open(new, "x", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, target)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise
    except OSError as error:
        raise FormatError(f"{visible(os.fspath(path))} cannot be written: {error.strerror or error}.") from error
