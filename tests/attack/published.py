"""Published vocabularies, unpacked where bpescope and tiktoken both find them; nothing is downloaded.

They come from the folder that BPESCOPE_VOCABS names, from a folder next to the checkout, or from
tiktoken's cache.
"""

import hashlib
import lzma
import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

_NAMED_FOLDER: Final = os.environ.get("BPESCOPE_VOCABS")
_NEXT_TO_CHECKOUT: Final = Path(__file__).resolve().parents[3] / "shared" / "vocabs"
_PLACE: Final = Path(_NAMED_FOLDER or _NEXT_TO_CHECKOUT)
_TIKTOKEN_CACHE: Final = Path(
    os.environ.get("TIKTOKEN_CACHE_DIR")
    or os.environ.get("DATA_GYM_CACHE_DIR")
    or Path(tempfile.gettempdir(), "data-gym-cache")
)
_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/"
_FILES: Final = {
    "vocab.bpe": "gpt-2/encodings/main/vocab.bpe",
    "encoder.json": "gpt-2/encodings/main/encoder.json",
    "r50k_base.tiktoken": "encodings/r50k_base.tiktoken",
    "p50k_base.tiktoken": "encodings/p50k_base.tiktoken",
    "cl100k_base.tiktoken": "encodings/cl100k_base.tiktoken",
    "o200k_base.tiktoken": "encodings/o200k_base.tiktoken",
}
"""Name of a file -> where it is published; tiktoken keeps it under the SHA-1 of that, and checks its digest."""

ENCODINGS: Final = {
    "gpt2": ("encoder.json", "vocab.bpe"),
    "r50k_base": ("r50k_base.tiktoken",),
    "p50k_base": ("p50k_base.tiktoken",),
    "cl100k_base": ("cl100k_base.tiktoken",),
    "o200k_base": ("o200k_base.tiktoken",),
}
"""tiktoken's name -> the files that make it."""


def unpacked(folder: Path, place: Path = _PLACE) -> list[str]:
    """Put what `place` holds, packed by xz or not, into `folder`, and tell tiktoken; the encodings that are whole."""
    cache = folder / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    for name, address in _FILES.items():
        if data := content(name, place):
            (folder / name).write_bytes(data)
            shutil.copyfile(
                folder / name,
                cache / _cached_name(address),
            )
    return [
        name
        for name, files in ENCODINGS.items()
        if all((folder / file).is_file() for file in files)
    ]


def content(name: str, place: Path = _PLACE) -> bytes:
    """Return the content of one file; empty if it is neither in `place` nor in tiktoken's cache."""
    plain = place / name
    if plain.is_file():
        return plain.read_bytes()
    packed = place / f"{name}.xz"
    if packed.is_file():
        return lzma.decompress(packed.read_bytes())
    cached = _TIKTOKEN_CACHE / _cached_name(_FILES[name])
    if cached.is_file():
        return cached.read_bytes()
    return b""


def _cached_name(address: str) -> str:
    """Return the name under which tiktoken's cache keeps a file."""
    return hashlib.sha1((_ADDRESS + address).encode()).hexdigest()


def not_attacked(there: Collection[str] | None = None) -> str:
    """Name the encodings that are not `there`, or not to be found; empty if all are."""
    if there is None:
        found = {name for name in _FILES if content(name)}
        there = [name for name, files in ENCODINGS.items() if found.issuperset(files)]
    missing = [name for name in ENCODINGS if name not in there]
    if not missing:
        return ""
    return (
        f"Not attacked: {', '.join(missing)}. Set BPESCOPE_VOCABS to a folder "
        "that holds their published files, or let tiktoken fetch them."
    )
