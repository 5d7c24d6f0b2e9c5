"""Whether ranks are still the order of one training: what was appended is not judged by its rank."""

import json
import random

import pytest

from bpe_core import audit, load
from bpe_core.auditing.scaffold import WINDOW, end_of_order
from bpe_core.auditing.static import summary
from bpe_core.formats.huggingface.writing import write
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary


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
    said = list(summary(Tokenizer(longer, "none")))[1]
    assert f"After merge {end_of_order(longer):,}" in said and "were appended" in said


def test_only_a_chain_that_uses_up_its_parts_is_a_copy(learned):
    """At the first steps counts fall fast, so a merge right after another may leave much of it."""
    early = [(200, 201, 9_000), (9_000, 202, 9_001)]
    late = [(203, 204, 9_002), (9_002, 205, 9_003)]
    vocabulary = Vocabulary(learned.base, [*early, *learned.merges, *late])
    findings = audit(Tokenizer(vocabulary, "none"))
    parts = {finding.id for finding in findings.of("scaffold")}
    assert {9_000, 9_002} <= parts
    copies = {finding.id for finding in findings.of("verbatim")}
    assert 9_003 in copies and 9_001 not in copies


def every_split(tokenizer):
    """The text of a tokenizer.json that lists each way to split a token as a merge, as that of Llama 3 does."""
    described = json.loads("".join(write(tokenizer)))
    names = described["model"]["vocab"]
    described["model"]["merges"] = [
        [name[:cut], name[cut:]]
        for name in names
        for cut in range(1, len(name))
        if {name[:cut], name[cut:]} <= names.keys() and not name.startswith("<|")
    ]
    return json.dumps(described)


def test_a_file_that_lists_every_split_is_that_of_its_ranks(learned, tmp_path):
    """Its merges outnumber its tokens; which of them are ever applied is the same as in the file of ranks."""
    merges = [
        *learned.merges,
        (200, 201, 9_000),
        (9_000, 202, 9_001),
        (9_001, 203, 9_002),
    ]
    longer = Vocabulary(learned.base, merges)
    ranks = Tokenizer(
        RankedVocabulary({token: longer.token_bytes(token) for token in longer.ids()}),
        "gpt2",
    )
    (tmp_path / "tokenizer.json").write_text(every_split(ranks))
    every = load(tmp_path / "tokenizer.json")
    assert list(every.vocabulary.merges) == list(ranks.vocabulary.merges), (
        "so the tree of a token and its step, too"
    )
    assert every.encode(text := "BAAACCAB" * 3) == ranks.encode(text)
    by_file = [
        [
            (f.id, f.kind, f.evidence["parents"], f.evidence.get("gap"))
            for f in audit(one).of("scaffold", "verbatim")
        ]
        for one in (ranks, every)
    ]
    assert by_file[0] == by_file[1] != []


def test_tokens_in_any_order_with_every_split_are_encoded_as_the_file_says(tmp_path):
    """Some are made by no merge but one of later tokens, or by several: those merges stay. Held to the library."""
    library, rng = pytest.importorskip("tokenizers").Tokenizer, random.Random(1)
    n_idle = 0
    for _ in range(60):
        tokens = list(
            dict.fromkeys(
                "".join(rng.choices("ab", k=rng.randint(2, 5))) for _ in range(30)
            )
        )
        names = {i: bytes([i]) for i in range(256)} | {
            256 + i: one.encode() for i, one in enumerate(tokens)
        }
        described = every_split(Tokenizer(Vocabulary(names), "gpt2"))
        (tmp_path / "tokenizer.json").write_text(described)
        read, other = load(tmp_path / "tokenizer.json"), library.from_str(described)
        n_idle += len(json.loads(described)["model"]["merges"]) - read.step
        for text in ("".join(rng.choices("ab ", [5, 5, 1], k=30)) for _ in range(50)):
            assert read.encode(text) == other.encode(text).ids
    assert n_idle


def test_holes_are_told():
    tokenizer = Tokenizer(
        Vocabulary({byte: bytes([byte]) for byte in range(256)}, [(97, 98, 300)]),
        "none",
    )
    assert list(summary(tokenizer))[-1] == "44 ids have no token: 256 to 299."


def test_a_merge_may_make_a_token_that_was_there_before_it():
    base = {byte: bytes([byte]) for byte in range(256)} | {300: b"abc"}
    assert audit(
        Tokenizer(Vocabulary(base, [(97, 98, 256), (256, 99, 300)]), "none")
    ).kinds()
