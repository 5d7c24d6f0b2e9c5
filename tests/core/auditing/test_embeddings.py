"""Matrices of embeddings as they lie in files, and the rows in them that look untrained."""

import json
import math

import numpy
import pytest

from bpe_core import audit, save, train
from bpe_core.auditing.embeddings import INDICATORS, indicator, unused_rows
from bpe_core.auditing.matrix import Matrix, open_matrix, tensors_with_rows
from bpe_core.cli.main import main
from bpe_core.errors import EmbeddingsError

RNG = numpy.random.default_rng(7)
ROWS = RNG.standard_normal((50, 8)).astype(numpy.float32)


def written(path, tensors, tail=b""):
    """A .safetensors file, made from the description of the format."""
    head, data = {}, b""
    for name, (kind, array) in tensors.items():
        raw = array.tobytes()
        head[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data + tail)
    return path


def as_bfloat16(rows):
    return (rows.view(numpy.uint32) >> 16).astype(numpy.uint16)


@pytest.mark.parametrize(
    ("kind", "array", "error"),
    [
        ("F32", ROWS, 0),
        ("F16", ROWS.astype(numpy.float16), 2e-3),
        ("F64", ROWS.astype(numpy.float64), 1e-6),
        ("BF16", as_bfloat16(ROWS), 2e-2),
    ],
)
def test_each_kind_of_number_is_read(tmp_path, kind, array, error):
    path = written(
        tmp_path / "m.safetensors",
        {"lm_head.weight": (kind, array), "other": ("F32", ROWS[:1])},
    )
    matrix = open_matrix(path)
    assert matrix.data.shape == (50, 8) and not matrix.is_input
    assert numpy.abs(matrix.rows(3, 9) - ROWS[3:9]).max() <= error
    assert numpy.abs(matrix.rows(0, 50) - ROWS).max() <= error


def test_npy_is_mapped_and_parts_are_found_by_their_index_or_their_folder(tmp_path):
    numpy.save(tmp_path / "m.npy", ROWS)
    assert (open_matrix(tmp_path / "m.npy").rows(0, 50) == ROWS).all()
    written(tmp_path / "a.safetensors", {"x": ("F32", ROWS)})
    written(tmp_path / "b.safetensors", {"model.embed_tokens.weight": ("F32", ROWS)})
    index = {
        "weight_map": {
            "x": "a.safetensors",
            "model.embed_tokens.weight": "b.safetensors",
        }
    }
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    matrix = open_matrix(tmp_path)
    assert (matrix.name, matrix.is_input) == ("model.embed_tokens.weight", False), (
        "tied"
    )
    written(
        tmp_path / "c.safetensors",
        {"lm_head.weight": ("F32", ROWS), "wte.weight": ("F32", ROWS)},
    )
    assert [
        open_matrix(tmp_path / "c.safetensors", name).is_input
        for name in ("wte.weight", None)
    ] == [True, False]
    assert open_matrix(tmp_path, "x").name == "x"
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(EmbeddingsError, match="cannot be read"):
        open_matrix(tmp_path)


def two_of_no_usual_name(path):
    written(path, {"small": ("F32", ROWS[:2]), "large": ("F32", ROWS)})


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "p.npy",
            lambda path: numpy.save(path, numpy.array([{}]), allow_pickle=True),
            "not loaded",
        ),
        (
            "i.npy",
            lambda path: numpy.save(path, numpy.arange(3)),
            "not a matrix of floating-point numbers",
        ),
        ("m.safetensors", b"", "not a safetensors file"),
        ("m.safetensors", b"\xff" * 8, "not a safetensors file"),
        ("m.safetensors", (5).to_bytes(8, "little") + b"[1,2]", "not an object"),
        ("m.safetensors", (3).to_bytes(8, "little") + b"{x}", "not a safetensors file"),
        (
            "m.safetensors",
            (20).to_bytes(8, "little") + b'{"lm_head.weight":1}',
            "does not describe",
        ),
        (
            "m.safetensors",
            two_of_no_usual_name,
            "--tensor, such as 'large' \\(50 by 8\\)",
        ),
        ("m.safetensors", lambda path: None, "cannot be read"),
    ],
)
def test_what_is_no_matrix_is_one_sentence(tmp_path, name, content, sentence):
    path = tmp_path / name
    content(path) if callable(content) else path.write_bytes(content)
    with pytest.raises(EmbeddingsError, match=sentence):
        open_matrix(path)
    if content is two_of_no_usual_name:
        with pytest.raises(EmbeddingsError, match="no matrix 'none'"):
            open_matrix(path, "none")


def test_every_cut_of_a_file_is_refused(tmp_path):
    whole = written(
        tmp_path / "m.safetensors", {"lm_head.weight": ("F32", ROWS[:4])}
    ).read_bytes()
    for end in range(0, len(whole), 7):
        (tmp_path / "m.safetensors").write_bytes(whole[:end])
        with pytest.raises(EmbeddingsError):
            open_matrix(tmp_path / "m.safetensors")


def matrix_of(rows):
    return Matrix(numpy.asarray(rows, dtype=numpy.float32))


def test_indicators_are_their_formulas(monkeypatch):
    matrix = matrix_of(ROWS)
    monkeypatch.setattr("bpe_core.auditing.embeddings._SLICE_BYTES", 7 * 4 * 8)
    unused = [1, 5, 9]
    u, mean = ROWS[unused].mean(axis=0), ROWS.mean(axis=0)
    expected = {
        "norm": numpy.linalg.norm(ROWS, axis=1),
        "distance": numpy.linalg.norm(ROWS - u, axis=1),
        "cosine": 1
        - (ROWS - mean)
        @ (u - mean)
        / numpy.linalg.norm(ROWS - mean, axis=1)
        / numpy.linalg.norm(u - mean),
    }
    for name, values in expected.items():
        assert numpy.allclose(indicator(matrix, name, unused), values, atol=1e-5), name


def test_the_principal_component_is_that_of_a_decomposition_of_the_rows_as_they_are():
    rows = RNG.standard_normal((400, 6)).astype(numpy.float32)
    rows += (
        5
        * RNG.standard_normal((400, 1)).astype(numpy.float32)
        * numpy.array([1, 2, 0, 0, 0, 1], numpy.float32)
    )
    component = numpy.linalg.svd(rows)[2][0]
    flat = rows - numpy.outer(rows @ component, component)
    u = flat[[3, 4, 5]].mean(axis=0)
    expected = 1 - flat @ u / numpy.linalg.norm(flat, axis=1) / numpy.linalg.norm(u)
    found = indicator(matrix_of(rows), "cosine-pc", [3, 4, 5])
    assert numpy.allclose(found, expected, atol=2e-3)


def area_under_the_curve(values, untrained):
    """The chance that an untrained row has a lower value than another one."""
    below = (values[untrained][:, None] < numpy.delete(values, untrained)).mean()
    return float(below)


@pytest.mark.parametrize("strength", [6, 9, 12])
def test_the_component_that_is_removed_is_not_the_direction_of_the_untrained_rows(
    strength,
):
    rng = numpy.random.default_rng(11)
    n_rows, n_columns = 1000, 48
    shared, of_untrained = numpy.linalg.qr(rng.standard_normal((n_columns, 2)))[0].T
    rows = 12 * rng.uniform(0.9, 1.1, (n_rows, 1)) * shared + rng.standard_normal(
        (n_rows, n_columns)
    )
    untrained = numpy.arange(100)
    rows[untrained] += strength * of_untrained
    found = indicator(matrix_of(rows), "cosine-pc", untrained[:10].tolist())
    assert (
        area_under_the_curve(numpy.delete(found, untrained[:10]), untrained[:90]) > 0.97
    )


@pytest.mark.parametrize("name", INDICATORS)
def test_untrained_rows_come_first_and_rows_of_nan_do_no_harm(name):
    rows = RNG.standard_normal((300, 16)).astype(numpy.float32) + 0.5
    untrained = list(range(20))
    rows[:20] = 0.05 * rows[:20] if name == "norm" else -2 + 0.1 * rows[:20]
    if (
        name == "cosine-pc"
    ):  # something that all rows have more or less of, and that hides what is looked for
        rows += RNG.normal(scale=9, size=(300, 1)) * RNG.standard_normal(16)
    rows[200] = math.nan
    known, hidden = untrained[:5], set(untrained[5:])
    found = indicator(matrix_of(rows), name, known)
    order = [int(row) for row in numpy.argsort(found) if int(row) not in known][
        : len(hidden)
    ]
    assert set(order) == hidden


def test_what_does_not_belong_together_is_one_sentence():
    for name, sentence in (
        ("cosine", "Only 2 rows are known to be unused"),
        ("magic", "Unknown indicator"),
    ):
        with pytest.raises(EmbeddingsError, match=sentence):
            indicator(matrix_of(ROWS), name, [1, 2])
    with pytest.raises(
        EmbeddingsError,
        match="50 rows, but the tokenizer has ids up to 281",
    ):
        audit(LEARNED, embeddings=matrix_of(ROWS))


def test_tensors_with_a_row_for_each_id_are_named_the_usual_ones_first(tmp_path):
    tensors = {
        "a.weight": ("F32", ROWS),
        "wte.weight": ("F32", ROWS),
        "lm_head.weight": ("F32", ROWS[:20]),
    }
    path = written(tmp_path / "m.safetensors", tensors)
    assert tensors_with_rows(path, 50) == ["wte.weight", "a.weight"]
    assert tensors_with_rows(path, 20) == ["lm_head.weight", "wte.weight", "a.weight"]
    with pytest.raises(
        EmbeddingsError, match=r"a row for each of 51 ids; the largest has 50\.$"
    ):
        tensors_with_rows(path, 51)
    assert tensors_with_rows(tmp_path / "m.npy", 50) == []
    with pytest.raises(EmbeddingsError, match="the largest has 0"):
        tensors_with_rows(written(tmp_path / "n.safetensors", {}), 1)


LEARNED = train(
    "the theme of the other thesis, the thing that they thought through\n" * 20,
    vocab_size=330,
)
N = LEARNED.n_vocab


def embeddings(is_input, glitches):
    """Rows of a trained model, but for those of glitch tokens and of what no text contains."""
    rng = numpy.random.default_rng(3)
    rows = rng.standard_normal((N + 6, 32)).astype(numpy.float32) + 0.3
    untrained = [*glitches, *unused_rows(LEARNED, N + 6)]
    noise = rng.standard_normal((len(untrained), 32)).astype(numpy.float32)
    rows[untrained] = 0.1 * noise if is_input else -1.5 + 0.1 * noise
    return Matrix(rows, is_input=is_input)


@pytest.mark.parametrize("is_input", [True, False])
def test_glitch_tokens_are_found_first(is_input):
    glitches = [260, 270]
    found = audit(LEARNED, embeddings=embeddings(is_input, glitches)).of("undertrained")
    assert {finding.id for finding in found[:2]} == set(glitches)
    assert (
        found[0].evidence["value"]
        <= found[1].evidence["value"]
        <= found[0].evidence["threshold"]
    )
    assert len(found) == 4, "at or below the 2nd percentile of 154"
    assert "untrained" in found[0].reason


def test_a_row_of_no_numbers_is_a_problem_and_does_not_disturb_the_others():
    rows = embeddings(True, [260, 270]).data.copy()
    rows[265, 3] = numpy.nan
    found = audit(LEARNED, embeddings=Matrix(rows, is_input=True)).of("undertrained")
    assert (found[0].id, found[0].severity.word, found[0].evidence["value"]) == (
        265,
        "problem",
        None,
    )
    assert {finding.id for finding in found[1:3]} == {260, 270}


def test_the_command_reads_a_file(tmp_path, capsys):
    save(LEARNED, tmp_path / "t.json")
    numpy.save(tmp_path / "m.npy", embeddings(False, [260, 270]).data)
    words = [
        "audit",
        "-t",
        str(tmp_path / "t.json"),
        "--embeddings",
        str(tmp_path / "m.npy"),
        "--indicator",
        "cosine",
    ]
    assert main([*words, "--jsonl", "--fail-on", "undertrained"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first = [row for row in rows if row["kinds"] == ["undertrained"]]
    assert {row["id"] for row in first[:2]} == {260, 270}
    assert first[0]["evidence"]["undertrained"]["indicator"] == "cosine"
    assert main([*words[:-4], "--embeddings", str(tmp_path / "none.npy")]) == 2
    assert "none.npy cannot be read" in capsys.readouterr().err
