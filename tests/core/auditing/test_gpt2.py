"""GPT-2's vocabulary under audit: the figures people have published about it, from the file itself."""

import json
from pathlib import Path

import pytest
from real import real_file

from bpe_core import load
from bpe_core.auditing import audit, examine
from bpe_core.auditing.findings import Findings, Severity
from bpe_core.auditing.scaffold import end_of_order
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import verdicts
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer

pytestmark = pytest.mark.slow

# The tokens that GPT-2 and GPT-3 could not repeat: M. Watkins and J. Rumbelow, "SolidGoldMagikarp III" (2023).
GLITCHES = """
    188 189 190 191 192 193 194 195 196 202 203 204 205 206 207 208 209 210 211 212 213 214 215 221 3693 5808
    5815 9364 12781 14827 17405 17629 17900 18472 20126 21807 23090 23282 23614 23785 24200 24398 24440 24934
    25465 25992 28666 29372 30202 30208 30209 30210 30211 30212 30213 30897 30898 30899 30905 30906 31032 31576
    31583 31666 31708 31727 31765 31886 31957 32047 32437 32509 33454 34713 35207 35384 35579 36130 36173 36174
    36481 36938 36940 37082 37444 37574 37579 37631 37842 37858 38214 38250 38370 39165 39177 39253 39446 39749
    39752 39753 39755 39756 39757 39803 39811 39821 39906 40012 40240 40241 40242 41297 41380 41383 41441 41551
    42066 42089 42090 42202 42424 42470 42586 42728 43065 43177 43361 43453 44686 45335 45544 45545 46600 47182
    47198 47571 48193 48396 49781 50009 50216
"""


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("gpt2")
    real_file("encoder.json", folder)
    return load(real_file("vocab.bpe", folder))


@pytest.fixture(scope="module")
def found(gpt2: Tokenizer) -> Findings:
    return audit(gpt2)


def test_its_ranks_are_the_order_of_one_training(gpt2):
    assert gpt2.n_vocab == 50257 and end_of_order(gpt2.vocabulary) == gpt2.step == 50000


def test_every_token_that_is_text_is_reachable_and_parts_of_characters_are_found(found):
    assert (
        found.of(
            "unreachable", "reachable-in-context", "duplicate", "special-lookalike"
        )
        == []
    )
    assert len(found.of("unused-byte")) == 13
    where = [finding.evidence["where"] for finding in found.of("partial-utf8")]
    assert (
        len(where),
        where.count("end"),
        where.count("start"),
        where.count("both"),
    ) == (216, 181, 31, 4)
    assert all(finding.witness for finding in found.of("partial-utf8"))


def test_texts_of_other_fields_leave_the_head_of_the_list_as_good_as_it_is_without(
    gpt2,
):
    """Most tokens are missing from code and from short samples; the ranking stays, and warnings are few."""
    known = set(map(int, GLITCHES.split()))
    code = Counts.of(
        [
            path.read_text()
            for path in sorted(Path(json.__file__).parent.parent.glob("*.py"))
        ],
        "gpt2",
    )
    prose = Counts.of(
        [path.read_text() for path in sorted(Path("sample_texts").glob("*.txt"))],
        "gpt2",
    )
    for texts in (
        {},
        {"counts": code},
        {"counts": prose},
        {"counts": code, "reference": prose},
    ):
        subject = AuditSubject(gpt2, **texts)
        rows = verdicts(subject, [*examine(subject)])
        assert sum(row.id in known for row in rows[:20]) == 19
        assert sum(row.id in known for row in rows[:100]) == 35
        assert sum(row.severity > Severity.NOTE for row in rows) < 300


def test_the_first_rows_are_what_is_known_of_its_models(gpt2, found):
    """The names and forms that GPT-2 cannot repeat, and what they were merged from; early words that end so do not."""
    first = [verdict.token for verdict in verdicts(AuditSubject(gpt2), found)][:25]
    assert {b" sugg", b" toget"}.isdisjoint(first)
    known = {
        b" RandomRedditor",
        b"StreamerBot",
        b" TheNitrome",
        b"quickShip",
        b"InstoreAndOnline",
        b"rawdownload",
    }
    known |= {
        b"oreAndOnline",
        b" externalTo",
        b" externalToEVA",
        b"reportprint",
        b"embedreportprint",
        b"ActionCode",
    }
    assert known <= set(first)
    copied = {finding.token for finding in found.of("verbatim")}
    assert {
        b" RandomRedditorWithNo",
        b" TheNitromeFan",
        b"quickShipAvailable",
        b" externalToEVAOnly",
    } <= copied
