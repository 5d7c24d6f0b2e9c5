"""The tokenizers of other libraries, as functions that can be held to a lock."""

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.difference.check import Subject
from bpe_core.difference.lock import Ids
from bpe_core.errors import FetchError, FormatError
from bpe_core.formats.file import tokenizer_at
from bpe_core.formats.tiktoken import to_tiktoken
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible


class LibraryTokenizer(NamedTuple):
    """A tokenizer of another library."""

    name: str
    """The name and version of the library."""
    subject: Subject
    added: list[int]
    """The ids that its `encode` adds to a text by default, and not in a check."""


def of_tiktoken(tokenizer: Tokenizer, encoding: str | None) -> LibraryTokenizer:
    """Return the encoding of tiktoken with a name, or else one of the ranks, pattern and special tokens of a tokenizer."""
    library = _library("tiktoken")
    own = library.get_encoding(encoding) if encoding else to_tiktoken(tokenizer)

    def encode(text: str, reads_specials: bool) -> Ids:
        if reads_specials:
            return tuple(own.encode(text, allowed_special="all"))
        return tuple(own.encode_ordinary(text))

    def decode(ids: Ids) -> str | None:
        try:
            return str(own.decode(list(ids)))
        except KeyError:  # an unknown id
            return None

    return LibraryTokenizer(_named("tiktoken"), Subject(encode, decode), [])


def of_tokenizers(path: Path) -> LibraryTokenizer:
    """Return the tokenizer that Hugging Face's tokenizers reads from a tokenizer.json, or from a folder with one."""
    library = _library("tokenizers")
    file = tokenizer_at(path)
    own = _read("tokenizers", file, library.Tokenizer.from_file)
    subject = Subject(
        lambda text, _: tuple(own.encode(text, add_special_tokens=False).ids),
        lambda ids: own.decode(list(ids), skip_special_tokens=False),
        always_reads_specials=True,
    )
    return LibraryTokenizer(_named("tokenizers"), subject, own.encode("").ids)


def of_transformers(path: Path) -> LibraryTokenizer:
    """Return the tokenizer that transformers reads from a folder, or from the folder of a file, without the network."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    library = _library("transformers")
    folder = path if path.is_dir() else path.parent
    read = partial(
        library.AutoTokenizer.from_pretrained,
        local_files_only=True,
        trust_remote_code=False,  # without it, transformers asks whether to run code
    )
    own = _read("transformers", folder, read)
    decode = partial(
        own.decode, skip_special_tokens=False, clean_up_tokenization_spaces=False
    )
    subject = Subject(
        lambda text, _: tuple(own.encode(text, add_special_tokens=False)),
        lambda ids: decode(list(ids)),
        always_reads_specials=True,
    )
    return LibraryTokenizer(_named("transformers"), subject, own.encode(""))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise FetchError(
            f"--with {name} needs the library {name}. Install it with pip install {name}."
        ) from None


def _named(library: str) -> str:
    return f"{library} {version(library)}"


def _read(library: str, path: Path, read: Callable[[str], Any]) -> Any:
    """Call a function of a library that reads a file or folder. Raise `FormatError` if it raises any error."""
    try:
        return read(str(path))
    except Exception as error:
        where = visible(str(path))
        raise FormatError(
            f"{library} can't read {where}: {str(error).rstrip('.')}."
        ) from None


LIBRARIES: Final = ("tiktoken", "tokenizers", "transformers")
"""The libraries that can be held to a lock."""
