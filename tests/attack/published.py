"""Published vocabularies, unpacked where bpescope and tiktoken both find them; nothing is downloaded."""

import hashlib
import lzma
import os
import shutil
from pathlib import Path
from typing import Final

_PLACE: Final = Path(
    os.environ.get(
        "BPESCOPE_VOCABS", Path(__file__).resolve().parents[3] / "shared" / "vocabs"
    )
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
                cache / hashlib.sha1((_ADDRESS + address).encode()).hexdigest(),
            )
    return [
        name
        for name, files in ENCODINGS.items()
        if all((folder / file).is_file() for file in files)
    ]


def content(name: str, place: Path = _PLACE) -> bytes:
    """Of one file; empty if it is not there."""
    plain, packed = place / name, place / f"{name}.xz"
    if plain.is_file():
        return plain.read_bytes()
    return lzma.decompress(packed.read_bytes()) if packed.is_file() else b""
