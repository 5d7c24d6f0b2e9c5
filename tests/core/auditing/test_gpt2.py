"""GPT-2's vocabulary under audit: the figures people have published about it, from the file itself."""

import pytest
from real import real_file

from bpe_core import load
from bpe_core.auditing import audit
from bpe_core.auditing.findings import Findings
from bpe_core.auditing.scaffold import end_of_order
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import verdicts
from bpe_core.tokenizer import Tokenizer

pytestmark = pytest.mark.slow


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
    assert found.of("unreachable", "reachable-in-context", "duplicate", "special-lookalike") == []
    assert len(found.of("unused-byte")) == 13
    where = [finding.evidence["where"] for finding in found.of("partial-utf8")]
    assert (len(where), where.count("end"), where.count("start"), where.count("both")) == (216, 181, 31, 4)
    assert all(finding.witness for finding in found.of("partial-utf8"))


def test_the_first_rows_are_what_is_known_of_its_models(gpt2, found):
    """The names and forms that GPT-2 cannot repeat, and what they were merged from; early words that end so do not."""
    first = [verdict.token for verdict in verdicts(AuditSubject(gpt2), found)][:16]
    assert {b" sugg", b" toget"}.isdisjoint(first)
    known = {b" RandomRedditor", b"StreamerBot", b" TheNitrome", b"quickShip", b"InstoreAndOnline", b"rawdownload"}
    known |= {b"oreAndOnline", b" externalTo", b" externalToEVA", b"reportprint", b"embedreportprint", b"ActionCode"}
    assert known <= set(first)
    copied = {finding.token for finding in found.of("verbatim")}
    assert {b" RandomRedditorWithNo", b" TheNitromeFan", b"quickShipAvailable", b" externalToEVAOnly"} <= copied
