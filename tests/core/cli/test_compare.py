"""`compare`: tables and JSON, and one sentence for what cannot be compared."""

import json

import pytest

from bpe_core import load, save, train
from bpe_core.cli.main import main

TEXT = "the theme of the other thesis, the thing that they thought through 12345 times\n" * 9
TALE = "One tale\n\n# English\n\nthe theme of it\n\n# Русский\n\nтема его\n"


@pytest.fixture
def two(tmp_path):
    paths = [str(tmp_path / "one.json"), str(tmp_path / "two.json")]
    save(train(TEXT, vocab_size=280), paths[0])
    save(train(TEXT, vocab_size=320), paths[1])
    return paths


def compared(capsys, *words):
    code = main(["compare", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_json_tells_what_encoding_tells(two, tmp_path, capsys):
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text("thought мир\n")
    code, out, _ = compared(
        capsys, "-t", two[0], "-t", two[1], str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--json", "--price", "2"
    )
    found, tokenizers = json.loads(out), [load(path) for path in two]
    assert code == 0
    assert found["tokenizers"] == two
    for text, content in zip(found["texts"], (TEXT, "thought мир\n"), strict=True):
        assert text["tokens"] == [len(tokenizer.encode(content)) for tokenizer in tokenizers]
        assert text["bytes"] == len(content.encode())
    total = found["total"]
    assert total["tokens"] == [sum(text["tokens"][i] for text in found["texts"]) for i in (0, 1)]
    assert total["price"] == [n * 2 / 1e6 for n in total["tokens"]]
    assert sum(script["tokens"][0] for script in found["scripts"]) == total["tokens"][0]
    (pair,) = found["pairs"]
    assert pair["vocabularies"]["only_first"] == 0
    assert pair["vocabularies"]["same_merges"] == tokenizers[0].step
    for example in pair["disagreements"]:
        assert bytes.fromhex("".join(example["tokens"][0])) == example["text"].encode()


def test_tables_tell_parity_of_the_sections_of_a_text(two, tmp_path, capsys):
    (tmp_path / "tale.txt").write_text(TALE)
    code, out, _ = compared(capsys, "-t", two[0], "-t", two[1], "--sections", str(tmp_path / "tale.txt"))
    assert code == 0
    assert "English" in out
    assert "Русский" in out
    n = len(load(two[0]).encode("тема его")) / len(load(two[0]).encode("the theme of it"))
    assert f"{n:.2f}" in out
    assert "Cyrillic" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-t", "{0}", "{text}"], "only one tokenizer"),
        (["-t", "{0}", "-t", "{1}", "--sections", "{text}"], "leave out --sections"),
        (["-t", "{0}", "-t", "{1}", "-", "{text}"], "stdin"),
        (["-t", "{0}", "-t", "{1}", "{text}.none"], "cannot be read"),
        (["-t", "{0}", "-t", "{text}", "{text}"], "{text}"),
    ],
)
def test_what_cannot_be_compared_is_told_in_a_sentence(two, tmp_path, capsys, words, sentence):
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    code, out, err = compared(capsys, *(word.format(*two, text=text) for word in words))
    assert (code, out) == (2, "")
    assert sentence.format(text=text.name) in err
    assert len(err.splitlines()) == 1


def test_texts_of_nothing(two, tmp_path, capsys):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "space.txt").write_text(" ")
    code, out, _ = compared(
        capsys, "-t", two[0], "-t", two[1], str(tmp_path / "space.txt"), str(tmp_path / "empty.txt")
    )
    assert code == 0
    assert "They do not disagree." in out
