"""Vocabularies of ranks, as tiktoken has them, written as merges: a tokenizer.json and a file of our own give the ids
that tiktoken and Hugging Face's library give."""

import random
from pathlib import Path

import pytest
import tokenizers
from real import real_file

from bpe_core import FormatError, Tokenizer, Vocabulary, load, save, train
from bpe_core.vocabulary.ranked import RankedVocabulary
from tests.nasty import nasty_texts

SAMPLES = Path(__file__).parents[3] / "sample_texts"
BYTES = {byte: bytes([byte]) for byte in range(256)}
TEXTS = [
    text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    for text in nasty_texts(80, seed=12)
]


def ranked(tokens):
    """A tokenizer of ranks: the bytes, then `tokens` in the order of their ranks."""
    ranks = BYTES | dict(enumerate(tokens, 256))
    return Tokenizer(RankedVocabulary(ranks, {"<|end|>": 256 + len(tokens)}), "llama3")


def check_files(tokenizer, texts, tmp_path):
    """Both files can be written and read, and give the ids of tiktoken; Hugging Face's library gives them too."""
    expected = tokenizer.to_tiktoken().encode_ordinary_batch(texts)
    assert tokenizer.encode_ordinary_batch(texts) == expected
    for format in ("native", "huggingface"):
        save(tokenizer, tmp_path / "tokenizer.json", format=format)
        assert (
            load(tmp_path / "tokenizer.json").encode_ordinary_batch(texts) == expected
        ), format
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [theirs.encode(text).ids for text in texts] == expected
    assert theirs.encode("ab<|end|>").ids == tokenizer.encode(
        "ab<|end|>", allowed_special="all"
    )


@pytest.mark.parametrize(
    ("tokens", "n_merges", "is_looked_up"),
    [
        ([b"ab", b"abc"], 2, False),
        ([b"xyz"], 0, True),  # no merge makes it
        (
            [b"abc", b"ab"],
            2,
            True,
        ),  # a token of higher rank is a part of one of lower rank
        ([b"abcd", b"bc", b"abc", b"bcd"], 4, True),
        ([b"aaaa", b"aaa", b"aa"], 3, True),
        ([b"ab", b"bc", b"abc", b"abcd", b"cd"], 5, False),
    ],
)
def test_a_token_is_made_by_one_merge_or_looked_up(
    tokens, n_merges, is_looked_up, tmp_path
):
    tokenizer = ranked(tokens)
    merges = tokenizer.vocabulary.as_merges().merges
    assert len(merges) == len({token for _, _, token in merges}) == n_merges
    texts = [
        "".join(random.Random(seed).choices("abcdxyz ", k=seed % 15))
        for seed in range(300)
    ]
    check_files(tokenizer, [*texts, *(token.decode() for token in tokens)], tmp_path)
    assert (
        '"ignore_merges": true' in (tmp_path / "tokenizer.json").read_text()
    ) is is_looked_up


def test_ranks_in_any_order_give_the_same_ids_as_merges(tmp_path):
    rng = random.Random(7)
    n_late = 0
    for _ in range(80):
        sizes = rng.choices([2, 2, 3, 3, 4, 5], k=rng.randrange(1, 12))
        tokens = [*{"".join(rng.choices("abc", k=size)) for size in sizes}]
        tokenizer = ranked(
            [token.encode() for token in sorted(tokens, key=lambda _: rng.random())]
        )
        texts = [
            *tokens,
            *("".join(rng.choices("abc", k=rng.randrange(1, 14))) for _ in range(20)),
        ]
        check_files(tokenizer, texts, tmp_path)
        n_late += bool(tokenizer.vocabulary.late_merges())
    assert n_late > 15


def two_trainings(first, more):
    """Ranks as Llama 3 has them: those of one training, then the new tokens of another, in the order of their steps."""
    ranks = list(first.vocabulary.bytes_of.values())
    known = set(ranks)
    ranks += [
        data
        for _, _, token in more.merges
        if (data := more.token_bytes(token)) not in known
    ]
    return Tokenizer(
        RankedVocabulary(dict(enumerate(ranks)), {"<|end|>": len(ranks)}), "llama3"
    )


def test_the_ranks_of_two_trainings_one_after_the_other(tmp_path):
    prose, tale = (
        SAMPLES / name for name in ("english-prose.txt", "one-tale-many-scripts.txt")
    )
    texts = [prose.read_text("utf-8"), tale.read_text("utf-8")]
    first, second = (train(text, vocab_size=900, pattern="llama3") for text in texts)
    tokenizer = two_trainings(first, second)
    assert tokenizer.vocabulary.whole_pieces
    check_files(tokenizer, [*texts, *TEXTS], tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "r50k_base",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("cl100k_base", "o200k_base")
        ),
    ],
)
def test_published_ranks_are_written_as_merges(name, tmp_path):
    tokenizer = load(real_file(f"{name}.tiktoken", tmp_path))
    vocabulary = tokenizer.vocabulary
    specials = set(tokenizer.special_tokens.values())
    tokens = [
        vocabulary.token_bytes(token)
        for token in vocabulary.ids()[::7]
        if token not in specials
    ]
    words = [
        token.decode()
        for token in tokens
        if token.decode(errors="ignore").encode() == token
    ]
    texts = [
        text
        for text in TEXTS
        if not any(special in text for special in tokenizer.special_tokens)
    ]
    expected = tokenizer.to_tiktoken().encode_ordinary_batch(texts + words)
    for format in ("native", "huggingface"):
        save(tokenizer, tmp_path / "tokenizer.json", format=format)
        assert (
            load(tmp_path / "tokenizer.json").encode_ordinary_batch(texts + words)
            == expected
        )
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [theirs.encode(text).ids for text in texts + words] == expected


@pytest.mark.slow
def test_published_ranks_with_more_behind_them_as_in_llama_3(tmp_path):
    published = load(real_file("cl100k_base.tiktoken", tmp_path))
    texts = [
        path.read_text("utf-8")
        for path in sorted(SAMPLES.iterdir())
        if path.suffix in (".txt", ".md", ".py")
    ]
    tokenizer = two_trainings(
        published, train(texts, vocab_size=6000, pattern="llama3")
    )
    assert len(tokenizer.vocabulary.whole_pieces) > 100
    check_files(
        tokenizer, [text for text in texts + TEXTS if "<|end|>" not in text], tmp_path
    )


def test_ranks_that_would_join_a_token_that_no_merge_makes_are_refused(tmp_path):
    """xabc is x, ab and c by the merges; by ranks, ab and c would be joined."""
    base = BYTES | {256: b"abc"}
    tokenizer = Tokenizer(
        Vocabulary(base, [(97, 98, 257)], whole_pieces={b"abc": 256}), "llama3"
    )
    assert tokenizer.encode("xabc") == [120, 257, 99]
    with pytest.raises(
        FormatError,
        match="ranks would not make the token 256 'abc' as its merges do",
    ):
        save(tokenizer, tmp_path / "ranks", format="tiktoken")


def test_tokens_that_are_found_before_the_split_are_refused(tmp_path):
    """As added tokens of a tokenizer.json that are not special."""
    base = BYTES | {256: b"<think>"}
    tokenizer = Tokenizer(
        Vocabulary(base, whole_pieces={b"<think>": 256}), "<think>(?#else)llama3"
    )
    assert tokenizer.encode("a<think>") == [97, 256]
    with pytest.raises(
        FormatError, match="it looks for some tokens before it splits a text"
    ):
        save(tokenizer, tmp_path / "ranks", format="tiktoken")


def test_equal_ranks_are_refused(tmp_path):
    equal = {data: 0 for data in [*BYTES.values(), b"ab", b"bc"]}
    vocabulary = RankedVocabulary(BYTES | {256: b"ab", 257: b"bc"}, rank_of=equal)
    for format in ("native", "huggingface"):
        with pytest.raises(
            FormatError,
            match="have equal ranks, which merges can't express; choose another format",
        ):
            save(
                Tokenizer(vocabulary, "llama3"),
                tmp_path / "tokenizer.json",
                format=format,
            )


@pytest.mark.parametrize("format", ["native", "huggingface", "tiktoken"])
@pytest.mark.parametrize("highest", [(1 << 31) - 1, 1 << 31, (1 << 32) - 1])
def test_the_highest_ids_that_can_be_written_can_be_read(format, highest, tmp_path):
    merges = [(97, 98, highest - 2), (highest - 2, 99, highest - 1)]
    few = Tokenizer(Vocabulary(BYTES, merges, {"<|end|>": highest}), "llama3")
    first = highest - 299
    shifted = {first + byte: bytes([byte]) for byte in range(256)}
    all_high = Tokenizer(
        Vocabulary(shifted, [(first + 97, first + 98, highest)]), "llama3"
    )
    for tokenizer in (few, all_high):
        save(tokenizer, tmp_path / "tokenizer.json", format=format)
        loaded = load(tmp_path / "tokenizer.json", pattern="llama3")
        assert loaded.encode("xabcab") == tokenizer.encode("xabcab")
        assert loaded.decode(tokenizer.encode("xabcab")) == "xabcab"
