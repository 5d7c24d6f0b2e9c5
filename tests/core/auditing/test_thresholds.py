"""Where a finding begins and ends: at each threshold one occurrence, or one step, decides."""

import pytest

from bpe_core import Tokenizer, audit
from bpe_core.corpus import Counts
from bpe_core.vocabulary import Vocabulary

BYTES = {byte: bytes([byte]) for byte in range(256)}
AB = (97, 98, 256)


def found(kind, merges, pattern="words", **texts):
    tokenizer = Tokenizer(Vocabulary(BYTES, merges), pattern)
    corpora = {name: Counts.of(text, pattern) for name, text in texts.items()}
    return [finding.token for finding in audit(tokenizer, **corpora).of(kind)]


@pytest.mark.parametrize(("n_abc", "expected"), [(9, []), (10, [b"ab"])])
def test_scaffold_is_what_more_than_nine_tenths_went_into_longer_tokens(n_abc, expected):
    assert found("scaffold", [AB, (256, 99, 257)], counts="abc " * n_abc + "ab") == expected


@pytest.mark.parametrize(("n_between", "expected"), [(4, [b"ab"]), (5, [])])
def test_without_a_corpus_scaffold_is_what_is_used_within_five_steps(n_between, expected):
    between = [(100 + 2 * n, 101 + 2 * n, 300 + n) for n in range(n_between)]
    assert found("scaffold", [AB, *between, (256, 99, 257)]) == expected


@pytest.mark.parametrize(("n_tokens", "expected"), [(51_400, []), (51_401, [b"ab"])])
def test_rare_is_what_occurs_less_than_a_hundredth_of_an_even_share(n_tokens, expected):
    """257 tokens; of 51,400 an even share is 200."""
    ab = [token for token in found("rare", [AB], "none", counts="ab" * 2 + "a" * (n_tokens - 2)) if len(token) > 1]
    assert ab == expected


@pytest.mark.parametrize(("n", "expected"), [(4, []), (5, [b"x"])])
def test_nothing_is_concluded_of_less_than_five_expected_occurrences(n, expected):
    assert found("absent-from-reference", [], "none", counts="x" * n + "a" * (100 - n), reference="a" * 100) == expected


@pytest.mark.parametrize(("n", "expected"), [(4, []), (5, [b"x"])])
def test_a_token_of_one_document_must_occur_five_times(n, expected):
    texts = ["a" * 100] * 11 + ["a" + "x" * n]
    assert found("few-documents", [], "none", counts=texts) == expected


@pytest.mark.parametrize(("n_documents", "expected"), [(9, []), (10, [b"x"])])
def test_one_document_is_few_of_ten(n_documents, expected):
    texts = ["a" * 100] * (n_documents - 1) + ["axxxxx"]
    assert found("few-documents", [], "none", counts=texts) == expected
