"""Recovered vocabularies on disk: a rank file's merges are found once, and next time all of it is there in a moment."""

from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import load
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.packed import Unpacked, pack, unpack
from bpe_core.tokenizer import Tokenizer
from tui.disk.files import read_file, write_file

_SIZE: Final = 32
"""Bytes of a digest: of what a file was made from, as its name, and of what is in it, at its beginning."""
_MOST: Final = 1 << 30
"""Bytes of what is kept for a tokenizer, at most."""
_VERSION: Final = b"2"
"""To be raised when merges are recovered or packed in another way."""


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
    """As `bpe_core.load`; but what `remember` has put into `folder` is not done again."""
    name = _name(path, pattern)
    kept = recall(folder, name)
    if kept is not None and kept[0] is not None:
        return Loaded(kept[0], path, pattern, name)
    tokenizer = load(path, pattern=pattern)
    if kept is not None:
        with suppress(BpeError):  # it does not fit, so it is recovered again
            tokenizer.vocabulary.adopt(kept[1])
    return Loaded(tokenizer, path, pattern, name)


def recall(folder: Path, name: str) -> Unpacked | None:
    """What was kept under a name; None if there is nothing, or if it is not what was written."""
    try:
        data = read_file(folder / name, _MOST)
        return unpack(data[_SIZE:]) if name and data[:_SIZE] == _check(name, data[_SIZE:]) else None
    except (OSError, ValueError):
        return None


def remember(folder: Path, loaded: Loaded) -> None:
    """Keep a tokenizer with its merges for the next time, unless its file has changed meanwhile. Raises OSError."""
    name = loaded.name
    if name and name == _name(loaded.path, loaded.pattern):
        block = pack(loaded.tokenizer)
        write_file(folder / name, (_check(name, block), block))


def _name(path: Path, pattern: str | None) -> str:
    """A digest of all that a tokenizer depends on, its name too; empty for a folder, and for what cannot be read."""
    try:
        data = TokenizerFile.open(path).data
    except FormatError:
        return ""
    return blake2b(data, digest_size=_SIZE, key=blake2b(repr((pattern, path.stem)).encode()).digest()).hexdigest()


def _check(name: str, block: bytes) -> bytes:
    return blake2b(block, digest_size=_SIZE, key=blake2b(_VERSION + name.encode()).digest()).digest()
