"""The texts the corpus pane offers: the samples that come with bpescope, what this computer holds, and any file."""

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

_LIBRARY: Final = "The standard library's sources: tens of MB of real code and prose."
_PACKAGES: Final = "What this computer's packages say of themselves."
_LARGE_TEXTS: Final = (
    TextSource(
        sysconfig.get_path("stdlib"), "Python library", _LIBRARY, is_folder=True
    ),
    TextSource("/usr/share/doc", "System documentation", _PACKAGES, is_folder=True),
)
_TRIED: Final = 50  # folders, and files of each, that are looked at for a text to show
LARGEST_FOLDER: Final = 1000  # entries of one folder that are listed; a corpus is not chosen from more by eye


@cache
def sample_sources() -> list[TextSource]:
    """The sample texts, in the order of their list. Asked first beside the screen, as the next."""
    return [
        TextSource(str(one.path), one.title, one.reason, one.path.stat().st_size)
        for one in SAMPLES
    ]


def preset_sources() -> list[TextSource]:
    """The founding examples, each a text with the options to train on it and what must come out."""
    presets = PRESETS.items()
    return [
        TextSource(f"preset {name}", f"{name}  {one.title}", one.reason, preset=name)
        for name, one in presets
    ]


@cache
def computer_sources() -> list[TextSource]:
    return [source for source in _LARGE_TEXTS if os.path.isdir(source.path)]


def file_source(path: str | Path) -> TextSource:
    """Any file or folder, whether it can be read or not: that is found out when it is. Raises OSError."""
    on_disk = split_field(str(path))[0]
    size = os.path.getsize(on_disk) if os.path.isfile(on_disk) else None
    name = os.path.basename(path) or str(path)
    return TextSource(
        str(path), visible(name), visible(str(path)), size, os.path.isdir(on_disk)
    )


def listing(path: Path) -> tuple[tuple[TextSource, ...], str]:
    """What a folder holds, folders first, hidden entries left out, and what else there is to say of it.

    Not for the main thread. Raises OSError.
    """
    with os.scandir(path) as entries:
        seen = [entry for entry in entries if not entry.name.startswith(".")]
    names = [
        (not is_folder(entry), entry.name.casefold(), entry.path) for entry in seen
    ]
    sources = tuple(
        file_source(path) for _, _, path in nsmallest(LARGEST_FOLDER, names)
    )
    n_more = len(names) - len(sources)
    return (
        sources,
        f"and {n_more:,} more" if n_more else "" if sources else "nothing to choose",
    )


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether what lies in a folder is a folder; False where that cannot be told."""
    try:
        return entry.is_dir()
    except OSError:  # such as a link that leads to itself
        return False


def is_there(path: str) -> bool:
    """Whether a chosen source, its field apart, is on the disk; an address may be."""
    return "://" in path or os.path.exists(split_field(path)[0])


def title_of(paths: tuple[str, ...]) -> str:
    """A short name for a choice of texts, for headings and for the names of files; asks no disk.

    >>> title_of(("/a/book.txt", "/a/b/notes.md"))
    'book.txt + notes.md'
    """
    known = {str(sample.path): sample.title for sample in SAMPLES}
    if len(paths) > 1 and set(paths) == known.keys():
        return "all samples"
    known |= {source.path: source.title for source in _LARGE_TEXTS}
    titles = [known.get(path) or visible(Path(path).name or path) for path in paths]
    if len(titles) > 2:
        return f"{titles[0]} + {len(titles) - 1} more"
    return " + ".join(titles) or "nothing chosen"


def first_corpus() -> Corpus:
    """The first of the sample texts, plain English: what the first tokenizer is trained on."""
    paths = (str(SAMPLES[0].path),)
    return Corpus(paths, (), title_of(paths))


def check_readable(path: str) -> None:
    """Raises `TextError` with one sentence if a file or folder cannot be a corpus."""
    if not (
        os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK)
    ):  # or else that is found out when it is read
        find_files([path])


def first_pieces(source: TextSource, number: int, pattern: str) -> list[str]:
    """The pieces of the beginning of a file, or of a preset, which brings its own pattern.

    Not for the main thread: a pattern of one's own may be slow. Raises `BpeError`.
    """
    if not source.preset:
        return splitter(pattern).split(first_characters(source.path, number))
    preset = PRESETS[source.preset]
    split = splitter(preset.options.pattern).split
    return [
        piece for document in preset.documents for piece in split(document[:number])
    ]


def first_characters(path: str, number: int) -> str:
    """The beginning of a file, or of a text in a folder, if one is found soon; a block at most. Raises `TextError`."""
    if os.path.isdir(path):
        for folder, below, names in islice(os.walk(path), _TRIED):
            below[:] = sorted(name for name in below if name[0] != ".")
            for name in sorted(names)[:_TRIED]:
                with suppress(TextError):
                    return first_characters(os.path.join(folder, name), number)
        return ""
    document = next(find_files([path]).files[0].documents(), iter(()))
    return next(document, "")[:number]


def whole_text(path: Path, *, is_document: bool = False) -> str:
    """A file's text, exactly. Raises `TextError`, also for rows where it must be a document, in which lines count."""
    file = find_files([path]).files[0]
    if is_document and file.form:
        raise TextError(
            f"{file.name} holds rows, and the editor shows no single row; the list says which it is."
        )
    return "".join(file.blocks())


def text_of(source: TextSource) -> str:
    """The whole text of a preset, or of a file. Raises `TextError`."""
    return (
        "\n".join(PRESETS[source.preset].documents)
        if source.preset
        else whole_text(Path(source.path))
    )
