"""Lanes: several tokenizers, or several steps of one, share a text; each is told apart, and each is exact."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.style import Style
from rich.text import Text
from scope import TEXT

from bpe_core import Tokenizer, load, save, train
from bpe_core.errors import FormatError
from tui.drawing.palette import Palette, make_palette
from tui.features.lanes import MOST, Lanes
from tui.features.tokenizers import Tokenizers
from tui.screen import MainScreen
from tui.state import LaneChoice, Loaded, ShownLane
from tui.text.document import FaithfulDocument
from tui.text.edited_text import EditedText
from tui.text.screen_rows import Rows
from tui.text.status_texts import RememberedEdit, amounts_of, lane_lines
from tui.widgets.faithful_area import Navigator

SMALL = train(TEXT, vocab_size=280)
OTHER = train("thermal other thistle\n" * 9, vocab_size=290, pattern="gpt2")


def palette() -> Palette:
    return make_palette(Style.parse("black on white"), Style(reverse=True), Style.parse("on blue"))


# Rows


@pytest.mark.parametrize("width", [0, 8])
def test_each_row_is_there_once_for_each_lane(width: int) -> None:
    document = FaithfulDocument("the other theme\n日本\n\tthat they thought\n")
    plain, rows = Rows(document, width), Rows(document, width)
    rows.n_lanes = 3
    assert rows.height == 3 * plain.height
    for y in range(rows.height):
        place = rows.place(y)
        assert place is not None and place._replace(lane=0) == plain.place(y // 3) and place.lane == y % 3
        for x in range(9):
            assert rows.offset_to_location((x, y)) == plain.offset_to_location((x, y // 3)), "a click in any lane"
    end = rows.location_to_offset(document.end)
    assert end.y == 3 * plain.location_to_offset(document.end).y, "the cursor stands in the first lane"
    here, there = Navigator(rows), Navigator(plain)
    for location in ((0, 2), (1, 0), (2, 3)):
        assert here.get_location_below(location) == there.get_location_below(location)
        assert here.get_location_above(location) == there.get_location_above(location)


# What is told


def test_a_line_tells_of_each_lane() -> None:
    text = EditedText("the theme ", SMALL)
    text.use_lanes([OTHER])
    text.set_cursor(9)
    text.document.replace_range((0, 10), (0, 10), "x")
    done = zip(text.lanes, (SMALL, OTHER), strict=True)
    edits = [RememberedEdit(tuple(lane.end_edits()), tokenizer) for lane, tokenizer in done]
    text.settle_all(9)
    text.settle_all(9)

    def lines(selection: tuple[int, int], width: int) -> list[Text]:
        amounts = [amounts_of(lane, selection) for lane in text.lanes]
        lanes = list(zip(("small", "other"), text.lanes, edits, amounts, strict=True))
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
            assert line.cell_len <= width and line.plain.split()[-2:][0] in ("edit", "→", "x"), line.plain
    assert lines((0, 3), 120)[0].plain.split()[1:3] == ["1", "selected"]


# The owner


class Host:
    """What an owner needs of a screen; its work runs when `work` is called."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._waiting: list[object] = []

        self.lanes: tuple[ShownLane, ...] = ()
        self.remembered: tuple[str, ...] = ()
        self.tokenizer: Tokenizer | None = None
        self.follow: Callable[[], None] = lambda: None

    def remember(self, lanes: tuple[str, ...]) -> None:
        self.remembered = lanes

    def watch(self, _: object, name: str, follow: Callable[[], None], **__: object) -> None:
        assert name in ("tokenizer", "path")
        if name == "tokenizer":
            self.follow = follow

    def say(self, sentence: str, severity: str = "information") -> None:
        self.said.append(sentence)

    def run_worker(self, work: object, group: str) -> object:
        self._waiting.append(work)
        return self

    is_finished = is_cancelled = True

    def cancel(self) -> None:
        self._waiting.clear()

    def work(self) -> None:
        while self._waiting:
            asyncio.run(self._waiting.pop()())


class Chosen:
    """Lanes on a screen, what it remembers, and the files that they read."""

    def __init__(self, files: dict[Path, Tokenizer]) -> None:
        self.host = Host()
        self.n_read = 0

        async def read(path: Path) -> Loaded | None:
            self.n_read += 1
            if not path.exists():
                raise FormatError("There is no such file.")
            return Loaded(files[path], path) if path in files else None

        self.owner = Lanes(cast(MainScreen, self.host), cast(Tokenizers, SimpleNamespace(read=read)))

    @property
    def shown(self) -> tuple[ShownLane, ...]:
        return self.host.lanes

    @property
    def remembered(self) -> list[LaneChoice]:
        return [LaneChoice.parse(lane) for lane in self.host.remembered]

    def follow(self, tokenizer: Tokenizer) -> None:
        """This tokenizer is on the screen now."""
        self.host.tokenizer = tokenizer
        self.host.follow()

    def toggle(self, *lanes: LaneChoice) -> "Chosen":
        for lane in lanes:
            self.owner.toggle(lane)
            self.host.work()
        return self


def test_a_lane_is_a_tokenizer_of_a_file_or_a_step_of_the_one_on_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.touch()
    a_file, fixed, following = LaneChoice(str(path)), LaneChoice("", 10), LaneChoice()
    chosen = Chosen({path: OTHER})
    chosen.follow(SMALL.at(12))
    chosen.toggle(a_file, fixed, following)
    assert [lane.name(()) for lane in chosen.shown] == ["other", "@10", "@all"]
    assert [lane.tokenizer.step for lane in chosen.shown] == [OTHER.step, 10, 12]
    before = chosen.shown
    chosen.follow(SMALL)  # it has learned more
    assert chosen.shown[:2] == before[:2] and chosen.shown[1].tokenizer is before[1].tokenizer
    assert chosen.shown[2].tokenizer is SMALL
    chosen.follow(OTHER)  # another one is on the screen
    assert [lane.tokenizer.merges == OTHER.at(lane.tokenizer.step).merges for lane in chosen.shown] == [True] * 3
    chosen.toggle(LaneChoice("", 3))
    assert len(chosen.shown) == MOST and "drop one first" in chosen.host.said[0]
    chosen.toggle(fixed)
    assert [lane.choice for lane in chosen.shown] == [a_file, following] == chosen.remembered
    assert chosen.n_read == 1


def test_of_a_rank_file_no_lane_asks_for_the_merges(tmp_path: Path) -> None:
    """They are recovered in slices: at once, those of o200k hold the screen for seconds."""
    path = tmp_path / "small.tiktoken"
    save(SMALL, path, format="tiktoken")
    in_lane, on_screen = (load(path, pattern=SMALL.pattern) for _ in range(2))
    chosen = Chosen({path: in_lane})
    chosen.follow(on_screen)
    chosen.toggle(LaneChoice(str(path)), LaneChoice("", 3), LaneChoice())
    chosen.follow(load(path, pattern=SMALL.pattern))
    chosen.follow(on_screen)
    assert [lane.name(()) for lane in chosen.shown] == ["small", "@…", "@all"]
    assert not in_lane.vocabulary.knows_merges and not on_screen.vocabulary.knows_merges
    on_screen.vocabulary.recover()
    chosen.follow(on_screen)
    assert [lane.name(()) for lane in chosen.shown] == ["small", "@3", "@all"]


def test_a_lane_whose_file_is_gone_is_told_of_in_a_sentence(tmp_path: Path) -> None:
    here, gone, odd = (tmp_path / name for name in ("here.json", "gone.json", "odd.json"))
    here.touch()
    odd.touch()
    chosen = Chosen({here: OTHER})
    chosen.owner.choose(map(LaneChoice.parse, (f":{gone}", f":{here}", "what is this", f":{odd}")))
    chosen.host.work()
    assert [lane.choice.path for lane in chosen.shown] == [str(here)]
    assert [said.partition(". ")[2] for said in chosen.host.said] == ["There is no such file."] * 2
    assert chosen.remembered == [LaneChoice(str(here))]


def test_lanes_are_remembered_as_they_are() -> None:
    for lane in (LaneChoice(), LaneChoice("", 0), LaneChoice("/a:b c@2.json"), LaneChoice("/x", 12)):
        assert LaneChoice.parse(str(lane)) == lane
