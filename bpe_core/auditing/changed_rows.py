"""Write the embeddings of a model with other rows, for a vocabulary that has changed. This needs numpy.

Everything else in a .safetensors file is copied: other tensors, the metadata, and the type of numbers.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from bpe_core.auditing.matrix import USUAL_NAMES, SafetensorsFile, as_floats
from bpe_core.errors import EmbeddingsError
from bpe_core.process import installed
from bpe_core.visible import quoted

if TYPE_CHECKING:
    from bpe_core.auditing.matrix import Array

_ROWS_AT_A_TIME: Final = 4096
"""Maximum number of rows in memory at a time."""
_BIASES: Final = tuple(name.replace(".weight", ".bias") for name in USUAL_NAMES)
"""Biases of output embeddings, with a number for each id."""


class ChangedEmbeddings:
    """A .safetensors file of embeddings, and its rows after a change. Nothing is written before `write`."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        rows: Sequence[Sequence[int]],
        n_ids: int,
    ) -> None:
        """Open the file, and find the matrices with a row for each id.

        All matrices with usual names are changed, since input and output embeddings that are not tied are two
        matrices. If there are none, the only matrix with enough rows is changed.

        Args:
            source: A .safetensors file.
            rows: For each new id the old ids of which its row is made: one for a copy, several for their mean.
            n_ids: The rows that each matrix must have: one more than the highest old id.

        Raises:
            FetchError: numpy is not installed.
            EmbeddingsError: The file is broken, no such matrix is in it, or a matrix has too few rows.
        """
        installed("numpy", "A matrix of embeddings", "embeddings")
        path = Path(source)
        if path.suffix != ".safetensors":
            raise EmbeddingsError(
                f"{path.name} is not a .safetensors file; name the file that has the embeddings."
            )
        self._file = SafetensorsFile.open(path)
        known = self._file.matrices()
        names: list[str] = [name for name in USUAL_NAMES if name in known]
        if not names:
            names = [
                name
                for name, matrix in known.items()
                if matrix.ndim == 2 and len(matrix) >= n_ids
            ]
            if len(names) != 1:
                raise EmbeddingsError(
                    f"{path.name} has no matrix with a usual name of embeddings, such as lm_head.weight, and not "
                    f"exactly one with {n_ids:,} rows or more; rename the embeddings."
                )
        names += [name for name in _BIASES if name in known]
        self.matrices: dict[str, Array] = {name: known[name] for name in names}
        """The matrices to change, and their biases, by name."""
        self._rows: dict[str, list[Sequence[int]]] = {}
        """The same names -> for each new row the old rows that it is made from."""
        for name, matrix in self.matrices.items():
            if len(matrix) < n_ids:
                raise EmbeddingsError(
                    f"{quoted(name)} in {path.name} has {len(matrix):,} rows, and the tokenizer has ids up to "
                    f"{n_ids - 1:,}; name the embeddings of this tokenizer's model."
                )
            # Rows after the highest id belong to no token, and pad a matrix to a round number. They stay at the end.
            padding = range(max(n_ids, len(rows)), len(matrix))
            self._rows[name] = [*rows, *[(row,) for row in padding]]

    def write(self, file: IO[bytes], progress: Callable[[int, int], object]) -> None:
        """Write the file with the changed rows. `progress` receives the bytes written, and all."""
        tensors = sorted(self._file.tensors.items(), key=lambda item: item[1].start)
        header: dict[str, Any] = {}
        if self._file.metadata is not None:
            header["__metadata__"] = self._file.metadata
        end = 0
        for name, tensor in tensors:
            shape = list(tensor.shape)
            n_bytes = tensor.end - tensor.start
            if name in self._rows:
                n_bytes //= shape[0]
                shape[0] = len(self._rows[name])
                n_bytes *= shape[0]
            header[name] = {
                "dtype": tensor.number_type,
                "shape": shape,
                "data_offsets": [end, end + n_bytes],
            }
            end += n_bytes
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        file.write(len(text).to_bytes(8, "little") + text)
        done = 0
        for name, tensor in tensors:
            parts: Iterator[Array] = iter([self._file.data[tensor.start : tensor.end]])
            if name in self._rows:
                parts = _changed(self.matrices[name], self._rows[name])
            for part in parts:
                progress(done, end)
                done += file.write(part.data)


def _changed(matrix: "Array", rows: Sequence[Sequence[int]]) -> Iterator["Array"]:
    """Yield the new rows of a matrix, some at a time."""
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        some = rows[start : start + _ROWS_AT_A_TIME]
        part = matrix[[parts[0] for parts in some]]
        for place, parts in enumerate(some):
            if len(parts) > 1:
                part[place] = _mean(matrix[list(parts)])
        yield part


def _mean(rows: "Array") -> "Array":
    """Return the mean of rows, in the same type of number."""
    import numpy

    mean: Array = as_floats(rows).mean(axis=0, dtype=numpy.float64)
    if rows.dtype.kind != "u":
        return mean.astype(rows.dtype)
    # bfloat16 is the upper half of a float32, and is rounded to the nearest number, of two to the even one.
    bits: Array = mean.astype(numpy.float32).view(numpy.uint32)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return bits.astype(numpy.uint16)
