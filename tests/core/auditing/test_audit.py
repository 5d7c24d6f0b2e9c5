"""The audit as a whole: the order of its findings, one verdict a token, and how it is watched and stopped."""

import json
import subprocess
import sys

import pytest

from bpe_core.auditing import audit, examine
from bpe_core.auditing.findings import KINDS, Findings
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import verdicts, verdicts_on
from bpe_core.corpus import Counts
from bpe_core.trainer import train

TEXT = "aaabdaaabac 😊 été \x1b[31m"


@pytest.fixture(scope="module")
def found():
    return audit(
        train(TEXT, vocab_size=280),
        counts=Counts.of(TEXT, "gpt4"),
        reference=Counts.of("aab", "gpt4"),
    )


def test_findings_are_a_sequence_that_can_be_asked_the_worst_first(found):
    order = list(KINDS)
    assert list(found) == sorted(
        found, key=lambda finding: (-finding.severity, order.index(finding.kind))
    )
    assert sum(found.kinds().values()) == len(found)
    assert list(found.kinds()) == [kind for kind in KINDS if found.of(kind)]
    assert found.of("unused-byte", "rare") == [
        f for f in found if f.kind in ("unused-byte", "rare")
    ]
    assert "13 unused-byte" in repr(found)
    assert repr(Findings([])) == "<Findings: none>"


def test_every_finding_is_a_row_for_the_screen_and_a_line_of_json(found):
    for finding in found:
        assert finding.kind in KINDS
        assert finding.reason.endswith(".") and finding.reason.isprintable()
        assert "\x1b" not in finding.label
        assert {"step", "parents", "witness", "count"} <= finding.evidence.keys()
        assert json.loads(json.dumps(finding.evidence)) is not None


def test_progress_is_told_and_can_end_the_audit():
    tokenizer, counts = train(TEXT, vocab_size=280), Counts.of(TEXT, "gpt4")
    stages = []
    audit(tokenizer, counts=counts, progress=lambda *stage: stages.append(stage))
    assert stages[0] == (0, len(counts.pieces), "counting tokens")
    assert {"reachability", "scaffold"} <= {name for _, _, name in stages}
    assert all(0 <= done <= total for done, total, _ in stages)

    def enough(*stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(tokenizer, counts=counts, progress=enough)


def test_the_public_name_is_the_verb_also_once_its_package_is_imported():
    code = "import bpe_core.auditing.findings; from bpe_core import audit, train; "
    code += "print(audit(train('ab', vocab_size=257)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "<Findings: 1 rare, 13 unused-byte>\n"


CORPUS = "the theme of the other thesis, the thing that they thought through 😊\n" * 20
LEARNED = train(CORPUS, vocab_size=300, special_tokens=["<|endoftext|>"])


@pytest.fixture(scope="module")
def examined():
    subject = AuditSubject(
        LEARNED,
        counts=Counts.of(CORPUS, "gpt4"),
        reference=Counts.of("a thesis", "gpt4"),
    )
    return subject, list(examine(subject))


def test_a_row_joins_what_was_found_of_a_token_and_loses_nothing_the_most_suspicious_first(
    examined,
):
    rows = verdicts(*examined)
    assert [row.score for row in rows] == sorted(
        (row.score for row in rows), reverse=True
    )
    assert sorted(row.id for row in rows) == sorted(
        {finding.id for finding in examined[1]}
    )
    for row in rows:
        own = [finding for finding in examined[1] if finding.id == row.id]
        assert set(row.kinds) == {finding.kind for finding in own}
        assert row.severity is max(finding.severity for finding in own)
        assert all(finding.reason in row.reason for finding in own)
        for finding in own:
            assert row.evidence[finding.kind]["reason"] == finding.reason
            known = row.evidence | row.evidence[finding.kind]
            assert {
                name: known[name] for name in finding.evidence if name != "witness"
            } == {
                name: value
                for name, value in finding.evidence.items()
                if name != "witness"
            }


def test_the_score_is_the_sum_that_it_says(examined):
    for row in verdicts(*examined):
        assert row.score == pytest.approx(sum(row.shares.values()), abs=1e-5)
        assert 0 <= row.score < 1
        said, _, parts = row.making.partition(" = ")
        assert float(said) == round(row.score, 2)
        if parts:
            assert round(
                sum(float(part.split()[-1]) for part in parts.split(" + ")), 2
            ) == float(said)


def test_every_kind_has_a_weight_with_its_reason():
    assert all(0 < kind.most < 1 and kind.why.endswith(".") for kind in KINDS.values())


def test_every_token_has_a_row_with_what_was_measured(examined):
    rows = list(verdicts_on(LEARNED.vocabulary.ids(), *examined))
    assert [row.id for row in rows] == LEARNED.vocabulary.ids()
    special = rows[-1]
    assert (special.token, special.score, special.kinds) == (b"<|endoftext|>", 0, ())
    assert (
        special.evidence["special"]
        and special.reason == ""
        and special.severity is None
    )
    corpus, reference = LEARNED.encode(CORPUS), LEARNED.encode("a thesis")
    for row in rows:
        assert (row.evidence["count"], row.evidence["reference"]) == (
            corpus.count(row.id),
            reference.count(row.id),
        )
        as_json = json.loads(json.dumps(row.to_json()))
        assert (bytes.fromhex(as_json["token"]), as_json["score"]) == (
            row.token,
            row.score,
        )
        assert as_json["shares"] == row.shares
