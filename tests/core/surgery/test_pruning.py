"""Removed tokens: texts in which none was formed keep their ids, and what becomes unreachable is reported."""

import pytest
import tiktoken
from formed import formed_tokens
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
    OptionError,
    Tokenizer,
    UnknownTokenError,
    Vocabulary,
    load,
    prune,
    save,
    train,
)
from bpe_core.errors import FormatError, NotAnIdError
from bpe_core.vocabulary.symbols import CharacterSymbols

DECISIONS = st.sampled_from(["list", "with-descendants"])
LOW = train("low low lower lower", vocab_size=259)  # lo, low, ␣low


def some_made(data, tokenizer):
    """Draw tokens to remove; also whether to renumber, and a decision."""
    made = sorted(tokenizer.vocabulary.bytes_of.keys() - BYTES.keys())
    ids = data.draw(st.sets(st.sampled_from(made), min_size=1))
    renumber = data.draw(st.booleans())
    return ids, prune(
        tokenizer, ids, renumber=renumber, unreachable=data.draw(DECISIONS)
    )


def check_reachability(tokenizer, pruned, piece_ids):
    """`unreachable` has exactly the tokens that some short text was, and that none is any more."""
    occur_before = {token for text in SHORT_TEXTS for token in tokenizer.encode(text)}
    occur_now = {token for text in SHORT_TEXTS for token in piece_ids(text)}
    lost = occur_before - occur_now - BYTES.keys()
    left = set(pruned.mapping) | set(pruned.unreachable)
    assert lost & left == set(pruned.unreachable)
    alone = [
        token
        for token in pruned.mapping
        if token not in BYTES
        and pruned.tokenizer.vocabulary.join(tokenizer.token_bytes(token))
        == (pruned.mapping[token],)
    ]
    assert set(pruned.only_whole).isdisjoint(alone)


@given(st.data(), st.booleans())
def test_by_merges_texts_without_a_removed_token_keep_their_ids(data, several):
    merges = data.draw(merge_lists(several=several).filter(bool))
    tokenizer = of_merges(merges)
    ids, pruned = some_made(data, tokenizer)

    def ids_now(text):
        now, _ = encoded_by_merges(text.encode(), merges, set(pruned.removed))
        return now

    texts = data.draw(st.lists(TEXTS, max_size=8)) + SHORT_TEXTS[:300]
    for text in texts:
        before, formed = encoded_by_merges(text.encode(), merges)
        assert tokenizer.encode(text) == before
        assert formed_tokens(tokenizer.vocabulary, text.encode()) == formed
        expected = [pruned.mapping[token] for token in ids_now(text)]
        assert pruned.tokenizer.encode(text) == expected
        if formed.isdisjoint(pruned.removed):
            assert expected == [pruned.mapping[token] for token in before]
    assert ids <= set(pruned.removed)
    assert pruned.only_whole == ()
    check_reachability(tokenizer, pruned, ids_now)


@given(st.data(), RANKS, st.booleans())
def test_by_ranks_texts_without_a_removed_token_keep_their_ids(data, tokens, looks_up):
    tokenizer = of_ranks(tokens, looks_up)
    id_of = {data: token for token, data in tokenizer.vocabulary.bytes_of.items()}
    _, pruned = some_made(data, tokenizer)
    id_of_now = {
        data: token for data, token in id_of.items() if token not in pruned.removed
    }

    def ids_now(text):
        now, _ = encoded_by_ranks(text.encode(), id_of_now, looks_up)
        return now

    for text in data.draw(st.lists(TEXTS, max_size=8)) + SHORT_TEXTS[:300]:
        before, formed = encoded_by_ranks(text.encode(), id_of, looks_up)
        assert formed_tokens(tokenizer.vocabulary, text.encode()) == formed
        expected = [pruned.mapping[token] for token in ids_now(text)]
        assert pruned.tokenizer.encode(text) == expected
        # The same ids after the recovery of merges.
        as_merges = pruned.tokenizer.vocabulary.as_merges()
        assert list(as_merges.encode(text.encode())) == expected
        if formed.isdisjoint(pruned.removed):
            assert expected == [pruned.mapping[token] for token in before]
    check_reachability(tokenizer, pruned, ids_now)
    if looks_up:
        assert pruned.unreachable == ()


@given(st.data(), st.booleans(), st.booleans())
def test_keeping_parents_keeps_texts_without_the_chosen_tokens(data, by_ranks, option):
    tokenizer = of_merges(data.draw(merge_lists(several=option).filter(bool)))
    if by_ranks:
        tokenizer = of_ranks(data.draw(RANKS), looks_up=option)
    made = sorted(tokenizer.vocabulary.bytes_of.keys() - BYTES.keys())
    ids = data.draw(st.sets(st.sampled_from(made), min_size=1))
    try:
        pruned = prune(tokenizer, ids, unreachable="keep-parents")
    except OptionError as error:
        assert str(error).startswith("Nothing can be removed: the tokens are parts")
        return
    assert pruned.unreachable == pruned.only_whole == ()
    assert set(pruned.removed) | pruned.kept.keys() == ids
    for token, child in pruned.kept.items():
        assert child not in ids or child in pruned.kept
        assert tokenizer.token_bytes(token) in tokenizer.token_bytes(child)
        joined = tokenizer.vocabulary.join(tokenizer.token_bytes(child))
        assert joined == (child,)
    now = pruned.tokenizer.vocabulary
    for token in tokenizer.vocabulary.bytes_of.keys() - set(pruned.removed):
        data = tokenizer.token_bytes(token)
        if tokenizer.vocabulary.join(data) == (token,):
            assert now.join(data) == (token,)
    for text in SHORT_TEXTS:
        before = tokenizer.encode(text)
        if now.bytes_of.keys() >= set(before):
            assert pruned.tokenizer.encode(text) == before


def test_a_parent_is_kept_even_if_there_is_another_way_to_its_child():
    # Without ab, abc is made of a and bc, but only after c and a have joined.
    tokenizer = of_ranks([b"ab", b"abc", b"ca", b"bc"])
    assert tokenizer.encode("abca") == [257, 97]
    assert prune(tokenizer, [256]).tokenizer.encode("abca") == [97, 98, 258]
    pruned = prune(tokenizer, [256, 258], unreachable="keep-parents")
    assert (pruned.removed, pruned.kept) == ((258,), {256: 257})
    assert pruned.tokenizer.encode("abca") == [257, 97]


def test_another_path_in_the_file_is_taken():
    # abc is listed as ab + c and as a + bc. Only the first is ever applied, until ab is removed.
    merges = [(97, 98, 256), (98, 99, 257), (256, 99, 258), (97, 257, 258)]
    tokenizer = of_merges(merges)
    assert tokenizer.merges == [*merges[:2], merges[2]]
    pruned = prune(tokenizer, [256])
    assert pruned.unreachable == ()
    assert pruned.tokenizer.encode("abcab") == [258, 97, 98]
    assert prune(of_merges([*merges[:3]]), [256]).unreachable == (258,)


@given(st.data(), merge_lists(several=True).filter(lambda merges: len(merges) > 3))
def test_two_removals_are_one(data, merges):
    tokenizer = of_merges(merges)
    made = sorted({token for _, _, token in merges})
    order = data.draw(st.permutations(made))
    for token in order[:-1]:
        tokenizer = prune(tokenizer, [token]).tokenizer
        removed = set(order[: order.index(token) + 1])
        for text in SHORT_TEXTS[::3]:
            expected, _ = encoded_by_merges(text.encode(), merges, removed)
            assert tokenizer.encode(text) == expected


@pytest.mark.parametrize(
    ("order", "applied"), [((0, 1, 2, 3), (0, 2, 3)), ((1, 2, 0, 3), (2, 0, 3))]
)
def test_a_merge_that_is_listed_before_its_parts_are_made(order, applied):
    # abc is listed as a + bc and as ab + c.
    merges = [(97, 98, 256), (97, 257, 258), (256, 99, 258), (98, 99, 257)]
    tokenizer = of_merges([merges[number] for number in order])
    assert tokenizer.encode("abc") == [258]
    assert tokenizer.merges == [merges[number] for number in applied]
    without_ab = prune(tokenizer, [256]).tokenizer
    assert without_ab.encode("abc") == [258]


def test_descendants_go_too_if_that_is_decided():
    listed = prune(LOW, [257])
    assert (listed.unreachable, listed.removed) == ((258,), (257,))
    assert listed.tokenizer.token_bytes(258) == b" low"
    pruned = prune(LOW, [257], unreachable="with-descendants")
    assert (pruned.unreachable, pruned.removed) == ((258,), (257, 258))
    assert 258 not in pruned.tokenizer.vocabulary
    assert pruned.tokenizer.encode(" low") == listed.tokenizer.encode(" low")


def test_a_token_that_is_still_looked_up_is_not_unreachable():
    tokenizer = of_ranks([b"ab", b"abc"])
    pruned = prune(tokenizer, [256])
    assert (pruned.unreachable, pruned.only_whole) == ((), (257,))
    assert pruned.tokenizer.encode("abc") == [257]
    assert pruned.tokenizer.encode("abca") == [97, 98, 99, 97]
    # Bytes that are not text are no piece, so nothing is looked up.
    cut = of_ranks([b"\xf0\x9f", b"\xf0\x9f\x98"])
    assert prune(cut, [256]).unreachable == (257,)


def test_renumbering_closes_all_holes():
    vocabulary = Vocabulary(
        BYTES, [(97, 98, 300), (300, 99, 400)], {"<end>": 350, "<pad>": 900}
    )
    pruned = prune(Tokenizer(vocabulary, "none"), [400], renumber=True)
    assert pruned.mapping[300] == 256
    assert pruned.tokenizer.special_tokens == {"<end>": 257, "<pad>": 258}
    assert pruned.tokenizer.vocabulary.ids() == list(range(259))
    assert pruned.tokenizer.encode("abc<pad>", allowed_special="all") == [256, 99, 258]


def test_characters_without_bytes_are_kept():
    base = {0: b"<unk>", 1: "é".encode(), 2: b"a", 3: b"b"}
    vocabulary = Vocabulary(
        base,
        [(2, 3, 4), (1, 2, 5)],
        {},
        symbols=CharacterSymbols({"é": 1, "a": 2, "b": 3}, {}, unknown=0),
        whole_pieces={},
    )
    tokenizer = Tokenizer(vocabulary, "none")
    with pytest.raises(OptionError, match="it is a character"):
        prune(tokenizer, [1])
    with pytest.raises(OptionError, match="it is the token of unknown characters"):
        prune(tokenizer, [0])
    assert prune(tokenizer, [5]).tokenizer.encode("éab") == [1, 4]


def test_a_character_with_bytes_becomes_its_bytes():
    base = {0: "é".encode(), 1: b"\xc3", 2: b"\xa9", 3: b"a"}
    symbols = CharacterSymbols({"é": 0, "a": 3}, {0xC3: 1, 0xA9: 2})
    vocabulary = Vocabulary(base, [(0, 3, 4)], symbols=symbols, whole_pieces={})
    pruned = prune(Tokenizer(vocabulary, "none"), [0], renumber=True)
    assert pruned.unreachable == (4,)
    assert pruned.tokenizer.encode("éa") == [0, 1, 2]
    with pytest.raises(
        OptionError, match="it is the byte 0xC3, and each byte needs a token"
    ):
        prune(Tokenizer(vocabulary, "none"), [1])


@pytest.mark.parametrize(
    ("ids", "error", "sentence"),
    [
        ([], OptionError, "There are no tokens to remove; give at least one id."),
        ([257, 97], OptionError, "Token 97 'a' can't be removed: it is the byte 0x61"),
        ([259], OptionError, "Token 259 '<end>' can't be removed: it is a special"),
        ([9999], UnknownTokenError, "Unknown token id 9999; this vocabulary has 260"),
        (["low"], NotAnIdError, "A token id is a whole number"),
    ],
)
def test_bad_ids_are_refused_in_a_sentence(ids, error, sentence):
    tokenizer = LOW.with_special_tokens({"<end>": 259})
    with pytest.raises(error) as raised:
        prune(tokenizer, ids)
    assert str(raised.value).startswith(sentence)


def test_bad_options_and_tokenizers_are_refused():
    with pytest.raises(OptionError, match="Unknown decision 'drop'; choose one of"):
        prune(LOW, [257], unreachable="drop")
    marked = train("low low lower", vocab_size=260, end_of_word="</w>")
    with pytest.raises(OptionError, match="marks the ends of words"):
        prune(marked, [259])


def test_holes_are_written_in_every_format_that_can_have_them(tmp_path):
    pruned = prune(LOW, [257], unreachable="with-descendants")
    for format in ("native", "huggingface", "tiktoken"):
        save(pruned.tokenizer, tmp_path / "file", format=format)
        read = load(tmp_path / "file", pattern=LOW.pattern)
        assert read.encode(" low lower") == pruned.tokenizer.encode(" low lower")
    # tiktoken accepts unused ids, except if the number of tokens is given.
    two = of_merges([(97, 98, 256), (98, 99, 257)])
    without = prune(two, [256]).tokenizer
    ranks = {data: token for token, data in without.vocabulary.bytes_of.items()}
    fields = {"pat_str": r"(?s:.)+", "mergeable_ranks": ranks, "special_tokens": {}}
    encoding = tiktoken.Encoding("holes", **fields)
    assert encoding.encode("abcbc") == without.encode("abcbc") == [97, 257, 257]
    assert without.to_tiktoken().n_vocab == encoding.n_vocab == 258
    with pytest.raises(AssertionError):
        tiktoken.Encoding("holes", explicit_n_vocab=258, **fields)
    with pytest.raises(FormatError, match="its merges do not make the ids from 256 on"):
        save(prune(two, [256]).tokenizer, tmp_path / "file", format="minbpe")
    renumbered = prune(two, [256], renumber=True)
    save(renumbered.tokenizer, tmp_path / "file", format="minbpe")
    assert load(tmp_path / "file") == renumbered.tokenizer


def test_a_token_made_late_is_written_as_ranks(tmp_path):
    # Without ab, abc is made of a and bc, whose rank is higher; its bytes alone become it all the same.
    tokens = {256: b"ab", 257: b"abc", 258: b"bc"}
    whole_pieces = {data: token for token, data in (BYTES | tokens).items()}
    merges = [(97, 98, 256), (256, 99, 257), (97, 258, 257), (98, 99, 258)]
    pruned = prune(of_merges(merges, whole_pieces), [256])
    now = pruned.tokenizer
    assert now.vocabulary.has_repeats
    assert now.encode("abcab") == [257, 97, 98]
    assert now.to_tiktoken().encode("abcab") == now.encode("abcab")
    # Without looking up pieces, ranks would give the piece "xyz" another id.
    other = Tokenizer(
        Vocabulary(BYTES | {258: b"bc", 300: b"xyz"}, now.merges, whole_pieces={}),
        "none",
    )
    with pytest.raises(FormatError, match="ranks would not make the token 300"):
        other.to_tiktoken()
