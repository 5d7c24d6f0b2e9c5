"""Tokenizers in Hugging Face's hub: found in the cache of huggingface_hub, or downloaded by it."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bpe_core.errors import FetchError
from bpe_core.formats.file import COMPANIONS, HOLDERS, holder_in
from bpe_core.visible import visible

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_OF_FILES: Final = (".json", ".model", ".tiktoken", ".txt", ".bpe")
_SECONDS: Final = 10
"""Timeout of the first request; without one, huggingface_hub retries for long."""


def is_name(text: str) -> bool:
    """Whether `text` has the form OWNER/NAME, and OWNER is no folder and NAME ends like no tokenizer file."""
    return bool(_NAME.fullmatch(text)) and not text.endswith(_OF_FILES) and not os.path.isdir(text.partition("/")[0])


def cached(name: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The tokenizer file of the repository `name` in the cache, of the newest commit there; None if there is none."""
    return _holder(_hub(environment) / f"models--{name.replace('/', '--')}")


def all_cached(environment: Mapping[str, str] = os.environ) -> Iterator[tuple[str, Path]]:
    """(name, tokenizer file) of every repository in the cache that has one, sorted by name."""
    for folder in _entries(_hub(environment), "models--*"):
        path = _holder(folder)
        if path is not None:
            yield "/".join(folder.name.split("--")[1:]), path


def fetch(name: str, tell: Callable[[int, int, str], None]) -> Path:
    """The tokenizer file of a repository, downloaded into the cache with the files it needs. Raises `FetchError`."""
    try:
        from huggingface_hub import HfApi, hf_hub_download
    except ImportError:
        raise FetchError(
            f"Fetching {name} needs huggingface-hub, of the extra [hub]: pip install huggingface-hub."
        ) from None
    with _as_fetch_error(name):
        model = HfApi().model_info(name, timeout=_SECONDS)
        there = {file.rfilename for file in model.siblings or ()}
        holder = next((file for file in HOLDERS if file in there), None)
        if holder is None:
            raise FetchError(f"{name} has no tokenizer that is known here: none of {', '.join(HOLDERS)}.")
        is_alone = holder not in ("vocab.json", "encoder.json")
        wanted = [file for file in (COMPANIONS[:1] if is_alone else COMPANIONS) if file in there]
        path = ""
        for done, file in enumerate((*wanted, holder)):  # the holder last: what lies in the cache is complete then
            tell(done, len(wanted) + 1, file)
            path = hf_hub_download(name, file, revision=model.sha)
        return Path(path)


@contextmanager
def _as_fetch_error(name: str) -> Iterator[None]:
    """A context that turns any error of the library into a `FetchError`; its classes are compared by name, since they
    differ from version to version."""
    try:
        yield
    except FetchError:
        raise
    except Exception as error:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        answer = getattr(getattr(error, "response", None), "status_code", None)
        if "GatedRepoError" in kinds:
            problem = "its owner asks who you are; accept the conditions on its page, and log in with hf auth login"
        elif kinds & {"RepositoryNotFoundError", "HFValidationError"}:
            problem = "Hugging Face's hub shows you no such repository; correct the name, or log in with hf auth login"
        elif "OfflineModeIsEnabled" in kinds:
            problem = "HF_HUB_OFFLINE forbids it, and it is not in the cache"
        elif isinstance(error, PermissionError):
            problem = f"{visible(str(error.filename))} cannot be written"
        elif answer:
            problem = f"the server answers {answer}; try again"
        else:
            problem = "there is no connection to Hugging Face's hub; try again, or open a file"
        raise FetchError(f"{name} cannot be fetched: {problem}.") from None


def _hub(environment: Mapping[str, str]) -> Path:
    cache = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = Path(environment.get("HF_HOME") or Path(cache, "huggingface"))
    return Path(environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE") or home / "hub")


def _holder(folder: Path) -> Path | None:
    """The tokenizer file in the cached snapshot of branch main, or else in any cached snapshot of the repository."""
    try:
        newest = [folder / "snapshots" / (folder / "refs" / "main").read_text("utf-8").strip()]
    except (OSError, ValueError):
        newest = []
    snapshots = (*newest, *_entries(folder / "snapshots", "*"))
    return next((path for snapshot in snapshots if (path := holder_in(snapshot))), None)


def _entries(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
