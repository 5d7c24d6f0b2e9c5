"""The places of tensors in a .safetensors file, or in several by their index, without reading the tensors.

A file begins with the length of its header (8 bytes, little-endian), then the header, a JSON object: name -> {"dtype",
"shape", "data_offsets": [begin, end]}, with offsets from the end of the header. The library `safetensors` can neither
give bfloat16 to numpy nor map rows, and the format is no more than this; so the header is read here.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bpe_core import untrusted_json
from bpe_core.errors import EmbeddingsError
from bpe_core.visible import quoted

_LONGEST_HEAD: Final = 100_000_000
"""Bytes of the longest header that the format allows."""
_MOST_VALUES: Final = 10_000_000
BYTES_OF: Final = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
"""Supported dtypes -> bytes per number."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A matrix in a file."""

    path: Path
    name: str
    kind: str
    """Its dtype, one of `BYTES_OF`."""
    shape: tuple[int, int]
    """(rows, columns), stored row by row."""
    offset: int
    """The offset of its first byte in the file."""


def matrices(path: Path) -> dict[str, Stored]:
    """Name -> matrix, of all tensors of two dimensions in a .safetensors file, or in all files that an index names.

    Raises `EmbeddingsError` for a file that cannot be read, is not of this format, or is truncated.
    """
    if path.name.endswith(".json"):
        return _of_index(path)
    size, head = _head(path)
    start = path.stat().st_size - size
    found = {}
    for name, entry in head.items():
        if name != "__metadata__":
            stored = _stored(path, name, entry, start, size)
            if stored:
                found[name] = stored
    return found


def _of_index(path: Path) -> dict[str, Stored]:
    try:
        index = untrusted_json.parse(path.read_bytes(), most=_MOST_VALUES)
        names = index["weight_map"]
        parts = sorted(set(names.values()))
        if any(os.path.basename(part) != part for part in parts):
            raise ValueError("a part is not beside it")
    except OSError as error:
        raise EmbeddingsError(f"{path.name} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbeddingsError(f"{path.name} is no index of safetensors files: {error}.") from None
    found: dict[str, Stored] = {}
    for part in parts:
        found |= matrices(path.with_name(part))
    return found


def _head(path: Path) -> tuple[int, dict[str, Any]]:
    """(number of bytes after the header, the header)."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(_LONGEST_HEAD, size - 8):
                raise EmbeddingsError(f"{path.name} is no safetensors file, or it is cut off.")
            head = untrusted_json.parse(file.read(length), most=_MOST_VALUES)
    except OSError as error:
        raise EmbeddingsError(f"{path.name} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise EmbeddingsError(f"{path.name} is no safetensors file: {error}.") from None
    if not isinstance(head, dict):
        raise EmbeddingsError(f"{path.name} is no safetensors file: its head is no object.")
    return size - 8 - length, head


def _stored(path: Path, name: str, entry: Any, start: int, size: int) -> Stored | None:
    """One entry of a header; None if it is no matrix of a supported dtype. The data section is `size` bytes long and
    begins at `start` in the file."""
    try:
        kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise EmbeddingsError(f"{path.name} is no safetensors file: {quoted(name)} is not described there.") from None
    if len(shape) != 2 or kind not in BYTES_OF:
        return None
    if end > size or end - begin != shape[0] * shape[1] * BYTES_OF[kind]:
        raise EmbeddingsError(f"{path.name} is cut off, or {quoted(name)} has another size than it says.")
    return Stored(path, name, kind, (shape[0], shape[1]), start + begin)
