"""Whether ranks are still the order of one training: what was appended is not judged by its rank."""

import pytest

from bpe_core import audit
from bpe_core.auditing.scaffold import WINDOW, end_of_order
from bpe_core.auditing.static import summary
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import one_merge_each


@pytest.fixture(scope="module")
def learned():
    """As a training leaves it: early tokens are used again, late ones are not."""
    pairs = [(i // 50 + 65, i % 50 + 65, 256 + i) for i in range(3 * WINDOW)]
    longer = [(256 + i, i % 50 + 65, 256 + 3 * WINDOW + i) for i in range(3 * WINDOW)]
    return Vocabulary({byte: bytes([byte]) for byte in range(256)}, [*pairs, *longer])


def appended(vocabulary):
    """The vocabulary with a list of tokens behind it each of which is built by way of one that nothing else uses."""
    merges = list(vocabulary.merges)
    for i in range(WINDOW):
        first = 10_000 + 2 * i
        merges += [(i // 50 + 128, i % 50 + 128, first), (first, 200, first + 1)]
    return Vocabulary(vocabulary.base, merges)


def test_one_training_is_in_order_to_its_end(learned):
    assert end_of_order(learned) == learned.n_merges
    assert end_of_order(learned.at(WINDOW // 2)) == WINDOW // 2


def test_what_was_appended_is_no_scaffold_by_rank(learned):
    longer = appended(learned)
    assert abs(end_of_order(longer) - learned.n_merges) <= 20
    found = audit(Tokenizer(longer, "none")).of("scaffold")
    assert all(finding.evidence["step"] <= learned.n_merges + 20 for finding in found)
    said = summary(Tokenizer(longer, "none"))[1]
    assert f"Behind merge {end_of_order(longer):,}" in said and "were appended" in said


def test_a_file_that_lists_every_split_of_a_token_has_the_scaffold_of_its_ranks(learned):
    """As tokenizer.json of Llama 3 does: merges outnumber tokens there."""
    merges = [*learned.merges, (200, 201, 9_000), (9_000, 202, 9_001), (9_001, 203, 9_002)]
    once = Vocabulary(learned.base, merges)
    id_of = {once.token_bytes(token): token for token in once.ids()}
    splits = []
    for _, _, token in merges:
        data = once.token_bytes(token)
        pairs = [(id_of.get(data[:cut]), id_of.get(data[cut:])) for cut in range(1, len(data))]
        splits += [(left, right, token) for left, right in pairs if left in id_of.values() and right in id_of.values()]
    every = Vocabulary(learned.base, splits)
    assert every.n_merges > once.n_merges and end_of_order(one_merge_each(every)) == end_of_order(once)
    by_file = [
        [
            (f.id, f.kind, f.evidence["parents"], f.evidence.get("gap"))
            for f in audit(Tokenizer(one, "none")).of("scaffold", "verbatim")
        ]
        for one in (once, every)
    ]
    assert by_file[0] == by_file[1] != []


def test_holes_are_told():
    tokenizer = Tokenizer(Vocabulary({byte: bytes([byte]) for byte in range(256)}, [(97, 98, 300)]), "none")
    assert summary(tokenizer)[-1] == "44 ids have no token: 256 to 299."
