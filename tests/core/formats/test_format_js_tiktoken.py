"""js-tiktoken's ranks: the same tokens as in a rank file, in a few long lines, with pattern and special tokens."""

import json
from base64 import b64encode

import pytest
from real import real_file

from bpe_core import PATTERNS, load
from bpe_core.errors import FormatError
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.tiktoken import read as read_ranks

BYTES = " ".join(b64encode(bytes([byte])).decode() for byte in range(256))
LINES = f"! 0 {BYTES} YWI=\n! 300 YWJj\n"


def file_of(tmp_path, lines=LINES, **more):
    path = tmp_path / "ranks.json"
    whole = {"pat_str": PATTERNS["gpt4o"], "special_tokens": {"<|end|>": 400}, "bpe_ranks": lines, **more}
    path.write_text(json.dumps(whole))
    return path


def test_ranks_go_up_from_the_first_of_a_line(tmp_path):
    tokenizer = load(file_of(tmp_path))
    assert tokenizer.pattern == "gpt4o"
    assert tokenizer.encode("abc ab<|end|>", allowed_special="all") == [300, 32, 256, 400]
    assert (tokenizer.token_bytes(256), tokenizer.token_bytes(300)) == (b"ab", b"abc")
    assert tokenizer.n_vocab == 259


def test_the_lines_alone_need_a_pattern(tmp_path):
    (tmp_path / "ranks").write_text(LINES)
    with pytest.raises(FormatError, match="not how to split a text"):
        load(tmp_path / "ranks")
    assert load(tmp_path / "ranks", pattern="none").encode("ab") == [256]


def test_a_published_file_in_this_form_is_the_same_tokenizer(tmp_path):
    published = real_file("r50k_base.tiktoken", tmp_path)
    words = [line.split()[0].decode() for line in published.read_bytes().splitlines()]
    path = file_of(
        tmp_path, "! 0 " + " ".join(words), pat_str=PATTERNS["gpt2"], special_tokens={"<|endoftext|>": 50256}
    )
    ours, theirs = load(path), read_ranks(TokenizerFile.open(published))
    assert ours.vocabulary.bytes_of == theirs.vocabulary.bytes_of
    assert (ours.pattern, ours.special_tokens) == (theirs.pattern, theirs.special_tokens)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (LINES + "300 YWJj", "line 3 of the ranks does not begin with !"),
        (LINES + "! x YWJj", "line 3 of the ranks does not begin with !"),
        (LINES + "!", "line 3 of the ranks does not begin with !"),
        (LINES + "! 99999999999 YWJj", "line 3 of the ranks does not begin with !"),
        (LINES + "! 301 Y", "in line 3 of the ranks, 'Y' is not base64"),
        (LINES + "! 300 YWJjZA==", "the rank 300 stands for a second time"),
        (LINES + "! 301 YWJj", "the ranks 300 and 301 stand for the same bytes"),
        ("! 0 AA==", "there is no token for the byte 0x01"),
    ],
)
def test_what_is_broken_is_said_with_its_line(lines, problem, tmp_path):
    with pytest.raises(FormatError) as raised:
        load(file_of(tmp_path, lines))
    assert problem in str(raised.value)


def test_special_tokens_that_are_none(tmp_path):
    for specials in ({"<s>": -1}, {"<s>": "x"}, [], {"": 400}, {"<s>": 256}):
        with pytest.raises(FormatError, match="broken"):
            load(file_of(tmp_path, special_tokens=specials))
