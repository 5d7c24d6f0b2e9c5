"""A packed tokenizer comes back as it was; a block that is broken in any way is refused, and never anything else."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import Tokenizer, Vocabulary, train
from bpe_core.formats.packed import pack, unpack
from bpe_core.vocabulary.symbols import CharacterSymbols

LEARNED = train("the theme of the other thesis " * 9, vocab_size=280)
TOKENS = {token: LEARNED.token_bytes(token) for token in LEARNED.vocabulary.ids()}


def ranked(first: int = 0) -> Tokenizer:
    """The tokens of `LEARNED` as ranks, and a special one behind them."""
    tokens = {first + token: data for token, data in TOKENS.items()}
    return Tokenizer(Vocabulary.ranked(tokens, {"<|end|>": first + len(tokens)}), "gpt4", name="learned")


@pytest.mark.parametrize("first", [0, 1000])
def test_what_was_packed_comes_back(first: int) -> None:
    whole = ranked(first)
    again, merges = unpack(pack(whole))
    assert again is not None
    assert again.vocabulary.knows_merges
    assert [token for _, _, token in merges] == list(range(first + 256, first + 268))
    assert again.merges == whole.merges == list(merges)
    assert again.vocabulary.ids() == whole.vocabulary.ids()
    assert [*map(again.token_bytes, again.vocabulary.ids())] == [*map(whole.token_bytes, whole.vocabulary.ids())]
    assert (again.pattern, again.name, again.special_tokens) == (whole.pattern, whole.name, whole.special_tokens)


@given(st.text(alphabet="the omsir\n", max_size=60), st.integers(0, 12))
def test_it_encodes_as_before_at_every_step(text: str, step: int) -> None:
    whole, (again, _) = ranked(), unpack(pack(ranked()))
    assert again is not None
    assert again.encode(text) == whole.encode(text)
    assert again.at(step).encode(text) == whole.at(step).encode(text)


def test_of_a_vocabulary_of_characters_only_the_merges_are_kept() -> None:
    tokens = {0: b"a", 1: b"b", 2: b"ab"}
    symbols = CharacterSymbols({"a": 0, "b": 1}, {})
    again, merges = unpack(pack(Tokenizer(Vocabulary.ranked(tokens, symbols=symbols), "none")))
    assert again is None
    assert list(merges) == [(0, 1, 2)]


def test_of_ids_in_another_order_only_the_merges_are_kept() -> None:
    tokens = {token: bytes([token]) for token in range(256)} | {300: b"ab", 299: b"abc"}
    again, merges = unpack(pack(Tokenizer(Vocabulary.ranked(tokens), "gpt4")))
    assert again is None
    assert list(merges) == [(97, 98, 300), (300, 99, 299)]


BLOCK = pack(ranked())


@given(st.integers(0, len(BLOCK) - 1), st.binary(max_size=9))
def test_a_broken_block_is_a_value_error_or_another_tokenizer(place: int, damage: bytes) -> None:
    with suppress(ValueError):  # a name or a number may have changed: the digest in front of a block is for that
        tokenizer, _ = unpack(BLOCK[:place] + damage + BLOCK[place + len(damage) :])
        assert tokenizer is None or isinstance(tokenizer, Tokenizer)


@pytest.mark.parametrize("block", [b"", b"\0" * 15, struct.pack("<4I", 1, 2, 3, 4), BLOCK[:-1], BLOCK + b"s"])
def test_a_block_of_another_length_is_refused(block: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(block)
