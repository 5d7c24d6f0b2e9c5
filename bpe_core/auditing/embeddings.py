"""Tokens whose rows in a model's embeddings look untrained, by indicators: the lower, the less trained a row looks.

Source: S. Land and M. Bartolo, "Fishing for Magikarp" (2024, arXiv 2405.05417). The row of a token that the model never
sees stays near its initialization (input embeddings), or is pushed in a direction common to all such tokens (output
embeddings, and tied ones, which are both). With u the mean of rows known to be unused, and m that of all rows:

- "norm" = |row|, for input embeddings: weight decay shrinks rows that no token updates;
- "cosine" = 1 - cos(row - m, u - m), for output and tied embeddings;
- "cosine-pc" = 1 - cos(row', u'), where ' projects out c, the first principal component of the rows as they are: what
  nearly all rows share. Of row - m the first component may be the very direction of the untrained rows, and with it all
  that tells them from the others would be gone;
- "distance" = |row - u|.

A matrix is read slice by slice, in one pass, one more for "cosine", `_ROUNDS` more for "cosine-pc". Memory: a slice,
and a number for each row. Needs numpy, of the extra [embeddings].

The matrix, a row for each id, is memory-mapped from a .npy or .safetensors file. The latter begins with the length of
its header (8 bytes, little-endian), then the header, a JSON object: name -> {"dtype", "shape", "data_offsets": [begin,
end]}, with offsets from the end of the header. It is read here because the library `safetensors` can neither give
bfloat16 to numpy nor map rows.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bpe_core import untrusted_json
from bpe_core.auditing.findings import Finding, OnStage, Severity
from bpe_core.auditing.subject import AuditSubject
from bpe_core.errors import EmbeddingsError
from bpe_core.process import installed
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import UNUSED_BYTES, incomplete_ends
from bpe_core.visible import quoted

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

INDICATORS: Final[Mapping[str, str]] = {
    "norm": "the length of its row",
    "cosine": "the distance in direction from rows never used",
    "cosine-pc": "the same without the first principal component",
    "distance": "the distance from the mean of rows never used",
}
"""Name -> what it measures, as a part of a sentence."""

_MIN_UNUSED: Final = 3  # rows known to be unused that u is computed from
_ROUNDS: Final = 6  # passes in search of the first component: it is so dominant that more change no ranking
_VECTORS: Final = 4  # searched for at the same time, so that a second strong component slows nothing down
_PASSES: Final = {
    "norm": 1,
    "distance": 1,
    "cosine": 2,
    "cosine-pc": 1 + _ROUNDS,
}  # over the matrix

# Usual names of tensors; a model without output embeddings uses its input embeddings, which are *tied* then.
_INPUTS: Final = (
    *(
        "model.embed_tokens.weight",
        "language_model.model.embed_tokens.weight",
        "transformer.wte.weight",
        "wte.weight",
    ),
    *(
        "gpt_neox.embed_in.weight",
        "tok_embeddings.weight",
        "model.tok_embeddings.weight",
    ),
    *("transformer.word_embeddings.weight", "embeddings.word_embeddings.weight"),
)
_OUTPUTS: Final = (
    "lm_head.weight",
    "language_model.lm_head.weight",
    "output.weight",
    "embed_out.weight",
)
_USUAL: Final = (*_OUTPUTS, *_INPUTS)  # the most usual first
_SLICE_BYTES: Final = 1 << 25  # of a slice, as float32
_LONGEST_HEADER: Final = 100_000_000  # bytes; the limit of the format
_MOST_VALUES: Final = 10_000_000
_DTYPES: Final = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
}  # dtype -> that of numpy, with its bytes


class Matrix(NamedTuple):
    """An embedding matrix, row i for id i; read as float32, whatever the file holds."""

    data: "Array"  # of shape (rows, columns); may hold bfloat16 as uint16
    name: str = ""  # that of the tensor; none in a .npy file
    is_input: bool = (
        False  # input embeddings of a model that has output embeddings, too
    )

    def rows(self, start: int, end: int) -> "Array":
        """Rows `start` to `end`, exclusive, as a new float32 array of shape (rows, columns)."""
        import numpy

        part = self.data[start:end]
        if part.dtype.kind == "u":  # bfloat16, the upper half of a float32
            return (part.astype(numpy.uint32) << 16).view(numpy.float32)
        return part.astype(numpy.float32)


def open_matrix(path: str | os.PathLike[str], tensor: str | None = None) -> Matrix:
    """The embedding matrix in a .npy or .safetensors file, in the files of a safetensors index, or in such a folder.

    `tensor` is the name of the tensor; by default the most usual one that is there. Nothing is unpickled. Raises
    `FetchError` without numpy, `EmbeddingsError` for a broken file, and if no tensor has a usual name; it names some.
    """
    path = _file(Path(path))
    if path.suffix == ".npy":
        import numpy

        try:
            data: Array = numpy.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise EmbeddingsError(
                f"{path.name} cannot be read: {error.strerror or error}."
            ) from None
        except ValueError as error:
            is_pickle = "Python objects" in str(error) or "pickle" in str(error)
            reason = (
                "it holds Python objects, which are not loaded" if is_pickle else error
            )
            raise EmbeddingsError(
                f"{path.name} is no matrix that can be used: {reason}."
            ) from None
        if (
            data.ndim != 2
            or not data.size
            or data.dtype not in (numpy.float16, numpy.float32, numpy.float64)
        ):
            shape = " by ".join(map(str, data.shape)) or "a single number"
            raise EmbeddingsError(
                f"{path.name} is no matrix of floating-point numbers, but {shape} of {data.dtype}."
            )
        return Matrix(data)
    found = _matrices(path)
    name = next(
        (name for name in (_USUAL if tensor is None else (tensor,)) if name in found),
        None,
    )
    if name is None:
        missing = f"No matrix in {path.name} has a usual name of embeddings"
        if tensor is not None:
            missing = f"There is no matrix {quoted(tensor)} in {path.name}"
        largest = sorted(found, key=lambda one: (-len(found[one]), one))[:5]
        names = ", ".join(
            f"{quoted(one)} ({len(found[one]):,} by {found[one].shape[1]:,})"
            for one in largest
        )
        raise EmbeddingsError(
            f"{missing}; {f'name one with --tensor, such as {names}' if found else 'it holds none'}."
        )
    return Matrix(
        found[name], name, name in _INPUTS and not found.keys().isdisjoint(_OUTPUTS)
    )


def tensors_with_rows(path: str | os.PathLike[str], n_rows: int) -> list[str]:
    """Names of the tensors in such a file, index or folder that have `n_rows` rows or more, the usual names first.

    Only headers are read; a .npy file has no names. `EmbeddingsError` for a broken file, and if none has so many.
    """
    path = _file(Path(path))
    if path.suffix == ".npy":
        return []
    found = _matrices(path)
    most = max(map(len, found.values()), default=0)
    if most < n_rows:
        none = f"No tensor in {path.name} has a row for each of {n_rows:,} ids"
        raise EmbeddingsError(f"{none}; the largest has {most:,}.")
    names = dict.fromkeys([*_USUAL, *sorted(found)])
    return [name for name in names if name in found and len(found[name]) >= n_rows]


def _file(path: Path) -> Path:
    """The file to read: in a folder, the safetensors index, or else the only .safetensors file."""
    installed("numpy", "A matrix of embeddings", "embeddings")
    if not path.is_dir():
        return path
    index = path / "model.safetensors.index.json"
    files = [index] if index.is_file() else sorted(path.glob("*.safetensors"))
    if len(files) != 1:
        raise EmbeddingsError(
            f"There are {len(files)} files *.safetensors in {path}; name the one to read."
        )
    return files[0]


def _matrices(path: Path) -> "dict[str, Array]":
    """Name -> matrix, mapped, of all tensors with rows and columns in a .safetensors file, or in all that an index
    names."""
    import numpy

    is_index, parts = path.name.endswith(".json"), list[str]()
    try:
        data = numpy.memmap(path, mode="r")
        start = 0 if is_index else 8 + int.from_bytes(data[:8].tobytes(), "little")
        if not is_index and not 10 <= start <= min(8 + _LONGEST_HEADER, len(data)):
            raise ValueError("it has no header, or is cut off")
        content = untrusted_json.parse(
            (data if is_index else data[8:start]).tobytes(), most=_MOST_VALUES
        )
        if not isinstance(content, dict):
            raise ValueError("its header is no object")
        if is_index:
            parts = sorted(set(content["weight_map"].values()))
            if any(
                os.path.basename(part) != part or part.endswith(".json")
                for part in parts
            ):
                raise ValueError("a part is not beside it")
    except OSError as error:
        raise EmbeddingsError(
            f"{path.name} cannot be read: {error.strerror}."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = "index of safetensors files" if is_index else "safetensors file"
        raise EmbeddingsError(f"{path.name} is no {what}: {error}.") from None
    if is_index:
        return {
            name: matrix
            for part in parts
            for name, matrix in _matrices(path.with_name(part)).items()
        }
    found: dict[str, Array] = {}
    for name, entry in content.items():
        if name == "__metadata__":
            continue
        try:
            dtype, shape, (begin, end) = (
                _DTYPES.get(entry["dtype"]),
                entry["shape"],
                entry["data_offsets"],
            )
            if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise EmbeddingsError(
                f"{path.name} is no safetensors file: {quoted(name)} is not described there."
            ) from None
        if len(shape) == 2 and all(shape) and dtype is not None:
            if start + end > len(data) or end - begin != shape[0] * shape[1] * int(
                dtype[-1]
            ):
                raise EmbeddingsError(
                    f"{path.name} is cut off, or {quoted(name)} has another size than it says."
                )
            found[name] = data[start + begin : start + end].view(dtype).reshape(shape)
    return found


def undertrained(
    subject: AuditSubject, matrix: Matrix, name: str | None = None
) -> Iterator[Finding]:
    """Ordinary tokens whose rows hold no numbers, then those at or below the 2nd percentile, the lowest first.

    Ordinary are tokens that are neither special, nor in `unused_rows`, nor incomplete UTF-8. `name` is one of
    `INDICATORS`. None chooses "norm" for untied input embeddings, or with too few unused rows, otherwise "cosine":
    norms mislead on tied matrices, where the rows of tokens that never occur grow long, and cosines are meaningless for
    untied input embeddings, where such rows keep their random directions.

    Sets `subject.indicators` and `subject.ranked`. Evidence: "indicator" (its name), "value", "threshold" (the 2nd
    percentile), "median" of ordinary tokens, "percentile" of the value among them (0 to 100), "tensor" (the matrix).
    Raises `EmbeddingsError` as `indicator` does, and for ids that have no row.
    """
    import numpy

    n_rows = len(matrix.data)
    unused = unused_rows(subject.tokenizer, n_rows)
    skipped = set(unused)
    tokens = dict(subject.tokens("embeddings"))
    ordinary = [
        token
        for token, data in tokens.items()
        if token not in skipped and incomplete_ends(data) is None
    ]
    name = name or (
        "norm" if matrix.is_input or len(unused) < _MIN_UNUSED else "cosine"
    )
    if ordinary and max(ordinary) >= n_rows:
        sizes = f"The matrix has {n_rows:,} rows, and the tokenizer ids up to {max(ordinary):,}"
        raise EmbeddingsError(f"{sizes}: they do not belong together.")
    numbers = indicator(matrix, name, unused, subject.progress).tolist()
    values = {
        token: numbers[token]
        for token in tokens
        if token < len(numbers) and math.isfinite(numbers[token])
    }
    ranked = sorted(values[token] for token in ordinary if token in values)
    subject.indicators, subject.ranked = values, ranked
    for token in ordinary:
        if token not in values:
            reason = "Its row holds values that are no numbers (NaN or infinity), so the model cannot use it."
            evidence = {"indicator": name, "value": None, "tensor": matrix.name}
            yield subject.finding(
                token, "undertrained", Severity.PROBLEM, reason, **evidence
            )
    median = ranked[len(ranked) // 2] if ranked else 0.0
    threshold = (
        float(numpy.percentile(numpy.array(ranked, numpy.float32), 2))
        if ranked
        else -math.inf
    )
    low = [
        (value, token)
        for token in ordinary
        if (value := values.get(token, math.inf)) <= threshold
    ]
    for value, token in sorted(low):
        percentile = subject.percentile(token)
        reason = (
            f"Its row looks untrained: {INDICATORS[name]} is {value:.4g}, of ordinary tokens {median:.4g} "
            f"at the median (percentile {percentile:.2g})."
        )
        found = {
            "indicator": name,
            "value": value,
            "threshold": threshold,
            "median": median,
            "percentile": percentile,
        }
        yield subject.finding(
            token, "undertrained", Severity.WARNING, reason, **found, tensor=matrix.name
        )


def unused_rows(tokenizer: Tokenizer, n_rows: int) -> list[int]:
    """The rows, of `n_rows`, that no text can have trained: those of no id, and of the bytes UTF-8 never contains."""
    vocabulary = tokenizer.vocabulary
    known = set(vocabulary.ids())
    never = {bytes([byte]) for byte in UNUSED_BYTES}
    return [
        row
        for row in range(n_rows)
        if row not in known or vocabulary.token_bytes(row) in never
    ]


def indicator(
    matrix: Matrix, name: str, unused: Sequence[int], progress: OnStage | None = None
) -> "Array":
    """The indicator `name` of each row: float32 of shape (n_rows,), NaN where the row has a NaN.

    `progress` is called with the rows done and in all, over all passes together. Raises `EmbeddingsError` for an
    unknown name, and for too few rows known to be `unused`.
    """
    import numpy

    if name not in INDICATORS:
        raise EmbeddingsError(
            f"There is no indicator {name!r}; choose one of {', '.join(INDICATORS)}."
        )
    if name != "norm" and len(unused) < _MIN_UNUSED:
        few = f"Only {len(unused)} rows are known to be unused"
        raise EmbeddingsError(f"{few}, and {name} needs {_MIN_UNUSED}; choose norm.")
    n_rows, n_columns = matrix.data.shape
    at_once = max(1, _SLICE_BYTES // (4 * n_columns))
    done, total = 0, n_rows * _PASSES[name]

    def slices() -> "Iterator[Array]":
        nonlocal done
        for start in range(0, n_rows, at_once):
            if progress:
                progress(done, total, "embeddings")
            yield (rows := matrix.rows(start, start + at_once))
            done += len(rows)

    mean = component = None
    if name == "cosine":
        mean = _mean(slices())
    if name == "cosine-pc":
        component = _first_component(slices, n_columns)

    def reduced(rows: Any) -> Any:
        """Rows (or one) without their mean, or without their part in the first component."""
        if mean is not None:
            return rows - mean
        if component is not None:
            return rows - (rows @ component)[..., None] * component
        return rows

    center: Array | float = 0.0
    if name != "norm":
        known = _sound(numpy.concatenate([matrix.rows(row, row + 1) for row in unused]))
        if not len(known):
            raise EmbeddingsError(
                "None of the rows known to be unused holds numbers only; choose norm."
            )
        center = reduced(known.mean(axis=0))

    def measure(rows: Any) -> Any:
        if not name.startswith("cosine"):
            return numpy.linalg.norm(rows - center, axis=1)
        rows = reduced(rows)
        lengths = numpy.linalg.norm(rows, axis=1)
        lengths[lengths == 0] = 1.0
        return 1 - (rows @ center) / (
            lengths * (float(numpy.linalg.norm(center)) or 1.0)
        )

    return numpy.concatenate([measure(rows) for rows in slices()])


def _sound(rows: Any) -> Any:
    """Return the rows that hold no NaN and nothing infinite."""
    import numpy

    return rows[numpy.isfinite(rows).all(axis=1)]


def _mean(slices: "Iterable[Array]") -> "Array":
    """Return the mean of all rows: float32 of shape (n_columns,)."""
    import numpy

    total: Any = 0.0
    n_rows = 0
    for rows in map(_sound, slices):
        total = total + rows.sum(axis=0, dtype=numpy.float64)
        n_rows += len(rows)
    mean = total / max(1, n_rows)
    return numpy.asarray(mean, numpy.float32)


def _first_component(
    slices: "Callable[[], Iterable[Array]]", n_columns: int
) -> "Array":
    """Return the first right singular vector of all rows, of length 1: float32 of shape (n_columns,).

    This is subspace iteration: `_VECTORS` directions are multiplied by rows.T @ rows `_ROUNDS` times, and made
    orthogonal each time. The first component is the best combination of those.
    """
    import numpy

    n_vectors = min(_VECTORS, n_columns)
    random = numpy.random.default_rng(0)
    directions = random.standard_normal((n_columns, n_vectors)).astype(numpy.float32)
    products = directions
    for _ in range(_ROUNDS):
        directions = numpy.linalg.qr(products)[0].astype(numpy.float32)
        products = numpy.zeros((n_columns, n_vectors), numpy.float64)
        for rows in map(_sound, slices()):
            products += rows.T @ (rows @ directions)
    _, combinations = numpy.linalg.eigh(
        directions.T @ products
    )  # the largest eigenvalue comes last
    component = directions @ combinations[:, -1]
    length = float(numpy.linalg.norm(component)) or 1.0
    return numpy.asarray(component / length, numpy.float32)
