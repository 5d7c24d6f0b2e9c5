"""Reading and writing tokenizer files; the format of a file is recognized by its content, not by its name."""

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from bpe_core.errors import BpeError, FormatError, OptionError, PatternNeededError
from bpe_core.formats.file import LONGEST_TOKEN, TokenizerFile, tokenizer_at
from bpe_core.patterns import splitter
from bpe_core.process import no_garbage_collection
from bpe_core.tokenizer import Tokenizer
from bpe_core.whole_file import as_format_error, replace_files, write_atomically

__all__ = [
    "FORMATS",
    "WRITABLE",
    "load",
    "read",
    "save",
    "save_beside",
    "why_no_tokenizer",
]

FORMATS: Final = (
    "tiktoken",
    "native",
    "js_tiktoken",
    "huggingface",
    "tekken",
    "gpt2",
    "minbpe",
    "sentencepiece",
)
"""What `load` reads; a module each, imported and tried in this order, so the large files of ranks come first."""

WRITABLE: Final = (
    "native",
    "huggingface",
    "gpt2",
    "minbpe",
    "tiktoken",
)  # that `save` writes


def _module(name: str) -> ModuleType:
    """The module of a format, which has, and those in WRITABLE `write` too, or `written` if it writes several files:

    `recognizes(data)`: whether the content of a file is of this format, perhaps with errors in it.
    `read(file, pattern)`: its tokenizer, with another split pattern if one is given; any `BpeError`.
    `write(tokenizer)`: the text of the file, in parts; `FormatError` if the format cannot express the tokenizer.
    `written(tokenizer, path)`: (path, text in parts) of all files saved for `path`.
    """
    return import_module(f"bpe_core.formats.{name}")


def load(path: str | os.PathLike[str], *, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file, whose format is recognized by its content, or in a folder that holds such a file.

    `pattern` replaces the file's split pattern. A file without one, such as ranks of tiktoken, needs it unless it is a
    published file (`known_files`): `PatternNeededError`. Raises `FormatError` if the file cannot be read, is broken, or
    is of an unsupported kind, and `PatternError` if `pattern` is not valid.

    >>> from tempfile import TemporaryDirectory
    >>> from bpe_core import train
    >>> with TemporaryDirectory() as folder:
    ...     save(train("low lower", vocab_size=258), f"{folder}/low.json")
    ...     load(f"{folder}/low.json").encode("lower")
    [257, 101, 114]
    """
    if pattern is not None:
        splitter(pattern)  # a wrong one is not the file's fault
    return read(TokenizerFile.open(tokenizer_at(Path(path))), pattern)


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in an opened file; `pattern` as for `load`. Raises `FormatError`, also if the engine refuses it."""
    if (name := _recognized(file)) is None:
        what = (
            "is empty"
            if not file.data.strip()
            else "is not a tokenizer file of a known kind"
        )
        raise FormatError(f"{file.where} {what}; supported: {', '.join(FORMATS)}.")
    try:
        with no_garbage_collection():
            tokenizer: Tokenizer = _module(name).read(file, pattern)
    except FormatError:
        raise
    except BpeError as error:
        file.broken(str(error).rstrip("."))
    except RecursionError:
        file.broken("its parts are nested too deeply")
    if name != "native" and (longest := _longest(tokenizer)) > LONGEST_TOKEN:
        file.unsupported(f"it has a token of {longest:,} bytes")
    return tokenizer


def _recognized(file: TokenizerFile) -> str | None:
    return next((name for name in FORMATS if _module(name).recognizes(file.data)), None)


def _longest(tokenizer: Tokenizer) -> int:
    return max(map(len, tokenizer.vocabulary.bytes_of.values()), default=0)


def why_no_tokenizer(path: str | os.PathLike[str]) -> str | None:
    """None if `load` can read the file or folder, perhaps only with a `pattern`; else why not, in one sentence, which
    is "" for a folder without a tokenizer and a file of no known format. Loads it to find out."""
    file = None
    try:
        file = TokenizerFile.open(tokenizer_at(Path(path)))
        read(file)
    except PatternNeededError:
        return None
    except BpeError as error:
        return str(error) if file and _recognized(file) else ""
    return None


def save_beside(tokenizer: Tokenizer, path: Path) -> Path:
    """Write a tokenizer in the native format to a new file, `path` or the first of path-2, path-3, ... that does not
    exist; returns its path. Never replaces a file, also not one that another process creates meanwhile."""
    lines, place, number = list(_module("native").write(tokenizer)), path, 1
    with as_format_error(path):
        while True:
            with suppress(FileExistsError):
                open(place, "x").close()  # from now on it is taken
                break
            number += 1
            place = path.with_stem(f"{path.stem}-{number}")
        try:
            replace_files((place, map(str.encode, lines)))
        except BaseException:
            place.unlink()
            raise
    return place


def save(
    tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str = "native"
) -> None:
    """Write a tokenizer to a file, atomically; an existing file is replaced. The format tiktoken has no place for the
    split pattern and the special tokens.

    Raises `OptionError` for an unknown format, and `FormatError` if the file cannot be written, or if the tokenizer in
    this format would encode some text to other ids.

    >>> from tempfile import TemporaryDirectory
    >>> from bpe_core import train
    >>> tokenizer = train("low lower lowest", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     save(tokenizer, f"{folder}/low.json")
    ...     load(f"{folder}/low.json") == tokenizer
    True
    """
    if format not in WRITABLE:
        raise OptionError(
            f"There is no format {format!r} to write; choose one of {', '.join(WRITABLE)}."
        )
    if format != "native" and (longest := _longest(tokenizer)) > LONGEST_TOKEN:
        raise FormatError(
            f"A token of {longest:,} bytes can be written in bpescope's own format only; choose that."
        )
    module = _module(format)
    has_several = hasattr(module, "written")
    # Made whole before any file is opened, since it may be refused.
    write_atomically(
        *module.written(tokenizer, Path(path))
        if has_several
        else [(path, list(module.write(tokenizer)))]
    )
