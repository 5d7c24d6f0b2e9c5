"""Long pieces are merged window by window, and nobody can tell: what is left is what the plain loop leaves."""

import pickle
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import reference as oracle
from bpe_core import train
from bpe_core.vocabulary import Vocabulary, merge_loop
from bpe_core.vocabulary.ranked import merge_parts

TIES = ("first", "lowest", "lowest-hf", "largest")
BYTES = {byte: bytes([byte]) for byte in range(256)}
FEW = settings(max_examples=10)


def windows_of(width):
    """Windows so narrow that tokens reach across them."""
    return patch.object(merge_loop, "WINDOW", width)


def pieces(letters, at_least=100):
    """Noise, one thing over and over, and rows of such."""
    some = st.text(letters, min_size=1, max_size=9)
    repeated = st.tuples(some, st.integers(1, 40)).map(lambda pair: pair[0] * pair[1])
    rows = st.one_of(
        st.text(letters, min_size=at_least, max_size=max(at_least, 200)),
        st.lists(repeated, min_size=1, max_size=6).map("".join),
    )
    return rows.map(lambda text: (text * (at_least // len(text) + 1)).encode())


def plain_loop(symbols, rank_of, joined):
    """What is left of symbols when the neighbors of lowest rank, the leftmost of equal ones, are joined till the end.

    If ranks are the order of a training, that is what encoding gives; published ones may have any order, and be equal.
    """
    parts = list(symbols)
    while ranks := {
        i: rank
        for i, pair in enumerate(pairwise(parts))
        if (rank := rank_of(*pair)) is not None
    }:
        i = min(ranks, key=ranks.__getitem__)
        parts[i : i + 2] = [joined(parts[i], parts[i + 1])]
    return parts


def ranks_of(merges):
    """Of a pair that two merges name the first counts."""
    return {merges[rank][:2]: rank for rank in reversed(range(len(merges)))}


def merged(piece, merges):
    """By the Python loop, whether the kernel is there or not."""
    ranks = ranks_of(merges)
    return merge_loop.merge(
        list(piece),
        lambda *pair: ranks.get(pair, merge_loop.NO_RANK),
        lambda _, __, rank: merges[rank][2],
    )


def replayed(piece, merges):
    ranks = ranks_of(merges)
    return plain_loop(
        piece, lambda *pair: ranks.get(pair), lambda *pair: merges[ranks[pair]][2]
    )


def test_one_letter_a_million_times_is_a_token_and_what_is_left_over():
    tokenizer = train("a" * 64, vocab_size=256 + 3, pattern="none")
    assert tokenizer.encode("a" * 1_000_003) == [258] * 125_000 + [256, 97]


def test_a_piece_that_repeats_itself_only_in_its_middle():
    tokenizer = train("ab" * 64 + "bab", vocab_size=256 + 4, pattern="none")
    text = "bb" + "ab" * 5_000 + "aab" + "b" * 5_000 + "ab"
    assert tokenizer.encode(text) == oracle.encode(text.encode(), tokenizer.merges)


FROM_THE_RIGHT = [(byte, byte + 1, 511 - byte) for byte in reversed(range(255))]
"""Merges of a byte and the next greater one, the greatest first: a run of bytes is paired from its end."""


@given(
    st.lists(
        st.tuples(st.integers(0, 120), st.integers(1, 134)), min_size=6, max_size=12
    )
)
@FEW
def test_the_end_of_a_run_decides_how_its_beginning_is_merged_long_before(runs):
    """So the last tokens of a window are wrong, many more of them than the next window merges again as a rule."""
    piece = b"".join(bytes(range(start, start + length)) for start, length in runs)
    expected = replayed(piece, FROM_THE_RIGHT)
    with windows_of(16):
        assert merged(piece, FROM_THE_RIGHT) == expected
    assert list(Vocabulary(BYTES, FROM_THE_RIGHT).encode(piece)) == expected


@pytest.mark.parametrize("ties", TIES)
@given(st.data())
@FEW
def test_long_pieces_of_trained_vocabularies_are_merged_as_by_replay(ties, data):
    letters = data.draw(st.sampled_from(("ab", "aab", "abcdef")))
    corpus = data.draw(st.text(letters, min_size=300, max_size=600))
    vocabulary = train(
        corpus, vocab_size=256 + 60, pattern="none", ties=ties
    ).vocabulary
    merges = list(vocabulary.merges)[: data.draw(st.integers(0, vocabulary.n_merges))]
    piece = data.draw(pieces(letters, 600))
    expected = oracle.encode(piece, merges)
    assert (
        list(vocabulary.at(len(merges)).encode(piece))
        == expected
        == merged(piece, merges)
    )


@pytest.mark.parametrize("width", [1, 4, 16])
@given(st.data())
@FEW
def test_merges_in_any_order_and_tokens_that_are_made_twice_or_never_reached(
    width, data
):
    """What compatibility rests on does not ask how a vocabulary came about."""
    bytes_of, merges = {97: b"a", 98: b"b"}, []
    for new in range(256, 280):
        left, right = data.draw(st.tuples(*[st.sampled_from(sorted(bytes_of))] * 2))
        joined = bytes_of[left] + bytes_of[right]
        token = data.draw(
            st.sampled_from(
                [new, *(token for token, made in bytes_of.items() if made == joined)]
            )
        )
        bytes_of[token] = joined
        merges.append((left, right, token))
    early = Vocabulary({97: b"a", 98: b"b"}, merges[:12])
    piece = data.draw(
        pieces("ab", width)
        | st.sampled_from([joined for joined in bytes_of.values() if len(joined) < 99])
    )
    early.encode(piece)
    shuffled = data.draw(st.permutations(merges))
    with windows_of(width):
        assert merged(piece, shuffled) == replayed(piece, shuffled)
        step = data.draw(st.integers(0, len(merges)))
        for vocabulary in (
            early,
            early.extended(merges[12:]),
            early.extended(merges[12:]).at(step),
        ):
            assert list(vocabulary.encode(piece)) == replayed(piece, vocabulary.merges)


@pytest.mark.parametrize("width", [4, 16])
@given(
    st.dictionaries(
        st.text("ab", min_size=2, max_size=6), st.integers(0, 30), max_size=40
    ),
    st.data(),
)
@FEW
def test_ranks_with_gaps_in_them_and_with_ties(width, rank_of, data):
    """Rank files may lack the parts of a token, and scores may be equal: then the leftmost goes first."""
    rank_of = {token.encode(): rank for token, rank in rank_of.items()}
    piece = data.draw(pieces("ab", 2 * width + 1))
    parts = [piece[i : i + 1] for i in range(len(piece))]
    replay = plain_loop(
        parts, lambda left, right: rank_of.get(left + right), bytes.__add__
    )
    with windows_of(width):
        assert merge_parts(parts, rank_of) == replay


def test_a_mark_at_the_end_and_letters_without_a_token():
    """Symbols need not be the bytes of the piece: what is looked at is symbols."""
    base = {97: b"a", 98: b"b", 256: b"</w>"}
    vocabulary = Vocabulary(
        base, [(97, 98, 257), (257, 257, 258), (258, 256, 259)], end_of_word=256
    )
    assert vocabulary.encode(b"ab" * 1_000) == (258,) * 499 + (259,)
    with_large_ids = Vocabulary(
        {97: b"a", 98: b"b", 1000: b"</w>"}, [(98, 1000, 1001)], end_of_word=1000
    )
    with_large_ids = pickle.loads(pickle.dumps(with_large_ids))
    ends = {token: with_large_ids.ends_word(token) for token in with_large_ids.ids()}
    assert ends == {97: False, 98: False, 1000: True, 1001: True}


@given(pieces("abc", 300))
@FEW
def test_every_two_neighbors_of_an_encoding_are_the_encoding_of_their_bytes(piece):
    """The fact itself, in the direction that is easily seen."""
    vocabulary = train(
        "abacbcabbacacbaabcba" * 20, vocab_size=320, pattern="none"
    ).vocabulary
    for left, right in pairwise(vocabulary.encode(piece)):
        assert vocabulary.compatible(left, right)
