"""Write the embeddings of a model with other rows, for a vocabulary that has changed. This needs numpy.

Everything else in a .safetensors file is copied: other tensors, the metadata, and the type of numbers.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from bpe_core.auditing.matrix import (
    USUAL_NAMES,
    SafetensorsFile,
    no_matrix,
    npy_matrix,
)
from bpe_core.errors import EmbeddingsError
from bpe_core.process import installed
from bpe_core.visible import quoted

if TYPE_CHECKING:
    from bpe_core.auditing.matrix import Array

_BLOCK: Final = 1 << 24
"""Bytes that are in memory at a time."""
OnWrite = Callable[[int, int], object]
"""Receives the progress: bytes written, bytes in all."""


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of a changed vocabulary: row i belongs to id i."""

    n_ids: int
    """The rows that each matrix must have before: one more than the highest id."""
    moved: Sequence[int] | None = None
    """The old row of each new row, in order; None if all rows stay."""
    added: Mapping[int, Sequence[int]] | None = None
    """The row of each new token -> the rows of its parts, whose mean it becomes."""

    def sources(self, n_rows: int) -> list[int]:
        """Return the old row of each new row of a matrix. A row that is added has any.

        Rows after the highest id belong to no token, and pad a matrix to a round number. They stay at the end.
        """
        if self.moved is not None:
            return [*self.moved, *range(self.n_ids, n_rows)]
        n_new_rows = max(self.added or (), default=-1) + 1
        return [*range(n_rows), *[0] * (n_new_rows - n_rows)]


class ChangedEmbeddings:
    """A file of embeddings, and the change of its rows. Nothing is written before `write`."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        change: RowChange,
        tensors: Sequence[str] = (),
    ) -> None:
        """Open the file, and find the matrices with a row for each id.

        Args:
            source: A .safetensors or .npy file.
            change: The change.
            tensors: The names of the matrices in a .safetensors file. By default all with usual names are changed, since
                input and output embeddings that are not tied are two matrices.

        Raises:
            FetchError: numpy is not installed.
            EmbeddingsError: The file is broken, no tensor has this name or a usual one, or a matrix has too few rows.
        """
        installed("numpy", "A matrix of embeddings", "embeddings")
        path = Path(source)
        self._change = change
        self._file: SafetensorsFile | None = None
        self.matrices: dict[str, Array] = {}
        """The matrices to change, and their biases. "" is the name in a .npy file."""
        if path.suffix == ".npy":
            self.matrices[""] = npy_matrix(path)
        elif path.suffix != ".safetensors":
            raise EmbeddingsError(
                f"{path.name} is not a .safetensors or .npy file; name the file that has the embeddings."
            )
        else:
            self._file = SafetensorsFile.open(path)
            self._find(self._file, tensors)
        for name, matrix in self.matrices.items():
            if len(matrix) < change.n_ids:
                label = f"{quoted(name)} in {path.name}" if name else path.name
                raise EmbeddingsError(
                    f"{label} has {len(matrix):,} rows, and the tokenizer has ids up to {change.n_ids - 1:,}; "
                    "name the embeddings of this tokenizer's model."
                )

    def _find(self, file: SafetensorsFile, tensors: Sequence[str]) -> None:
        floats = {name: file.matrix(name) for name in file.tensors}
        known = {
            name: matrix
            for name, matrix in floats.items()
            if matrix is not None and matrix.ndim == 2
        }
        for name in tensors:
            if name not in known:
                raise no_matrix(file.path, known, name)
        chosen = list(tensors) or [name for name in USUAL_NAMES if name in known]
        if not chosen:
            raise no_matrix(file.path, known)
        for name in chosen:
            self.matrices[name] = known[name]
            bias = floats.get(f"{name.removesuffix('.weight')}.bias")
            if bias is not None and len(bias) == len(known[name]):
                self.matrices[f"{name.removesuffix('.weight')}.bias"] = bias

    def write(self, file: IO[bytes], progress: OnWrite = lambda done, n: None) -> None:
        """Write the file with the changed rows, a block at a time."""
        if self._file is None:
            self._write_npy(file, progress)
            return
        tensors = sorted(self._file.tensors.items(), key=lambda item: item[1].start)
        header: dict[str, Any] = {}
        if self._file.metadata is not None:
            header["__metadata__"] = self._file.metadata
        end = 0
        for name, tensor in tensors:
            start, shape = end, tensor.shape
            end += tensor.end - tensor.start
            if name in self.matrices:
                matrix = self.matrices[name]
                n_rows = len(self._change.sources(len(matrix)))
                shape = [n_rows, *shape[1:]]
                end = start + n_rows * matrix[0].nbytes
            header[name] = {
                "dtype": tensor.number_type,
                "shape": shape,
                "data_offsets": [start, end],
            }
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        file.write(len(text).to_bytes(8, "little") + text)
        done = 0
        for name, _ in tensors:
            for block in self._blocks(self._file, name):
                progress(done, end)
                done += file.write(block)

    def _blocks(self, file: SafetensorsFile, name: str) -> Iterator[bytes]:
        """Yield the bytes of a tensor after the change."""
        if name in self.matrices:
            yield from self._rows(self.matrices[name])
            return
        tensor = file.tensors[name]
        for start in range(tensor.start, tensor.end, _BLOCK):
            yield file.data[start : min(start + _BLOCK, tensor.end)].tobytes()

    def _write_npy(self, file: IO[bytes], progress: OnWrite) -> None:
        from numpy.lib import format as untyped_format

        format: Any = untyped_format
        matrix = self.matrices[""]
        n_rows = len(self._change.sources(len(matrix)))
        description = {
            "descr": format.dtype_to_descr(matrix.dtype),
            "fortran_order": False,
            "shape": (n_rows, matrix.shape[1]),
        }
        format.write_array_header_1_0(file, description)
        n_bytes = n_rows * matrix[0].nbytes
        done = 0
        for block in self._rows(matrix):
            progress(done, n_bytes)
            done += file.write(block)

    def _rows(self, matrix: "Array") -> Iterator[bytes]:
        """Yield the rows of a matrix after the change."""
        sources = self._change.sources(len(matrix))
        added = self._change.added or {}
        n_rows = max(1, _BLOCK // matrix[0].nbytes)
        for start in range(0, len(sources), n_rows):
            rows = matrix[sources[start : start + n_rows]]
            for place in range(len(rows)):
                parts = added.get(start + place)
                if parts is not None:
                    rows[place] = _mean(matrix[list(parts)])
            yield rows.tobytes()


def _mean(rows: "Array") -> "Array":
    """Return the mean of rows, in the same type of number."""
    import numpy

    if rows.dtype.kind != "u":
        mean: Array = rows.mean(axis=0, dtype=numpy.float64).astype(rows.dtype)
        return mean
    # bfloat16 is the upper half of a float32, and is rounded to the nearest number, of two to the even one.
    floats = (rows.astype(numpy.uint32) << 16).view(numpy.float32)
    mean = floats.mean(axis=0, dtype=numpy.float64).astype(numpy.float32)
    bits: Array = mean.view(numpy.uint32)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return bits.astype(numpy.uint16)
