"""`bpescope convert`: from any format into another, and the same ids come out."""

import pytest

from bpe_core import load, save, train
from bpe_core.cli.main import main
from bpe_core.formats import FORMATS, WRITABLE
from tests.nasty import nasty_texts

TEXTS = nasty_texts(150)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.json"
    save(train(TEXTS, vocab_size=400, pattern="gpt2", special_tokens=["<|end|>"]), path)
    return path


def test_formats_that_can_be_written():
    assert WRITABLE == ("native", "huggingface", "gpt2", "minbpe", "tiktoken")
    assert {*FORMATS} - {*WRITABLE} == {"js_tiktoken", "tekken", "sentencepiece"}


@pytest.mark.parametrize("format", WRITABLE)
def test_there_and_back(format, mine, tmp_path, capsys):
    out, back = tmp_path / "vocab.json", tmp_path / "back.json"
    assert main(["convert", str(mine), "-o", str(out), "--format", format]) == 0
    assert main(["convert", str(out), "-o", str(back), "--format", "native", "--pattern", "gpt2"]) == 0
    assert capsys.readouterr() == ("", "")
    tokenizer, again = load(mine), load(back)
    assert again.merges == tokenizer.merges
    assert all(again.encode_ordinary(text) == tokenizer.encode_ordinary(text) for text in TEXTS)


def test_what_goes_wrong_is_one_sentence(mine, tmp_path, capsys):
    for arguments, problem in (
        (["convert", str(mine), "-o", str(mine), "--format", "tiktoken"], "name another file"),
        (["convert", str(tmp_path / "none"), "-o", str(tmp_path / "x"), "--format", "native"], "cannot be read"),
        (["convert", str(mine), "-o", str(tmp_path / "no" / "x"), "--format", "native"], "cannot be written"),
        (["convert", str(mine), "-o", str(tmp_path / "x"), "--format", "tekken"], "invalid choice"),
    ):
        assert main(arguments) == 2
        assert problem in capsys.readouterr().err
