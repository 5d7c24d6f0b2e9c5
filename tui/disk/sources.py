"""The texts that the corpus pane offers: samples, presets, large folders of this computer, and any file."""

import os
import sysconfig
from contextlib import suppress
from functools import cache
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Final

from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import SAMPLES
from bpe_core.corpus import find_files
from bpe_core.corpus.reading import split_field
from bpe_core.errors import TextError
from bpe_core.patterns import splitter
from bpe_core.visible import visible
from tui.state import Corpus, TextSource

_LIBRARY: Final = "The source code of Python's library: tens of MB of code and English."
_PACKAGES: Final = "The documentation of the packages installed on this computer."
_STDLIB: Final = sysconfig.get_path("stdlib")
_LARGE_TEXTS: Final = (
    TextSource(_STDLIB, "Python library", _LIBRARY, is_folder=True),
    TextSource("/usr/share/doc", "System documentation", _PACKAGES, is_folder=True),
)
_MOST_TRIED: Final = 50
"""How many folders, and how many files of each, are searched for a text to show."""
N_FAMOUS: Final = 2
"""How many presets come before the sample texts: those of Wikipedia and Sennrich. More would push the texts down."""
LARGEST_FOLDER: Final = 1000
"""How many entries of one folder are listed; nobody chooses from more by eye."""


@cache
def sample_sources() -> list[TextSource]:
    """Return the sample texts. The first call reads the disk: make it in a thread."""
    return [
        TextSource(
            str(sample.path), sample.title, sample.reason, sample.path.stat().st_size
        )
        for sample in SAMPLES
    ]


def own_folders() -> list[TextSource]:
    """Return the current folder and the user's home, once if they are the same."""
    here = Path.cwd()
    home = Path.home()
    titles = {here: f"{here.name or '/'} (here)"}
    if home != here:
        titles[home] = f"{home.name} (home)"
    return [
        TextSource(str(path), visible(title), visible(str(path)), is_folder=True)
        for path, title in titles.items()
    ]


def preset_sources() -> list[TextSource]:
    """Return the classic examples: a text, the options to train on it, and the known result."""
    return [
        TextSource(f"preset {name}", preset.title, preset.reason, preset=name)
        for name, preset in PRESETS.items()
    ]


@cache
def computer_sources() -> list[TextSource]:
    """Return the large folders of text that exist here. The first call reads the disk, too."""
    return [source for source in _LARGE_TEXTS if os.path.isdir(source.path)]


def file_source(path: str | Path) -> TextSource:
    """Return a file or folder as a source, without checking that it can be read. Raise OSError."""
    on_disk = split_field(str(path))[0]
    size = None
    if os.path.isfile(on_disk):
        size = os.path.getsize(on_disk)
    name = os.path.basename(path) or str(path)
    return TextSource(
        path=str(path),
        title=visible(name),
        reason=visible(str(path)),
        size=size,
        is_folder=os.path.isdir(on_disk),
    )


def listing(path: Path) -> tuple[tuple[TextSource, ...], str]:
    """Return the entries of a folder, folders first, and a remark on them such as "and 12 more".

    Hidden entries are left out. Call this in a thread. Raise OSError.
    """
    with os.scandir(path) as entries:
        visible_entries = [entry for entry in entries if not entry.name.startswith(".")]
    keys = [
        (not is_folder(entry), entry.name.casefold(), entry.path)
        for entry in visible_entries
    ]
    first_keys = nsmallest(LARGEST_FOLDER, keys)
    sources = tuple(file_source(entry_path) for _, _, entry_path in first_keys)
    n_more = len(keys) - len(sources)
    remark = ""
    if n_more:
        remark = f"and {n_more:,} more"
    elif not sources:
        remark = "no visible files"
    return sources, remark


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder; False if that cannot be found out."""
    try:
        return entry.is_dir()
    except OSError:
        # For example, a link may point to itself.
        return False


def is_there(path: str) -> bool:
    """Return whether a chosen source exists; ignore its field, and assume that URLs exist."""
    if "://" in path:
        return True
    return os.path.exists(split_field(path)[0])


def title_of(paths: tuple[str, ...]) -> str:
    """Return a short name for the chosen texts, for headings and file names, without reading a disk.

    >>> title_of(("/a/book.txt", "/a/b/notes.md"))
    'book.txt + notes.md'
    """
    known_titles = {str(sample.path): sample.title for sample in SAMPLES}
    if set(paths) == known_titles.keys():
        return "all samples"
    for source in _LARGE_TEXTS:
        known_titles[source.path] = source.title
    titles = [
        known_titles.get(path) or visible(Path(path).name or path) for path in paths
    ]
    if not titles:
        return "nothing chosen"
    if len(titles) > 2:
        return f"{titles[0]} + {len(titles) - 1} more"
    return " + ".join(titles)


def first_corpus() -> Corpus:
    """Return the corpus of the first training: the first sample, in plain English."""
    paths = (str(SAMPLES[0].path),)
    return Corpus(paths, (), title_of(paths))


def check_readable(path: str) -> None:
    """Raise `TextError` if a file or folder cannot be a corpus.

    The files in a folder are checked later, when they are read.
    """
    is_readable_folder = os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK)
    if not is_readable_folder:
        find_files([path])


def first_pieces(source: TextSource, number: int, pattern: str) -> list[str]:
    """Split the first `number` characters of a file, or of each document of a preset, into pre-tokens.

    A preset uses its own pattern. Call this in a thread: a user's pattern may be slow. Raise `BpeError`.
    """
    if not source.preset:
        return splitter(pattern).split(first_characters(source.path, number))
    preset = PRESETS[source.preset]
    split = splitter(preset.options.pattern).split
    return [
        piece for document in preset.documents for piece in split(document[:number])
    ]


def first_characters(path: str, number: int) -> str:
    """Return the beginning of a file, or of the first text found in a folder. Raise `TextError`.

    Return at most one block of the file, and "" if a folder has no text among the first entries.
    """
    if os.path.isdir(path):
        for folder, subfolders, names in islice(os.walk(path), _MOST_TRIED):
            # os.walk enters what is left in this list, in this order.
            subfolders[:] = sorted(name for name in subfolders if name[0] != ".")
            for name in sorted(names)[:_MOST_TRIED]:
                with suppress(TextError):
                    return first_characters(os.path.join(folder, name), number)
        return ""
    document = next(find_files([path]).files[0].documents(), iter(()))
    return next(document, "")[:number]


def whole_text(path: Path, *, is_document: bool = False) -> str:
    """Return the exact text of a file. Raise `TextError`.

    With `is_document`, also refuse a file of rows such as CSV: its lines are not the lines of a text.
    """
    file = find_files([path]).files[0]
    if is_document and file.form:
        raise TextError(
            f"The editor can't open a single row of {file.name}; the list shows its number."
        )
    return "".join(file.blocks())


def text_of(source: TextSource) -> str:
    """Return the whole text of a preset or file. Raise `TextError`."""
    if source.preset:
        return "\n".join(PRESETS[source.preset].documents)
    return whole_text(Path(source.path))
