"""All tokens of a vocabulary in rows: sorted in short steps, filtered, and found by text, id or bytes."""

import random
from collections.abc import Generator
from typing import TypeVar

import pytest

from bpe_core.auditing.findings import Severity
from bpe_core.auditing.verdicts import Share, Verdict
from bpe_core.vocabulary import Vocabulary
from tui.drawing.sorting import SLICE, sorted_in_steps
from tui.drawing.token_rows import HOLE, SPECIAL, TokenRows, Wanted

Result = TypeVar("Result")

BASE = {byte: bytes([byte]) for byte in range(256)}
MERGES = [(ord("s"), ord("t"), 256), (ord("o"), ord("w"), 257), (ord("l"), 257, 300), (ord(" "), 256, 301)]
VOCABULARY = Vocabulary(BASE, MERGES, {"<|end|>": 310})
"""Tokens 0 to 257, 300, 301 and a special one, 310: two holes."""


def worked_out(steps: Generator[None, None, Result]) -> Result:
    """What a generator returns in the end."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        result: Result = done.value
        return result


def verdict(token: int, score: float, severity: Severity, *kinds: str) -> Verdict:
    shares = tuple(Share(kind, score / len(kinds)) for kind in kinds)
    evidence = {kind: {"severity": severity.word, "reason": f"A reason about {token}."} for kind in kinds}
    data = VOCABULARY.token_bytes(token)
    return Verdict(token, data, score, severity, kinds, f"A reason about {token}.", shares, evidence)


ST = verdict(256, 0.7, Severity.WARNING, "scaffold", "rare")
OW = verdict(257, 0.6, Severity.WARNING, "scaffold")
LOW = verdict(300, 0.95, Severity.PROBLEM, "unreachable")
BYTE = verdict(0xC0, 0.01, Severity.NOTE, "unused-byte")


@pytest.fixture
def rows() -> TokenRows:
    read = worked_out(TokenRows().read(VOCABULARY))
    counts = {"count": {256: 0, 257: 0, 300: 12_345, 301: 7}}
    return worked_out(read.judge([LOW, ST, OW, BYTE], counts))


def ids(rows: TokenRows, **wanted: object) -> list[int]:
    return [rows.ids[row] for row in worked_out(rows.rows(Wanted(**wanted)))]


def test_what_is_most_suspicious_comes_first_and_the_rest_by_id(rows: TokenRows) -> None:
    assert ids(rows)[:6] == [300, 256, 257, 0xC0, 0, 1]
    assert ids(rows, reverse=True)[:5] == [0xC0, 257, 256, 300, 0], "tokens without a score come last either way"
    assert len(ids(rows)) == rows.n_tokens == 261, "a row for each token, none for a hole"


def test_any_column_sorts_and_what_has_nothing_in_it_comes_last(rows: TokenRows) -> None:
    assert ids(rows, column="id", reverse=True)[:3] == [310, 301, 300]
    assert ids(rows, column="count")[:5] == [256, 257, 301, 300, 0]
    assert ids(rows, column="count", reverse=True)[:5] == [300, 301, 256, 257, 0], "and equal ones stay by id"
    assert ids(rows, column="kinds")[:3] == [300, 256, 257], "in the order in which an audit lists them"
    by_token = ids(rows, column="token")
    assert by_token.index(300) == by_token.index(ord("l")) + 1 and by_token[::-1] == ids(
        rows, column="token", reverse=True
    )
    assert ids(rows, column="indicator") == ids(rows, column="id"), "nothing of the kind was measured"


def test_only_one_kind_or_what_is_worse(rows: TokenRows) -> None:
    assert ids(rows, kind="scaffold") == [256, 257]
    assert ids(rows, kind="rare") == [256], "a token has a row of its own however much is found about it"
    assert ids(rows, severity=2) == [300, 256, 257] and ids(rows, severity=3) == [300]
    assert ids(rows, kind="scaffold", severity=3) == []
    assert ids(rows, kind=SPECIAL) == [310]
    assert ids(rows, kind=HOLE) == [258, 302]
    own = {"unreachable": 1, "rare": 1, "scaffold": 2, "unused-byte": 1, SPECIAL: 1, HOLE: 2}
    assert rows.choices == {"": 261, **own}
    assert rows.hole(len(rows) - 1) is not None and "302 to 309" in rows.holes[1].sentence


def test_a_search_is_of_the_whole_vocabulary(rows: TokenRows) -> None:
    assert ids(rows, search="ow") == [257, 300], "what is exactly meant comes first"
    assert ids(rows, search=" ST") == [301], "whatever the case, and a space finds the visible one"
    assert ids(rows, search="257")[0] == 257 and ids(rows, search="#257") == [257]
    assert ids(rows, search="0x6f77") == [257, 300] and ids(rows, search="6C 6f 77") == [300]
    assert ids(rows, search="\\xc0") == [0xC0]
    for token in (302, 305, 309):
        assert ids(rows, search=str(token)) == [302], "an id that no token has is in a hole"
    assert ids(rows, search="ow", kind="scaffold") == [257]
    assert ids(rows, search="nothing like it") == []


def test_another_audit_takes_the_place_of_the_one_before(rows: TokenRows) -> None:
    ids(rows, column="count")
    worked_out(rows.judge([ST], {}))
    assert ids(rows)[:2] == [256, 0] and ids(rows, column="count")[0] == 0
    assert set(rows.verdicts) == {256} and rows.greatest == {}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("different", [1, 20, 10**9])
def test_sorting_in_steps_is_sorting(different: int, reverse: bool) -> None:
    number = random.Random(different)
    keys = [number.randrange(different) for _ in range(5 * SLICE)]
    rows = number.sample(range(len(keys)), len(keys))
    expected = sorted(rows, key=keys.__getitem__, reverse=reverse)
    assert worked_out(sorted_in_steps(rows, keys.__getitem__, reverse=reverse)) == expected


def test_no_step_of_sorting_looks_at_many_rows() -> None:
    """Between two pauses it asks for the keys of a slice or a bucket, never of all."""
    n_asked = 0
    keys = random.Random(1).sample(range(20 * SLICE), 20 * SLICE)

    def key(row: int) -> int:
        nonlocal n_asked
        n_asked += 1
        return keys[row]

    most = 0
    for _ in sorted_in_steps(range(len(keys)), key):
        most, n_asked = max(most, n_asked), 0
    assert most <= 2 * SLICE
