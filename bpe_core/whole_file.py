"""Replacing a file atomically: at any time there is either the complete old file or the complete new one."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def replace_file(target: Path, parts: Iterable[bytes]) -> None:
    """Write `parts` to a new file in the folder of `target`, flush it to disk, and rename it to `target`.

    An existing file's permissions are kept. Raises OSError, and whatever iterating `parts` raises; then `target` is
    unchanged, and the new file is removed.
    """
    new = new_beside(target)
    try:
        with open(new, "xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            new.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def new_beside(target: Path) -> Path:
    """A path for a temporary file in the folder of `target`: hidden, and with a random part."""
    return target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.new")
