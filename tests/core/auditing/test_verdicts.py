"""One verdict a token: evidence of all kinds in one row, and a score that says how it was made."""

import json

import pytest

from bpe_core.auditing import KINDS, Examination, on_every_token, verdicts
from bpe_core.auditing.weights import WEIGHTS
from bpe_core.corpus import Counts
from bpe_core.trainer import train

CORPUS = "the theme of the other thesis, the thing that they thought through 😊\n" * 20
LEARNED = train(CORPUS, vocab_size=300, special_tokens=["<|endoftext|>"])


@pytest.fixture(scope="module")
def examined():
    examination = Examination(LEARNED, counts=Counts.of(CORPUS, "gpt4"), reference=Counts.of("a thesis", "gpt4"))
    return list(examination.findings()), examination.measures


def test_the_most_suspicious_comes_first_and_each_token_once(examined):
    rows = verdicts(LEARNED, *examined)
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    assert {row.id for row in rows} == {finding.id for finding in examined[0]}
    assert len({row.id for row in rows}) == len(rows)


def test_a_row_joins_what_was_found_and_loses_nothing(examined):
    findings, measures = examined
    for row in verdicts(LEARNED, findings, measures):
        own = [finding for finding in findings if finding.id == row.id]
        assert set(row.kinds) == {finding.kind for finding in own}
        assert row.severity is max(finding.severity for finding in own)
        assert all(finding.reason in row.reason for finding in own)
        for finding in own:
            assert row.evidence[finding.kind]["reason"] == finding.reason
            known = row.evidence | row.evidence[finding.kind]
            assert {name: known[name] for name in finding.evidence if name != "witness"} == {
                name: value for name, value in finding.evidence.items() if name != "witness"
            }


def test_the_score_is_the_sum_that_it_says(examined):
    for row in verdicts(LEARNED, *examined):
        assert row.score == pytest.approx(sum(share.points for share in row.shares), abs=1e-5)
        assert 0 <= row.score < 1
        said, _, parts = row.making.partition(" = ")
        assert float(said) == round(row.score, 2)
        if parts:
            assert round(sum(float(part.split()[-1]) for part in parts.split(" + ")), 2) == float(said)


def test_every_kind_has_a_weight_with_its_reason():
    assert list(WEIGHTS.keys() ^ KINDS.keys()) == []
    assert all(0 < weight.most < 1 and weight.why.endswith(".") for weight in WEIGHTS.values())


def test_every_token_has_a_row_with_what_was_measured(examined):
    rows = list(on_every_token(LEARNED, *examined))
    assert [row.id for row in rows] == LEARNED.vocabulary.ids()
    special = rows[-1]
    assert (special.token, special.score, special.kinds) == (b"<|endoftext|>", 0, ())
    assert special.evidence["special"] and special.reason == "" and special.severity is None
    corpus, reference = LEARNED.encode(CORPUS), LEARNED.encode("a thesis")
    for row in rows:
        assert (row.evidence["count"], row.evidence["reference"]) == (corpus.count(row.id), reference.count(row.id))
        as_json = json.loads(json.dumps(row.to_json()))
        assert (bytes.fromhex(as_json["token"]), as_json["score"]) == (row.token, row.score)
        assert as_json["shares"] == {share.kind: share.points for share in row.shares}
