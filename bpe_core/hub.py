"""Tokenizers by name: the encodings of OpenAI's models, and repositories of the Hugging Face Hub.

Files in the caches of tiktoken and huggingface_hub are found without these libraries and without a
network. The libraries download others into their caches, if the extra `hub` is installed, and only
when a user names them.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from bpe_core.errors import FetchError
from bpe_core.formats.file import COMPANIONS, HOLDERS, holder_in
from bpe_core.formats.known_files import KNOWN_FILES
from bpe_core.process import installed
from bpe_core.visible import quoted, visible

Tell = Callable[[int, int, str], object]
"""Receives the progress of a download: number of files done, number of files, name of the next file."""

KINDS: Final = (
    "an OpenAI model (gpt-4o), an encoding (o200k_base), or a Hugging Face OWNER/NAME"
)

_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_ENCODINGS: Final = {
    known.name: known.models for known in KNOWN_FILES.values() if known.models
}
KNOWN_NAMES: Final = tuple(
    name for encoding, models in _ENCODINGS.items() for name in (encoding, *models)
)
"""The encodings, each followed by the models that use it."""
_DIGEST_OF: Final = {known.name: digest for digest, known in KNOWN_FILES.items()}
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def is_name(text: str) -> bool:
    """Whether `text` names a known model or encoding, or has the form OWNER/NAME and is not a path."""
    return encoding_of(text) is not None or _is_repository(text)


def encoding_of(name: str) -> str | None:
    """Return the encoding called `name`, or used by that model; None if both are unknown."""
    for encoding, models in _ENCODINGS.items():
        versioned = tuple(
            f"{model}-"
            for model in models
            if model.startswith(("gpt-", "chatgpt-", "o"))
        )
        if name in (encoding, *models) or name.startswith(versioned):
            return encoding
    return None


def _is_repository(text: str) -> bool:
    if text.endswith((".json", ".model", ".tiktoken", ".txt", ".bpe")):
        return False
    first_folder, _, _ = text.partition("/")
    if os.path.isdir(first_folder):
        return False
    return _REPOSITORY.fullmatch(text) is not None


def all_cached() -> Iterator[tuple[str, Path]]:
    """Yield (name, tokenizer file) for each cached repository, sorted by name, then each encoding.

    This reads the encodings, a few megabytes each, to verify them.
    """
    for folder in sorted(_hub().glob("models--*")):
        path = _in_repository(folder)
        if path:
            yield "/".join(folder.name.split("--")[1:]), path
    for encoding in _ENCODINGS:
        path = _cached_encoding(encoding)
        if path:
            yield encoding, path


def located(text: str, tell: Tell = lambda done, total, what: None) -> str | Path:
    """Return the path of a tokenizer, given a path or a name; an existing path comes first.

    Raises:
        FetchError: The file of a name is not cached and cannot be downloaded.
    """
    if os.path.exists(text) or not is_name(text):
        return text
    return fetch(text, tell)


def fetch(name: str, tell: Tell = lambda done, total, what: None) -> Path:
    """Return the file of the tokenizer called `name`, downloading it if it is not cached.

    Raises:
        FetchError: The name is unknown, or the file cannot be downloaded.
    """
    encoding = encoding_of(name)
    if encoding:
        return _cached_encoding(encoding) or _fetch_encoding(name, encoding, tell)
    if not _is_repository(name):
        raise FetchError(f"{quoted(name)} is not the name of a tokenizer; use {KINDS}.")
    cached = _in_repository(_hub() / f"models--{name.replace('/', '--')}")
    if cached:
        return cached
    library = installed("huggingface_hub", f"Fetching {name}", "hub")
    try:
        # The library retries for a long time unless it has a limit in seconds.
        model = library.HfApi().model_info(name, timeout=10)
        repository_files = {file.rfilename for file in model.siblings or ()}
        files = _files_to_download(repository_files)
        path = ""
        for done, file in enumerate(files):
            tell(done, len(files), file)
            path = library.hf_hub_download(name, file, revision=model.sha)
    except Exception as error:  # the library and its dependencies raise many kinds
        problem = _describe_problem(error, "the Hugging Face Hub")
        raise FetchError(f"{name} cannot be fetched: {problem}.") from None
    if path:
        return Path(path)
    raise FetchError(
        f"{name} has no supported tokenizer file: none of {', '.join(HOLDERS)}."
    )


def _files_to_download(repository_files: set[str]) -> list[str]:
    """List the tokenizer file and its companions, or nothing if no file is supported.

    The tokenizer file comes last: once it is cached, its companions are too.
    """
    for holder in HOLDERS:
        if holder in repository_files:
            needs_all = holder in ("vocab.json", "encoder.json")
            companions = COMPANIONS if needs_all else COMPANIONS[:1]
            present = [file for file in companions if file in repository_files]
            return [*present, holder]
    return []


def _describe_problem(error: Exception, server: str) -> str:
    """Describe the error of a download in a clause.

    The names of classes decide, since the classes differ between versions of the library.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "GatedRepoError" in kinds:
        return "its owner restricts access; accept the conditions on its page, and log in with hf auth login"
    if kinds & {"RepositoryNotFoundError", "HFValidationError"}:
        return "the Hugging Face Hub shows you no such repository; correct the name, or log in with hf auth login"
    if "OfflineModeIsEnabled" in kinds:
        return "it is not in the cache, and HF_HUB_OFFLINE forbids downloading it"
    if isinstance(error, PermissionError | NotADirectoryError):
        return f"{visible(str(error.filename))} cannot be written"
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status:
        return f"the server returned status {status}; try again, or open a file"
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "the server sent a file that differs from the published one; try again, or open a file"
    return f"there is no connection to {server}; try again, or open a file"


def _fetch_encoding(name: str, encoding: str, tell: Tell) -> Path:
    place = _place(encoding)
    if place is None:
        raise FetchError(
            f"{name} has no cache folder: TIKTOKEN_CACHE_DIR is empty; set it to a folder."
        )
    library = installed("tiktoken.load", f"Fetching {name}", "hub")
    tell(0, 1, encoding)
    try:
        library.read_file_cached(_ADDRESS.format(encoding), _DIGEST_OF[encoding])
    except Exception as error:
        problem = _describe_problem(error, "the server of OpenAI")
        raise FetchError(f"{name} cannot be fetched: {problem}.") from None
    if not place.is_file():
        raise FetchError(
            f"{name} was fetched, but tiktoken's cache {visible(str(place.parent))} cannot be written."
        )
    return place


def _cached_encoding(encoding: str) -> Path | None:
    """Return an encoding's file in tiktoken's cache, verified by its SHA-256, or None."""
    path = _place(encoding)
    if path is None:
        return None
    with suppress(OSError):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest == _DIGEST_OF[encoding]:
            return path
    return None


def _place(encoding: str) -> Path | None:
    """Return the path in tiktoken's cache, named by the SHA-1 of the URL; None if caching is off."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return None
    address = _ADDRESS.format(encoding).encode()
    key = hashlib.sha1(address, usedforsecurity=False).hexdigest()
    return Path(folder or Path(tempfile.gettempdir(), "data-gym-cache"), key)


def _hub() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = Path(os.environ.get("HF_HOME") or Path(cache, "huggingface"))
    return Path(
        os.environ.get("HF_HUB_CACHE")
        or os.environ.get("HUGGINGFACE_HUB_CACHE")
        or home / "hub"
    )


def _in_repository(folder: Path) -> Path | None:
    """Return the tokenizer file in the cached snapshot of branch main, or else in any snapshot."""
    snapshots = sorted((folder / "snapshots").glob("*"))
    with suppress(OSError, ValueError):
        main = (folder / "refs" / "main").read_text("utf-8").strip()
        snapshots.insert(0, folder / "snapshots" / main)
    for snapshot in snapshots:
        path = holder_in(snapshot)
        if path:
            return path
    return None
