"""Rows of embeddings are moved and added exactly, in every type of number, and everything else in the file stays."""

import io
import json

import numpy as np
import pytest

from bpe_core.auditing.changed_rows import ChangedEmbeddings
from bpe_core.errors import EmbeddingsError

RNG = np.random.default_rng(7)


def bf16(floats):
    """The upper halves of float32."""
    return (np.asarray(floats, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def as_floats(halves):
    return (halves.astype(np.uint32) << 16).view(np.float32)


def safetensors(tensors, metadata=None):
    """A file of tensors: name -> (type of number, array)."""
    header = {} if metadata is None else {"__metadata__": metadata}
    data = b""
    for name, (dtype, array) in tensors.items():
        offsets = [len(data), len(data) + array.nbytes]
        shape = list(array.shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def read_back(content):
    """(header, name -> bytes) of a file that `write` wrote."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    data = content[start:]
    assert start % 8 == 0  # as the library aligns it
    found = {}
    end = 0
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            assert first == end  # without holes, which the library refuses
            found[name] = data[first:last]
            end = last
    assert end == len(data)
    return header, found


def written(path, rows, n_ids):
    file = io.BytesIO()
    progress = []
    embeddings = ChangedEmbeddings(path, rows, n_ids)
    embeddings.write(file, lambda done, n: progress.append((done, n)))
    assert progress == sorted(progress) and progress[0][0] == 0
    return file.getvalue()


def copies(rows):
    return [(row,) for row in rows]


def model(dtype, array, rows=6):
    """Input and output embeddings with a bias, and tensors that have no row per token."""
    return {
        "norm": ("F32", RNG.normal(size=4).astype("<f4")),
        "wte.weight": (dtype, array),
        "positions": ("I64", np.arange(3, dtype="<i8")),
        "lm_head.weight": (dtype, array[::-1].copy()),
        "lm_head.bias": ("F32", np.arange(rows, dtype="<f4")),
        "square.weight": ("F32", RNG.normal(size=(6, 6)).astype("<f4")),
    }


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2"), ("BF16", "<u2")],
)
def test_rows_are_moved_and_everything_else_stays(dtype, kind, tmp_path, monkeypatch):
    monkeypatch.setattr("bpe_core.auditing.changed_rows._ROWS_AT_A_TIME", 3)
    floats = RNG.normal(size=(6, 3))
    array = bf16(floats) if dtype == "BF16" else floats.astype(kind)
    tensors = model(dtype, array)
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(tensors, {"format": "pt"}))
    # Ids 0 to 4, of which 1 and 3 are removed; the last row belongs to no token.
    header, found = read_back(written(path, copies([0, 2, 4]), 5))
    assert header["__metadata__"] == {"format": "pt"}
    assert [name for name in header if name != "__metadata__"] == list(tensors)
    for name, (number_type, before) in tensors.items():
        has_rows = name in ("wte.weight", "lm_head.weight", "lm_head.bias")
        after = before[[0, 2, 4, 5]] if has_rows else before
        assert header[name]["dtype"] == number_type
        assert header[name]["shape"] == list(after.shape)
        assert found[name] == after.tobytes(), name


def test_new_rows_are_the_mean_of_their_parts(tmp_path):
    floats = RNG.normal(size=(6, 5)).astype("<f4")
    parts = {5: (1, 1, 4), 6: (0, 2), 7: (3,)}  # the row 5 was there, for no token
    sources = [*copies(range(5)), *parts.values()]
    for dtype, array in (
        ("F32", floats),
        ("F64", floats.astype("<f8") / 3),
        ("F16", floats.astype("<f2")),
        ("BF16", bf16(floats)),
    ):
        path = tmp_path / "model.safetensors"
        path.write_bytes(safetensors({"wte.weight": (dtype, array)}))
        header, found = read_back(written(path, sources, 5))
        assert header["wte.weight"]["shape"] == [8, 5]
        rows = np.frombuffer(found["wte.weight"], array.dtype).reshape(8, 5)
        assert (rows[:5] == array[:5]).all()
        values = as_floats(array) if dtype == "BF16" else array
        for row, of in parts.items():
            mean = sum(values[part].astype("f8") for part in of) / len(of)
            if dtype != "BF16":
                assert (rows[row] == mean.astype(array.dtype)).all()
                continue
            for half, exact in zip(rows[row], mean, strict=True):
                # No neighbor is nearer.
                around = as_floats(np.array([half - 1, half, half + 1], np.uint16))
                distances = abs(around.astype("f8") - exact)
                assert distances[1] == min(distances)


def test_bf16_rounds_to_the_even_one_of_two(tmp_path):
    path = tmp_path / "model.safetensors"
    first, second = np.uint16(0x3F80), np.uint16(0x3F81)  # 1 and the next number
    third = np.uint16(0x3F82)
    array = np.array([[first], [second], [third]])
    path.write_bytes(safetensors({"wte.weight": ("BF16", array)}))
    _, found = read_back(written(path, [*copies(range(3)), (0, 1), (1, 2)], 3))
    rows = np.frombuffer(found["wte.weight"], "<u2")
    assert list(rows[3:]) == [0x3F80, 0x3F82]


def test_the_only_matrix_with_enough_rows_needs_no_usual_name(tmp_path):
    tensors = model("F32", RNG.normal(size=(6, 3)).astype("<f4"))
    tensors = {name: tensors[name] for name in ("norm", "square.weight")}
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(tensors))
    _, found = read_back(written(path, copies([1]), 6))
    assert found["square.weight"] == tensors["square.weight"][1][[1]].tobytes()
    assert found["norm"] == tensors["norm"][1].tobytes()


@pytest.mark.parametrize(
    ("content", "n_ids", "sentence"),
    [
        ({"wte.weight": 6}, 7, "'wte.weight' in model.safetensors has 6 rows, and"),
        ({"wte.weight": 6, "lm_head.weight": 5}, 6, "'lm_head.weight' in model"),
        ({"other": 5}, 6, "no matrix with a usual name .*, and not exactly one with 6"),
        ({"one": 6, "other": 7}, 6, "not exactly one with 6 rows or more; rename"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused(content, n_ids, sentence, tmp_path):
    arrays = {
        name: ("F32", np.zeros((n_rows, 2), "<f4")) for name, n_rows in content.items()
    }
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(arrays))
    with pytest.raises(EmbeddingsError, match=sentence):
        ChangedEmbeddings(path, copies([0]), n_ids)


def test_files_of_other_kinds_are_refused(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"x")
    with pytest.raises(EmbeddingsError, match=r"is not a \.safetensors file"):
        ChangedEmbeddings(path, [], 1)
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"")
    with pytest.raises(EmbeddingsError, match="is not a safetensors file"):
        ChangedEmbeddings(path, [], 1)
