"""United tokenizers: every token of B has the same id, a new id, or a reason why it is impossible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_vocabularies import (
    BYTES,
    RANKS,
    SHORT_TEXTS,
    merge_lists,
    of_merges,
    of_ranks,
)

from bpe_core import OptionError, Tokenizer, Vocabulary, reference, train, unite
from bpe_core.content.samples import SAMPLES


def drawn(data):
    if data.draw(st.booleans()):
        return of_ranks(data.draw(RANKS))
    return of_merges(data.draw(merge_lists()))


@given(st.data())
def test_each_token_of_the_second_is_a_token(data):
    a, b = drawn(data), drawn(data)
    united = unite(a, b)
    assert sorted(token.id for token in united.tokens) == b.vocabulary.ids()
    for token in united.tokens:
        data_of_token = b.token_bytes(token.id)
        if token.outcome == "impossible":
            assert token.token is None
            assert token.reason.startswith(("the token ", "with it, ranks would also"))
        else:
            assert united.tokenizer.token_bytes(token.token) == data_of_token
            assert united.tokenizer.encode(data_of_token.decode("latin-1"))
            assert token.token in a.vocabulary or token.outcome == "new"
        if token.outcome == "new":
            assert united.tokenizer.vocabulary.encode(data_of_token) == (token.token,)
    for text in SHORT_TEXTS[:300]:
        ids = a.encode(text)
        for left, right, new in united.merges:
            ids = reference.merged(ids, (left, right), new)
        assert united.tokenizer.encode(text) == ids
    new_ids = {token.token for token in united.tokens if token.outcome == "new"}
    assert new_ids | set(united.intermediate) == {merge[2] for merge in united.merges}


def test_with_bytes_alone_the_second_is_copied():
    text = SAMPLES[0].path.read_text("utf-8")
    b = train(text, vocab_size=600)
    a = Tokenizer(b.vocabulary.at(0), b.pattern)
    united = unite(a, b)
    assert united.intermediate == ()
    assert united.tokenizer.encode(text) == b.encode(text)


def test_what_the_pattern_cuts_is_reported():
    a = train("low", vocab_size=257, pattern="gpt4")
    b = of_merges([(49, 50, 256), (256, 51, 257), (257, 52, 258)])
    united = unite(a, b)
    reasons = {
        b.decode([token.id]): token.reason
        for token in united.tokens
        if token.outcome == "impossible"
    }
    assert reasons["1234"] == "A makes the pieces “123” + “4” of its text"
    assert reasons.keys() == {"1234"}


def test_special_tokens_and_bytes():
    a = train("low", vocab_size=258, special_tokens=["<end>"])
    base = BYTES | {300: b"", 301: b"x<end>", 302: b"\xff\xff"}
    b = Vocabulary(base, [(0xE3, 0x81, 303)], {"<end>": 400, "<pad>": 401})
    united = unite(a, Tokenizer(b, "none"))
    outcome = {token.id: token[1:] for token in united.tokens}
    assert outcome[65] == ("same", a.encode("A")[0], "")
    assert outcome[300] == ("impossible", None, "it is empty")
    assert outcome[301][2] == "it contains the special token '<end>'"
    assert outcome[302][2].startswith("no text in UTF-8 contains it")
    assert outcome[303] == ("new", a.n_vocab, "")
    assert outcome[400] == ("same", a.special_tokens["<end>"], "")
    assert outcome[401][2] == "it is a special token, which no merge makes"


def test_a_marker_at_the_ends_of_words_is_refused():
    marked = train("low low lower", vocab_size=260, end_of_word="</w>")
    with pytest.raises(OptionError, match="second tokenizer marks"):
        unite(train("low", vocab_size=257), marked)
    with pytest.raises(OptionError, match="This tokenizer marks"):
        unite(marked, train("low", vocab_size=257))
