"""An embedding matrix, a row for each id, memory-mapped from a .npy or .safetensors file and read in slices.

A .safetensors file begins with the length of its header (8 bytes, little-endian), then the header, a JSON object:
name -> {"dtype", "shape", "data_offsets": [begin, end]}, with offsets from the end of the header. It is read here
because the library `safetensors` can neither give bfloat16 to numpy nor map rows.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bpe_core import untrusted_json
from bpe_core.errors import EmbeddingsError
from bpe_core.visible import quoted

if TYPE_CHECKING:
    import numpy

# Usual names of tensors; a model without output embeddings uses its input embeddings, which are *tied* then.
_INPUTS: Final = (
    *("model.embed_tokens.weight", "language_model.model.embed_tokens.weight", "transformer.wte.weight", "wte.weight"),
    *("gpt_neox.embed_in.weight", "tok_embeddings.weight", "model.tok_embeddings.weight"),
    *("transformer.word_embeddings.weight", "embeddings.word_embeddings.weight"),
)
_OUTPUTS: Final = ("lm_head.weight", "language_model.lm_head.weight", "output.weight", "embed_out.weight")
_USUAL: Final = (*_OUTPUTS, *_INPUTS)  # the most usual first
_SLICE_BYTES: Final = 1 << 25  # of a slice, as float32
_LONGEST_HEADER: Final = 100_000_000  # bytes; the limit of the format
_MOST_VALUES: Final = 10_000_000
_DTYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # dtype -> that of numpy, with its bytes


class Matrix:
    """An embedding matrix of shape (n_rows, n_columns), row i for id i; read as float32, whatever the file holds.

    `data` may hold bfloat16 as uint16. `name` is that of the tensor, "" in a .npy file; `role` is "input", "output",
    "tied" (both at once), or "" if the name is not a usual one.
    """

    def __init__(self, data: "numpy.ndarray[Any, Any]", name: str = "", role: str = "") -> None:
        self._data = data
        self.name: Final = name
        self.role: Final = role
        self.n_rows, self.n_columns = map(int, data.shape)
        self.slice_rows = max(1, _SLICE_BYTES // (4 * self.n_columns))

    def rows(self, start: int, end: int) -> "numpy.ndarray[Any, Any]":
        """Rows `start` to `end`, exclusive, as a new float32 array of shape (rows, n_columns)."""
        import numpy

        part = self._data[start:end]
        if part.dtype.kind == "u":  # bfloat16, the upper half of a float32
            return (part.astype(numpy.uint32) << 16).view(numpy.float32)
        return part.astype(numpy.float32)

    def slices(self) -> Iterator["numpy.ndarray[Any, Any]"]:
        """All rows in consecutive slices, in constant memory."""
        for start in range(0, self.n_rows, self.slice_rows):
            yield self.rows(start, start + self.slice_rows)


def open_matrix(path: str | os.PathLike[str], tensor: str | None = None) -> Matrix:
    """The embedding matrix in a .npy or .safetensors file, in the files of a safetensors index, or in such a folder.

    `tensor` is the name of the tensor; by default the most usual one that is there. Nothing is unpickled. Raises
    `EmbeddingsError` without numpy, for a broken file, and if no tensor has a usual name; it names the candidates.
    """
    try:
        import numpy
    except ImportError:
        raise EmbeddingsError("Embeddings need numpy, of the extra [embeddings]: pip install numpy.") from None
    path = _file(Path(path))
    if path.suffix == ".npy":
        return Matrix(_mapped(path))
    found = _matrices(path)
    stored = _chosen(path, found, tensor)
    if 0 in stored.shape:
        raise EmbeddingsError(f"{quoted(stored.name)} in {path.name} has no rows or no columns.")
    role = "output" if stored.name in _OUTPUTS else ""
    if stored.name in _INPUTS:
        role = "input" if any(output in found for output in _OUTPUTS) else "tied"
    return Matrix(numpy.memmap(stored.path, stored.dtype, "r", stored.offset, stored.shape), stored.name, role)


def tensors_with_rows(path: str | os.PathLike[str], n_rows: int) -> list[str]:
    """Names of the tensors in such a file, index or folder that have `n_rows` rows or more, the usual names first.

    Only headers are read; a .npy file has no names. `EmbeddingsError` for a broken file, and if none has so many.
    """
    path = _file(Path(path))
    if path.suffix == ".npy":
        return []
    found = _matrices(path)
    most = max((stored.shape[0] for stored in found.values()), default=0)
    if most < n_rows:
        none = f"No tensor in {path.name} has a row for each of {n_rows:,} ids"
        raise EmbeddingsError(f"{none}; the largest has {most:,}.")
    names = dict.fromkeys([*_USUAL, *sorted(found)])
    return [name for name in names if name in found and found[name].shape[0] >= n_rows]


def _file(path: Path) -> Path:
    """The file to read: in a folder, the safetensors index, or else the only .safetensors file."""
    if not path.is_dir():
        return path
    index = path / "model.safetensors.index.json"
    files = [index] if index.is_file() else sorted(path.glob("*.safetensors"))
    if len(files) != 1:
        raise EmbeddingsError(f"There are {len(files)} files *.safetensors in {path}; name the one to read.")
    return files[0]


def _mapped(path: Path) -> "numpy.ndarray[Any, Any]":
    import numpy

    try:
        data: numpy.ndarray[Any, Any] = numpy.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise EmbeddingsError(f"{path.name} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        is_pickle = "Python objects" in str(error) or "pickle" in str(error)
        reason = "it holds Python objects, which are not loaded" if is_pickle else error
        raise EmbeddingsError(f"{path.name} is no matrix that can be used: {reason}.") from None
    if data.ndim != 2 or not data.size or data.dtype not in (numpy.float16, numpy.float32, numpy.float64):
        shape = " by ".join(map(str, data.shape)) or "a single number"
        raise EmbeddingsError(f"{path.name} is no matrix of floating-point numbers, but {shape} of {data.dtype}.")
    return data


class _Stored(NamedTuple):
    """A matrix of shape (rows, columns) in a file, stored row by row from `offset` on; `dtype` is that of numpy."""

    path: Path
    name: str
    dtype: str
    shape: tuple[int, int]
    offset: int


def _chosen(path: Path, found: dict[str, _Stored], tensor: str | None) -> _Stored:
    for name in _USUAL if tensor is None else (tensor,):
        if name in found:
            return found[name]
    missing = f"No matrix in {path.name} has a usual name of embeddings"
    if tensor is not None:
        missing = f"There is no matrix {quoted(tensor)} in {path.name}"
    largest = sorted(found.values(), key=lambda stored: (-stored.shape[0], stored.name))[:5]
    names = ", ".join(f"{quoted(one.name)} ({one.shape[0]:,} by {one.shape[1]:,})" for one in largest)
    raise EmbeddingsError(f"{missing}; {f'name one with --tensor, such as {names}' if found else 'it holds none'}.")


def _matrices(path: Path) -> dict[str, _Stored]:
    """Name -> matrix, of all tensors of two dimensions in a .safetensors file, or in all files that an index names."""
    is_index, parts = path.name.endswith(".json"), list[str]()
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = size if is_index else int.from_bytes(file.read(8), "little")
            if not is_index and not 2 <= length <= min(_LONGEST_HEADER, size - 8):
                raise ValueError("it has no header, or is cut off")
            content = untrusted_json.parse(file.read(length), most=_MOST_VALUES)
        if not isinstance(content, dict):
            raise ValueError("its header is no object")
        if is_index:
            parts = sorted(set(content["weight_map"].values()))
            if any(os.path.basename(part) != part or part.endswith(".json") for part in parts):
                raise ValueError("a part is not beside it")
    except OSError as error:
        raise EmbeddingsError(f"{path.name} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = "index of safetensors files" if is_index else "safetensors file"
        raise EmbeddingsError(f"{path.name} is no {what}: {error}.") from None
    if is_index:
        return {name: stored for part in parts for name, stored in _matrices(path.with_name(part)).items()}
    entries = ((name, entry) for name, entry in content.items() if name != "__metadata__")
    found = (_stored(path, name, entry, 8 + length, size) for name, entry in entries)
    return {stored.name: stored for stored in found if stored}


def _stored(path: Path, name: str, entry: Any, start: int, size: int) -> _Stored | None:
    """An entry of a header; None if it is no matrix that can be read. The data begin at `start`, of `size` in all."""
    try:
        dtype, shape, (begin, end) = _DTYPES.get(entry["dtype"]), entry["shape"], entry["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
            raise ValueError
        if len(shape) != 2 or dtype is None:
            return None
    except (KeyError, TypeError, ValueError):
        raise EmbeddingsError(f"{path.name} is no safetensors file: {quoted(name)} is not described there.") from None
    if start + end > size or end - begin != shape[0] * shape[1] * int(dtype[-1]):
        raise EmbeddingsError(f"{path.name} is cut off, or {quoted(name)} has another size than it says.")
    return _Stored(path, name, dtype, (shape[0], shape[1]), start + begin)
