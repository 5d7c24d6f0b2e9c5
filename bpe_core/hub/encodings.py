"""OpenAI's encodings: which model uses which, where tiktoken caches their files, and how they are downloaded."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from bpe_core.errors import FetchError
from bpe_core.formats.known_files import KNOWN_FILES
from bpe_core.visible import visible

_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_MODELS: Final = {
    "o200k_base": ("gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "o1", "o3", "o4-mini"),
    "cl100k_base": (
        *("gpt-4", "gpt-3.5", "gpt-3.5-turbo", "gpt-35-turbo", "davinci-002", "babbage-002"),
        *("text-embedding-ada-002", "text-embedding-3-small", "text-embedding-3-large"),
    ),
    "p50k_base": ("text-davinci-003", "text-davinci-002", "code-davinci-001", "code-davinci-002", "code-cushman-001"),
    "r50k_base": ("gpt2", "gpt-2", "text-davinci-001", "text-curie-001", "davinci", "curie", "babbage", "ada"),
}
"""Encoding -> models, as in tiktoken; a dated or smaller version is called by the model's name, a hyphen and more."""
_DIGEST_OF: Final = {known.name: digest for digest, known in KNOWN_FILES.items() if known.name in _MODELS}
_LARGEST_FILE: Final = 64 << 20
"""Bytes; a larger file is none of the published ones, and its digest is not computed."""


def encoding_of(name: str) -> str | None:
    """The name of the encoding that `name` names, or that the model `name` uses; None if neither is known.

    >>> encoding_of("gpt-4o-mini"), encoding_of("gpt-4-turbo"), encoding_of("gpt-oss-20b")
    ('o200k_base', 'cl100k_base', None)
    """
    if name in _DIGEST_OF:
        return name
    known = ((encoding, model) for encoding, models in _MODELS.items() for model in models)
    return next((encoding for encoding, model in known if name == model or _is_version(name, model)), None)


def _is_version(name: str, model: str) -> bool:
    return model.startswith(("gpt-", "chatgpt-", "o")) and name.startswith(f"{model}-")


def cached(encoding: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file of an encoding in tiktoken's cache, verified by its SHA-256; None if it is not there."""
    path = _place(encoding, environment)
    return path if path and _digest(path) == _DIGEST_OF[encoding] else None


def all_cached(environment: Mapping[str, str] = os.environ) -> Iterator[tuple[str, Path]]:
    """(name, file) of every encoding in tiktoken's cache; reads all of them to verify them, some megabytes each."""
    for encoding in _DIGEST_OF:
        path = cached(encoding, environment)
        if path is not None:
            yield encoding, path


def fetch(
    name: str, encoding: str, tell: Callable[[int, int, str], None], environment: Mapping[str, str] = os.environ
) -> Path:
    """The file of `encoding`, downloaded by tiktoken into its cache. Raises `FetchError`, which mentions `name`."""
    place = _place(encoding, environment)
    if place is None:
        raise FetchError(f"{name} has nowhere to be kept: TIKTOKEN_CACHE_DIR is empty; name a folder in it.")
    try:
        from tiktoken.load import read_file_cached
    except ImportError:
        raise FetchError(f"Fetching {name} needs tiktoken, of the extra [hub]: pip install tiktoken.") from None
    tell(0, 1, encoding)
    try:
        read_file_cached(_ADDRESS.format(encoding), _DIGEST_OF[encoding])
    except Exception as error:  # of a library, and of those it stands on
        answer = getattr(getattr(error, "response", None), "status_code", None)
        problem = f"the server answers {answer}" if answer else "there is no connection to OpenAI's server"
        if isinstance(error, ValueError) and not isinstance(error, OSError):
            problem = "what the server sent is not the file that was published"
        elif isinstance(error, PermissionError | NotADirectoryError):
            problem = f"tiktoken's cache {visible(str(place.parent))} cannot be written"
        raise FetchError(f"{name} cannot be fetched: {problem}; try again, or open a file.") from None
    if not place.is_file():
        raise FetchError(f"{name} was fetched, but tiktoken's cache {visible(str(place.parent))} cannot be written.")
    return place


def _place(encoding: str, environment: Mapping[str, str]) -> Path | None:
    """Where tiktoken caches it: a file named by the SHA-1 of its address. None if caching is switched off."""
    folder = environment.get("TIKTOKEN_CACHE_DIR", environment.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return None
    key = hashlib.sha1(_ADDRESS.format(encoding).encode(), usedforsecurity=False).hexdigest()
    return Path(folder or Path(tempfile.gettempdir(), "data-gym-cache"), key)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.stat().st_size <= _LARGEST_FILE else ""
    except OSError:
        return ""
