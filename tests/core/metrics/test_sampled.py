"""The beginning of a text under several tokenizers agrees with encoding it and with the boundaries of each pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import Tokenizer, train
from bpe_core.metrics.boundaries import compare_boundaries, encode_with_ends
from bpe_core.metrics.sampled import sample_text, tokens_between
from bpe_core.utf8 import byte_offsets

TEXT = "the theme of the other thesis, the thing that they thought; мир 😀\n" * 5
TRAINED = train(TEXT, vocab_size=300)
texts = st.text(alphabet="the тмир😀\n,", max_size=80)


@given(texts, st.integers(0, 35), st.integers(0, 35))
def test_a_whole_text_has_the_tokens_and_differences_of_its_encodings(
    text: str, step: int, other: int
) -> None:
    pair = TRAINED.at(step), TRAINED.at(other)
    sample = sample_text(3, text, pair, 1000)
    assert (sample.text_index, sample.beginning) == (3, text)
    for tokenizer, lane in zip(pair, sample.lanes, strict=True):
        ids = [id for _, _, ids, _ in lane for id in ids]
        assert ids == tokenizer.encode_ordinary(text)
    first, second = (encode_with_ends(tokenizer, text) for tokenizer in pair)
    offsets = byte_offsets(text)
    covered = [(offsets[start], offsets[end]) for start, end in sample.differences]
    # A shared boundary inside of a character belongs to the difference around the character.
    for difference in compare_boundaries(first, second).differences:
        start, end = difference.span()
        assert any(low <= start and end <= high for low, high in covered)


@pytest.mark.parametrize("n", [0, 1, 50, 200])
def test_a_sample_ends_at_a_boundary_that_all_share(n: int) -> None:
    tokenizers: list[Tokenizer] = [TRAINED, TRAINED.at(20), TRAINED.at(0)]
    sample = sample_text(0, TEXT, tokenizers, n)
    assert len(sample.beginning) <= n and TEXT.startswith(sample.beginning)
    assert len(sample.beginning) > n - 10
    for tokenizer, lane in zip(tokenizers, sample.lanes, strict=True):
        ids = [id for _, _, ids, _ in lane for id in ids]
        assert ids == tokenizer.encode_ordinary(TEXT)[: len(ids)]
        assert sum(end - start for start, end, *_ in lane) == len(sample.beginning)
        assert [token.ids for token in tokens_between(lane, 3, 9)] == [
            ids for start, end, ids, _ in lane if start < 9 and end > 3
        ]


def test_tokens_that_share_a_character_are_compared_by_their_bytes() -> None:
    euro = train("€€ €", vocab_size=257)
    sample = sample_text(0, "a€", [euro, euro.at(0)], 10)
    assert [n_bytes for lane in sample.lanes for *_, n_bytes in lane] == [
        (),
        (2, 1),
        (),
        (1, 1, 1),
    ]
    assert sample.differences == ((1, 2),)
