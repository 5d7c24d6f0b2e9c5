"""The tokenizers of other libraries, as functions that can be held to a lock."""

import os
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.difference.check import Subject, none_for
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
    added_around: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The ids that its `encode` adds before and after a text by default, and not in a check."""


def of_tiktoken(tokenizer: Tokenizer, encoding: str | None) -> LibraryTokenizer:
    """Return the encoding of tiktoken with a name, or else one of the ranks, pattern and special tokens of a tokenizer."""
    library = _library("tiktoken")
    own = library.get_encoding(encoding) if encoding else to_tiktoken(tokenizer)
    subject = Subject(
        encode_ordinary=none_for(
            Exception, lambda text: tuple(own.encode_ordinary(text))
        ),
        encode=none_for(
            Exception, lambda text: tuple(own.encode(text, allowed_special="all"))
        ),
        decode_bytes=none_for(
            Exception, lambda ids: bytes(own.decode_bytes(list(ids)))
        ),
        decode=None,
    )
    return LibraryTokenizer(_named("tiktoken"), subject)


def of_tokenizers(path: Path) -> LibraryTokenizer:
    """Return the tokenizer that Hugging Face's tokenizers reads from a tokenizer.json, or from a folder with one."""
    library = _library("tokenizers")
    file = tokenizer_at(path)
    own = _read("tokenizers", file, lambda: library.Tokenizer.from_file(str(file)))
    return _of_hugging_face(
        "tokenizers",
        lambda text, adds: own.encode(text, add_special_tokens=adds).ids,
        lambda ids: own.decode(ids, skip_special_tokens=False),
    )


def of_transformers(path: Path) -> LibraryTokenizer:
    """Return the tokenizer that transformers reads from a folder, or from the folder of a file, without the network."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    library = _library("transformers")
    folder = path if path.is_dir() else path.parent
    own = _read(
        "transformers",
        folder,
        lambda: library.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True
        ),
    )
    return _of_hugging_face(
        "transformers",
        lambda text, adds: own.encode(text, add_special_tokens=adds),
        lambda ids: own.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        ),
    )


def _of_hugging_face(
    name: str,
    encode: Callable[[str, bool], list[int]],
    decode: Callable[[list[int]], str],
) -> LibraryTokenizer:
    subject = Subject(
        encode_ordinary=None,
        encode=none_for(Exception, lambda text: tuple(encode(text, False))),
        decode_bytes=None,
        decode=none_for(Exception, lambda ids: decode(list(ids))),
    )
    alone = tuple(encode("a", False))
    with_added = tuple(encode("a", True))
    n_before = 0
    while n_before < len(with_added) and with_added[n_before:][: len(alone)] != alone:
        n_before += 1
    around = with_added[:n_before], with_added[n_before + len(alone) :]
    return LibraryTokenizer(_named(name), subject, around)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise FetchError(
            f"--with {name} needs the library {name}. Install it with pip install {name}."
        ) from None


def _named(library: str) -> str:
    return f"{library} {version(library)}"


def _read(library: str, path: Path, read: Callable[[], Any]) -> Any:
    """Call a function of a library that reads a file or folder. Raise `FormatError` if it raises any error."""
    try:
        return read()
    except Exception as error:
        where = visible(str(path))
        raise FormatError(
            f"{library} can't read {where}: {str(error).rstrip('.')}."
        ) from None


LIBRARIES: Final = ("tiktoken", "tokenizers", "transformers")
"""The libraries that can be held to a lock."""
