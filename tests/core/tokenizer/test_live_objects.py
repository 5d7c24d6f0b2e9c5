"""A tokenizer handed on to tiktoken and to Hugging Face's library: the ids are the same there."""

import pytest
from real import real_file

from bpe_core import FormatError, load, train
from tests.nasty import nasty_texts

TEXT = "the theme of the other thesis, the thing that they thought through 12345\n" * 20


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "gpt4o", r"\p{L}+|\d"])
def test_they_give_the_same_ids(pattern):
    ours = train(TEXT, vocab_size=320, pattern=pattern, special_tokens=["<|end|>"], ties="lowest")
    theirs, faces = ours.to_tiktoken(), ours.to_tokenizers()
    for text in [TEXT, *nasty_texts(80, seed=6)]:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert theirs.encode_ordinary(text) == ours.encode_ordinary(text)
        if "<|end|>" not in text:
            assert faces.encode(text, add_special_tokens=False).ids == ours.encode_ordinary(text)
    assert theirs.encode("a<|end|>", allowed_special="all") == ours.encode("a<|end|>", allowed_special="all")
    assert faces.encode("a<|end|>").ids == ours.encode("a<|end|>", allowed_special="all")
    assert theirs.n_vocab == ours.n_vocab


def test_a_published_vocabulary_comes_back_as_it_was(tmp_path):
    ours = load(real_file("cl100k_base.tiktoken", tmp_path))
    theirs = ours.to_tiktoken()
    assert theirs.encode_ordinary("Hello  мир 123456") == ours.encode_ordinary("Hello  мир 123456")


def test_what_they_cannot_hold_is_refused_in_a_sentence():
    with pytest.raises(FormatError):
        train(TEXT, vocab_size=258, pattern=r"\w+").to_tiktoken()
