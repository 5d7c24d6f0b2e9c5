"""A matrix of embeddings, a row a token, mapped from its file and read in slices."""

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
"""What matrices are called that tokens go in by, the most usual name first."""
OUTPUTS: Final = ("lm_head.weight", "language_model.lm_head.weight", "output.weight", "embed_out.weight")
"""What matrices are called that tokens come out by; a model that has none uses that of the input, which is *tied*."""

_SLICE_BYTES: Final = 1 << 25
"""Of a slice, as numbers of 32 bits."""


class Matrix:
    """Rows of numbers, one for each id; what is read is 32 bits a number, whatever the file holds."""

    def __init__(self, data: "numpy.ndarray[Any, Any]", kind: str, name: str, role: str) -> None:
        self._data = data
        self._kind = kind
        self.name: Final = name
        """What the matrix is called in its file; "" in a file that holds nothing else."""
        self.role: Final = role
        """"input", "output", "tied" (both at once), or "" if its name does not tell."""
        self.n_rows, self.n_columns = map(int, data.shape)

    @property
    def slice_rows(self) -> int:
        """How many rows `slices` reads at a time."""
        return max(1, _SLICE_BYTES // (4 * self.n_columns))

    def rows(self, start: int, end: int) -> "numpy.ndarray[Any, Any]":
        """Some rows as a new array of float32; `start` and `end` as in a slice."""
        import numpy

        part = self._data[start:end]
        if self._kind == "BF16":  # the upper half of a float32
            return (part.astype(numpy.uint32) << 16).view(numpy.float32)
        return part.astype(numpy.float32)

    def slices(self) -> Iterator[tuple[int, "numpy.ndarray[Any, Any]"]]:
        """(first row, rows as float32), slice by slice; a pass over the whole matrix in constant memory."""
        for start in range(0, self.n_rows, self.slice_rows):
            yield start, self.rows(start, start + self.slice_rows)


def open_matrix(path: str | os.PathLike[str], tensor: str | None = None) -> Matrix:
    """The matrix of embeddings in a .safetensors file, the index of several, a folder that holds one, or a .npy file.

    Which tensor it is, is told by `tensor`; otherwise the usual names are looked for, that of the output first, since
    it tells more (see `indicators`). Raises `EmbeddingsError`: a sentence that names the candidates where none is
    usual, or says what is wrong with the file. Nothing is ever unpickled.
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


def _file(path: Path) -> Path:
    """The file to read; of a folder the index of its parts, or the only file there."""
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
    """The matrices of the most rows, as the end of a sentence."""
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
