"""Replacing a file so that there is never half of one: what stood there before stays until the new one is complete."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def replace_file(target: Path, parts: Iterable[bytes]) -> None:
    """Write `parts` to a new file beside `target` and, once it is safe on the disk, put it in its place.

    A file that stood there gives its permissions. Raises OSError, and whatever making the parts raises; then nothing
    has changed, and nothing is left behind.
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
    """A hidden name in the same folder that nobody else has."""
    return target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.new")
