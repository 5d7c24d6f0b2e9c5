"""Real texts that a machine has: sources, documentation, manuals, and messages in whatever languages are installed.

Nothing is fetched; a place that is not there gives nothing, and the others give more.
"""

import gettext
import gzip
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MB: Final = 1_000_000
LONGEST: Final = 40_000
"""Bytes of one document; of longer files the beginning is taken, so that no single one is most of a corpus."""

_ROOT: Final = Path(__file__).resolve().parents[3]
_STRIDE: Final = 97
"""Files are taken as far apart as this, so that a few megabytes come from all of a folder."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where texts of one kind lie."""

    folders: tuple[Path, ...]
    """That are looked through, with all folders in them."""
    takes: Callable[[Path], bool]
    """Whether a file is of the kind."""
    read: Callable[[Path], bytes] = Path.read_bytes
    """Its text in UTF-8."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents and what they are."""

    name: str
    """What to call it."""
    documents: tuple[str, ...]
    """The texts, not a newline translated."""
    n_bytes: int
    """In UTF-8."""


def _packed(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _messages(path: Path) -> bytes:
    """A catalog's messages and their translations, a pair a paragraph."""
    with path.open("rb") as file:
        catalog = gettext.GNUTranslations(file)._catalog  # there is no public way to all
    pairs = ((key[0] if isinstance(key, tuple) else key, text) for key, text in catalog.items())
    return "\n\n".join(f"{key}\n{text}" for key, text in pairs).encode()


def _ends_with(*endings: str) -> Callable[[Path], bool]:
    return lambda path: path.suffix in endings


def _is_manual(path: Path) -> bool:
    return path.parent.name.startswith("man")


def _is_translated_manual(path: Path) -> bool:
    return _is_manual(path) and path.parent.parent.name != "man"


_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
_PACKAGES: Final = Path(sysconfig.get_path("purelib"))
_SHARED: Final = Path("/usr/share")

PLACES: Final[Mapping[str, Place]] = {
    "Python's standard library": Place((_LIBRARY,), _ends_with(".py", ".txt")),
    "messages in all languages": Place((_SHARED / "locale", _PACKAGES), _ends_with(".mo"), _messages),
    "translated manuals": Place((_SHARED / "man",), _is_translated_manual, _packed),
    "manuals": Place((_SHARED / "man",), _is_manual, _packed),
    "documentation": Place(
        (_SHARED / "doc", _PACKAGES), _ends_with("", ".txt", ".md", ".rst", ".html", ".gz"), _packed
    ),
    "locales and character maps": Place((_SHARED / "i18n",), lambda path: True, _packed),
    "other languages' sources": Place((_SHARED / "perl", Path("/usr/include")), _ends_with(".pm", ".pl", ".pod", ".h")),
    "installed packages": Place((_PACKAGES,), _ends_with(".py", ".po", ".pyi", ".json", ".css")),
    "our samples": Place((_ROOT / "sample_texts",), _ends_with(".txt", ".md", ".py")),
}
"""Name -> where such texts are."""


def mixed(megabytes: float) -> Corpus:
    """So much of all places in turn; less if the machine has no more."""
    return corpus("mixed", *PLACES, megabytes=megabytes)


def corpus(name: str, *places: str, megabytes: float) -> Corpus:
    """So much of some places in turn, a document each; less if there is no more."""
    documents: list[str] = []
    n_bytes, wanted = 0, int(megabytes * MB)
    for text in _in_turn([_texts(PLACES[place]) for place in places]):
        data = text[: wanted - n_bytes].decode(errors="ignore")
        documents.append(data)
        n_bytes += len(data.encode())
        if n_bytes >= wanted - 3:  # a character may have been cut off
            break
    return Corpus(name, tuple(documents), n_bytes)


def _texts(place: Place) -> Iterator[bytes]:
    """Texts in UTF-8, each at most `LONGEST` bytes and as valid as whole files are."""
    files = sorted(path for folder in place.folders for path in folder.rglob("*") if place.takes(path))
    for first in range(min(_STRIDE, len(files))):
        for path in files[first::_STRIDE]:
            try:
                data = place.read(path) if path.is_file() and not path.is_symlink() else b""
                data.decode()
            except (OSError, EOFError, ValueError):
                continue
            if data and b"\0" not in data:
                yield data[:LONGEST].decode(errors="ignore").encode()


def _in_turn(sources: list[Iterator[bytes]]) -> Iterator[bytes]:
    """One of each, again and again, until all have ended."""
    while sources:
        ended = []
        for source in sources:
            found = next(source, None)
            if found is None:
                ended.append(source)
            else:
                yield found
        sources = [source for source in sources if source not in ended]
