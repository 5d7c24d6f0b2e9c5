"""Open embedding matrices: a row for each id, memory-mapped from .npy and .safetensors files. This needs numpy.

A .safetensors file begins with the length of its header (8 bytes, little-endian), then comes the header, a JSON object:
name -> {"dtype", "shape", "data_offsets": [start, end]}, with offsets from the end of the header. It is read here
because the library `safetensors` can neither give bfloat16 to numpy nor map rows.
"""

import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bpe_core import untrusted_json
from bpe_core.errors import EmbeddingsError
from bpe_core.process import installed
from bpe_core.visible import quoted

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

# Usual names of tensors. A model without output embeddings uses its input embeddings, which are then called *tied*.
_INPUTS: Final = (
    "model.embed_tokens.weight",
    "language_model.model.embed_tokens.weight",
    "transformer.wte.weight",
    "wte.weight",
    "gpt_neox.embed_in.weight",
    "tok_embeddings.weight",
    "model.tok_embeddings.weight",
    "transformer.word_embeddings.weight",
    "embeddings.word_embeddings.weight",
)
_OUTPUTS: Final = (
    "lm_head.weight",
    "language_model.lm_head.weight",
    "output.weight",
    "embed_out.weight",
)
USUAL_NAMES: Final = _OUTPUTS + _INPUTS  # the most usual first
_LONGEST_HEADER: Final = 100_000_000  # bytes; the limit of the format
_MOST_VALUES: Final = 10_000_000  # JSON values of a header


class _NumberType(NamedTuple):
    numpy_name: str
    n_bytes: int


_NUMBER_TYPES: Final = {
    "F64": _NumberType("<f8", 8),
    "F32": _NumberType("<f4", 4),
    "F16": _NumberType("<f2", 2),
    "BF16": _NumberType("<u2", 2),
}


class Matrix(NamedTuple):
    """An embedding matrix, row i for id i, read as float32 from any type of number."""

    data: "Array"  # of shape (rows, columns); may hold bfloat16 as uint16
    name: str = ""  # of the tensor; "" for a .npy file
    is_input: bool = (
        False  # input embeddings of a model that also has output embeddings
    )

    def rows(self, start: int, end: int) -> "Array":
        """Return the rows from `start` to before `end` as a new float32 array of shape (rows, columns)."""
        import numpy

        return as_floats(self.data[start:end]).astype(numpy.float32)


def as_floats(rows: "Array") -> "Array":
    """Return rows as numbers that numpy knows, which bfloat16 are not."""
    import numpy

    if rows.dtype.kind != "u":
        return rows
    # bfloat16 is the upper half of a float32.
    return (rows.astype(numpy.uint32) << 16).view(numpy.float32)


def open_matrix(path: str | os.PathLike[str], tensor: str | None = None) -> Matrix:
    """Open an embedding matrix. Nothing is unpickled.

    Args:
        path: A .npy or .safetensors file, a safetensors index, or a folder with one of the last two.
        tensor: The name of the tensor; by default the most usual name in the file.

    Raises:
        FetchError: numpy is not installed.
        EmbeddingsError: The file is broken, or no tensor has this name, or a usual one.
    """
    path = _file(Path(path))
    if path.suffix == ".npy":
        return Matrix(npy_matrix(path))
    matrices = _matrices(path)
    candidates = USUAL_NAMES if tensor is None else (tensor,)
    for name in candidates:
        if name in matrices:
            has_outputs = not matrices.keys().isdisjoint(_OUTPUTS)
            return Matrix(matrices[name], name, name in _INPUTS and has_outputs)
    raise no_matrix(path, matrices, tensor)


def no_matrix(
    path: Path, matrices: "Mapping[str, Array]", tensor: str | None = None
) -> EmbeddingsError:
    """Return the error that there is no matrix of this name, or of a usual one, in a file."""
    name = "under a usual name of embeddings" if tensor is None else quoted(tensor)
    return EmbeddingsError(f"{path.name} has no matrix {name}; {_advice(matrices)}.")


def _advice(matrices: "Mapping[str, Array]") -> str:
    if not matrices:
        return "it has no matrices at all"
    largest = sorted(matrices, key=lambda name: (-len(matrices[name]), name))[:5]
    described: list[str] = []
    for name in largest:
        n_rows, n_columns = matrices[name].shape
        described.append(f"{quoted(name)} ({n_rows:,} by {n_columns:,})")
    return f"choose one with --tensor, such as {', '.join(described)}"


def npy_matrix(path: Path) -> "Array":
    import numpy

    try:
        data: Array = numpy.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise EmbeddingsError(
            f"{path.name} cannot be read: {error.strerror or error}."
        ) from None
    except ValueError as error:
        reason = str(error)
        if "Python objects" in reason or "pickle" in reason:
            reason = "it contains Python objects, which are not loaded"
        raise EmbeddingsError(
            f"{path.name} is not a matrix that can be used: {reason}."
        ) from None
    is_float = data.dtype in (numpy.float16, numpy.float32, numpy.float64)
    if data.ndim != 2 or not data.size or not is_float:
        shape = " by ".join(map(str, data.shape)) or "a single number"
        raise EmbeddingsError(
            f"{path.name} is not a matrix of floating-point numbers, but {shape} of {data.dtype}."
        )
    return data


def tensors_with_rows(path: str | os.PathLike[str], n_rows: int) -> list[str]:
    """Return the names of the tensors with at least `n_rows` rows, the usual names first.

    Reads only headers. `path` is as in `open_matrix`; a .npy file has no names.

    Raises:
        EmbeddingsError: The file is broken, or no tensor has enough rows.
    """
    path = _file(Path(path))
    if path.suffix == ".npy":
        return []
    matrices = _matrices(path)
    most_rows = max(map(len, matrices.values()), default=0)
    if most_rows < n_rows:
        raise EmbeddingsError(
            f"No tensor in {path.name} has a row for each of {n_rows:,} ids; the largest has {most_rows:,}."
        )
    names = dict.fromkeys(list(USUAL_NAMES) + sorted(matrices))
    return [
        name for name in names if name in matrices and len(matrices[name]) >= n_rows
    ]


def _file(path: Path) -> Path:
    """Return the file to read: in a folder, the safetensors index, or else the only .safetensors file."""
    installed("numpy", "A matrix of embeddings", "embeddings")
    if not path.is_dir():
        return path
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return index
    files = sorted(path.glob("*.safetensors"))
    if len(files) != 1:
        raise EmbeddingsError(
            f"{path} has {len(files)} files *.safetensors; name the one to read."
        )
    return files[0]


def _matrices(path: Path) -> "dict[str, Array]":
    """Map all tensors with rows and columns in a .safetensors file, or in all files that an index names."""
    if not path.name.endswith(".json"):
        return _matrices_in_file(path)
    matrices: dict[str, Array] = {}
    for part in _parts_of_index(path):
        matrices.update(_matrices_in_file(path.with_name(part)))
    return matrices


def _parts_of_index(path: Path) -> list[str]:
    """Return the names of the files that an index names."""
    try:
        index = untrusted_json.parse(path.read_bytes(), most=_MOST_VALUES)
        parts: list[str] = sorted(set(index["weight_map"].values()))
        for part in parts:
            if os.path.basename(part) != part or part.endswith(".json"):
                raise ValueError("a part is not in the same folder")
    except OSError as error:
        raise EmbeddingsError(
            f"{path.name} cannot be read: {error.strerror}."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbeddingsError(
            f"{path.name} is not an index of safetensors files: {error}."
        ) from None
    return parts


def _matrices_in_file(path: Path) -> "dict[str, Array]":
    matrices = SafetensorsFile.open(path).matrices()
    return {name: matrix for name, matrix in matrices.items() if matrix.ndim == 2}


class Tensor(NamedTuple):
    """The description of a tensor in a header."""

    number_type: str
    shape: list[int]
    start: int  # bytes from the end of the header
    end: int


class SafetensorsFile(NamedTuple):
    """A .safetensors file, memory-mapped."""

    path: Path
    data: "Array"
    """The bytes after the header."""
    tensors: dict[str, Tensor]
    metadata: Any
    """What the header has under "__metadata__", or None."""

    @classmethod
    def open(cls, path: Path) -> "SafetensorsFile":
        """Read the header. Raises `EmbeddingsError` if the file can't be read or is broken."""
        import numpy

        try:
            data = numpy.memmap(path, mode="r")
            start = 8 + int.from_bytes(data[:8].tobytes(), "little")
            if not 10 <= start <= min(8 + _LONGEST_HEADER, len(data)):
                raise ValueError("it has no header, or is cut off")
            header = untrusted_json.parse(data[8:start].tobytes(), most=_MOST_VALUES)
            if not isinstance(header, dict):
                raise ValueError("its header is not an object")
        except OSError as error:
            raise EmbeddingsError(
                f"{path.name} cannot be read: {error.strerror}."
            ) from None
        except ValueError as error:
            raise EmbeddingsError(
                f"{path.name} is not a safetensors file: {error}."
            ) from None
        metadata = header.pop("__metadata__", None)
        tensors = {name: _tensor(path, name, entry) for name, entry in header.items()}
        return cls(path, data[start:], tensors, metadata)

    def matrices(self) -> "dict[str, Array]":
        """Return the tensors of floating-point numbers with one or two dimensions.

        Raises `EmbeddingsError` if the data of one have another size than the header says.
        """
        matrices: dict[str, Array] = {}
        for name, tensor in self.tensors.items():
            number_type = _NUMBER_TYPES.get(tensor.number_type)
            has_rows = len(tensor.shape) in (1, 2) and all(tensor.shape)
            if not has_rows or number_type is None:
                continue
            n_bytes = prod(tensor.shape) * number_type.n_bytes
            if tensor.end > len(self.data) or tensor.end - tensor.start != n_bytes:
                raise EmbeddingsError(
                    f"{self.path.name} is cut off, or the size of {quoted(name)} is not what its header says."
                )
            values = self.data[tensor.start : tensor.end].view(number_type.numpy_name)
            matrices[name] = values.reshape(tensor.shape)
        return matrices


def _tensor(path: Path, name: str, entry: Any) -> Tensor:
    try:
        start, end = entry["data_offsets"]
        tensor = Tensor(entry["dtype"], entry["shape"], start, end)
        for number in (*tensor.shape, start, end):
            if type(number) is not int or number < 0:
                raise ValueError
        hash(tensor.number_type)
    except (KeyError, TypeError, ValueError):
        raise EmbeddingsError(
            f"{path.name} is not a safetensors file: its header does not describe {quoted(name)}."
        ) from None
    return tensor
