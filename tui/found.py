"""Tokenizers that other programs left on this computer: in the caches of Hugging Face's hub and of tiktoken."""

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from bpe_core.formats.known_files import KNOWN_FILES
from tui.state import Kept

_HUB_FILES: Final = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json")
"""What holds a tokenizer in a model's folder; the first that is there is offered."""
_LARGEST: Final = 64 << 20
"""Bytes; no rank file is larger, and what is need not be read to find its name."""


def found_tokenizers(environment: Mapping[str, str] = os.environ) -> list[Kept]:
    """What lies in the caches, by name. Reads rank files whole to tell their name, so not for the main thread."""
    return [*_in_hub(environment), *_in_tiktoken(environment)]


def _in_hub(environment: Mapping[str, str]) -> Iterator[Kept]:
    """Hugging Face keeps a model ORG/NAME in models--ORG--NAME/snapshots/COMMIT."""
    home = Path(environment.get("HF_HOME") or Path(_cache(environment), "huggingface"))
    hub = Path(environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE") or home / "hub")
    for model in _entries(hub, "models--*"):
        for snapshot in _entries(model / "snapshots", "*"):
            file = next((file for name in _HUB_FILES if (file := snapshot / name).is_file()), None)
            if file is not None:
                yield Kept(str(file), "/".join(model.name.split("--")[1:]), 0, is_own=False)
                break


def _in_tiktoken(environment: Mapping[str, str]) -> Iterator[Kept]:
    """Tiktoken names a file by the digest of its address; the digest of its content tells which one it is."""
    folder = environment.get("TIKTOKEN_CACHE_DIR") or environment.get("DATA_GYM_CACHE_DIR")
    for file in _entries(Path(folder or Path(tempfile.gettempdir(), "data-gym-cache")), "*"):
        try:
            if not re.fullmatch(r"[0-9a-f]{40}", file.name) or file.stat().st_size > _LARGEST:
                continue
            known = KNOWN_FILES.get(hashlib.sha256(file.read_bytes()).hexdigest())
        except OSError:
            continue
        if known is not None:
            yield Kept(str(file), known.name, 0, is_own=False)


def _cache(environment: Mapping[str, str]) -> str:
    return environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")


def _entries(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
