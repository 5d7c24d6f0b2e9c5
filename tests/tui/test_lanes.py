"""Lanes: several tokenizers, or several steps of one, share a text; each is told apart, and each is exact."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.style import Style
from rich.text import Text
from scope import TEXT

from bpe_core import load, save, train
from tui.drawing.palette import Palette, make_palette
from tui.features.lanes import Lanes
from tui.features.tokenizers import Tokenizers
from tui.screen import MainScreen
from tui.state import LaneChoice, ShownLane
from tui.text.document import FaithfulDocument
from tui.text.edited_text import EditedText
from tui.text.lane_texts import LaneStatus, amounts_of, lane_lines
from tui.text.navigator import Navigator
from tui.text.rows import Rows
from tui.text.status_texts import RememberedEdit

SMALL = train(TEXT, vocab_size=280)
OTHER = train("thermal other thistle\n" * 9, vocab_size=290, pattern="gpt2")


def palette() -> Palette:
    return make_palette(
        Style.parse("black on white"), Style(reverse=True), Style.parse("on blue")
    )


@pytest.mark.parametrize("width", [0, 8])
def test_each_row_is_there_once_for_each_lane(width: int) -> None:
    document = FaithfulDocument("the other theme\n日本\n\tthat they thought\n")
    plain, rows = Rows(document, width), Rows(document, width)
    rows.n_lanes = 3
    assert rows.height == 3 * plain.height
    for y in range(rows.height):
        place = rows.place(y)
        assert (
            place is not None
            and place._replace(lane=0) == plain.place(y // 3)
            and place.lane == y % 3
        )
        for x in range(9):
            assert rows.offset_to_location((x, y)) == plain.offset_to_location(
                (x, y // 3)
            ), "a click in any lane"
    end = rows.location_to_offset(document.end)
    assert end.y == 3 * plain.location_to_offset(document.end).y, (
        "the cursor stands in the first lane"
    )
    here, there = Navigator(rows), Navigator(plain)
    for location in ((0, 2), (1, 0), (2, 3)):
        assert here.get_location_below(location) == there.get_location_below(location)
        assert here.get_location_above(location) == there.get_location_above(location)


def test_a_line_tells_of_each_lane() -> None:
    text = EditedText("the theme ", SMALL)
    text.use_lanes([OTHER])
    text.set_cursor(9)
    text.document.replace_range((0, 10), (0, 10), "x")
    done = zip(text.lanes, (SMALL, OTHER), strict=True)
    edits = [
        RememberedEdit(tuple(lane.end_edits()), tokenizer) for lane, tokenizer in done
    ]
    text.settle_all(9)
    text.settle_all(9)

    def lines(selection: tuple[int, int], width: int) -> list[Text]:
        amounts = [amounts_of(lane, selection) for lane in text.lanes]
        parts = zip(("small", "other"), text.lanes, edits, amounts, strict=True)
        lanes = [LaneStatus(*status) for status in parts]
        return lane_lines(lanes, selection != (0, 0), palette(), width)

    one, other = (line.plain.split() for line in lines((0, 0), 120))
    counts = [len(tokenizer.encode("the theme x")) for tokenizer in (SMALL, OTHER)]
    assert one[:5] == ["small", f"{counts[0]}", "tokens", "11", "bytes"]
    grown = counts[1] - counts[0]
    assert other[:4] == ["other", f"{counts[1]}", "tokens", f"+{grown}"]
    assert other[4] == f"+{100 * grown / counts[0]:.1f}%"
    assert f"{11 / counts[1]:.2f}" in other and "here" in other and other[-1] == "+1"
    for width in (30, 60, 76):
        for line in lines((0, 0), width):
            assert line.cell_len <= width and line.plain.split()[-2:][0] in (
                "edit",
                "→",
                "x",
            ), line.plain
    assert lines((0, 3), 120)[0].plain.split()[1:3] == ["1", "selected"]


def test_of_a_rank_file_no_lane_asks_for_the_merges_and_a_lane_keeps_its_tokens(
    tmp_path: Path,
) -> None:
    """Merges are recovered in slices: at once, those of o200k hold the screen for seconds."""
    save(SMALL, tmp_path / "small.tiktoken", format="tiktoken")
    tokenizer = load(tmp_path / "small.tiktoken", pattern=SMALL.pattern)
    follows = dict[str, Callable[[], None]]()
    ignored = dict.fromkeys(("remember", "run_worker"), lambda *_, **__: None)
    screen = SimpleNamespace(tokenizer=tokenizer, lanes=(), **ignored)
    screen.watch = lambda _, name, follow, **__: follows.update({name: follow})
    Lanes(cast(MainScreen, screen), cast(Tokenizers, None)).choose(
        [LaneChoice("", 3), LaneChoice()]
    )
    assert [lane.name(()) for lane in screen.lanes] == [
        "@…",
        "@all",
    ] and not tokenizer.vocabulary.knows_merges
    tokenizer.vocabulary.recover()
    follows["tokenizer"]()
    assert [lane.name(()) for lane in screen.lanes] == ["@3", "@all"]
    learned = []
    for screen.tokenizer in SMALL.at(12), SMALL:
        follows["tokenizer"]()
        learned.append([lane.tokenizer for lane in screen.lanes])
    assert learned[0][0] is learned[1][0] and [
        one.step for one in (*learned[0], learned[1][1])
    ] == [3, 12, SMALL.step]


def test_a_preview_takes_the_place_of_the_chosen_lanes_until_others_are_chosen() -> (
    None
):
    worker = SimpleNamespace(cancel=lambda: None)
    ignored = dict.fromkeys(
        ("remember", "run_worker", "watch"), lambda *_, **__: worker
    )
    screen = SimpleNamespace(tokenizer=SMALL, lanes=(), **ignored)
    lanes = Lanes(cast(MainScreen, screen), cast(Tokenizers, None))
    lanes.choose([LaneChoice("", 3)])
    preview = ShownLane(LaneChoice("after"), SMALL.at(5))

    def names() -> list[str]:
        return [lane.name(()) for lane in screen.lanes]

    lanes.preview(preview)
    assert names() == ["after"]
    lanes.preview(None)
    assert names() == ["@3"]
    lanes.preview(preview)
    lanes.choose([LaneChoice("", 4)])
    assert names() == ["@4"]
