"""The tokenizers of other libraries, which can be held to a lock."""

import os
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from bpe_core.difference.lock import Ids, Subject
from bpe_core.errors import FetchError, FormatError, OptionError
from bpe_core.formats.file import tokenizer_at
from bpe_core.formats.tiktoken import to_tiktoken
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

LIBRARIES: Final = ("tiktoken", "tokenizers", "transformers")
"""The libraries whose tokenizers can be held to a lock."""


def of_library(
    name: str, path: Path, tokenizer: Tokenizer, encoding: str | None
) -> Subject:
    """Return what a library makes of a tokenizer, without the network.

    Args:
        name: One of `LIBRARIES`.
        path: What tokenizers and transformers read: the file of the tokenizer, or its folder.
        tokenizer: The tokenizer whose ranks, pattern and special tokens tiktoken gets.
        encoding: The name of an encoding of tiktoken, which is used instead.

    Raises:
        FetchError: The library is not installed.
        FormatError: The library can't read the file or the folder.
        OptionError: transformers would read another file.
    """
    if name == "transformers":  # reads these variables when it is imported
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    try:
        library = import_module(name)
    except ImportError:
        raise FetchError(
            f"--with {name} needs the library {name}. Install it with pip install {name}."
        ) from None
    if name == "tiktoken":
        own = library.get_encoding(encoding) if encoding else to_tiktoken(tokenizer)
        return _of_tiktoken(own)
    if name == "tokenizers":
        path = tokenizer_at(path)
        read = library.Tokenizer.from_file
    else:
        if not path.is_dir():
            if path.name != "tokenizer.json":
                raise OptionError(
                    f"transformers reads a folder, not {visible(str(path))}; name a folder or its tokenizer.json."
                )
            path = path.parent
        read = partial(
            library.AutoTokenizer.from_pretrained,
            local_files_only=True,
            trust_remote_code=False,  # without it, transformers asks whether to run code
            clean_up_tokenization_spaces=False,
        )
    try:
        own = read(str(path))
    except Exception as error:
        problem = str(error).rstrip(".")
        raise FormatError(
            f"{name} can't read {visible(str(path))}: {problem}."
        ) from None
    return _of_hugging_face(own)


def _of_tiktoken(own: Any) -> Subject:
    def encode(text: str, reads_specials: bool) -> Ids:
        if reads_specials:
            return tuple(own.encode(text, allowed_special="all"))
        return tuple(own.encode_ordinary(text))

    return Subject(encode, own.decode)


def _of_hugging_face(own: Any) -> Subject:
    """Return a tokenizer of tokenizers or transformers, without the ids that it adds around a text."""

    def encode(text: str, reads_specials: bool) -> Ids:
        encoding = own.encode(text, add_special_tokens=False)
        # The encoding is an object in tokenizers, and a list of ids in transformers.
        return tuple(getattr(encoding, "ids", encoding))

    decode = partial(own.decode, skip_special_tokens=False)
    return Subject(encode, decode, always_reads_specials=True)
