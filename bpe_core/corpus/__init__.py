"""Find the files of a corpus, and report which files are skipped and why."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.corpus.counts import Counts
from bpe_core.corpus.measure import Source
from bpe_core.corpus.reading import (
    Skipped,
    TextFile,
    Unreadable,
    as_unreadable,
    file_system,
    reason_of,
    recognize_file,
    split_field,
)
from bpe_core.corpus.recognition import NotText
from bpe_core.corpus.unpacking import MEMORY
from bpe_core.errors import TextError
from bpe_core.visible import visible

__all__ = ["Counts", "Found", "Skipped", "Source", "TextFile", "find_files"]

PASSED_OVER: Final = frozenset(
    {
        # Installed packages and generated files.
        "__pycache__",
        "__pypackages__",
        "dist-packages",
        "node_modules",
        "site-packages",
        # Descriptions of the .arrow files that Hugging Face's `save_to_disk` writes.
        "dataset_dict.json",
        "dataset_info.json",
        "state.json",
    }
)
"""Names that are passed over in a folder, as hidden ones are."""


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a corpus."""

    files: tuple[TextFile, ...]
    """The texts: paths in the given order, files of a folder by name."""
    skipped: tuple[Skipped, ...]
    """The files that are not readable texts, without those that are passed over."""


class _Candidate(NamedTuple):
    """A file that is not recognized yet."""

    file: TextFile
    status: os.stat_result | None
    """None if the file is at an address."""


def find_files(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    every_character: bool = False,
    skip_bad: bool = False,
    guess_field: bool = True,
    memory: int = MEMORY,
) -> Found:
    """Find the files with texts at and below some paths.

    In a folder, hidden entries, `PASSED_OVER` and links to folders are not read, and files that are
    not texts are skipped. A file that is reached twice is listed once.

    Args:
        paths: Files and folders, and addresses of both, which fsspec opens. After a path, `::` and
            the field of the documents can follow; otherwise the field is guessed.
        every_character: For encoding, where nothing may be dropped: the byte order mark of a text
            in UTF-8 is part of the text, a file that is given twice is listed twice, and all texts
            may be empty.
        skip_bad: Skip rows that are not texts, and also a given file if it cannot be read.
        guess_field: False if files with rows are read as one text each.
        memory: Bytes of memory for all that is done with the texts. Rows that would need too much
            of it are refused.

    Raises:
        TextError: One of the paths cannot be read, or no text is found.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    roots = [split_field(os.fspath(path)) for path in given]
    for root, _ in roots:
        if not root:  # an unset variable of a shell; Path("") is the current folder
            raise TextError(
                "A path is empty; name a file or a folder, such as . for the current one."
            )
    files: list[TextFile] = []
    skipped: list[Skipped] = []
    seen: set[tuple[object, ...]] = set()
    for root, field in roots:
        candidates = _remote(root) if "://" in root else _local(Path(root), skipped)
        for file, status in candidates:
            was_given = file.required
            identity: tuple[object, ...] = (file.address, field)
            if status:
                identity = (status.st_dev, status.st_ino or file.path, field)
            if identity in seen and not (every_character and was_given):
                continue
            file = replace(file, field=field, skip_bad=skip_bad, memory=memory)
            try:
                file = recognize_file(file, status, guess_field)
            except Unreadable as error:
                if was_given and not skip_bad:
                    raise
                skipped.append(Skipped(file.path, error.reason))
                continue
            if every_character and file.codec == "utf-8-sig":
                # The byte order mark is a character then.
                file = replace(file, codec="utf-8", empty=False)
            files.append(replace(file, required=was_given and not skip_bad))
            seen.add(identity)
    all_empty = all(file.empty for file in files)
    if all_empty and not (every_character and files):
        raise TextError(_no_text_found([root for root, _ in roots], skipped))
    return Found(tuple(files), tuple(skipped))


def _remote(address: str) -> Iterator[_Candidate]:
    """Yield the file at an address, or each file in a folder there or matched by a *."""
    with as_unreadable(visible(address)):
        system, root = file_system(address)
        found = system.glob(root) if "*" in root else system.find(root)
        if not found:
            raise FileNotFoundError
    # Names begin with the last folder that has no * in it.
    folder = root.partition("*")[0].rpartition("/")[0]
    for path in sorted(found):
        below = path.removeprefix(root).split("/")
        if any(_is_passed_over(name) for name in below):
            continue
        is_given = path == root
        file_address = address if is_given else system.unstrip_protocol(path)
        file = TextFile(
            Path(file_address),
            name=visible(path[len(folder) :].lstrip("/")),
            address=file_address,
            required=is_given,
        )
        yield _Candidate(file, None)


def _local(root: Path, skipped: list[Skipped]) -> Iterator[_Candidate]:
    """Yield the file `root`, or all files below it by name; links are not followed."""
    with as_unreadable(visible(str(root))):
        if "\0" in str(root):
            raise NotText("no path can hold a NUL character")
        status = root.stat()
        is_folder = stat.S_ISDIR(status.st_mode)
        waiting = _entries(root) if is_folder else []
    if not is_folder:
        yield _Candidate(TextFile(root, visible(root.name)), status)
        return
    folder_name = root.name
    if folder_name in ("", ".."):
        folder_name = root.resolve().name
    while waiting:
        entry = waiting.pop()
        path = Path(entry.path)
        try:
            if entry.is_dir(follow_symlinks=False):
                waiting += _entries(path)
                continue
            status = entry.stat()
        except OSError as error:
            skipped.append(Skipped(path, reason_of(error)))
            continue
        name = os.path.join(folder_name, os.path.relpath(path, root))
        yield _Candidate(TextFile(path, visible(name), required=False), status)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder that are not passed over, in reverse order, for a stack."""
    with os.scandir(folder) as found:
        entries = [entry for entry in found if not _is_passed_over(entry.name)]
    return sorted(entries, key=lambda entry: entry.name, reverse=True)


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in PASSED_OVER


def _no_text_found(roots: list[str], skipped: list[Skipped]) -> str:
    if not roots:
        return "No file or folder was named; name at least one."
    places = visible(", ".join(roots[:3]))
    if len(roots) > 3:
        places += ", ..."
    if not skipped:
        return f"No text found in {places}: it is empty, or everything in it is hidden."
    name = visible(skipped[0].path.name)
    reason = skipped[0].reason
    return f"No text found in {places}: {name} and the like cannot be read ({reason})."
