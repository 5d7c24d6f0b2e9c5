"""A compared text in lanes: marks below what differs, keys that go through it, and places that the table leads to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from scope import alone, drawn
from textual.pilot import Pilot

from bpe_core import train
from bpe_core.metrics import comparison as metrics
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.metrics.sampled import sample_text
from tui.state import ComparisonRun, KnownTokenizer, PlaceInText
from tui.widgets.comparison_lanes import ComparisonLanes

TEXT = "the theme\nof the other thesis\nQWERTY\nand the thing that they thought through"
WHOLE = train(TEXT.replace("QWERTY", "") * 9, vocab_size=290)
PAIR = [WHOLE, WHOLE.at(5)]
Lanes = tuple[ComparisonLanes, Pilot[None], list[Any]]


def compared(n: int = 1000, n_lanes: int = 2) -> ComparisonRun:
    """The pair on a text that begins in line 3 of a file, with a sample of `n` characters."""
    tokenizers = PAIR[:n_lanes]
    found = metrics.Comparison(tokenizers)
    found.add("a.txt", TEXT, path="/a.txt", line=3)
    return ComparisonRun(
        tokenizers=tuple(
            KnownTokenizer(f"/{name}.json", name, 0) for name in ("whole", "five")
        )[:n_lanes],
        texts=found.texts,
        samples={0: sample_text(0, TEXT, tokenizers, n)},
    )


@asynccontextmanager
async def shown(comparison: ComparisonRun, height: int = 16) -> AsyncIterator[Lanes]:
    lanes = ComparisonLanes()
    async with alone(lanes, size=(60, height)) as (pilot, asked):
        lanes.show(comparison, None)
        lanes.focus()
        await pilot.pause()
        yield lanes, pilot, asked


async def test_each_row_of_the_text_is_drawn_for_every_tokenizer_with_marks() -> None:
    comparison = compared()
    n = len(comparison.samples[0].differences)
    async with shown(comparison) as (lanes, pilot, _):
        lines = drawn(lanes)
        assert lines[0].split() == ["Text", "a.txt", str(n), "differences"]
        assert lines[1] == "╭ A whole the theme↵" and lines[2] == "╰ B five  the theme↵"
        assert lines[3].lstrip().startswith("▔▔▔")
        alike = lines.index("╭ A whole QWERTY↵")
        assert lines[alike + 1 : alike + 3] == [
            "╰ B five  QWERTY↵",
            "╭ A whole and the thing that they thought through",
        ], "no marks where nothing differs"
        await pilot.resize_terminal(34, 16)
        while "╭ A whole and the thing that" not in drawn(lanes):
            await pilot.pause(0.01)


async def test_keys_go_through_the_differences_and_enter_leads_to_one() -> None:
    comparison = compared()
    sample = comparison.samples[0]
    n = len(sample.differences)
    async with shown(comparison, height=6) as (lanes, pilot, asked):
        assert lanes.hint.startswith("Down goes to")
        assert not lanes.target
        await pilot.press("enter", "down", "j")
        assert not asked and lanes.at == 1 and lanes.target
        assert f"2 of {n} differences" in drawn(lanes)[0]
        start, end = sample.differences[1]
        assert lanes.hint.startswith(f"A {TEXT[start:end]}, B ")
        for key, at in ("home", 0), ("up", 0), ("pagedown", 10), ("end", n - 1):
            await pilot.press(key)
            assert lanes.at == min(at, n - 1)
        start, end = sample.differences[-1]
        assert "thought" in "\n".join(drawn(lanes)), "it is in sight"
        await pilot.press("enter")
        column = start - TEXT.rindex("\n") - 1
        assert asked == [PlaceInText("/a.txt", 6, column, end - start)]


async def test_the_table_leads_to_a_place_and_the_keys_go_on_from_there() -> None:
    comparison = compared()
    sample = comparison.samples[0]
    last = sample.differences[-1]
    place = TextPlace(0, 6, last[0] - TEXT.rindex("\n") - 1)
    async with shown(comparison, height=6) as (lanes, pilot, _):
        lanes.show(comparison, place)
        assert lanes.at == len(sample.differences) - 1
        await pilot.press("up")
        lanes.show(replace(comparison), place)
        assert lanes.at == len(sample.differences) - 2, "the table has not moved"
        lanes.show(comparison, TextPlace(0, 4, 0))
        assert "of the other" in drawn(lanes)[1], "a line is shown from its start"
        lanes.show(comparison, TextPlace(5, 1, 0))
        assert drawn(lanes)[1].strip() == (
            "Only the beginnings of the first texts are shown here."
        )


async def test_a_place_after_the_sample_emphasizes_nothing() -> None:
    async with shown(compared(12)) as (lanes, _, _):
        lanes.show(compared(12), TextPlace(0, 6, 8))
        assert lanes.at == -1


async def test_a_single_tokenizer_has_neither_labels_nor_marks() -> None:
    async with shown(compared(n_lanes=1)) as (lanes, pilot, _):
        lines = drawn(lanes)
        assert lines[0].strip() == "Text  a.txt" and lines[1] == "the theme↵"
        assert "▔" not in "".join(lines)
        await pilot.press("down", "enter")
        assert lanes.at == -1


async def test_a_text_with_fewer_differences_follows_one_with_more() -> None:
    comparison = compared()
    short = sample_text(0, "QQQ", PAIR, 1000)
    async with shown(comparison) as (lanes, pilot, _):
        await pilot.press("end")
        assert lanes.at == len(comparison.samples[0].differences) - 1 > 0
        lanes.show(replace(comparison, samples={0: short}), None)
        await pilot.pause()
        assert lanes.at == -1 and "A whole QQQ" in drawn(lanes)[1]


async def test_a_text_that_begins_in_a_later_line_is_shown_from_its_start() -> None:
    async with shown(compared(), height=4) as (lanes, _, _):
        assert drawn(lanes)[1] == "╭ A whole the theme↵"
