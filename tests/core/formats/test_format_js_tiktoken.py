"""js-tiktoken's ranks: the same tokens as in a rank file, in a few long lines, with pattern and special tokens."""

from real import real_file
from small_files import js_tiktoken, put

from bpe_core import PATTERNS, load
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.tiktoken import read as read_ranks


def test_ranks_go_up_from_the_first_of_a_line(tmp_path):
    tokenizer = load(put(tmp_path, {"ranks.json": js_tiktoken(pat_str=PATTERNS["gpt4o"])}))
    assert tokenizer.pattern == "gpt4o"
    assert tokenizer.encode("abc ab<|end|>", allowed_special="all") == [300, 32, 256, 400]
    assert (tokenizer.token_bytes(256), tokenizer.token_bytes(300)) == (b"ab", b"abc")
    assert tokenizer.n_vocab == 259


def test_a_published_file_in_this_form_is_the_same_tokenizer(tmp_path):
    published = real_file("r50k_base.tiktoken", tmp_path)
    words = [line.split()[0].decode() for line in published.read_bytes().splitlines()]
    lines = "! 0 " + " ".join(words)
    data = js_tiktoken(lines, pat_str=PATTERNS["gpt2"], special_tokens={"<|endoftext|>": 50256})
    ours, theirs = load(put(tmp_path, {"ranks.json": data})), read_ranks(TokenizerFile.open(published))
    assert ours.vocabulary.bytes_of == theirs.vocabulary.bytes_of
    assert (ours.pattern, ours.special_tokens) == (theirs.pattern, theirs.special_tokens)
