"""Finding the files of a corpus: which files below the given paths are read, and which are skipped and why."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bpe_core.corpus.counts import Counts
from bpe_core.corpus.measure import Source
from bpe_core.corpus.reading import (
    MEMORY,
    NotText,
    Skipped,
    TextFile,
    Unreadable,
    file_system,
    one_sentence,
    recognize_file,
    split_field,
    why_not,
)
from bpe_core.errors import TextError
from bpe_core.visible import visible

__all__ = ["Counts", "Found", "Skipped", "Source", "TextFile", "find_files"]

PASSED_OVER: Final = frozenset(
    {"__pycache__", "__pypackages__", "dist-packages", "node_modules", "site-packages"}
    | {"dataset_dict.json", "dataset_info.json", "state.json"}
)
"""Names that are skipped below a given path, as hidden ones are: installed packages, generated files, and what
describes the .arrow files of Hugging Face's `save_to_disk`."""


@dataclass(frozen=True, slots=True)
class Found:
    files: tuple[
        TextFile, ...
    ]  # the texts in order, paths as given and folders by name
    skipped: tuple[
        Skipped, ...
    ]  # the files in the folders that are no readable text, but for those passed over


def find_files(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    every_character: bool = False,
    skip_bad: bool = False,
    memory: int = MEMORY,
) -> Found:
    """The files with texts among `paths`: files and folders, and addresses of both, which fsspec opens; a folder stands
    for all files below it. Behind a path `::` and the field of the documents may stand; else it is guessed.

    Inside a folder, hidden entries, PASSED_OVER and links to folders are not read, and a file that is no text is
    skipped. A file that is reached twice is listed once. `every_character` is for encoding, where nothing may be
    dropped: the byte order mark of a text in UTF-8 is part of the text, a file that is named twice is listed twice, and
    all texts may be empty. With `skip_bad` a file that is named itself is skipped, too, if it cannot be read, and so
    are rows that are none. `memory` is what all that is done with the texts may take, in bytes: rows that would need too
    much of it are refused. Raises TextError if one of `paths` cannot be read, or there is no text.
    """
    named = [
        split_field(os.fspath(path))
        for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)
    ]
    if not all(
        given for given, _ in named
    ):  # a variable of a shell that is not set; Path("") is the current folder
        raise TextError(
            "A path is empty; name a file or a folder, such as . for the current one."
        )
    files: list[TextFile] = []
    skipped: list[Skipped] = []
    seen: set[tuple[object, ...]] = set()
    for given, field in named:
        for file, status in (
            _remote(given) if "://" in given else _local(Path(given), skipped)
        ):
            identity = (
                status and (status.st_dev, status.st_ino or file.path),
                file.address,
                field,
            )
            if identity in seen and not (every_character and file.required):
                continue
            try:
                found = recognize_file(
                    replace(file, field=field, skip_bad=skip_bad, memory=memory), status
                )
            except Unreadable as error:
                if file.required and not skip_bad:
                    raise
                skipped.append(Skipped(file.path, error.reason))
                continue
            if (
                every_character and found.codec == "utf-8-sig"
            ):  # the mark is a character then
                found = replace(found, codec="utf-8", empty=False)
            files.append(replace(found, required=file.required and not skip_bad))
            seen.add(identity)
    if all(file.empty for file in files) and not (every_character and files):
        raise TextError(_nothing([path for path, _ in named], skipped))
    return Found(tuple(files), tuple(skipped))


def _remote(address: str) -> Iterator[tuple[TextFile, None]]:
    """The file at an address, or each in a folder there, or that a * stands for."""
    with one_sentence(visible(address)):
        system, root = file_system(address)
        if not (
            places := sorted(system.glob(root) if "*" in root else system.find(root))
        ):
            raise FileNotFoundError
    base = root.partition("*")[0].rpartition("/")[0]
    for place in places:
        if not any(
            part.startswith(".") or part in PASSED_OVER
            for part in place.removeprefix(root).split("/")
        ):
            where = address if place == root else system.unstrip_protocol(place)
            name = visible(place[len(base) :].lstrip("/"))
            yield (
                TextFile(Path(where), name, address=where, required=place == root),
                None,
            )


def _local(
    root: Path, skipped: list[Skipped]
) -> Iterator[tuple[TextFile, os.stat_result]]:
    """The file `root`, or all below it but folders themselves, in the order of the names; links are not followed."""
    with one_sentence(visible(str(root))):
        if "\0" in str(root):
            raise NotText("no path can hold a NUL character")
        status = root.stat()
        is_folder = stat.S_ISDIR(status.st_mode)
        waiting = _entries(root) if is_folder else []
    if not is_folder:
        yield TextFile(root, visible(root.name)), status
    name = root.name if root.name not in ("", "..") else root.resolve().name
    while waiting:
        path = Path((entry := waiting.pop()).path)
        try:
            if entry.is_dir(follow_symlinks=False):
                waiting += _entries(path)
            else:
                shown = visible(os.path.join(name, os.path.relpath(path, root)))
                yield TextFile(path, shown, required=False), entry.stat()
        except OSError as error:
            skipped.append(Skipped(path, why_not(error)))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder that may be read, in descending order of their names (for a stack)."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name, reverse=True)
    return [
        entry
        for entry in entries
        if not entry.name.startswith(".") and entry.name not in PASSED_OVER
    ]


def _nothing(roots: list[str], skipped: list[Skipped]) -> str:
    if not roots:
        return "No file or folder was named; name at least one."
    what = visible(", ".join(roots[:3])) + (", ..." if len(roots) > 3 else "")
    if skipped:
        name, reason = visible(skipped[0].path.name), skipped[0].reason
        return f"There is no text in {what}: {name} and the like cannot be read ({reason})."
    return f"There is no text in {what}: it is empty, or all in it is hidden."
