"""Tokenizer files: what a file is, its content says, not its name."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import gpt2, huggingface, minbpe, native, sentencepiece, tekken, tiktoken
from bpe_core.formats.atomic import write_atomically
from bpe_core.formats.file import TokenizerFile
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer

__all__ = ["FORMATS", "WRITABLE", "Format", "load", "save"]


@dataclass(frozen=True, slots=True)
class Format:
    """What bpescope can do with the files of one format."""

    recognizes: Callable[[bytes], bool]
    """Whether the content is of this format, be it whole or broken."""
    read: Callable[[TokenizerFile, str | None], Tokenizer]
    """The tokenizer in a file, split by another pattern if one is given. Raises `FormatError`."""
    write: Callable[[Tokenizer], Iterator[str]] | None = None
    """The text of a file that holds the tokenizer, in parts. Raises `FormatError` if the format cannot hold it."""
    companion: Callable[[Tokenizer, Path], tuple[Path, Iterator[str]]] | None = None
    """A second file that goes with it: its path, given the path of the first, and its text."""


FORMATS: Final[Mapping[str, Format]] = {
    "native": Format(native.recognizes, native.read, native.write),
    "huggingface": Format(huggingface.recognizes, huggingface.read, huggingface.write),
    "tekken": Format(tekken.recognizes, tekken.read),
    "gpt2": Format(gpt2.recognizes, gpt2.read, gpt2.write, gpt2.companion),
    "minbpe": Format(minbpe.recognizes, minbpe.read, minbpe.write),
    "tiktoken": Format(tiktoken.recognizes, tiktoken.read, tiktoken.write),
    "sentencepiece": Format(sentencepiece.recognizes, sentencepiece.read),
}
"""Name -> what reads and writes it, in the order in which they are asked."""

WRITABLE: Final = tuple(name for name, known in FORMATS.items() if known.write)
"""The formats that `save` knows."""


def load(path: str | os.PathLike[str], *, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file, whose format is recognized by its content.

    `pattern` takes the place of the file's split pattern; files that have none need it, unless they are known. Raises
    `FormatError` if the file cannot be read, is broken, or is of a kind that is not supported, `PatternError` for a
    `pattern` that is none.
    """
    if pattern is not None:
        splitter(pattern)  # a wrong one is not the file's fault
    file = TokenizerFile.open(path)
    for known in FORMATS.values():
        if known.recognizes(file.data):
            return known.read(file, pattern)
    what = "is empty" if not file.data.strip() else "is no tokenizer file that is known here"
    raise FormatError(f"{file.where} {what}; supported: {', '.join(FORMATS)}.")


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str = "native") -> None:
    """Write a tokenizer to a file, completely or not at all; a file that stood there before is replaced.

    Raises `OptionError` for an unknown format, `FormatError` if the file cannot be written, or if the format cannot
    hold this tokenizer so that it gives the same ids.
    """
    known = FORMATS.get(format)
    if known is None or known.write is None:
        raise OptionError(f"There is no format {format!r} to write; choose one of {', '.join(WRITABLE)}.")
    lines = list(known.write(tokenizer))  # what the format cannot hold is told before anything is written
    if known.companion:
        write_atomically(*known.companion(tokenizer, Path(path)))
    write_atomically(path, lines)
