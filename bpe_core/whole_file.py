"""Replacing files atomically: at any time there is either the complete old file or the complete new one."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def replace_files(*files: tuple[Path, Iterable[bytes]]) -> None:
    """Write the parts of each file to a new one in its folder, flush it to disk, and rename them to the targets.

    An existing file's permissions are kept. Raises OSError, and whatever iterating the parts raises; then all targets
    are unchanged and the new files removed. An interruption once the first has its name comes after the last has.
    """
    news = list[tuple[Path, Path]]()
    try:
        for target, parts in files:
            new = new_beside(target)
            news.append((new, target))
            with open(new, "xb") as file:
                file.writelines(parts)
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
