"""`diff` as a function and as a command: three answers, exit codes, JSON and texts."""

import json
from pathlib import Path

import pytest

from bpe_core import Tokenizer, Vocabulary, diff, save, train
from bpe_core.cli.main import main
from bpe_core.difference.records import DecodedWitness

TEXT = Path("sample_texts/english-everyday.txt").read_text("utf-8")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A tokenizer, and `small.json` with it in the current folder."""
    monkeypatch.chdir(tmp_path)
    tokenizer = train(TEXT, vocab_size=400, pattern="gpt4", special_tokens=["<|end|>"])
    save(tokenizer, "small.json")
    return tokenizer


def run(capsys, *arguments):
    """The exit code and the output of `diff`."""
    code = main(["diff", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_every_format_of_one_tokenizer_is_the_same(small, capsys):
    for format in ("huggingface", "tiktoken", "minbpe", "native"):
        save(small, f"copy.{format}", format=format)
        # A file of ranks has neither a pattern nor special tokens.
        own = "" if format != "tiktoken" else "gpt4"
        code, output = run(
            capsys, "small.json", f"copy.{format}", "--pattern", "", "--pattern", own
        )
        if format == "tiktoken":
            assert code == 1
            assert "'<|end|>' is one of the special tokens of A only." in output
        else:
            assert code == 0, output
            assert output.startswith("A and B are the same: this is proved.")


def test_different_tokenizers_have_a_shortest_text_and_all_causes(small, capsys):
    changed = train(TEXT, vocab_size=398, pattern="none", special_tokens=["<|stop|>"])
    save(changed, "changed.json")
    code, output = run(capsys, "small.json", "changed.json", "--json")
    found = json.loads(output)
    assert code == 1
    assert found["verdict"] == "different"
    text = found["witness"]["text"]
    assert small.encode(text, disallowed_special=()) == found["witness"]["a"]
    assert changed.encode(text, disallowed_special=()) == found["witness"]["b"]
    parts = {cause["part"] for cause in found["causes"]}
    assert {"special tokens", "split pattern", "vocabulary"} <= parts
    assert found["tried"] > 0
    for cause in found["causes"]:
        witness = cause["witness"]
        if witness and "text" in witness:
            allowed = "all" if witness.get("special_tokens") else ()
            for each, ids in ((small, witness["a"]), (changed, witness["b"])):
                encoded = each.encode(
                    witness["text"], allowed_special=allowed, disallowed_special=()
                )
                assert encoded == ids


def test_the_cause_is_the_pattern_if_only_it_differs(small, capsys):
    code, output = run(
        capsys, "small.json", "small.json", "--pattern", "gpt4", "--pattern", "none"
    )
    assert code == 1
    (cause,) = diff(small, Tokenizer(small.vocabulary, "none")).causes
    assert cause.part == "split pattern"
    assert cause.what in output
    assert "B's" in cause.what


def test_what_is_not_decided_is_neither_the_same_nor_different(small, capsys):
    # No token has a letter after a digit, and look-behinds can't be analyzed.
    pattern = r"(?<=\d)(?=\p{L})|" + small.splitter.tree.source
    code, output = run(
        capsys, "small.json", "small.json", "--pattern", "", "--pattern", pattern
    )
    assert code == 3
    assert output.startswith("No difference was found, but it is not proved")
    assert "What is not decided" in output


def test_ids_that_only_decode_differently(small):
    base = {token: bytes([token]) for token in range(256)}
    merges = [(97, 98, 256)]
    plain = Vocabulary(base, merges)
    # No text becomes `bc`, since nothing merges to it.
    more = Vocabulary({**base, 257: b"bc"}, merges, whole_pieces={})
    found = diff(Tokenizer(plain, "gpt4"), Tokenizer(more, "gpt4"))
    assert found.verdict == "different"
    assert found.witness == DecodedWitness((257,), None, b"bc")
    assert found.as_json()["witness"] == {"ids": [257], "a": None, "b": "bc"}


def test_lines_of_texts_are_counted_by_cause(small, capsys):
    Path("texts").mkdir()
    Path("texts/one.txt").write_text("the same\nin 1234 lines\n", "utf-8")
    rows = [{"text": "12 and 5"}, {"text": "nothing"}]
    Path("texts/two.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    numbers = train("12 34 1234 " * 50, vocab_size=270, pattern="gpt4")
    save(numbers, "numbers.json")
    code, output = run(
        capsys,
        *("numbers.json", "numbers.json", "texts", "--field", "text"),
        *("--pattern", "", "--pattern", "qwen2"),
    )
    assert code == 1
    assert "Different lines: 2 of 4 lines" in output
    assert "texts/one.txt:2" in output
    code, output = run(capsys, "small.json", "small.json", "texts", "--json")
    found = json.loads(output)
    assert code == 0
    assert found["texts"]["different_lines"] == 0
    assert found["texts"]["lines"] == 4


def test_one_pattern_is_an_error(small, capsys):
    assert main(["diff", "small.json", "small.json", "--pattern", "gpt2"]) == 2
    assert "Give --pattern twice" in capsys.readouterr().err
