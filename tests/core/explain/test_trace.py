"""Traces: the merges of a piece in their order, why the rest was not merged, and the steps that a text shows."""

import random

import pytest

from bpe_core import Vocabulary, train
from bpe_core.explain.trace import trace

LOW = Vocabulary.of_bytes().extended(
    [(108, 111, 256), (256, 119, 257), (257, 257, 258)]
)


def test_the_merges_of_a_piece_in_their_order_and_why_neighbors_stayed_apart():
    found = trace(LOW, "lowlow")
    assert [(merge.step, merge.count) for merge in found.applied] == [
        (1, 2),
        (2, 2),
        (3, 1),
    ]
    assert [merge.parts for merge in found.applied] == [
        (256, 119, 256, 119),
        (257, 257),
        (258,),
    ]
    assert (
        found.start == tuple(b"lowlow")
        and found.parts == (258,)
        and found.unmerged == ()
    )
    found = trace(LOW.at(1), "lowl")
    assert found.parts == (256, 119, 108)
    assert found.unmerged == (((256, 119), 2), ((119, 108), None))
    assert [step for _, step in trace(LOW, "xyz").unmerged] == [None, None]


def test_overlaps_join_from_the_left_and_a_piece_that_is_looked_up_whole_has_no_merges():
    (merge,) = trace(Vocabulary.of_bytes().extended([(97, 97, 256)]), "aaaaa").applied
    assert merge.count == 2 and merge.parts == (256, 256, 97)
    found = trace(
        Vocabulary({**{b: bytes([b]) for b in range(256)}, 300: b"hello"}), "hello"
    )
    assert found.whole == 300 and found.parts == (300,) and found.applied == ()
    assert trace(LOW, "").parts == () and trace(LOW, b"\xff").parts == (255,)


@pytest.mark.parametrize("alphabet", ["ab", "aé", "abc "])
def test_the_parts_in_the_end_are_the_encoding(alphabet):
    rng = random.Random(alphabet)
    vocabulary = train(
        "".join(rng.choices(alphabet, k=400)), vocab_size=290, pattern="none"
    ).vocabulary
    for _ in range(100):
        piece = "".join(rng.choices(alphabet, k=rng.randint(0, 30)))
        at = vocabulary.at(rng.randint(0, vocabulary.n_merges))
        found = trace(at, piece)
        assert found.parts == at.encode(piece.encode())
        assert [merge.step for merge in found.applied] == sorted(
            merge.step for merge in found.applied
        )
        if later := [
            step for _, step in found.unmerged if step
        ]:  # one step more, and it happens
            assert len(trace(vocabulary.at(min(later)), piece).parts) < len(found.parts)
