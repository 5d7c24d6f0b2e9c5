"""Real texts that a machine has: sources, documentation, and messages in whatever languages are installed.

Nothing is fetched; a place that is not there gives nothing, and the others give more.
"""

import gettext
import gzip
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LONGEST: Final = 40_000
"""Bytes of one document; of longer files the beginning is taken, so that no single one is most of a corpus."""

_ROOT: Final = Path(__file__).resolve().parents[3]
_STRIDE: Final = 97
"""Files are taken as far apart as this, so that a few megabytes come from all of a folder."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents and what they are."""

    name: str
    documents: tuple[str, ...]
    """The texts, not a newline translated."""
    n_bytes: int
    """In UTF-8."""


_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
_PACKAGES: Final = Path(sysconfig.get_path("purelib"))
_SHARED: Final = Path("/usr/share")

PLACES: Final[Mapping[str, tuple[tuple[Path, ...], tuple[str, ...]]]] = {
    "Python's standard library": ((_LIBRARY,), (".py", ".txt")),
    "messages in all languages": ((_SHARED / "locale", _PACKAGES), (".mo",)),
    "manuals": ((_SHARED / "man",), (".gz",)),
    "documentation": (
        (_SHARED / "doc", _PACKAGES),
        ("", ".txt", ".md", ".rst", ".html", ".gz"),
    ),
    "locales and character maps": ((_SHARED / "i18n",), ("", ".gz")),
    "other languages' sources": (
        (_SHARED / "perl", Path("/usr/include")),
        (".pm", ".pl", ".pod", ".h"),
    ),
    "our samples": ((_ROOT / "sample_texts",), (".txt", ".md", ".py")),
}
"""Name -> folders, which are looked through with all folders in them, and endings of files."""


def mixed(kilobytes: int) -> Corpus:
    """So much of all places in turn; less if the machine has no more."""
    return corpus("mixed", *PLACES, kilobytes=kilobytes)


def corpus(name: str, *places: str, kilobytes: int) -> Corpus:
    """So much of some places in turn, a document each; less if there is no more."""
    documents: list[str] = []
    n_bytes, wanted = 0, 1000 * kilobytes
    sources = [_texts(*PLACES[place]) for place in places]
    while sources and n_bytes < wanted:
        for source in list(sources):
            found = next(source, None)
            if found is None:
                sources.remove(source)
            elif n_bytes < wanted:
                documents.append(found)
                n_bytes += len(found.encode())
    return Corpus(name, tuple(documents), n_bytes)


def _texts(folders: tuple[Path, ...], endings: tuple[str, ...]) -> Iterator[str]:
    files = sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in endings
    )
    for first in range(min(_STRIDE, len(files))):
        for path in files[first::_STRIDE]:
            try:
                data = (
                    _content(path) if path.is_file() and not path.is_symlink() else b""
                )
                data.decode()
            except (OSError, EOFError, ValueError):
                continue
            if data and b"\0" not in data:
                yield data[:LONGEST].decode(errors="ignore")


def _content(path: Path) -> bytes:
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix != ".mo":
        return path.read_bytes()
    with path.open("rb") as file:
        catalog = gettext.GNUTranslations(
            file
        )._catalog  # there is no public way to all
    pairs = (
        (key[0] if isinstance(key, tuple) else key, text)
        for key, text in catalog.items()
    )
    return "\n\n".join(f"{key}\n{text}" for key, text in pairs).encode()
