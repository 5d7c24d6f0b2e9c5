"""Encoding by several processes: whatever the texts are cut into, the ids are those of the whole, in order."""

import json
import random

import pytest

from bpe_core import SpecialTokenError, load, save, train
from bpe_core.cli import encode, encoding
from bpe_core.cli.encoding import EncodePortion, encode_together, safe_cut
from bpe_core.cli.main import main
from bpe_core.corpus import find_files
from bpe_core.parallel import portions

SPECIALS = ["<|end|>", "a b", "\n<x>\n"]
WORDS = ("low ", "lower\n", "newest, ", "é😀 ", "  \n", "it's 123", "a", " ", "b")
SMALL = 60


@pytest.fixture
def tokenizer(tmp_path):
    """The file of a small tokenizer, two of whose special tokens hold places that the pattern would cut at."""
    path = tmp_path / "mine.json"
    save(train("low lower newest widest " * 9, vocab_size=280, special_tokens=SPECIALS), path)
    return path


@pytest.fixture
def small(monkeypatch):
    """Portions of a few bytes, and no text too small for two processes."""
    monkeypatch.setattr(portions, "SMALLEST", SMALL)
    monkeypatch.setattr(portions, "LARGEST", SMALL)
    monkeypatch.setattr(encoding, "BYTES_PER_PROCESS", 1)
    monkeypatch.setattr(encode, "BYTES_PER_PROCESS", 1)
    monkeypatch.setattr(encoding, "n_processes", lambda size, each: min(2, size // each))


def texts(rng, *more):
    """A few documents, one of them empty."""
    lengths = (0, 3, 40, 200)
    return ["".join(rng.choices([*WORDS, *more], k=rng.choice(lengths))) for _ in range(6)] + ["", "the end"]


def written(folder, documents):
    folder.mkdir()
    for number, text in enumerate(documents):
        (folder / f"{number}.txt").write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("seed", range(6))
def test_portions_encoded_one_by_one_have_the_ids_of_the_whole(tmp_path, tokenizer, small, seed):
    loaded = load(tokenizer)
    documents = texts(random.Random(seed), *SPECIALS)
    files = find_files(written(tmp_path / "texts", documents)).files
    work = EncodePortion(str(tokenizer), None, "all", (), " ")
    lines, n_parts = [""] * len(files), 0
    for portion in portions.portions(files, SMALL, safe_cut(loaded)):
        for file, ids in zip(portion.files, work(portion, lambda n_bytes: None), strict=True):
            number = files.index(file)
            lines[number] = " ".join(filter(None, (lines[number], ids.text)))
            n_parts += 1
    assert lines == [" ".join(map(str, loaded.encode(text, allowed_special="all"))) for text in documents]
    assert n_parts > len(files)


def test_a_text_is_never_cut_inside_of_a_special_token(tokenizer):
    loaded = load(tokenizer)
    cut = safe_cut(loaded)
    text = "xxxxxxxa b, c, d and more"
    assert loaded.splitter.cut(text, 7) == text.index(" b")
    assert text.index(" b") < cut(text) < len(text)
    assert cut("x" * 50) == 50


def test_each_document_has_a_line_of_its_own(tmp_path, tokenizer, small, capsys):
    documents = texts(random.Random(1))
    folder = written(tmp_path / "texts", documents)
    expected = [load(tokenizer).encode_ordinary(text) for text in documents]
    command = ["encode", "-t", str(tokenizer), "--special-as-text", str(folder)]
    assert main(command) == 0
    assert capsys.readouterr().out == "".join(" ".join(map(str, ids)) + "\n" for ids in expected)
    assert main([*command, "--json"]) == 0
    assert [json.loads(line)["ids"] for line in capsys.readouterr().out.splitlines()] == expected
    assert main([*command, "--count"]) == 0
    assert capsys.readouterr().out == "".join(f"{len(ids)}\n" for ids in expected)


def test_one_large_text_is_printed_as_a_small_one_is(tmp_path, tokenizer, monkeypatch, request, capsys):
    text = "\ufeff" + "low lower\r\nnewest é😀 <|end|>\n\n" * 40
    (tmp_path / "one.txt").write_bytes(text.encode())
    command = ["encode", "-t", str(tokenizer), str(tmp_path / "one.txt"), "--allow-special", "<|end|>"]
    assert main(command) == 0
    alone = capsys.readouterr().out
    request.getfixturevalue("small")
    assert main(command) == 0
    assert capsys.readouterr().out == alone


def test_a_special_token_that_must_not_occur_is_told_with_its_place_in_the_whole_text(
    tmp_path, tokenizer, small, capsys
):
    (tmp_path / "one.txt").write_text("low lower, " * 40 + "<|end|>")
    assert main(["encode", "-t", str(tokenizer), str(tmp_path / "one.txt")]) == 2
    said = capsys.readouterr()
    assert "holds the special token '<|end|>' at offset 440; name it with --allow-special" in said.err
    with pytest.raises(SpecialTokenError):
        work = EncodePortion(str(tokenizer), None, (), "all", None)
        list(encode_together(work, find_files(tmp_path / "one.txt").files, lambda n_bytes: None))


def test_a_text_that_is_none_further_on_is_told_in_one_sentence(tmp_path, tokenizer, small, capsys):
    (tmp_path / "broken.txt").write_bytes(b"low lower\n" * 900 + b"\xff")
    assert main(["encode", "-t", str(tokenizer), str(tmp_path / "broken.txt")]) == 2
    assert "broken.txt cannot be read: byte 0xff at offset 9,000 is not UTF-8" in capsys.readouterr().err
