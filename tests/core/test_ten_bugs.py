"""Ten mistakes that are easily made in a tokenizer of one's own; one of the founding articles made or named each."""

import pytest

from bpe_core import LiveText, SpecialTokenError, TextError, Tokenizer, Trainer, audit, load, save, train
from bpe_core.corpus import Counts
from bpe_core.explain.pitfalls import Pitfalls
from bpe_core.explain.unstable import unstable
from bpe_core.patterns import splitter
from bpe_core.vocabulary import Vocabulary

BYTES = {byte: bytes([byte]) for byte in range(256)}


def test_1_the_last_pair_of_a_sequence_is_merged_too():
    """A loop to len - 1 that forgets the last element loses it, one to len reads past it."""
    tokenizer = Tokenizer(Vocabulary(BYTES, [(97, 98, 256)]), "none")
    assert tokenizer.encode("xab") == [120, 256]
    assert tokenizer.encode("aba") == [256, 97]
    assert [merge.n_tokens for merge in Trainer("abab", vocab_size=257, pattern="none")] == [2]


def test_2_bytes_that_are_no_text_are_replaced_when_decoding():
    tokenizer = train("", vocab_size=300)
    assert tokenizer.decode([0x80, 97, 0xF0, 0x9F]) == "\ufffda\ufffd"
    assert tokenizer.decode([97, 99_999]) == "a\ufffd"
    with pytest.raises(TextError):
        tokenizer.decode([0x80], errors="strict")


@pytest.mark.parametrize("text", ["", "a"])
def test_3_a_text_too_short_for_a_pair(text):
    trainer = Trainer(text, vocab_size=300, pattern="none")
    assert list(trainer) == []
    assert trainer.stop_reason == "no pair left"
    assert trainer.tokenizer().decode(trainer.tokenizer().encode(text)) == text


def test_4_the_vocabulary_is_built_in_the_order_of_the_merges(tmp_path):
    """A token made of tokens is only known when these are: a dictionary that was sorted, or reversed, is no list."""
    tokenizer = train("aaabdaaabac", vocab_size=259, pattern="none")
    save(tokenizer, tmp_path / "mine.json")
    again = load(tmp_path / "mine.json")
    assert [again.token_bytes(token) for token in (256, 257, 258)] == [b"aa", b"aaa", b"aaab"]
    with pytest.raises(ValueError, match="no merge before it makes"):
        Vocabulary(BYTES, reversed(tokenizer.merges))


def test_5_a_curly_quote_is_no_apostrophe_for_the_patterns():
    assert splitter("gpt2").split("don't don’t") == ["don", "'t", " don", "’", "t"]
    assert splitter("gpt4").split("don't don’t") == ["don", "'t", " don", "’t"]


def test_6_contractions_in_capitals_are_none_for_gpt_2():
    assert splitter("gpt2").split("DON'T") == ["DON", "'", "T"]
    assert splitter("gpt4").split("DON'T") == ["DON", "'T"]


def test_7_special_tokens_in_the_text_of_a_user_raise_unless_allowed():
    tokenizer = train("some text", vocab_size=262, special_tokens=["<|endoftext|>"])
    with pytest.raises(SpecialTokenError, match="at offset 3"):
        tokenizer.encode("hi <|endoftext|>")
    assert tokenizer.encode("<|endoftext|>", allowed_special={"<|endoftext|>"}) == [261]
    assert tokenizer.decode(tokenizer.encode("<|endoftext|>", disallowed_special=())) == "<|endoftext|>"


def test_8_a_space_at_the_end_is_warned_of():
    """The next word brings its own space: a model has seldom seen one that stands alone."""
    live = LiveText(train("the end of the text", vocab_size=270), "the end ")
    assert [pitfall.kind for pitfall in Pitfalls(live).at_end(unstable(live))] == ["trailing space"]


def test_9_the_corpus_of_the_tokenizer_is_audited_against_that_of_the_model():
    """As for the user names of a forum: tokens by thousands, and no text for the model to learn them from."""
    tokenizer = train("DavidJL wrote. " * 50 + "the the", vocab_size=268)
    reference = Counts.of("the end of the text", tokenizer.pattern)
    absent = {
        finding.token for finding in audit(tokenizer, reference=reference) if finding.kind == "absent-from-reference"
    }
    assert b" DavidJL" in absent
    assert b"the" not in absent


def test_10_only_text_comes_back_and_not_every_row_of_ids():
    tokenizer = train("aaab aaab", vocab_size=259, pattern="none")
    assert tokenizer.decode(tokenizer.encode("aaab ünd \U0001f60a")) == "aaab ünd \U0001f60a"
    assert tokenizer.encode(tokenizer.decode([97, 97])) == [256]
    assert tokenizer.encode(tokenizer.decode([128])) == [239, 191, 189]
