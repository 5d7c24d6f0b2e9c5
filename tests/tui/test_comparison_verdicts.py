"""The verdicts on compared tokenizers: their words, the tokens of the witness, and the keys."""

from typing import Any, Literal

import pytest
from rich.style import Style
from scope import alone, drawn

from bpe_core.difference import (
    Cause,
    DecodedWitness,
    Difference,
    PartComparison,
    Witness,
)
from bpe_core.metrics.comparison import Amounts, ComparedText
from bpe_core.worker.differences import DifferenceFound
from tui.state import ComparisonRun, KnownTokenizer, PairWitness
from tui.widgets.comparison_verdicts import Verdicts
from tui.widgets.comparison_views import views
from tui.widgets.comparison_views.differences import causes_view
from tui.widgets.comparison_views.view import Aspect, View

ONES = Witness("11", (7,), (1, 1))
SPLIT = Cause("split pattern", "B splits '11'.", ONES)
SAME = PartComparison("normalizer", True, "Neither has one.")
OPEN = PartComparison("merges", None, "Merges are not compared.")
Tokens = tuple[tuple[bytes, ...], ...]


def found(
    other: int,
    witness: Witness | DecodedWitness | None,
    tokens: Tokens,
    *causes: Cause,
    verdict: Literal["same", "different", "unknown"] = "different",
    parts: tuple[PartComparison, ...] = (SAME,),
) -> DifferenceFound:
    if causes:
        parts = (*parts, PartComparison(causes[0].part, False, "", causes))
    return DifferenceFound(other, Difference(verdict, witness, parts, 1204), tokens)


SPLITS = found(1, ONES, ((b"11",), (b"1", b"1")), SPLIT)


def compared(*differences: DifferenceFound, n: int = 2, **more: Any) -> ComparisonRun:
    tokenizers = tuple(KnownTokenizer(f"/{name}", name, 0) for name in "wxyz"[:n])
    by_index = {one.other: one for one in differences}
    return ComparisonRun(tokenizers=tokenizers, differences=by_index, **more)


@pytest.mark.parametrize(
    ("difference", "row", "hint"),
    [
        (
            SPLITS,
            "A and B differ  A 11  B 11  B splits '11'.",
            "B splits '11'. Enter puts the text into the editor.",
        ),
        (
            found(1, ONES, ((b"11",), (b"1", b"1")), SPLIT._replace(witness=None)),
            "A and B differ  A 11  B 11  Different: split pattern.",
            "Different: split pattern. Enter puts the text into the editor.",
        ),
        (
            found(1, Witness(" x", (3,), (4,)), ((b" x",), (b" x",)), SPLIT),
            "A and B differ  A ␣x 3  B ␣x 4  Different: split pattern.",
            "Different: split pattern. Enter puts the text into the editor.",
        ),
        (
            found(1, Witness("\u200b", (), (4,)), ((), (b"x",)), SPLIT),
            "A and B differ  A   B x  Different: split pattern.",
            "Different: split pattern. Enter puts the text into the editor.",
        ),
        (
            found(1, Witness("é", (3,), None), (), SPLIT),
            "A and B differ  Different: split pattern.",
            "Different: split pattern. Enter puts the text into the editor.",
        ),
        (
            found(1, DecodedWitness((5, 6), b"a", None), (), SPLIT),
            "A and B decode 5 6 differently  Different: split pattern.",
            "Different: split pattern.",
        ),
        (
            found(1, None, (), verdict="same"),
            "A and B are the same: proved  The last view, causes, says why.",
            "The last view, causes, says why.",
        ),
        (
            found(1, None, (), verdict="unknown", parts=(SAME, OPEN)),
            "No difference between A and B found in 1,204 texts  The last view, causes, says why.",
            "The last view, causes, says why.",
        ),
    ],
)
async def test_a_verdict_is_in_words_with_the_tokens_of_the_text_that_shows_it(
    difference: DifferenceFound, row: str, hint: str
) -> None:
    verdicts = Verdicts()
    async with alone(verdicts, size=(90, 8)) as (pilot, _):
        verdicts.show(compared(difference))
        await pilot.pause()
        _, line = drawn(verdicts)
        assert line.strip() == row and verdicts.hint == hint


async def test_each_token_has_a_color_of_its_own_and_long_texts_are_cut() -> None:
    verdicts = Verdicts()
    long = found(1, Witness("1" * 50, (7,), (1,) * 50), ((b"1" * 50,), (b"1",) * 50))
    async with alone(verdicts, size=(80, 8)) as (pilot, _):
        verdicts.show(compared(SPLITS))
        await pilot.pause()

        def grounds(text: str) -> list[Style]:
            strip = verdicts.render_line(1)
            return [part.style.bgcolor for part in strip if part.text == text]  # type: ignore[union-attr]

        (both,), (first, second) = grounds("11"), grounds("1")
        assert first != second and len({both, verdicts.rich_style.bgcolor}) == 2
        verdicts.show(compared(long))
        await pilot.pause()
        cut = "1" * (80 // 3 - 1) + "…"
        few = "1" * (80 // 3 - len(" +28"))
        assert f"A {cut}  B {few} +28  " in drawn(verdicts)[1]


async def test_each_other_tokenizer_has_a_row_and_enter_asks_for_its_text() -> None:
    verdicts = Verdicts()
    third = found(2, ONES, ((b"11",), (b"1", b"1")), SPLIT)
    async with alone(verdicts, size=(80, 8)) as (pilot, asked):
        verdicts.show(compared(n=1))
        await pilot.pause()
        assert not verdicts.display
        verdicts.show(compared(n=3, running=True))
        verdicts.focus()
        await pilot.pause()
        _, *rows = drawn(verdicts)
        assert [row.strip() for row in rows] == [
            "A and B: not decided yet",
            "A and C: not decided yet",
        ]
        await pilot.press("enter")
        assert not asked and not verdicts.target
        verdicts.show(compared(third, n=3))
        await pilot.press("down", "enter")
        assert asked == [PairWitness(2, ONES)]
        _, *rows = drawn(verdicts)
        assert rows[0].strip() == "A and B: not decided yet"
        assert rows[1].strip().endswith("Different: split pattern."), "C is not B"


def causes(view: View) -> list[list[object]]:
    return [
        [column.cell(None, row) for column in view.columns]
        for row in range(view.n_rows)
    ]


def test_the_causes_come_before_what_is_undecided_and_what_is_the_same() -> None:
    decoded = Cause("decoding", "Id 5 is other.", DecodedWitness((5,), b"a", b"b"))
    parts = (SAME, OPEN, PartComparison("decoding", False, "", [decoded]))
    pair = found(2, ONES, (), SPLIT, parts=parts)
    view = causes_view(compared(pair, n=3), 2)
    assert causes(view) == [
        ["≠", "decoding", "Id 5 is other.", "ids 5"],
        ["≠", "split pattern", "B splits '11'.", "'11'"],
        ["?", "merges", "Merges are not compared.", ""],
        ["=", "normalizer", "Neither has one.", ""],
    ]
    targets = [view.row(row).target for row in range(view.n_rows)]
    assert targets == [None, PairWitness(2, ONES), None, None]
    assert view.row(1).hint == "B splits '11'. Enter puts the text into the editor."
    assert view.row(2).hint == "Merges are not compared."
    assert view.caption == "A and C, part by part; the sentences call C B"
    assert view.turns == ("tokenizer",)


def test_several_causes_of_one_part_come_after_how_many_there_are() -> None:
    two = [Cause("vocabulary", f"{token} is in B only.", ONES) for token in "ab"]
    parts = (PartComparison("vocabulary", False, "9 tokens are in B only.", two),)
    view = causes_view(compared(found(1, ONES, (), parts=parts)), 1)
    assert causes(view) == [
        ["≠", "vocabulary", "9 tokens are in B only.", ""],
        ["≠", "vocabulary", "a is in B only.", "'11'"],
        ["≠", "vocabulary", "b is in B only.", "'11'"],
    ]


def test_the_causes_are_a_view_once_they_are_known() -> None:
    text: Any = [ComparedText(Amounts("a", 9, 9, 2, (3, 4, 5), ()))]
    third = found(2, None, (), verdict="same")
    run = compared(SPLITS, third, n=3, texts=text)
    for tokenizer, n_rows in (0, 2), (1, 2), (2, 1):
        first, last = views(run, Aspect(tokenizer=tokenizer))
        assert (first.key, last.key, last.n_rows) == ("texts", "causes", n_rows)
    assert len(views(compared(third, n=3, texts=text), Aspect())) == 1
