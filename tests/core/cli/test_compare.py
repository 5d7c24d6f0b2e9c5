"""`compare`: tables and JSON, and one sentence for what cannot be compared."""

import json

import pytest

from bpe_core import load, save, train
from bpe_core.cli.main import main
from bpe_core.metrics.boundaries import morphological_alignment

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
        capsys, "-t", two[0], "-t", two[1], str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--json"
    )
    found, tokenizers = json.loads(out), [load(path) for path in two]
    assert code == 0
    assert found["tokenizers"] == two
    for text, content in zip(found["texts"], (TEXT, "thought мир\n"), strict=True):
        assert text["tokens"] == [len(tokenizer.encode(content)) for tokenizer in tokenizers]
        assert text["bytes"] == len(content.encode())
    total = found["total"]
    assert total["tokens"] == [sum(text["tokens"][i] for text in found["texts"]) for i in (0, 1)]
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
        (["-t", "{0}", "-t", "{1}", "--reference", "de", "{text}"], "no text or folder called 'de'"),
        (["-t", "{0}", "-t", "{1}", "--metrics", "tokens,length", "{text}"], "no metric 'length'"),
        (["-t", "{0}", "-t", "{1}", "--morphemes", "{text}.none", "{text}"], "cannot read"),
        (["-t", "{0}", "-t", "{1}", *["--pattern", "gpt2"] * 3, "{text}"], "2 tokenizers and 3 patterns"),
    ],
)
def test_what_cannot_be_compared_is_told_in_a_sentence(two, tmp_path, capsys, words, sentence):
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    code, out, err = compared(capsys, *(word.format(*two, text=text) for word in words))
    assert (code, out) == (2, "")
    assert sentence.format(text=text.name).lower() in err.lower()
    assert len(err.splitlines()) == 1


def test_texts_of_nothing(two, tmp_path, capsys):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "space.txt").write_text(" ")
    code, out, _ = compared(
        capsys, "-t", two[0], "-t", two[1], str(tmp_path / "space.txt"), str(tmp_path / "empty.txt")
    )
    assert code == 0
    assert "They do not disagree." in out


def test_folders_are_languages_and_parity_relates_to_one_of_them(two, tmp_path, capsys):
    for folder, text in (("de", "das thema der these"), ("en", TEXT), ("ru", "тема")):
        (tmp_path / "texts" / folder / "deeper").mkdir(parents=True)
        (tmp_path / "texts" / folder / "a.txt").write_text(text)
        (tmp_path / "texts" / folder / "deeper" / "b.txt").write_text(text)
    words = ["-t", two[0], "-t", two[1], "--reference", "en", str(tmp_path / "texts")]
    _, out, _ = compared(capsys, *words, "--json")
    found = json.loads(out)
    one, other = map(load, two)
    assert [folder["folder"] for folder in found["folders"]] == ["de", "en", "ru"]
    n = [2 * len(one.encode("тема")), 2 * len(other.encode("тема"))]
    assert found["folders"][2]["tokens"] == n
    assert found["folders"][2]["parity"] == [n[0] / 2 / len(one.encode(TEXT)), n[1] / 2 / len(other.encode(TEXT))]
    assert "parity" not in found["texts"][0], "the reference is no text"
    _, out, _ = compared(capsys, *words, "--metrics", "tokens,fertility,continued_words,parity")
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()[2:]] == ["de", "en", "ru"]
    assert "fertility" in out
    _, out, _ = compared(capsys, "-t", two[0], "-t", two[1], str(tmp_path / "texts" / "en"), "--json")
    assert [folder["folder"] for folder in json.loads(out)["folders"]] == ["en", "deeper"]


def test_the_worst_lines_of_each_tokenizer_are_told_with_their_places(two, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("plain\n" + TEXT + "\nthrough and through\n")
    _, out, _ = compared(capsys, "-t", two[0], "-t", two[1], str(tmp_path / "a.txt"), "--json", "--lines", "2")
    worst = json.loads(out)["worst_lines"]
    assert len(worst[0]) == 2
    assert worst[0][0]["text"] == TEXT.splitlines()[0]
    assert worst[0][0]["place"] == [0, 2, 0]
    assert worst[0][0]["count"] == 9
    assert worst[0][0]["excess"] == worst[0][0]["tokens"][0] - worst[0][0]["tokens"][1]
    _, out, _ = compared(capsys, "-t", two[0], "-t", two[1], str(tmp_path / "a.txt"))
    assert "a.txt:2" in out


def test_each_tokenizer_has_its_own_pattern(two, tmp_path, capsys):
    (tmp_path / "a.txt").write_text(TEXT)
    words = [*("-t", two[0], "-t", two[0], str(tmp_path / "a.txt"), "--json", "--pattern", "", "--pattern", "none")]
    _, out, _ = compared(capsys, *words)
    assert json.loads(out)["total"]["tokens"] == [
        len(load(two[0]).encode(TEXT)),
        len(load(two[0], pattern="none").encode(TEXT)),
    ]


def test_measures_are_told_with_their_units(two, tmp_path, capsys):
    (tmp_path / "words.txt").write_text("th+ing\nth+eme\n")
    (tmp_path / "text.txt").write_text(TEXT)
    words = ["measure", "-t", two[0], "--morphemes", str(tmp_path / "words.txt"), str(tmp_path / "text.txt")]
    assert main(words) == 0
    out, _ = capsys.readouterr()
    rows = {line[:30].split("  ")[0]: line.split() for line in out.splitlines()}
    assert rows["tokens"][1:] == [f"{len(load(two[0]).encode(TEXT)):,}", "tokens"]
    assert rows["morpheme recall"][-2:] == ["of", "boundaries"]
    assert "numbers of 4 digits" in out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["morpheme_recall"] == [
        morphological_alignment(load(two[0]), [("th", "ing"), ("th", "eme")]).recall
    ]
    (tmp_path / "words.txt").write_text("thing\tth eme\n")
    assert main(words) == 2
    assert "words.txt: Line 1" in capsys.readouterr().err


def test_all_that_is_left_out_is_told_of(two, tmp_path, capsys):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(TEXT)
    for number in range(7):
        (tmp_path / "texts" / f"{number}.bin").write_bytes(b"\0\1\2" * 99)
    _, _, err = compared(capsys, "-t", two[0], "-t", two[1], str(tmp_path / "texts"))
    assert err.count("Left out") == 6
    assert "2 more files" in err
