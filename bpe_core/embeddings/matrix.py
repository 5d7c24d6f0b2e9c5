"""An embedding matrix, a row for each id, memory-mapped from its file and read in slices."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bpe_core.embeddings.safetensors import Stored, matrices
from bpe_core.errors import EmbeddingsError
from bpe_core.visible import quoted

if TYPE_CHECKING:
    import numpy

INPUTS: Final = (
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
"""Names of tensors with input embeddings, the most usual first."""
OUTPUTS: Final = ("lm_head.weight", "language_model.lm_head.weight", "output.weight", "embed_out.weight")
"""Names of tensors with output embeddings; a model without one uses its input embeddings, which are *tied* then."""

_SLICE_BYTES: Final = 1 << 25
"""Bytes of a slice, as float32."""


class Matrix:
    """An embedding matrix of shape (n_rows, n_columns), row i for id i; read as float32, whatever the file holds."""

    def __init__(self, data: "numpy.ndarray[Any, Any]", kind: str, name: str, role: str) -> None:
        self._data = data
        self._kind = kind
        self.name: Final = name
        """The name of the tensor in its file; "" for a .npy file."""
        self.role: Final = role
        """"input", "output", "tied" (both at once), or "" if the name of the tensor is not known."""
        self.n_rows, self.n_columns = map(int, data.shape)

    @property
    def slice_rows(self) -> int:
        """How many rows `slices` reads at a time."""
        return max(1, _SLICE_BYTES // (4 * self.n_columns))

    def rows(self, start: int, end: int) -> "numpy.ndarray[Any, Any]":
        """Rows `start` to `end`, exclusive, as a new float32 array of shape (rows, n_columns)."""
        import numpy

        part = self._data[start:end]
        if self._kind == "BF16":  # the upper half of a float32
            return (part.astype(numpy.uint32) << 16).view(numpy.float32)
        return part.astype(numpy.float32)

    def slices(self) -> Iterator[tuple[int, "numpy.ndarray[Any, Any]"]]:
        """(index of the first row, rows as float32) of consecutive slices, in constant memory."""
        for start in range(0, self.n_rows, self.slice_rows):
            yield start, self.rows(start, start + self.slice_rows)


def open_matrix(path: str | os.PathLike[str], tensor: str | None = None) -> Matrix:
    """The embedding matrix in a .npy or .safetensors file, in the files of a safetensors index, or in such a folder.

    `tensor` is the name of the tensor; by default the first of `OUTPUTS` and `INPUTS` that is there. Nothing is ever
    unpickled. Raises `EmbeddingsError` if numpy is not installed, a file cannot be read or is broken, or no tensor has
    a known name; that error names the candidates.
    """
    try:
        import numpy
    except ImportError:
        raise EmbeddingsError("Embeddings need numpy, of the extra [embeddings]: pip install numpy.") from None
    path = _file(Path(path))
    if path.suffix == ".npy":
        try:
            data = numpy.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise EmbeddingsError(f"{path.name} cannot be read: {error.strerror or error}.") from None
        except ValueError as error:
            reason = (
                "it holds Python objects, which are not loaded"
                if "Python objects" in str(error) or "pickle" in str(error)
                else error
            )
            raise EmbeddingsError(f"{path.name} is no matrix that can be used: {reason}.") from None
        if data.ndim != 2 or data.dtype not in (numpy.float16, numpy.float32, numpy.float64):
            shape = " by ".join(map(str, data.shape)) or "a single number"
            raise EmbeddingsError(f"{path.name} is no matrix of floating-point numbers, but {shape} of {data.dtype}.")
        return Matrix(data, "", "", "")
    found = matrices(path)
    stored = _chosen(path, found, tensor)
    kind = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}[stored.kind]
    if not stored.shape[0] or not stored.shape[1]:
        raise EmbeddingsError(f"{quoted(stored.name)} in {path.name} has no rows or no columns.")
    data = numpy.memmap(stored.path, numpy.dtype(kind), "r", stored.offset, stored.shape)
    return Matrix(data, stored.kind, stored.name, _role(stored.name, found))


def tensors_with_rows(path: str | os.PathLike[str], n_rows: int) -> list[str]:
    """Names of the tensors in such a file, index or folder that have `n_rows` rows or more, the usual names first.

    Only headers are read; none of a .npy file, whose matrix has no name. Raises `EmbeddingsError` for a file that
    cannot be read or is broken, and if none of its tensors has so many rows.
    """
    path = _file(Path(path))
    if path.suffix == ".npy":
        return []
    found = matrices(path)
    usual = [name for name in (*OUTPUTS, *INPUTS) if name in found]
    names = [name for name in dict.fromkeys([*usual, *sorted(found)]) if found[name].shape[0] >= n_rows]
    if not names:
        most = max((stored.shape[0] for stored in found.values()), default=0)
        raise EmbeddingsError(
            f"No tensor in {path.name} has a row for each of {n_rows:,} ids; the largest has {most:,}."
            if found
            else f"{path.name} holds no matrix."
        )
    return names


def _file(path: Path) -> Path:
    """The file to read: in a folder, the safetensors index, or else the only .safetensors file."""
    if not path.is_dir():
        return path
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return index
    files = sorted(path.glob("*.safetensors"))
    if len(files) != 1:
        raise EmbeddingsError(f"There are {len(files)} files *.safetensors in {path}; name the one to read.")
    return files[0]


def _chosen(path: Path, found: dict[str, Stored], tensor: str | None) -> Stored:
    if tensor is not None:
        if tensor not in found:
            raise EmbeddingsError(f"There is no matrix {quoted(tensor)} in {path.name}{_candidates(found)}")
        return found[tensor]
    for name in (*OUTPUTS, *INPUTS):
        if name in found:
            return found[name]
    raise EmbeddingsError(f"No matrix in {path.name} has a usual name of embeddings{_candidates(found)}")


def _candidates(found: dict[str, Stored]) -> str:
    """The names of the matrices with most rows, as the end of a sentence."""
    if not found:
        return "; it holds none."
    names = sorted(found, key=lambda name: (-found[name].shape[0], name))[:5]
    shown = ", ".join(f"{quoted(name)} ({found[name].shape[0]:,} by {found[name].shape[1]:,})" for name in names)
    return f"; name one with --tensor, such as {shown}."


def _role(name: str, found: dict[str, Stored]) -> str:
    if name in OUTPUTS:
        return "output"
    if name in INPUTS:
        return "input" if any(output in found for output in OUTPUTS) else "tied"
    return ""
