"""What the founding examples promise, to the last number: each of them trained and encoded here."""

import pytest

from bpe_core import Trainer, train

AAAB = "aaabdaaabac"
WORDS = " ".join(["low"] * 5 + ["lower"] * 2 + ["widest"] * 3 + ["newest"] * 6)


def learned(texts, n_merges, **options):
    """The tokens of the first merges, as text."""
    return [
        merge.token_bytes.decode()
        for merge in Trainer(texts, vocab_size=256 + n_merges, **options)
    ]


def parts(tokenizer, text):
    return [tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text)]


# Flat bytes, no split


def test_before_the_first_merge_a_text_is_its_bytes():
    untrained = train("", vocab_size=300)
    assert untrained.encode("A😊") == [65, 240, 159, 152, 138]
    assert [
        len(untrained.encode(text)) for text in ("Hello 🤯", "おはようございます", "")
    ] == [10, 27, 0]
    assert untrained.encode(untrained.decode([128])) == [239, 191, 189], (
        "only text comes back, not every row of ids"
    )


def test_aaab_as_the_textbook_tells_it():
    """Its Z, Y and X: ZabdZabac, ZYdZYac, XdXac."""
    tokenizer = train(AAAB, vocab_size=259, pattern="none", ties="lowest")
    assert [parts(tokenizer.at(step), AAAB) for step in (1, 2, 3)] == [
        ["aa", "a", "b", "d", "aa", "a", "b", "a", "c"],
        ["aa", "ab", "d", "aa", "ab", "a", "c"],
        ["aaab", "d", "aaab", "a", "c"],
    ]


# Words, the largest pair, special tokens first


@pytest.mark.parametrize(
    ("text", "pattern", "ties", "tokens"),
    [
        (WORDS, "words", "first", "es est lo low ne new"),
        (WORDS, "words", "lowest", "es est lo low ew new"),
        (WORDS, "words", "largest", "st est ow low west ne"),
        (WORDS, "words", "lowest-hf", "es est lo low ew new newest dest"),
        ("na yya", "words", "largest", "yy yya na"),
        ("aabdaabdaab", "none", "first", "aa aab"),
        (AAAB, "none", "first", "aa aaa aaab"),
        (AAAB, "none", "lowest", "aa ab aaab"),
    ],
)
def test_the_first_merges(text, pattern, ties, tokens):
    assert (
        learned(text, len(tokens.split()), pattern=pattern, ties=ties) == tokens.split()
    )
