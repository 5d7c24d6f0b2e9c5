"""Tokenizer files: what a file is, its content says, not its name."""

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from bpe_core.errors import BpeError, FormatError, OptionError, PatternNeededError
from bpe_core.formats.atomic import check_place, write_atomically, write_beside
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.folder import holder_in
from bpe_core.formats.limits import LONGEST_TOKEN
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer

__all__ = ["FORMATS", "WRITABLE", "is_tokenizer", "load", "read", "save", "save_beside", "why_no_tokenizer"]

FORMATS: Final = ("native", "js_tiktoken", "huggingface", "tekken", "gpt2", "minbpe", "tiktoken", "sentencepiece")
"""The formats that `load` knows, in the order in which they are asked; each is a module of this name in here."""

WRITABLE: Final = ("native", "huggingface", "gpt2", "minbpe", "tiktoken")
"""The formats that `save` knows."""


class Format(Protocol):
    """What the module of a format offers; the last two only if it is WRITABLE, the very last only if it needs it."""

    def recognizes(self, data: bytes) -> bool:
        """Whether the content is of this format, be it whole or broken."""

    def read(self, file: TokenizerFile, pattern: str | None) -> Tokenizer:
        """The tokenizer in a file, split by another pattern if one is given.

        Raises `FormatError`, or any `BpeError` of the engine where it refuses what the file holds.
        """

    def write(self, tokenizer: Tokenizer) -> Iterator[str]:
        """The text of a file that holds the tokenizer, in parts. Raises `FormatError` if the format cannot hold it."""

    def written(self, tokenizer: Tokenizer, path: Path) -> Iterable[tuple[Path, list[str]]]:
        """All files that hold the tokenizer, where `path` is not the only one: where they belong, and their text."""


def _format(name: str) -> Format:
    """The module of a format, imported when it is needed: who trains and saves should not wait for all of them."""
    return cast(Format, import_module(f"bpe_core.formats.{name}"))


def load(path: str | os.PathLike[str], *, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file, whose format is recognized by its content, or in a folder that holds such a file.

    `pattern` takes the place of the file's split pattern; files that have none need it, unless they are known. Raises
    `FormatError` if the file cannot be read, is broken, or is of a kind that is not supported, `PatternError` for a
    `pattern` that is none.
    """
    if pattern is not None:
        splitter(pattern)  # a wrong one is not the file's fault
    if os.path.isdir(path) and (holder := holder_in(Path(path))):
        path = holder
    return read(TokenizerFile.open(path), pattern)


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in the content of a file. Raises `FormatError`, also where the engine refuses what stands there."""
    for name in FORMATS:
        known = _format(name)
        if known.recognizes(file.data):
            try:
                tokenizer = known.read(file, pattern)
            except FormatError:
                raise
            except BpeError as error:
                file.broken(str(error).rstrip("."))
            except RecursionError:
                file.broken("its parts are nested too deeply")
            if name != "native" and (longest := _longest(tokenizer)) > LONGEST_TOKEN:
                raise FormatError(f"{file.where} cannot be used: it has a token of {longest:,} bytes.")
            return tokenizer
    what = "is empty" if not file.data.strip() else "is no tokenizer file that is known here"
    raise FormatError(f"{file.where} {what}; supported: {', '.join(FORMATS)}.")


def _longest(tokenizer: Tokenizer) -> int:
    """Bytes of the longest token."""
    return max(map(len, tokenizer.vocabulary.bytes_of.values()), default=0)


def is_tokenizer(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a tokenizer that `load` can read, be it only with a pattern; false for a folder."""
    return why_no_tokenizer(path) is None


def why_no_tokenizer(path: str | os.PathLike[str]) -> str | None:
    """Why a file is no tokenizer that `load` can read, in a sentence; None if it is one.

    Empty for a folder, and for what does not look like a tokenizer at all.
    """
    if os.path.isdir(path):
        return ""
    try:
        load(path)
    except PatternNeededError:
        return None
    except BpeError as error:
        return str(error) if _is_known(path) else ""
    return None


def _is_known(path: str | os.PathLike[str]) -> bool:
    """Whether a file is of a known format, be it whole or broken."""
    try:
        data = TokenizerFile.open(path).data
    except BpeError:
        return False
    return any(_format(name).recognizes(data) for name in FORMATS)


def save_beside(tokenizer: Tokenizer, path: Path) -> Path:
    """Write a tokenizer in our own format to `path`, or with a number behind its name if that is taken; where it is."""
    return write_beside(path, list(_format("native").write(tokenizer)))


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str = "native") -> None:
    """Write a tokenizer to a file, completely or not at all; a file that stood there before is replaced.

    Raises `OptionError` for an unknown format, `FormatError` if the file cannot be written, or if the format cannot
    hold this tokenizer so that it gives the same ids.
    """
    if format not in WRITABLE:
        raise OptionError(f"There is no format {format!r} to write; choose one of {', '.join(WRITABLE)}.")
    if format != "native" and (longest := _longest(tokenizer)) > LONGEST_TOKEN:
        raise FormatError(f"A token of {longest:,} bytes can be written in bpescope's own format only; choose that.")
    known = _format(format)
    if not hasattr(known, "written"):
        write_atomically(path, list(known.write(tokenizer)))  # what the format cannot hold is told before it is opened
        return
    files = list(known.written(tokenizer, Path(path)))
    for place, _ in files:
        check_place(place)
    for place, lines in files:
        write_atomically(place, lines)
