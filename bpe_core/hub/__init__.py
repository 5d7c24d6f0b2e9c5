"""Tokenizers by name: those of OpenAI's models, and those in Hugging Face's hub.

Files in the caches of tiktoken and huggingface_hub are found without these libraries and without a network. Others are
downloaded by these libraries into their caches, if the extra `hub` is installed, and only when asked for by name.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from bpe_core.errors import FetchError
from bpe_core.hub import encodings, repositories
from bpe_core.visible import quoted

__all__ = ["cached", "fetch", "is_name", "located"]

Tell = Callable[[int, int, str], None]
"""Progress of a download: called with (files done, files in all, name of the next file)."""

KINDS: Final = "a model of OpenAI's (gpt-4o), an encoding (o200k_base), or an OWNER/NAME of Hugging Face's hub"
"""The kinds of names, as a part of a sentence."""


def is_name(text: str) -> bool:
    """Whether `text` is the name of a known model or encoding, or has the form OWNER/NAME and is not a path."""
    return encodings.encoding_of(text) is not None or repositories.is_name(text)


def cached(name: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file of the tokenizer called `name`, if it is in a cache, whichever program put it there; None otherwise.

    `environment` are the environment variables that say where the caches are.
    """
    encoding = encodings.encoding_of(name)
    if encoding is not None:
        return encodings.cached(encoding, environment)
    return repositories.cached(name, environment) if repositories.is_name(name) else None


def fetch(name: str, tell: Tell = lambda done, total, what: None, environment: Mapping[str, str] = os.environ) -> Path:
    """The file of the tokenizer called `name`, downloaded if it is not in a cache. Raises `FetchError`."""
    found = cached(name, environment)
    if found is not None:
        return found
    encoding = encodings.encoding_of(name)
    if encoding is not None:
        return encodings.fetch(name, encoding, tell, environment)
    if repositories.is_name(name):
        return repositories.fetch(name, tell)
    raise FetchError(f"{quoted(name)} is not the name of a tokenizer; name {KINDS}.")


def located(text: str, tell: Tell = lambda done, total, what: None) -> str | Path:
    """The path meant by `text`: the file of the tokenizer if it is a name and no existing path, else `text` itself.

    Raises `FetchError` if the file of a name is not in a cache and cannot be downloaded.
    """
    return fetch(text, tell) if not os.path.exists(text) and is_name(text) else text
