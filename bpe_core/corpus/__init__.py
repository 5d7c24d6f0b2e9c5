"""Finding the text files of a corpus: which files below the given paths are read, and which are skipped and why."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bpe_core.corpus.counts import Counts, Source
from bpe_core.corpus.reading import Skipped, TextFile, Unreadable, recognize_file, why_not
from bpe_core.errors import TextError
from bpe_core.visible import visible

__all__ = ["Counts", "Found", "Skipped", "Source", "TextFile", "find_files"]

PASSED_OVER: Final = frozenset({"__pycache__", "__pypackages__", "dist-packages", "node_modules", "site-packages"})
"""Folder names that are skipped below a given path, as hidden ones are: installed packages and generated files."""


@dataclass(frozen=True, slots=True)
class Found:
    files: tuple[TextFile, ...]  # the texts in order, paths as given and folders by name
    skipped: tuple[Skipped, ...]  # the files in the folders that are no readable text, but for those passed over


def find_files(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str], *, every_character: bool = False
) -> Found:
    """The text files among `paths`, which are files and folders; a folder stands for all files below it.

    Inside a folder, hidden entries, PASSED_OVER and links to folders are not read, and a file that is no text is
    skipped. A file that is reached twice is listed once. `every_character` is for encoding, where nothing may be
    dropped: the byte order mark of a text in UTF-8 is part of the text, a file that is named twice is listed twice, and
    all texts may be empty. Raises TextError if one of `paths` cannot be read, or there is no text.
    """
    roots = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    files: list[TextFile] = []
    skipped: list[Skipped] = []
    seen: set[tuple[int, int]] = set()

    def add(path: Path, name: str, status: os.stat_result, *, required: bool) -> None:
        identity = (status.st_dev, status.st_ino)
        if identity not in seen or not status.st_ino or (every_character and required):
            file = recognize_file(path, visible(name), status, required=required)
            files.append(file.with_mark() if every_character else file)
            seen.add(identity)

    for root in roots:
        try:
            status = root.stat()
        except (OSError, ValueError) as error:
            reason = why_not(error) if isinstance(error, OSError) else "no path can hold a NUL character"
            raise Unreadable(visible(str(root)), reason) from None
        if not stat.S_ISDIR(status.st_mode):
            add(root, root.name, status, required=True)
            continue
        name = root.name if root.name not in ("", "..") else root.resolve().name
        for entry in _walk(root, skipped):
            path = Path(entry.path)
            try:
                status = entry.stat()
                if not stat.S_ISDIR(status.st_mode):
                    add(path, os.path.join(name, os.path.relpath(path, root)), status, required=False)
                    continue
                reason = "it is a link to a folder; name it yourself to have it read"
            except OSError as error:
                reason = why_not(error)
            except Unreadable as error:
                reason = error.reason
            skipped.append(Skipped(path, reason))
    if all(file.empty for file in files) and not (every_character and files):
        raise TextError(_nothing(roots, files, skipped))
    return Found(tuple(files), tuple(skipped))


def _walk(root: Path, skipped: list[Skipped]) -> Iterator[os.DirEntry[str]]:
    """Everything below `root` but folders themselves, in the order of the names; links are not followed."""
    try:
        waiting = _entries(root)
    except OSError as error:
        raise Unreadable(visible(str(root)), why_not(error)) from None
    while waiting:
        entry = waiting.pop()
        if not entry.is_dir(follow_symlinks=False):
            yield entry
            continue
        try:
            waiting += _entries(entry.path)
        except OSError as error:
            skipped.append(Skipped(Path(entry.path), why_not(error)))


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    """The entries of a folder that may be read, in descending order of their names (for a stack)."""
    with os.scandir(folder) as entries:
        wanted = [entry for entry in entries if not entry.name.startswith(".") and entry.name not in PASSED_OVER]
    return sorted(wanted, key=lambda entry: entry.name, reverse=True)


def _nothing(roots: list[Path], files: list[TextFile], skipped: list[Skipped]) -> str:
    if not roots:
        return "No file or folder was named; name at least one."
    what = visible(", ".join(map(str, roots[:3]))) + (", ..." if len(roots) > 3 else "")
    if files:
        return f"There is no text in {what}: {'it is' if len(files) == 1 else 'all files are'} empty."
    if skipped:
        name, reason = visible(skipped[0].path.name), skipped[0].reason
        return f"There is no text in {what}: {name} and the like cannot be read ({reason})."
    return f"There is no text in {what}: the folder is empty, or all in it is hidden."
