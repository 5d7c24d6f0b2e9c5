"""Recovered merges on disk: those of a rank file are found once, and are there at once the next time."""

import sys
from array import array
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Final

from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import load
from bpe_core.formats.file import TokenizerFile
from bpe_core.merging.merge_loop import Triple
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary.ranked import RankedVocabulary
from tui.disk.files import read_file, write_file

_SIZE: Final = 32
"""Bytes of a digest: of what merges were recovered from, as the name of their file, and of them, at its beginning."""
_MOST: Final = 1 << 30
"""Bytes of what is kept for a tokenizer, at most."""
_VERSION: Final = b"3" + sys.byteorder.encode()
"""To be raised when merges are recovered or written in another way: three unsigned 32-bit numbers for each."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A tokenizer, and what it came from."""

    tokenizer: Tokenizer
    path: Path
    pattern: str | None
    """The one that was given for the file."""
    name: str
    """What is kept for it is kept under this name."""


def load_again(folder: Path, path: Path, pattern: str | None = None) -> Loaded:
    """As `bpe_core.load`, with the merges that `remember` has put into `folder`."""
    name = _name(path, pattern)
    loaded = Loaded(load(path, pattern=pattern), path, pattern, name)
    vocabulary = loaded.tokenizer.vocabulary
    if isinstance(vocabulary, RankedVocabulary) and (merges := recall(folder, name)) is not None:
        with suppress(OptionError):  # they do not fit, so they are recovered again
            vocabulary.adopt(merges)
    return loaded


def recall(folder: Path, name: str) -> list[Triple] | None:
    """The merges kept under a name; None if there are none, or if they are not what was written."""
    try:
        data = read_file(folder / name, _MOST)
    except OSError:
        return None
    if not name or data[:_SIZE] != _check(name, data[_SIZE:]):
        return None
    numbers = array("I", data[_SIZE:])
    return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))


def remember(folder: Path, loaded: Loaded) -> None:
    """Keep the merges of a tokenizer for the next time, unless its file has changed meanwhile. Raises OSError."""
    name = loaded.name
    if name and name == _name(loaded.path, loaded.pattern):
        numbers = array("I", chain.from_iterable(loaded.tokenizer.vocabulary.merges)).tobytes()
        write_file(folder / name, (_check(name, numbers), numbers))


def _name(path: Path, pattern: str | None) -> str:
    """A digest of all that a tokenizer depends on, its name too; empty for a folder, and for what cannot be read."""
    try:
        data = TokenizerFile.open(path).data
    except FormatError:
        return ""
    return blake2b(data, digest_size=_SIZE, key=blake2b(repr((pattern, path.stem)).encode()).digest()).hexdigest()


def _check(name: str, block: bytes) -> bytes:
    return blake2b(block, digest_size=_SIZE, key=blake2b(_VERSION + name.encode()).digest()).digest()
