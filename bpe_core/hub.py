"""Tokenizers by name: the encodings of OpenAI's models, and the repositories of Hugging Face's hub.

Files in the caches of tiktoken and huggingface_hub are found without these libraries and without a network. Others are
downloaded by these libraries into their caches, if the extra `hub` is installed, and only when asked for by name.
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

Tell = Callable[
    [int, int, str], object
]  # the progress of a download: files done, files in all, name of the next file

KINDS: Final = "a model of OpenAI's (gpt-4o), an encoding (o200k_base), or an OWNER/NAME of Hugging Face's hub"

_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_ENCODINGS: Final = {
    known.name: known.models for known in KNOWN_FILES.values() if known.models
}
_DIGEST_OF: Final = {known.name: digest for digest, known in KNOWN_FILES.items()}
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def is_name(text: str) -> bool:
    """Whether `text` is the name of a known model or encoding, or has the form OWNER/NAME and is not a path."""
    return encoding_of(text) is not None or _is_repository(text)


def encoding_of(name: str) -> str | None:
    """The name of the encoding that `name` names, or that the model `name` uses; None if neither is known."""
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
    is_path = text.endswith(
        (".json", ".model", ".tiktoken", ".txt", ".bpe")
    ) or os.path.isdir(text.partition("/")[0])
    return not is_path and _REPOSITORY.fullmatch(text) is not None


def all_cached() -> Iterator[tuple[str, Path]]:
    """(name, tokenizer file) of each repository in a cache that has one, sorted by name, then of each encoding there.

    Encodings are read as a whole to verify them, some megabytes each.
    """
    for folder in sorted(_hub().glob("models--*")):
        if path := _in_repository(folder):
            yield "/".join(folder.name.split("--")[1:]), path
    for encoding in _ENCODINGS:
        if path := _cached_encoding(encoding):
            yield encoding, path


def located(text: str, tell: Tell = lambda done, total, what: None) -> str | Path:
    """The path meant by `text`: the file of the tokenizer if it is a name and no existing path, else `text` itself.
    Raises `FetchError` if the file of a name is not in a cache and cannot be downloaded."""
    return fetch(text, tell) if not os.path.exists(text) and is_name(text) else text


def fetch(name: str, tell: Tell = lambda done, total, what: None) -> Path:
    """The file of the tokenizer called `name`, downloaded if it is not in a cache. Raises `FetchError`."""
    if encoding := encoding_of(name):
        return _cached_encoding(encoding) or _fetch_encoding(name, encoding, tell)
    if not _is_repository(name):
        raise FetchError(
            f"{quoted(name)} is not the name of a tokenizer; name {KINDS}."
        )
    if found := _in_repository(_hub() / f"models--{name.replace('/', '--')}"):
        return found
    library = installed("huggingface_hub", f"Fetching {name}", "hub")
    try:
        model = library.HfApi().model_info(
            name, timeout=10
        )  # seconds; without a limit it retries for long
        there = {file.rfilename for file in model.siblings or ()}
        if holder := next((file for file in HOLDERS if file in there), None):
            is_alone = holder not in ("vocab.json", "encoder.json")
            wanted = [
                file
                for file in (COMPANIONS[:1] if is_alone else COMPANIONS)
                if file in there
            ]
            path = ""
            for done, file in enumerate(
                (*wanted, holder)
            ):  # the holder last: what lies in the cache is complete then
                tell(done, len(wanted) + 1, file)
                path = library.hf_hub_download(name, file, revision=model.sha)
            return Path(path)
    except Exception as error:  # of a library, and of those it stands on
        raise FetchError(
            f"{name} cannot be fetched: {_problem(error, 'the hub of Hugging Face')}."
        ) from None
    raise FetchError(
        f"{name} has no tokenizer that is known here: none of {', '.join(HOLDERS)}."
    )


def _problem(error: Exception, server: str) -> str:
    """The error of a library that fetches, as a clause; classes are known by name, as they differ between versions."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "GatedRepoError" in kinds:
        return "its owner asks who you are; accept the conditions on its page, and log in with hf auth login"
    if kinds & {"RepositoryNotFoundError", "HFValidationError"}:
        return "Hugging Face's hub shows you no such repository; correct the name, or log in with hf auth login"
    if "OfflineModeIsEnabled" in kinds:
        return "HF_HUB_OFFLINE forbids it, and it is not in the cache"
    if isinstance(error, PermissionError | NotADirectoryError):
        return f"{visible(str(error.filename))} cannot be written"
    if answer := getattr(getattr(error, "response", None), "status_code", None):
        return f"the server answers {answer}; try again, or open a file"
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "what the server sent is not the file that was published; try again, or open a file"
    return f"there is no connection to {server}; try again, or open a file"


def _fetch_encoding(name: str, encoding: str, tell: Tell) -> Path:
    place = _place(encoding)
    if place is None:
        raise FetchError(
            f"{name} has nowhere to be kept: TIKTOKEN_CACHE_DIR is empty; name a folder in it."
        )
    library = installed("tiktoken.load", f"Fetching {name}", "hub")
    tell(0, 1, encoding)
    try:
        library.read_file_cached(_ADDRESS.format(encoding), _DIGEST_OF[encoding])
    except Exception as error:
        raise FetchError(
            f"{name} cannot be fetched: {_problem(error, 'the server of OpenAI')}."
        ) from None
    if not place.is_file():
        raise FetchError(
            f"{name} was fetched, but tiktoken's cache {visible(str(place.parent))} cannot be written."
        )
    return place


def _cached_encoding(encoding: str) -> Path | None:
    """The file of an encoding in tiktoken's cache, verified by its SHA-256; None if it is not there."""
    path = _place(encoding)
    with suppress(OSError):
        if (
            path
            and hashlib.sha256(path.read_bytes()).hexdigest() == _DIGEST_OF[encoding]
        ):
            return path
    return None


def _place(encoding: str) -> Path | None:
    """Where tiktoken caches it: a file named by the SHA-1 of its address. None if caching is switched off."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return None
    key = hashlib.sha1(
        _ADDRESS.format(encoding).encode(), usedforsecurity=False
    ).hexdigest()
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
    """The tokenizer file in the cached snapshot of branch main, or else in any cached snapshot of the repository."""
    snapshots = sorted((folder / "snapshots").glob("*"))
    with suppress(OSError, ValueError):
        snapshots.insert(
            0,
            folder
            / "snapshots"
            / (folder / "refs" / "main").read_text("utf-8").strip(),
        )
    return next((path for snapshot in snapshots if (path := holder_in(snapshot))), None)
