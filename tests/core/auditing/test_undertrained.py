"""The audit asks a model's embeddings: tokens with untrained rows are found, whatever the matrix is."""

import json

import numpy
import pytest

from bpe_core import audit, save, train
from bpe_core.auditing.embeddings import Matrix, unused_rows
from bpe_core.cli.main import main

LEARNED = train("the theme of the other thesis, the thing that they thought through\n" * 20, vocab_size=330)
N = LEARNED.n_vocab


def embeddings(role, glitches):
    """Rows of a trained model, but for those of glitch tokens and of what no text contains."""
    rng = numpy.random.default_rng(3)
    rows = rng.standard_normal((N + 6, 32)).astype(numpy.float32) + 0.3
    untrained = [*glitches, *unused_rows(LEARNED, N + 6)]
    noise = rng.standard_normal((len(untrained), 32)).astype(numpy.float32)
    rows[untrained] = 0.1 * noise if role == "input" else -1.5 + 0.1 * noise
    return Matrix(rows, role=role)


@pytest.mark.parametrize("role", ["input", "output", "tied"])
def test_glitch_tokens_are_found_first(role):
    glitches = [260, 270]
    found = audit(LEARNED, embeddings=embeddings(role, glitches)).of("undertrained")
    assert {finding.id for finding in found[:2]} == set(glitches)
    assert found[0].evidence["value"] <= found[1].evidence["value"] <= found[0].evidence["threshold"]
    assert "untrained" in found[0].reason


def test_a_row_of_no_numbers_is_a_problem_and_does_not_disturb_the_others():
    usual = embeddings("input", [260, 270])
    rows = usual.rows(0, usual.n_rows)
    rows[265, 3] = numpy.nan
    found = audit(LEARNED, embeddings=Matrix(rows, role="input")).of("undertrained")
    assert (found[0].id, found[0].severity.word, found[0].evidence["value"]) == (265, "problem", None)
    assert {finding.id for finding in found[1:3]} == {260, 270}


def test_the_command_reads_a_file(tmp_path, capsys):
    save(LEARNED, tmp_path / "t.json")
    matrix = embeddings("output", [260, 270])
    numpy.save(tmp_path / "m.npy", matrix.rows(0, matrix.n_rows))
    words = ["audit", "-t", str(tmp_path / "t.json"), "--embeddings", str(tmp_path / "m.npy"), "--indicator", "cosine"]
    assert main([*words, "--jsonl", "--fail-on", "undertrained"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first = [row for row in rows if row["kinds"] == ["undertrained"]]
    assert {row["id"] for row in first[:2]} == {260, 270}
    assert first[0]["evidence"]["undertrained"]["indicator"] == "cosine"
    assert main([*words[:-4], "--embeddings", str(tmp_path / "none.npy")]) == 2
    assert "none.npy cannot be read" in capsys.readouterr().err
