"""The sentences of the stage: in order, each as long as it takes to read, and only what is true."""

import re
from dataclasses import replace

from rich.style import Style

from tui.text.stage_captions import Captions, MergeLabels, StageFacts, seconds_to_read
from tui.text.stage_plot import Point, StagePlot

START = StageFacts(step=0, n_steps=768, n_bytes=128, n_tokens=128)
FIRST = MergeLabels("␣", "t", "␣t")
NESTED = MergeLabels("␣t", "he", "␣the")


def test_each_sentence_stays_until_it_has_been_read() -> None:
    captions = Captions()
    captions.choose(START, now=10)
    assert captions.sentence == "Text starts as bytes, one token each."
    one = replace(START, step=1, first=FIRST)
    captions.choose(one, now=12.5)
    assert "starts as bytes" in captions.sentence, (
        "7 words take 2.1 s, and 0.5 s to look"
    )
    captions.choose(one, now=12.7)
    assert captions.sentence.endswith("pair of neighbors: ␣ + t.")
    five = replace(one, step=5, nested=NESTED, nested_step=5)
    captions.choose(five, now=13)
    assert captions.sentence.endswith("␣ + t.")
    captions.choose(five, now=30)
    assert captions.sentence.endswith("Merge 5 made ␣the of ␣t and he.")


def test_a_sentence_waits_until_it_is_true() -> None:
    captions = Captions()
    for now in range(0, 100, 10):
        captions.choose(START, now)
    assert captions.sentence == "Text starts as bytes, one token each."
    few = replace(START, step=19, n_steps=99, first=FIRST)
    said = set()
    for now in range(100, 200, 10):
        captions.choose(few, now)
        said.add(captions.sentence)
    assert not any("Faster" in sentence for sentence in said), "99 merges are not fast"


def test_the_end_follows_at_once_whatever_was_left_out() -> None:
    captions = Captions()
    captions.choose(START, 0)
    end = replace(START, step=768, n_tokens=30, first=FIRST, whole_word="office")
    captions.choose(end, 50)
    assert captions.sentence == (
        "768 merges: 30 tokens instead of 128. Now type, or press F12 for lessons."
    )
    read_at = 50 + seconds_to_read(captions.sentence)
    assert not captions.is_over(read_at - 0.1) and captions.is_over(read_at)


def test_a_play_without_merges_has_no_end() -> None:
    captions = Captions()
    nothing = StageFacts(step=0, n_steps=0, n_bytes=0, n_tokens=0)
    captions.choose(nothing, 0)
    captions.choose(nothing, 50)
    assert not captions.is_over(100)


def test_the_plot_shows_each_step_where_the_axis_has_it() -> None:
    points = [Point(0, 80), Point(1, 40), Point(9, 40), Point(99, 20)]
    plot = StagePlot(points, 99, width=44, height=4, ink=lambda name: Style())
    rows = [row.plain for row in plot.rows()]
    assert {len(row) for row in rows} == {44}
    area = [row[4:] for row in rows[:4]]
    assert rows[0].startswith("80 │█") and rows[4].startswith(" 0 └─")
    assert "20 tokens" in area[1], "above the end of the curve, at the right edge"
    ticks = {int(tick[0]): tick.start() for tick in re.finditer(r"\d+", rows[5])}
    assert list(ticks) == [0, 1, 10, 99]
    for step in (1, 10):
        column = "".join(row[ticks[step]] for row in rows[:4])
        assert column[:2].isspace() and column[2] == "█", "40 of 80 is half the height"
    assert rows[5].endswith("99 merges")


def test_a_plot_of_nothing_is_an_empty_axis() -> None:
    rows = StagePlot([], 0, width=20, height=2, ink=lambda name: Style()).rows()
    assert "".join(row.plain for row in rows).strip(" │\n").startswith("0 └")
