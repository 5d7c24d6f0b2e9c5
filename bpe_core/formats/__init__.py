"""Read and write tokenizer files. The format of a file is recognized by its content."""

import os
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
    "format_of",
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
"""The formats that `load` reads. Each is a module, which is imported when it is tried. They are
tried in this order, so the large files of ranks come first."""

WRITABLE: Final = ("native", "huggingface", "gpt2", "minbpe", "tiktoken")
"""The formats that `save` writes."""


def _module(name: str) -> ModuleType:
    """Import the module of a format.

    Each module has these functions:

    - `recognizes(data)`: whether the content of a file has this format, even if it is broken.
    - `read(file, pattern)`: return the tokenizer in the file, with another split pattern if one
      is given. May raise any `BpeError`.

    The modules in `WRITABLE` also have one of these. Both raise `FormatError` if the format can't
    express the tokenizer:

    - `write(tokenizer)`: yield the text of the file, in parts.
    - `files_for(tokenizer, path)`: yield (path, text in parts) of each file to write, if the
      format has several files.
    """
    return import_module(f"bpe_core.formats.{name}")


def load(path: str | os.PathLike[str], *, pattern: str | None = None) -> Tokenizer:
    """Load a tokenizer from a file in any of the supported formats.

    Args:
        path: A file, whose format is recognized by its content, or a folder with such a file.
        pattern: A split pattern to use instead of the file's own. Files without a pattern, such
            as tiktoken's, need one, except for the published files that bpescope knows.

    Returns:
        The tokenizer, which gives the same ids as the library that the file is made for.

    Raises:
        PatternNeededError: The file has no split pattern, and none is given.
        FormatError: The file cannot be read, is broken, or has an unsupported format.
        PatternError: `pattern` is not valid.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from bpe_core import train
        >>> with TemporaryDirectory() as folder:
        ...     save(train("low lower", vocab_size=258), f"{folder}/low.json")
        ...     load(f"{folder}/low.json").encode("lower")
        [257, 101, 114]
    """
    if pattern is not None:
        splitter(pattern)  # an error here is not the file's fault
    return read(TokenizerFile.open(tokenizer_at(Path(path))), pattern)


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """Read the tokenizer in an opened file; see `load` for `pattern` and the errors."""
    format = format_of(file)
    if format is None:
        problem = "is not a tokenizer file of a known kind"
        if not file.data.strip():
            problem = "is empty"
        raise FormatError(f"{file.where} {problem}; supported: {', '.join(FORMATS)}.")
    try:
        with no_garbage_collection():
            tokenizer: Tokenizer = _module(format).read(file, pattern)
    except FormatError:
        raise
    except BpeError as error:
        file.broken(str(error).rstrip("."))
    except RecursionError:
        file.broken("its parts are nested too deeply")
    longest = _longest_token(tokenizer)
    if format != "native" and longest > LONGEST_TOKEN:
        file.unsupported(f"it has a token of {longest:,} bytes")
    return tokenizer


def format_of(file: TokenizerFile) -> str | None:
    """Return the format of a file, one of `FORMATS`; None if it is not a tokenizer file of a known kind."""
    for format in FORMATS:
        if _module(format).recognizes(file.data):
            return format
    return None


def _longest_token(tokenizer: Tokenizer) -> int:
    """Return the number of bytes of the longest token."""
    return max(map(len, tokenizer.vocabulary.bytes_of.values()), default=0)


def why_no_tokenizer(path: str | os.PathLike[str]) -> str | None:
    """Load a file or folder, and return why that fails.

    Returns:
        None if `load` can read it, perhaps only with a `pattern`; otherwise the reason, a
        sentence. The reason is "" for a folder without a tokenizer file, and for a file of no
        known format.
    """
    file = None
    try:
        file = TokenizerFile.open(tokenizer_at(Path(path)))
        read(file)
    except PatternNeededError:
        return None
    except BpeError as error:
        is_tokenizer = file is not None and format_of(file) is not None
        return str(error) if is_tokenizer else ""
    return None


def save_beside(tokenizer: Tokenizer, path: Path) -> Path:
    """Write a tokenizer in the native format to a new file, and never replace a file.

    Returns:
        The path of the file: `path`, or the first of path-2, path-3, ... that does not exist.

    Raises:
        FormatError: The file cannot be written, or the native format can't hold the tokenizer.
    """
    lines = list(_module("native").write(tokenizer))
    new_path = path
    number = 1
    with as_format_error(path):
        while True:
            try:
                open(new_path, "x").close()  # no other process can take the name now
                break
            except FileExistsError:
                number += 1
                new_path = path.with_stem(f"{path.stem}-{number}")
        try:
            replace_files((new_path, map(str.encode, lines)))
        except BaseException:
            new_path.unlink()
            raise
    return new_path


def save(
    tokenizer: Tokenizer, path: str | os.PathLike[str], *, format: str = "native"
) -> None:
    """Write a tokenizer to a file, atomically. An existing file is replaced.

    Args:
        tokenizer: The tokenizer to write.
        path: The file. The format gpt2 also writes a second one in the same folder.
        format: One of `WRITABLE`. Files of the format tiktoken have no split pattern and no
            special tokens.

    Raises:
        OptionError: The format is unknown.
        FormatError: The file cannot be written, or a tokenizer loaded from it would encode some
            text to other ids.

    Examples:
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
            f"Unknown format {format!r} to write; choose one of {', '.join(WRITABLE)}."
        )
    longest = _longest_token(tokenizer)
    if format != "native" and longest > LONGEST_TOKEN:
        raise FormatError(
            f"The format {format} cannot hold a token of {longest:,} bytes; choose the format native."
        )
    module = _module(format)
    # The tokenizer may be refused, so all text is made before any file is opened.
    if hasattr(module, "files_for"):
        files = list(module.files_for(tokenizer, Path(path)))
    else:
        files = [(path, list(module.write(tokenizer)))]
    write_atomically(*files)
