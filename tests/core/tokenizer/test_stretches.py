"""Characters that come again and again are encoded once, and what they become side by side is what merging leaves."""

import random

import pytest
from real import real_file

from bpe_core import Tokenizer, Vocabulary, load, train
from bpe_core import reference as oracle
from bpe_core.tokenizer.stretches import Stretches

LETTERS = "中文字日本語😊é"


@pytest.mark.parametrize("ties", ["first", "lowest", "lowest-hf", "largest"])
def test_stretches_become_what_replaying_all_merges_leaves(ties):
    for seed in range(12):
        r = random.Random(seed)
        corpus = "".join(r.choices(LETTERS[: 2 + seed % 7], k=400))
        vocabulary = train(corpus, vocab_size=256 + r.randrange(10, 120), pattern="none", ties=ties).vocabulary
        for step in (vocabulary.n_merges, r.randrange(vocabulary.n_merges)):
            text = "".join(r.choices(LETTERS[: 2 + seed % 7], k=300))
            ids = oracle.encode(text.encode(), vocabulary.merges[:step])
            found = Stretches(vocabulary.at(step)).encode(text)
            assert found is None or list(found) == ids  # None: they grew too long, and the piece is merged as a whole
            assert Tokenizer(vocabulary.at(step), "none").encode(text) == ids


def test_characters_that_seldom_meet_in_a_token_are_known_after_one_look():
    vocabulary = train("日本 中文 " * 9, vocab_size=270).vocabulary
    text = "中文中日本日" * 40
    assert list(Stretches(vocabulary).encode(text)) == oracle.encode(text.encode(), vocabulary.merges)


def test_it_is_left_to_others_where_it_would_not_pay():
    stretches = Stretches(train("日本 ab", vocab_size=260).vocabulary)
    assert stretches.encode("日本" * 3) is None, "a short piece"
    assert stretches.encode("ab" * 100) is None, "letters of one byte"
    assert stretches.encode("".join(map(chr, range(0x4E00, 0x4F00)))) is None, "nothing comes again"


def test_a_token_that_only_a_whole_piece_becomes_is_still_looked_up_first():
    text = "日本" * 40
    base = {byte: bytes([byte]) for byte in range(256)} | {256: text.encode()}
    tokenizer = Tokenizer(Vocabulary(base), "none")
    assert tokenizer.encode(text) == [256]
    assert tokenizer.encode(text + "日本") == list((text + "日本").encode())


def test_chinese_without_spaces_as_tiktoken_encodes_it(tmp_path):
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed; it comes with the extra dev")
    tokenizer = load(real_file("cl100k_base.tiktoken", tmp_path), pattern="gpt4")
    ranks = {tokenizer.token_bytes(token): token for token in tokenizer.vocabulary.ids()}
    theirs = tiktoken.Encoding("real", pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
    whole = Tokenizer(tokenizer.vocabulary, "none")
    r = random.Random(5)
    for alphabet in ("的一是不了在人有我他", "日本語のテキストです", "😀😁🤯é", "─━│┃"):
        text = "".join(r.choices(alphabet, k=3000))
        assert whole.encode(text) == theirs.encode_ordinary(text)
        assert whole.encode(alphabet[0] * 64) == theirs.encode_ordinary(alphabet[0] * 64)
