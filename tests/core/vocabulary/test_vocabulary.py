"""The vocabulary: ids, bytes and merges, at any step, in the tidy files made here and the untidy ones of the world."""

import pytest

from bpe_core import OptionError, UnknownTokenError, Vocabulary

MERGES = [(97, 97, 256), (256, 97, 257), (257, 98, 258)]


@pytest.fixture
def vocabulary():
    return Vocabulary.of_bytes().extended(MERGES)


def test_an_earlier_step_knows_nothing_of_the_later_ones(vocabulary):
    early = vocabulary.at(1)
    assert (early.n_merges, early.n_tokens, early.merges) == (1, 257, MERGES[:1])
    assert 256 in early
    assert 257 not in early
    assert early.children(97) == (256,)
    assert early.ids() == list(range(257))
    assert early.encode(b"aaab") == (256, 97, 98)
    with pytest.raises(UnknownTokenError, match="Unknown token id 257"):
        early.token_bytes(257)
    for step in (-1, 4):
        with pytest.raises(OptionError, match="steps 0 to 3"):
            vocabulary.at(step)


def test_two_ways_may_part_at_an_earlier_step(vocabulary):
    other = vocabulary.at(1).extended([(98, 98, 257)])
    assert (other.token_bytes(257), vocabulary.token_bytes(257)) == (b"bb", b"aaa")
    assert other.merges == [(97, 97, 256), (98, 98, 257)]


def test_special_tokens_behind_the_merges_stay_behind_them():
    start = Vocabulary.of_bytes(special_tokens=["<s>", "</s>"])
    assert dict(start.special_tokens) == {"<s>": 256, "</s>": 257}
    grown = start.extended(MERGES)
    assert dict(grown.special_tokens) == {"<s>": 259, "</s>": 260}
    assert dict(grown.at(1).special_tokens) == {
        "<s>": 259,
        "</s>": 260,
    }  # time travel renumbers nothing
    assert grown.at(1).n_tokens == 259
    first = Vocabulary.of_bytes("specials-first", ["<s>"]).extended([(98, 98, 257)])
    assert dict(first.special_tokens) == {"<s>": 0}
    assert first.token_bytes(257) == b"aa"
    assert first.token_bytes(0) == b"<s>"


def test_a_merge_may_make_a_token_that_is_there_already():
    """More merges than tokens: each is a rank of its own, but the vocabulary does not grow by it."""
    base = {byte: bytes([byte]) for byte in range(256)}
    vocabulary = Vocabulary(
        base, [(97, 98, 256), (98, 99, 257), (256, 99, 258), (97, 257, 258)]
    )
    assert (vocabulary.n_merges, vocabulary.n_tokens) == (4, 259)
    assert vocabulary.at(3).n_tokens == 259
    assert vocabulary.parents(258) == (256, 99)
    assert vocabulary.children(257) == (258,)


def test_a_special_token_may_be_made_by_a_merge_too():
    base = {byte: bytes([byte]) for byte in range(256)}
    whole = Vocabulary(base, [(97, 98, 256), (256, 99, 257)], {"abc": 257})
    assert (whole.step_of(257), whole.parents(257), whole.n_tokens) == (
        2,
        (256, 99),
        258,
    )
    for step in 0, 1:
        before = whole.at(step)
        assert (before.step_of(257), before.parents(257)) == (0, None)
        assert before.n_tokens == len(before.ids()) == 257 + step


def test_of_two_tokens_of_one_byte_the_lower_id_is_its_symbol():
    for base in ({300: b"a", 97: b"a"}, {97: b"a", 300: b"a"}):
        assert Vocabulary(base, [(97, 97, 400)]).encode(b"aaa") == (400, 97)


def test_a_missing_byte_is_named():
    with pytest.raises(UnknownTokenError, match="no token for the byte 0x62"):
        Vocabulary({0: b"a"}).encode(b"ab")


@pytest.mark.parametrize(
    ("merges", "specials", "sentence"),
    [
        ([(97, 999, 256)], {}, "Merge 1 joins the id 999"),
        (
            [(97, 97, 256), (98, 98, 256)],
            {},
            "Merge 2 makes the id 256, which has other bytes already",
        ),
        ([], {"<s>": 97}, "'<s>' has the id 97, which is taken"),
        ([], {"<s>": 300, "<t>": 300}, "has the id 300, which is taken"),
        ([], {"": 300}, "empty"),
        *(
            ([(97, 98, wrong)], {}, "whole numbers from 0 to 4,294,967,295")
            for wrong in (-1, 1 << 32, 10**30, 1.5, None)
        ),
        *(
            ([], {"<s>": wrong}, "whole numbers from 0 to")
            for wrong in (-1, 1 << 32, "1")
        ),
        *(
            ([row], {}, "whole numbers from 0 to|not a row of three")
            for row in ((), (97, 98), (97, 98, 256, 0), None, 5)
        ),
    ],
)
def test_what_contradicts_itself_is_refused(merges, specials, sentence):
    with pytest.raises(OptionError, match=sentence):
        Vocabulary({byte: bytes([byte]) for byte in range(256)}, merges, specials)
    if not specials:
        with pytest.raises(OptionError):
            Vocabulary.of_bytes().extended(merges)


def test_a_piece_that_is_a_token_need_not_become_it():
    """Merges may come in an order in which another one is first, and the token may be that of a later step."""
    merges = [
        (97, 98, 256),
        (98, 99, 257),
        (256, 99, 258),
        (97, 257, 259),
        (99, 97, 260),
        (260, 98, 261),
    ]
    vocabulary = Vocabulary({byte: bytes([byte]) for byte in range(256)}, merges)
    assert vocabulary.encode(b"abc") == (258,)
    assert vocabulary.at(2).encode(b"abc") == (256, 99)
    assert vocabulary.encode(b"cab") == (99, 256), (
        "the token 261 is cab, but a and b go first"
    )
