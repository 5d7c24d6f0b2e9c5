"""What the founding examples promise, to the last number: each of them trained and encoded here."""

import pytest

from bpe_core import Trainer, UntrainedError, train

AAAB = "aaabdaaabac"
WORDS = " ".join(["low"] * 5 + ["lower"] * 2 + ["widest"] * 3 + ["newest"] * 6)


def learned(texts, n_merges, **options):
    """The tokens of the first merges, as text."""
    return [merge.token_bytes.decode() for merge in Trainer(texts, vocab_size=256 + n_merges, **options)]


def parts(tokenizer, text):
    return [tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text)]


# Flat bytes, no split

TWO_LINES = (
    "Consider this as a trainig text and this can be as big as you want and be carefull\n"
    "while choosing the data because wrong type of data can lead to lots of irregularities"
)


def test_before_the_first_merge_a_text_is_its_bytes():
    untrained = train("", vocab_size=300)
    assert untrained.encode("A😊") == [65, 240, 159, 152, 138]
    assert [len(untrained.encode(text)) for text in ("Hello 🤯", "おはようございます", "")] == [10, 27, 0]
    assert untrained.encode(untrained.decode([128])) == [239, 191, 189], "only text comes back, not every row of ids"


def test_aaab_in_three_merges():
    trainer = Trainer(AAAB, vocab_size=259, pattern="none", ties="first")
    assert [trainer.n_tokens, *(merge.n_tokens for merge in trainer)] == [11, 9, 7, 5]
    tokenizer = trainer.tokenizer()
    assert tokenizer.encode(AAAB) == [258, 100, 258, 97, 99]


def test_aaab_as_the_textbook_tells_it():
    """Its Z, Y and X: ZabdZabac, ZYdZYac, XdXac."""
    tokenizer = train(AAAB, vocab_size=259, pattern="none", ties="lowest")
    assert [parts(tokenizer.at(step), AAAB) for step in (1, 2, 3)] == [
        ["aa", "a", "b", "d", "aa", "a", "b", "a", "c"],
        ["aa", "ab", "d", "aa", "ab", "a", "c"],
        ["aaab", "d", "aaab", "a", "c"],
    ]


def test_two_lines_of_training_text():
    trainer = Trainer(TWO_LINES, vocab_size=276, pattern="none", ties="first")
    merges = list(trainer)
    assert trainer.n_bytes == 168
    assert [(m.left, m.right, m.count) for m in merges[:5]] == [
        (32, 116, 7),
        (115, 32, 6),
        (101, 32, 6),
        (97, 110, 5),
        (256, 104, 3),
    ]
    points = [168, *(merge.n_tokens for merge in merges)]
    assert points == sorted(points, reverse=True) and (len(points), points[-1]) == (21, 109)


def test_hi_this_is_test():
    tokenizer = train(TWO_LINES, vocab_size=276, pattern="none", ties="first")
    assert tokenizer.encode("Hi this is test") == [72, 105, 266, 105, 115, 256, 101, 115, 116]
    assert tokenizer.decode([72, 105, 266, 105, 115, 256, 101, 115, 116]) == "Hi this is test"
    lowest = train(TWO_LINES, vocab_size=276, pattern="none", ties="lowest")
    assert lowest.encode("Hi this is test") == [72, 105, 256, 262, 263, 105, 115, 256, 101, 115, 116]


# A list of documents


def test_documents():
    assert parts(train([AAAB], vocab_size=259, pattern="none"), AAAB) == ["aaab", "d", "aaab", "a", "c"]
    assert learned(["ab"], 50, pattern="none") == ["ab"]


def test_words_as_documents_and_words_in_one_string():
    documents = WORDS.split()
    assert learned(documents, 6, pattern="none") == ["es", "est", "lo", "low", "ne", "new"]
    assert parts(train(documents, vocab_size=262, pattern="none"), "newest") == ["new", "est"]
    assert learned(WORDS, 6, pattern="none") == ["es", "est", "est ", "lo", "low", " low"]


# Words, the largest pair, special tokens first


def test_words_specials_first():
    trainer = Trainer(
        WORDS,
        vocab_size=263,
        pattern="words",
        ties="largest",
        id_layout="specials-first",
        special_tokens=["<|endoftext|>"],
    )
    tokens = {}
    steps = []
    for merge in trainer:
        tokens[merge.token] = merge.token_bytes.decode()
        steps.append(
            (tokens.get(merge.left, chr(merge.left - 1)), tokens.get(merge.right, chr(merge.right - 1)), merge.count)
        )
    assert steps == [("s", "t", 9), ("e", "st", 9), ("o", "w", 7), ("l", "ow", 7), ("w", "est", 6), ("n", "e", 6)]
    assert list(tokens) == [257, 258, 259, 260, 261, 262]
    tokenizer = trainer.tokenizer()
    assert tokenizer.n_vocab == 263
    assert tokenizer.special_tokens == {"<|endoftext|>": 0}
    assert [tokenizer.encode(word) for word in ("newest", "lower", "widest", "low")] == [
        [262, 261],
        [260, 102, 115],
        [120, 106, 101, 258],
        [260],
    ]


def test_words_bytes_first():
    tokenizer = train(WORDS, vocab_size=262, pattern="words", ties="largest")
    assert [tokenizer.encode(word) for word in ("newest", "lower", "widest", "low")] == [
        [261, 260],
        [259, 101, 114],
        [119, 105, 100, 257],
        [259],
    ]


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
    assert learned(text, len(tokens.split()), pattern=pattern, ties=ties) == tokens.split()


# A tokenizer class with its own demonstration

DEMONSTRATION = (
    "\n    Hello world! This is a sample text to demonstrate BPE tokenization."
    "\n    We'll use this to train our tokenizer and then test encoding and decoding.\n    "
)


def test_the_pair_table_and_one_merge():
    trainer = Trainer("ABABC", vocab_size=257, pattern="none")
    assert trainer.pair_table() == [((65, 66), 2), ((66, 67), 1), ((66, 65), 1)]
    next(trainer)
    assert trainer.tokenizer().encode("ABCAB") == [256, 67, 256]


def test_too_small_and_too_early():
    with pytest.raises(ValueError, match="vocab_size is 256"):
        train("text", vocab_size=256)
    with pytest.raises(RuntimeError) as raised:
        Trainer("text", vocab_size=300).tokenizer().encode("text")
    assert isinstance(raised.value, UntrainedError)


def test_the_demonstration_learns_its_text_by_heart():
    trainer = Trainer(DEMONSTRATION, vocab_size=512, pattern="none")
    assert trainer.n_bytes == 156
    merges = list(trainer)
    tokenizer = trainer.tokenizer()
    assert (tokenizer.n_vocab, trainer.n_tokens, len(merges)) == (363, 1, 107)
    used = set(tokenizer.encode(DEMONSTRATION))
    assert sum(merge.token not in used for merge in merges) == 106
    assert tokenizer.encode("Hello world!") == [72, 101, 265, 111, 32, 119, 111, 114, 108, 100, 33]


def test_the_demonstration_stops_in_time_with_a_minimum_count():
    trainer = Trainer(DEMONSTRATION, vocab_size=512, pattern="none", min_count=2)
    merges = list(trainer)
    tokenizer = trainer.tokenizer()
    assert (len(merges), tokenizer.n_vocab, trainer.n_tokens) == (28, 284, 80)
    used = set(tokenizer.encode(DEMONSTRATION))
    assert sum(merge.token not in used for merge in merges) == 10
    assert tokenizer.encode("Hello world!") == [72, 101, 265, 111, 32, 119, 111, 114, 108, 100, 33]
