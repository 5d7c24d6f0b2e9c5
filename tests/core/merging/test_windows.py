"""Long pieces are merged window by window, and nobody can tell: what is left is what the plain loop leaves."""

import random
from itertools import pairwise

import pytest
from amounts import amount

from bpe_core import reference as oracle
from bpe_core import train
from bpe_core.merging import merge_loop, windows
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.encoder import merge_parts

TIES = ("first", "lowest", "lowest-hf", "largest")


@pytest.fixture(params=[4, 16, 256])
def window(request, monkeypatch):
    """Windows so narrow that tokens reach across them, and the usual ones."""
    for module in (windows, merge_loop):
        monkeypatch.setattr(module, "WINDOW", request.param)
    return request.param


def piece_at_random(r, letters, length):
    """Noise, or one thing over and over, or a row of such."""
    kind = r.randrange(3)
    if kind == 0:
        return bytes(r.choices(letters, k=length))
    if kind == 1:
        return (bytes(r.choices(letters, k=r.randrange(1, 9))) * length)[:length]
    return b"".join(bytes(r.choices(letters, k=r.randrange(1, 5))) * r.randrange(1, 60) for _ in range(20))


def merged(piece, ranks, merges):
    return merge_loop.merge(
        list(piece), lambda *pair: ranks.get(pair, merge_loop.NO_RANK), lambda _, __, rank: merges[rank][2]
    )


def replayed(piece, ranks, merges):
    return oracle.merge(piece, lambda *pair: ranks.get(pair), lambda *pair: merges[ranks[pair]][2])


def replayed_parts(parts, rank_of):
    return oracle.merge(parts, lambda left, right: rank_of.get(left + right), bytes.__add__)


def test_one_letter_a_million_times_is_a_token_and_what_is_left_over():
    tokenizer = train("a" * 64, vocab_size=256 + 3, pattern="none")
    assert tokenizer.encode("a" * 1_000_003) == [258] * 125_000 + [256, 97]


def test_a_piece_that_repeats_itself_only_in_its_middle():
    tokenizer = train("ab" * 64 + "bab", vocab_size=256 + 4, pattern="none")
    text = "bb" + "ab" * 5_000 + "aab" + "b" * 5_000 + "ab"
    assert tokenizer.encode(text) == oracle.encode(text.encode(), tokenizer.merges)


@pytest.mark.parametrize("ties", TIES)
@amount(2, 8)
def test_long_pieces_of_trained_vocabularies_are_merged_as_by_replay(window, ties, amount):
    for seed in range(amount):
        r = random.Random(seed)
        letters = (b"ab", b"aab", b"abcdef")[seed % 3]
        corpus = bytes(r.choices(letters, k=600)).decode()
        vocabulary = train(corpus, vocab_size=256 + 60, pattern="none", ties=ties).vocabulary
        for _ in range(4):
            piece = piece_at_random(r, letters, 700)
            step = r.choice((vocabulary.n_merges, r.randrange(vocabulary.n_merges)))
            assert list(vocabulary.at(step).encode(piece)) == oracle.encode(piece, vocabulary.merges[:step])


@amount(4, 60)
def test_merges_in_any_order_and_tokens_that_are_never_reached(window, amount):
    """What compatibility rests on does not ask how a vocabulary came about."""
    for seed in range(amount):
        r = random.Random(seed)
        known, merges = [97, 98], {}
        for token in range(256, 280):
            merges.setdefault((r.choice(known), r.choice(known)), token)
            known = [97, 98, *merges.values()]
        merges = [(left, right, token) for (left, right), token in merges.items()]
        r.shuffle(merges)
        ranks = {merge[:2]: rank for rank, merge in enumerate(merges)}
        piece = piece_at_random(r, b"aab", max(100, 2 * window))
        assert merged(piece, ranks, merges) == replayed(piece, ranks, merges), f"seed {seed}"


@amount(4, 60)
def test_ranks_with_gaps_in_them_and_with_ties(window, amount):
    """Rank files may lack the parts of a token, and scores may be equal: then the leftmost goes first."""
    for seed in range(amount):
        r = random.Random(seed)
        tokens = {bytes(r.choices(b"aab", k=r.randrange(2, 7))) for _ in range(40)}
        rank_of = {token: r.randrange(30) for token in sorted(tokens)}
        piece = piece_at_random(r, b"aab", max(100, 2 * window))
        parts = [piece[i : i + 1] for i in range(len(piece))]
        assert merge_parts(parts, rank_of) == replayed_parts(parts, rank_of), f"seed {seed}"


def test_a_mark_at_the_end_and_letters_without_a_token():
    """Symbols need not be the bytes of the piece: what is looked at is symbols."""
    base = {97: b"a", 98: b"b", 256: b"</w>"}
    vocabulary = Vocabulary.marked(base, [(97, 98, 257), (257, 257, 258), (258, 256, 259)], {}, 256)
    assert vocabulary.encode(b"ab" * 1_000) == (258,) * 499 + (259,)


def test_every_two_neighbors_of_an_encoding_are_the_encoding_of_their_bytes():
    """The fact itself, in the direction that is easily seen."""
    r = random.Random(3)
    vocabulary = train("".join(r.choices("aabc", k=2000)), vocab_size=320, pattern="none").vocabulary
    ids = vocabulary.encode(bytes(r.choices(b"aabc", k=3000)))
    for pair in pairwise(ids):
        assert vocabulary.encode(b"".join(map(vocabulary.token_bytes, pair))) == pair
