"""LiveText: what a change says, what an edit costs, and texts that are special; see also test_live_machine.py."""

import random

import pytest

from bpe_core import PATTERNS, LiveText, OptionError, Tokenizer, Vocabulary, train
from bpe_core.errors import PatternError
from bpe_core.patterns import patience
from bpe_core.tokenizer.normalizers import LOWERCASE, Normalizer
from bpe_core.tokenizer.preparation import Preparation
from tests.nasty import CONTRACTIONS, SPACES, WORDS

OWN_PATTERNS = [
    r"\p{N}{1,2}|\w+|\W",
    r"\w+",
    r"(?<=x)a+|.|\n",
    r"a[^b]*b|a|(?s:.)",
    r"\b\w",
]
BITS = [*WORDS, *SPACES, *CONTRACTIONS, *"aaaxb1 /'\n", "=" * 9, "\ud800", "\x1b"]


@pytest.fixture(scope="module")
def vocabulary():
    rng = random.Random(0)
    text = (
        "".join(rng.choices([bit for bit in BITS if bit != "\ud800"], k=1500))
        + "ab" * 80
        + "a" * 90
        + " " * 70
    )
    return train(text, vocab_size=700, pattern="none").vocabulary


def test_a_merge_forms_while_it_is_typed():
    live = LiveText(
        train(["low low lower newest newest"], vocab_size=262, pattern="gpt4"), "lw"
    )
    change = live.splice(1, 1, "o")
    assert (change.removed, live.tokenizer.decode(change.inserted)) == (
        (108, 119),
        "low",
    )
    assert (change.start, change.n_tokens, change.n_bytes, change.ripple) == (
        0,
        -1,
        1,
        0,
    )


def test_ripple_counts_bytes_to_the_farthest_border_that_moved():
    tokenizer = Tokenizer(
        Vocabulary.of_bytes().extended([(120, 97, 256), (97, 98, 257)]), "none"
    )
    change = LiveText(tokenizer, "abcd").splice(0, 0, "x")
    assert (change.inserted, change.removed) == ((256, 98), (257,))
    assert change.ripple == 1


def test_tokens_inside_a_range_are_counted_once_they_are_known():
    live = LiveText(train("low lower", vocab_size=258), "low lower\n" * 20_000)
    within = (1, live.n_characters - 1)
    assert not live.settled and live.n_tokens_between(*within) is None
    n_before_line_feed = live.n_tokens - 1
    assert live.n_tokens_between(*within) == n_before_line_feed


def test_a_change_may_begin_inside_a_character():
    tokenizer = Tokenizer(Vocabulary.of_bytes(), "none")
    change = LiveText(tokenizer, "aé").splice(1, 2, "è")
    assert (change.start, change.head, change.removed, change.inserted) == (
        1,
        1,
        (0xA9,),
        (0xA8,),
    )


def test_an_edit_that_changes_nothing():
    live = LiveText(train("abab", vocab_size=257), "abab")
    assert live.splice(1, 3, "ba").removed == () == live.splice(2, 2, "").inserted


def test_an_edit_is_local_too_where_a_pattern_of_ones_own_drops_text(
    vocabulary, monkeypatch
):
    tokenizer = Tokenizer(vocabulary, r"(?#only)\w+")
    live = LiveText(tokenizer, "some words, and more of them; " * 2000)
    live.settle(10)
    looked_at = []
    places = type(tokenizer.splitter).places
    monkeypatch.setattr(
        type(tokenizer.splitter),
        "places",
        lambda self, text: looked_at.append(len(text)) or places(self, text),
    )
    live.splice(30_000, 30_003, "x y")
    assert 0 < sum(looked_at) < 5000
    monkeypatch.undo()
    assert live.ids == tokenizer.encode_ordinary(live.text)


@pytest.mark.parametrize(
    "preparation",
    [None, Preparation((), Normalizer([LOWERCASE]), (), False, False, {})],
)
def test_a_pair_of_surrogates_is_the_character_that_encoding_takes_it_for(
    vocabulary, preparation
):
    tokenizer, pair = (
        Tokenizer(vocabulary, "gpt4", preparation=preparation),
        "a \ud83d\ude0a",
    )
    live = LiveText(tokenizer, pair)
    assert live.text == "a 😊" and live.ids == tokenizer.encode_ordinary(pair)
    change = live.splice(3, 3, pair)
    assert live.text == "a 😊a 😊" and live.ids == tokenizer.encode_ordinary(
        pair + pair
    )
    assert len(live.text) == live.n_characters and change.start <= 3


def test_the_empty_text(vocabulary):
    for pattern in (*PATTERNS, *OWN_PATTERNS):
        live = LiveText(Tokenizer(vocabulary, pattern))
        assert (
            live.text,
            live.ids,
            live.spans(0, 0),
            live.n_tokens,
            live.span_at(0),
        ) == ("", [], [], 0, None)
        live.splice(0, 0, "word " * 300)
        live.splice(0, 1500, "")
        assert (live.text, live.ids, live.n_bytes) == ("", [], 0)


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (0, 4), (4, 4)])
def test_a_range_that_is_none(vocabulary, start, end):
    with pytest.raises(OptionError, match="is not in this text"):
        LiveText(Tokenizer(vocabulary, "gpt4"), "abc").splice(start, end, "")


def test_another_pattern_of_the_same_words_is_another_pattern():
    """ "words" drops the space between them, and the expression it is made of, as one's own, keeps it."""
    dropping, keeping = (
        train("low low lower", vocab_size=260, pattern=pattern)
        for pattern in ("words", r"\S+")
    )
    live = LiveText(dropping, "low low")
    live.use(keeping)
    assert live.ids == keeping.encode_ordinary("low low")
    live.use(dropping)
    assert live.ids == dropping.encode_ordinary("low low")


def test_another_tokenizer_that_fails_leaves_the_one_in_use():
    tokenizer = train("aab ab", vocab_size=258, pattern="gpt4")
    live = LiveText(tokenizer, "a" * 200_001)
    with pytest.raises(OptionError, match="no safe place to cut"):
        live.use(train("aab ab", vocab_size=258, pattern="words", end_of_word="</w>"))
    assert live.tokenizer is tokenizer and live.ids == tokenizer.encode_ordinary(
        "a" * 200_001
    )


def test_a_pattern_that_takes_too_long_leaves_the_text():
    tokenizer = Tokenizer(
        train("aab ab", vocab_size=258).vocabulary, r"(?:a|aa)+!|[a-z]+|\s|."
    )
    live = LiveText(tokenizer, "b" + "a" * 20 + " c!")
    with patience(0.0), pytest.raises(PatternError):
        live.splice(3, 3, "a" * 12)
    assert (
        live.text == "b" + "a" * 20 + " c!"
        and live.ids == tokenizer.encode_ordinary(live.text)
    )
