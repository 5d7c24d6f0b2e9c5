"""Tokenizers by name: those of OpenAI's models, and those in Hugging Face's hub.

What is in the caches of tiktoken and huggingface_hub already is found without either and without a network; the rest is
fetched by them, into their caches, if the extra `hub` is installed. Nothing is ever fetched unless a name was given.
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
"""Is told how many files are there, of how many, and which one comes next."""

KINDS: Final = "a model of OpenAI's (gpt-4o), an encoding (o200k_base), or an OWNER/NAME of Hugging Face's hub"
"""What a name can be."""


def is_name(text: str) -> bool:
    """Whether it looks like the name of a tokenizer rather than like a path."""
    return encodings.encoding_of(text) is not None or repositories.is_name(text)


def cached(name: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file of a tokenizer that was fetched earlier, by whatever program; None if there is none."""
    encoding = encodings.encoding_of(name)
    if encoding is not None:
        return encodings.cached(encoding, environment)
    return repositories.cached(name, environment) if repositories.is_name(name) else None


def fetch(name: str, tell: Tell = lambda done, total, what: None, environment: Mapping[str, str] = os.environ) -> Path:
    """The file of a tokenizer, from a cache or else over the network. Raises `FetchError`."""
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
    """The path that is meant: `text` itself where it is one, else the file of the tokenizer of this name.

    Raises `FetchError` if it is a name and cannot be fetched.
    """
    return fetch(text, tell) if not os.path.exists(text) and is_name(text) else text
