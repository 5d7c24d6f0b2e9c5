"""Grafted words: old ids, with the new pairs merged in their order; and the words that save most."""

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_vocabularies import (
    BYTES,
    RANKS,
    SHORT_TEXTS,
    TEXTS,
    encoded_by_merges,
    encoded_by_ranks,
    merge_lists,
    of_merges,
    of_ranks,
)

from bpe_core import (
    Counts,
    OptionError,
    Tokenizer,
    Vocabulary,
    graft,
    load,
    prune,
    reference,
    save,
    train,
)
from bpe_core.errors import FormatError
from bpe_core.patterns import splitter
from bpe_core.surgery.best_words import best_words
from bpe_core.tokenizer.normalizers import NormalForm, Normalizer
from bpe_core.tokenizer.preparation import (
    AddedToken,
    PrefixStep,
    Preparation,
    SplitStep,
)

WORDS = st.lists(st.text("abc", min_size=1, max_size=7), min_size=1, max_size=5)
LOW = train("low low lower lower", vocab_size=259)  # lo, low, ␣low


def with_new_pairs(ids, merges):
    """What the theorem says: old ids with the new pairs merged in their order."""
    for left, right, token in merges:
        ids = reference.merged(ids, (left, right), token)
    return ids


def check_theorem(tokenizer, grafted, texts, encoded_now):
    for text in texts:
        old = tokenizer.encode(text)
        new = grafted.tokenizer.encode(text)
        assert new == with_new_pairs(old, grafted.merges)
        assert new == encoded_now(text.encode())
        pairs = {(left, right) for left, right, _ in grafted.merges}
        if pairs.isdisjoint(pairwise(old)):
            assert new == old
    for word in grafted.words:
        assert grafted.tokenizer.encode(word.word) == [word.token]
        assert tokenizer.encode(word.word) == list(word.parts)
    new_ids = [token for _, _, token in grafted.merges]
    assert new_ids == list(range(tokenizer.n_vocab, tokenizer.n_vocab + len(new_ids)))
    words = {word.token for word in grafted.words}
    assert set(grafted.intermediate) == set(new_ids) - words


def grafted_or_none(tokenizer, words):
    try:
        return graft(tokenizer, words)
    except OptionError as error:
        sentence = (
            "can't become one token: "
            if len(set(words)) == 1
            else "None of the words can become"
        )
        assert sentence in str(error)
        return None


@given(st.data(), WORDS, st.booleans())
def test_by_merges_ids_are_the_old_ones_with_the_new_pairs_merged(data, words, several):
    merges = data.draw(merge_lists(several=several))
    tokenizer = of_merges(merges, special_tokens={"<end>": 300})
    grafted = grafted_or_none(tokenizer, words)
    if grafted:

        def encoded_now(piece):
            return encoded_by_merges(piece, [*merges, *grafted.merges])[0]

        texts = data.draw(st.lists(TEXTS, max_size=8)) + words + SHORT_TEXTS[:300]
        check_theorem(tokenizer, grafted, texts, encoded_now)
        for word, reason in grafted.refused:
            is_token = len(tokenizer.encode(word)) == 1
            assert is_token or "has the bytes" in reason


@given(st.data(), RANKS, WORDS, st.booleans())
def test_by_ranks_ids_are_the_old_ones_with_the_new_pairs_merged(
    data, tokens, words, looks_up
):
    tokenizer = of_ranks(tokens, looks_up)
    grafted = grafted_or_none(tokenizer, words)
    if grafted:
        now = grafted.tokenizer.vocabulary
        id_of = {data: token for token, data in now.bytes_of.items()}

        def encoded_now(piece):
            return encoded_by_ranks(piece, id_of, looks_up)[0]

        texts = data.draw(st.lists(TEXTS, max_size=8)) + words + SHORT_TEXTS[:300]
        check_theorem(tokenizer, grafted, texts, encoded_now)
        # The same by merges.
        as_merges = now.as_merges()
        for text in texts:
            assert list(as_merges.encode(text.encode())) == encoded_now(text.encode())


def test_shared_beginnings_are_shared():
    grafted = graft(LOW, ["lowest", "lowering", "lowered"])
    assert [word.word for word in grafted.words] == ["lowest", "lowering", "lowered"]
    names = [grafted.tokenizer.decode([token]) for _, _, token in grafted.merges]
    assert names == [
        *("lowe", "lowes", "lowest"),
        *("lower", "loweri", "lowerin", "lowering"),
        *("lowere", "lowered"),
    ]
    assert len(grafted.intermediate) == 6


def test_a_word_made_on_the_way_to_another_is_no_further_token():
    grafted = graft(LOW, ["lowest", "lowe"])
    assert [word.token for word in grafted.words] == [261, 259]
    assert len(grafted.merges) == 3
    assert grafted.intermediate == (260,)


def test_a_word_that_repeats_its_beginning():
    grafted = graft(of_merges([]), ["abab", "aaaa", "aaa"])
    assert [grafted.tokenizer.encode(word.word) for word in grafted.words] == [
        [word.token] for word in grafted.words
    ]
    assert [merge[:2] for merge in grafted.merges] == [
        *((97, 98), (256, 256), (97, 97), (258, 258), (258, 97))
    ]


def test_new_ids_follow_special_tokens():
    tokenizer = LOW.with_special_tokens({"<end>": 1000})
    grafted = graft(tokenizer, ["lower"])
    assert grafted.tokenizer.special_tokens == {"<end>": 1000}
    assert grafted.words[0].token == 1002
    assert grafted.tokenizer.n_vocab == 1003


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("", "it is empty"),
        ("low", "it is token 257 already"),
        ("low lower", "the split pattern cuts it into “low” + “␣lower”"),
        (
            "!? " * 50,
            "the split pattern cuts it into " + "“!?” + " + "“␣!?” + " * 19 + "…",
        ),
        ("a<end>", "it contains the special token '<end>'"),
        ("lo\ud800", "it contains half of a character (a lone surrogate)"),
    ],
)
def test_words_are_refused_with_a_reason(word, reason):
    tokenizer = LOW.with_special_tokens({"<end>": 1000})
    grafted = graft(tokenizer, ["lower", word])
    assert grafted.refused == ((word, reason),)
    assert len(grafted.words) == 1


def test_a_word_that_is_named_twice_is_one_word():
    assert graft(LOW, ["lower", "lower"]) == graft(LOW, ["lower"])


def test_a_pattern_that_drops_text_refuses_it():
    words = Tokenizer(LOW.vocabulary, "words")
    grafted = graft(words, [" ", " lowe", "lowe"])
    assert dict(grafted.refused) == {
        " ": "the split pattern drops it or a part of it",
        " lowe": "the split pattern drops it or a part of it",
    }


def test_no_word_at_all_is_an_error():
    with pytest.raises(OptionError, match="There are no words to add"):
        graft(LOW, [])
    with pytest.raises(OptionError, match="The first one, 'low': it is token 257"):
        graft(LOW, ["low", ""])
    with pytest.raises(OptionError, match="not one text"):
        graft(LOW, "lower")
    with pytest.raises(OptionError, match="A word is a text, not b'lower'"):
        graft(LOW, [b"lower"])
    marked = train("low low lower", vocab_size=260, end_of_word="</w>")
    with pytest.raises(OptionError, match="marks the ends of words"):
        graft(marked, ["lower"])


def test_ranks_that_would_make_an_old_token_too_are_refused():
    # Nothing makes abcd: its bytes become a + bc + d. With abc, ranks would join abc and d.
    tokenizer = of_ranks([b"bc", b"abcd"], looks_up=False)
    assert tokenizer.encode("abcd") == [97, 256, 100]
    grafted = graft(tokenizer, ["abc", "bcb"])
    assert grafted.refused == (
        (
            "abc",
            "with it, ranks would also make the token 257, which no text becomes now",
        ),
    )
    assert grafted.merges == ((256, 98, 258),)
    # Merges make only what they list.
    merges = Tokenizer(
        Vocabulary(BYTES | {257: b"abcd"}, [(98, 99, 256)], whole_pieces={}), "none"
    )
    assert graft(merges, ["abc"]).tokenizer.encode("abcd") == [258, 100]


def test_a_token_with_the_same_bytes_is_not_made_a_second_time():
    base = BYTES | {300: b"ab"}
    tokenizer = Tokenizer(Vocabulary(base, [], whole_pieces={}), "none")
    grafted = graft(tokenizer, ["abc", "bc"])
    assert grafted.refused == (
        (
            "abc",
            "the token 300 has the bytes “ab” already, but is not what they become",
        ),
    )
    assert grafted.merges == ((98, 99, 301),)


def test_the_text_before_the_split_counts():
    preparation = Preparation(
        (AddedToken("<x>", 400),),
        Normalizer([NormalForm("NFC")]),
        (PrefixStep(" ", only_first=True), SplitStep(splitter("gpt2"))),
    )
    vocabulary = LOW.vocabulary.with_special_tokens({})
    base = dict(vocabulary.base) | {400: b"<x>"}
    vocabulary = Vocabulary(base, vocabulary.merges, whole_pieces={})
    tokenizer = Tokenizer(vocabulary, "gpt2", preparation=preparation)
    grafted = graft(tokenizer, ["lower", "e\u0301", "a<x>", "a b"])
    assert [grafted.tokenizer.encode(word.word) for word in grafted.words] == [
        [word.token] for word in grafted.words
    ]
    assert [grafted.tokenizer.decode([word.token]) for word in grafted.words] == [
        " lower",
        " é",
    ]
    assert dict(grafted.refused) == {
        "a<x>": "it contains an added token",
        "a b": "the split pattern cuts it into “␣a” + “␣b”",
    }


def test_written_in_every_format(tmp_path):
    grafted = graft(LOW, ["lowest", " lowest"])
    for format in ("native", "huggingface", "tiktoken", "minbpe"):
        save(grafted.tokenizer, tmp_path / "file", format=format)
        read = load(tmp_path / "file", pattern=LOW.pattern)
        assert read.encode("lowest lowest") == [261, 264]
        pruned = prune(read, [261])
        assert pruned.tokenizer.encode("lowest lowest") == [260, 116, 264]
    special = graft(LOW.with_special_tokens({"<end>": 259}), ["lowest"])
    with pytest.raises(FormatError, match="its merges do not make the ids from 256"):
        save(special.tokenizer, tmp_path / "file", format="minbpe")


TEXTS_WITH_SPACES = st.lists(st.text("abc ", max_size=9), min_size=1, max_size=12)


@given(TEXTS_WITH_SPACES, merge_lists(), st.integers(1, 4), st.sampled_from([1, 0.5]))
def test_best_words_are_those_that_save_most_by_trying_all(texts, merges, n, scale):
    tokenizer = Tokenizer(of_merges(merges).vocabulary, "gpt4")
    counts = Counts.of(texts, "gpt4")
    if scale != 1:
        counts = Counts.weighted([(counts, 3), (Counts.of(texts[:2], "gpt4"), 1)])
    found = list(islice(best_words(tokenizer, counts), n))

    def total(tokenizer):
        return sum(
            count * len(tokenizer.encode(piece))
            for piece, count in counts.pieces.items()
        )

    words = []
    for _ in range(n):
        before = total(graft(tokenizer, words).tokenizer if words else tokenizer)
        savings = {}
        for piece in counts.pieces:
            grafted = grafted_or_none(tokenizer, [*words, piece])
            if grafted and grafted.words[-1].word == piece:
                savings[piece] = before - total(grafted.tokenizer)
        most = max(savings.values(), default=0)
        if most <= 0:
            break
        words.append(min(word for word, saving in savings.items() if saving == most))
        assert found[len(words) - 1][:2] == (words[-1], most)
    assert [word.word for word in found] == words
    if words:
        n_new = sum(word.n_new_tokens for word in found)
        assert n_new == len(graft(tokenizer, words).merges)


def test_words_can_not_be_chosen_from_other_counts():
    with pytest.raises(OptionError, match="count them again"):
        best_words(LOW, Counts.of("low", "gpt2"))
    prepared = Tokenizer(LOW.vocabulary, "gpt4", preparation=Preparation((), None, ()))
    with pytest.raises(OptionError, match="give the words"):
        best_words(prepared, Counts.of("low", "gpt4"))
