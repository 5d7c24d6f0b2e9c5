"""One table for all: what its cells show is what sorting, filtering, searching and scrolling 200,000 rows must show."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from scope import alone
from scope import drawn as lines
from textual.binding import BindingType
from textual.pilot import Pilot

from tui.drawing.lines import fit
from tui.table.columns import Cell, Choices, Column, place_columns
from tui.table.rows import SLICE, Search, rows_in_order, sorted_in_steps
from tui.table.table import Table
from tui.terminal.background import Steps

CHOICES: dict[str, Callable[[int, str], bool]] = {
    "": lambda number, word: True,
    "even": lambda number, word: number % 2 == 0,
    "long": lambda number, word: len(word) > 2,
}
KEYS: dict[str, Callable[[int, str], Any]] = {
    "number": lambda number, word: number,
    "word": lambda number, word: word or None,
}


class Words(Table):
    """Numbers and words; a row without a word has nothing to be sorted by."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("s", "sort_next"),
        ("r", "toggle('reverse')"),
        ("left", "choice(-1)"),
    ]
    FOLLOWS = True
    COLUMNS = (
        Column(
            "number",
            8,
            lambda table, row: f"{table.data[row][0]:,}",
            "Just a number.",
            right=True,
            sort=lambda table, row: table.data[row][0],
            descending=True,
        ),
        Column(
            "word",
            8,
            lambda table, row: table.data[row][1],
            sort=lambda table, row: table.data[row][1] or None,
        ),
        Column(
            "bar",
            3,
            lambda table, row: Cell(lambda width: "|" * width),
            "A drawing.",
            rank=1,
        ),
    )

    def __init__(self) -> None:
        super().__init__()
        self.data: list[tuple[int, str]] = []
        self.drawn = 0
        self.heard: list[tuple[str, int]] = []

    @property
    def n_rows(self) -> int:
        return len(self.data)

    @property
    def choices(self) -> Choices:
        return [(key, f"{key or 'all'} ones") for key in CHOICES]

    @property
    def note(self) -> tuple[str, str]:
        return f" {self.row_count} shown ", "muted"

    @property
    def empty(self) -> str:
        return "Nothing is here."

    @property
    def test(self) -> Callable[[int], bool] | None:
        wanted = CHOICES[self.choice]
        return (lambda row: wanted(*self.data[row])) if self.choice else None

    def match(self, row: int, search: Search) -> int:
        number, word = self.data[row]
        return search.match(word, word.encode(), number)

    def render_row(self, *given: Any) -> Any:
        self.drawn += 1
        return super().render_row(*given)

    def row_highlighted(self, row: int) -> None:
        self.heard.append(("highlighted", row))

    def row_selected(self, row: int) -> None:
        self.heard.append(("selected", row))

    def take(self, data: list[tuple[int, str]]) -> None:
        self.data = data
        self.rows_changed()
        self.rearrange()


@asynccontextmanager
async def listed(
    n_rows: int = 0, size: tuple[int, int] = (40, 10)
) -> AsyncIterator[tuple[Words, Pilot[None]]]:
    """A table of so many numbers, alone on a screen."""
    table = Words()
    async with alone(table, size=size) as (pilot, _):
        table.take([(number, "") for number in range(n_rows)])
        await pilot.pause()
        yield table, pilot


def worked_out(steps: Steps[Any]) -> Any:
    """What a generator returns in the end."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return done.value


def dropped(columns: Sequence[Column]) -> list[str]:
    """Return the keys of the columns that go as a table gets narrower, the first one first."""
    keys = [column.key for column in columns]
    gone = []
    for width in range(300, 0, -1):
        kept = [place.column.key for place in place_columns(columns, width)]
        gone += [key for key in keys if key not in kept]
        keys = kept
    return gone


class Model(RuleBasedStateMachine):
    """A table in a terminal, and beside it a list of the rows that should be shown and the one under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.loop, self.context = asyncio.new_event_loop(), copy_context()
        self.running = listed(size=(40, 12))
        self.table, self.pilot = self.run(self.running.__aenter__())
        self.data: list[tuple[int, str]] = []
        self.cursor: int | None = None
        self.run(self.pilot.pause())

    def run(self, work: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await work

        return self.loop.run_until_complete(
            self.loop.create_task(awaited(), context=self.context)
        )

    def do(self, deed: Callable[[], object]) -> None:
        """Call it as the app would, and wait until the screen shows what came of it."""

        async def done() -> None:
            deed()
            await self.pilot.pause()
            while self.table._arranging.is_working:
                await self.pilot.pause()

        self.run(done())

    def teardown(self) -> None:
        self.run(self.running.__aexit__(None, None, None))
        self.loop.close()

    # What should be shown

    def expected(self) -> list[int]:
        table, rows = self.table, list(range(len(self.data)))
        if table.sort_key:
            key = KEYS[table.sort_key]
            known = [row for row in rows if key(*self.data[row]) is not None]
            known.sort(
                key=lambda row: key(*self.data[row]),
                reverse=table.reverse != (table.sort_key == "number"),
            )
            rows = known + [row for row in rows if key(*self.data[row]) is None]
        elif table.reverse:
            rows.reverse()
        rows = [row for row in rows if CHOICES[table.choice](*self.data[row])]
        if sought := table.search:
            number = int(sought) if sought.isdigit() else None
            by_number = [row for row in rows if self.data[row][0] == number]
            wholly = [
                row
                for row in rows
                if self.data[row][1] == sought and row not in by_number
            ]
            others = [
                row
                for row in rows
                if sought in self.data[row][1] and row not in by_number + wholly
            ]
            rows = by_number + wholly + others
        return rows

    def settled(self, *, first: bool = False) -> None:
        """The cursor stays on its row where that is still shown; `first`: it goes to the first row."""
        self.do(lambda: None)
        order = self.expected()
        if first or self.cursor not in order:
            self.cursor = order[0] if order and first else self.table.current

    def press(self, *keys: str) -> None:
        self.run(self.pilot.press(*keys))

    # What can happen

    @initialize(n=st.sampled_from([0, 1, 5, 40]))
    def begin(self, n: int) -> None:
        self.append([(number * 3 % 50, "abc"[: number % 4]) for number in range(n)])

    @rule(
        rows=st.lists(
            st.tuples(
                st.integers(0, 60), st.sampled_from(["", "a", "ab", "low", "slow"])
            ),
            max_size=12,
        )
    )
    def append(self, rows: list[tuple[int, str]]) -> None:
        followed = self.table.following
        self.data = [*self.data, *rows]
        self.do(lambda: self.table.take(self.data))
        self.settled()
        assert not followed or self.table.following
        if followed and rows:
            self.cursor = len(self.data) - 1

    @rule(column=st.sampled_from([4, 12]))
    def click_the_head(self, column: int) -> None:
        self.run(self.pilot.click(Words, offset=(column, 0)))
        self.settled(first=True)

    @rule(key=st.sampled_from(["s", "r"]))
    def sort(self, key: str) -> None:
        self.press(key)
        self.settled(first=True)

    @rule(typed=st.sampled_from(["", "", "a", "low", "3", "12", "zzz"]))
    def search(self, typed: str) -> None:
        changed = typed != self.table.search
        self.do(lambda: setattr(self.table, "search", typed))
        self.settled(first=changed)

    @rule()
    def filter(self) -> None:
        before = self.cursor
        self.press("left")
        self.settled(first=before not in self.expected())

    @rule(
        keys=st.lists(
            st.sampled_from(["up", "down", "pageup", "pagedown", "home", "end"]),
            min_size=1,
            max_size=3,
        )
    )
    def move(self, keys: list[str]) -> None:
        position, order, page = self.table.cursor, self.expected(), self.table.page_rows
        by = {
            "up": -1,
            "down": 1,
            "pageup": 1 - page,
            "pagedown": page - 1,
            "home": -len(order),
            "end": len(order),
        }
        for key in keys:
            position = max(
                0,
                min(
                    position + (by[key] or by[key] + (1 if key == "pagedown" else -1)),
                    len(order) - 1,
                ),
            )
        self.press(*keys)
        self.cursor = order[position] if order else None
        if order:
            assert 0 <= self.table.cursor - self.table.scroll_offset.y < page, (
                "what one goes to is seen"
            )

    @rule(y=st.integers(0, 60))
    def scroll(self, y: int) -> None:
        self.do(lambda: self.table.scroll_to(y=y, animate=False, immediate=True))
        self.settled()

    @rule(width=st.sampled_from([30, 40, 80]), height=st.sampled_from([3, 7, 12, 60]))
    def resize(self, width: int, height: int) -> None:
        seen = (
            0 <= self.table.cursor - self.table.scroll_offset.y < self.table.page_rows
        )
        self.run(self.pilot.resize_terminal(width, height))
        self.settled()
        if seen and self.table.row_count and not self.table.following:
            assert (
                0
                <= self.table.cursor - self.table.scroll_offset.y
                < self.table.page_rows
            )

    @precondition(lambda self: self.table.row_count)
    @rule(y=st.integers(0, 9), twice=st.booleans())
    def click(self, y: int, twice: bool) -> None:
        position = self.table.scroll_offset.y + y
        if y >= min(
            self.table.page_rows, self.table.row_count - self.table.scroll_offset.y
        ):
            return
        self.table.heard.clear()
        row = self.expected()[position]
        self.run(self.pilot.click(Words, offset=(2, 1 + y), times=1 + twice))
        self.cursor = row
        assert ("highlighted", row) in self.table.heard and (
            ("selected", row) in self.table.heard
        ) == twice

    # What must hold

    @invariant()
    def the_cells_are_those_of_the_rows(self) -> None:
        table, order = self.table, self.expected()
        assert list(table.order) == order
        head, *shown = lines(table)
        assert ("↓" in head or "↑" in head) == bool(table.sort_key)
        if table.size.height >= 6:
            foot = shown.pop()
            assert f"{table.choice or 'all'} ones" in foot and foot.endswith(
                f"{len(order)} shown"
            )
        top = table.scroll_offset.y
        assert 0 <= top <= max(0, len(order) - table.page_rows)
        expected = [
            [f"{number:,}", *([word] if word else [])]
            for number, word in (self.data[row] for row in order)
        ]
        seen = [line.replace("|", " ").split() for line in shown]
        if order:
            assert seen == (expected[top:] + [[]] * len(shown))[: len(shown)]
        else:
            assert shown[0].strip() == "Nothing is here."

    @invariant()
    def the_cursor_is_on_its_row(self) -> None:
        table = self.table
        assert table.current == (self.cursor if table.row_count else None)
        lit = [
            y
            for y in range(1, 1 + table.page_rows)
            if y + table.scroll_offset.y <= table.row_count
            and any(
                part.style and part.style.bgcolor == table.style_of("cursor").bgcolor
                for part in table.render_line(y)
            )
        ]
        at = table.cursor - table.scroll_offset.y + 1
        assert lit == ([at] if table.row_count and 1 <= at <= table.page_rows else [])

    @invariant()
    def the_tail_is_seen_while_it_is_followed(self) -> None:
        table = self.table
        if table.following and table.row_count:
            assert table.scroll_offset.y + table.page_rows >= table.row_count
            assert not (table.choice or table.search or table.reverse or table.sort_key)


TestModel = Model.TestCase
TestModel.settings = settings(
    settings.get_profile("no shrinking"), max_examples=4, stateful_step_count=25
)


async def test_of_200_000_rows_only_those_in_sight_are_drawn() -> None:
    async with listed(200_000) as (table, _):
        assert (
            table.drawn < 100
            and lines(table)[-2].split()[0] == "199,999"
            and table.following
        )


async def test_a_scroll_to_the_tail_follows_it_but_moves_the_cursor_only_when_rows_arrive() -> (
    None
):
    async with listed(100, (40, 12)) as (table, pilot):
        table.move_to(40)
        table.scroll_end(animate=False, immediate=True)
        await pilot.resize_terminal(40, 14)
        await pilot.pause()
        assert (
            table.following
            and table.current == 40
            and lines(table)[-2].split()[0] == "99"
        )
        table.take([*table.data, (100, "")])
        await pilot.pause()
        assert table.current == 100
        table.move_to(98)
        assert not table.following, "the tail is in sight, but nobody has gone there"


async def test_another_height_keeps_the_place_of_who_does_not_follow() -> None:
    async with listed(303, (40, 13)) as (table, pilot):
        table.move_to(299)
        for height in (40, 12, 400, 12, 6):
            await pilot.resize_terminal(40, height)
            await pilot.pause()
            assert not table.following and table.current == 299
            assert any(line.split()[:1] == ["299"] for line in lines(table)), (
                "and it is still seen"
            )


async def test_the_head_explains_its_columns_and_rows_and_foot_take_clicks() -> None:
    async with listed(5) as (table, pilot):
        await pilot.hover(Words, offset=(4, 0))
        assert table.tooltip == "Just a number."
        await pilot.hover(Words, offset=(4, 2))
        assert table.tooltip is None
        await pilot.click(Words, offset=(2, 2))
        assert table.current == 1
        await pilot.click(Words, offset=(lines(table)[-1].index("even"), 9))
        assert table.choice == "even" and len(table.order) == 3
        await pilot.click(Words, offset=(0, 9))
        assert table.choice == "even"


async def test_nothing_raw_reaches_the_terminal_whatever_a_row_says() -> None:
    async with listed() as (table, pilot):
        table.take([(1, "\x1b]0;\x07\x00\x9b\u202e")])
        await pilot.pause()
        shown = "".join(lines(table))
        assert shown.isprintable() and "␛]0;␇␀¤" in shown


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("different", [1, 20, 10**9])
def test_sorting_in_steps_is_sorting(different: int, reverse: bool) -> None:
    number = random.Random(different)
    keys = [number.randrange(different) for _ in range(5 * SLICE)]
    rows = number.sample(range(len(keys)), len(keys))
    expected = sorted(rows, key=keys.__getitem__, reverse=reverse)
    assert (
        worked_out(sorted_in_steps(rows, keys.__getitem__, reverse=reverse)) == expected
    )
    some = [None if row % 3 == 0 else key for row, key in enumerate(keys)]
    found = worked_out(rows_in_order(len(some), some.__getitem__, descending=reverse))
    valued = [row for row in range(len(some)) if row % 3]
    assert found == [
        *sorted(valued, key=keys.__getitem__, reverse=reverse),
        *range(0, len(some), 3),
    ]


def test_no_step_of_sorting_looks_at_many_rows() -> None:
    """Between two pauses it asks for the keys of a slice or a bucket, never of all."""
    keys = random.Random(1).sample(range(20 * SLICE), 20 * SLICE)
    asked: list[int] = []
    most = 0
    for _ in rows_in_order(
        len(keys), lambda row: asked.append(row) or keys[row], descending=False
    ):  # type: ignore[func-returns-value]
        most = max(most, len(asked))
        asked.clear()
    assert most <= 2 * SLICE


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日… "),
        (
            "\u0301x",
            4,
            "◌\u0301x  ",
        ),  # a mark that would climb onto the column before it stands on a circle
        ("a\x1bb", 4, "a␛b "),
        ("abc", 0, ""),
    ],
)
def test_text_is_cut_by_cells(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown
    assert fit("1,284", 7, right=True) == "  1,284"


async def test_a_row_that_is_less_than_a_page_away_comes_to_the_nearest_border() -> (
    None
):
    async with listed(100, size=(40, 10)) as (table, pilot):
        table.move_to(50)
        await pilot.pause()
        top, page = table.scroll_offset.y, table.page_rows
        assert top < 50 < top + page - 1, "a leap shows what stands around a row"
        table.move_to(top - 2)
        await pilot.pause()
        assert table.scroll_offset.y == top - 2
        table.move_to(top - 2 + page)
        await pilot.pause()
        assert table.scroll_offset.y == top - 1
        table.move_to(99, tell=True)
        await pilot.pause()
        assert table.scroll_offset.y == 100 - page
        assert table.heard[-1] == ("highlighted", 99)


async def test_a_click_goes_to_a_row_two_select_it_and_head_and_foot_have_their_own() -> (
    None
):
    async with listed(5, size=(40, 10)) as (table, pilot):
        await pilot.click(Words, offset=(2, 3))
        assert table.heard == [("highlighted", 2)] and table.cursor == 2
        await pilot.click(Words, offset=(2, 2), times=2)
        assert table.heard.count(("selected", 1)) == 1 and table.cursor == 1
        await pilot.click(Words, offset=(2, 2), times=3)
        assert table.heard.count(("selected", 1)) == 2, "the third is one too many"
        n_heard = len(table.heard)
        await pilot.click(Words, offset=(2, 7))  # below the rows
        await pilot.click(Words, offset=(4, 0))
        assert len(table.heard) == n_heard and table.sort_key == "number"
        at = lines(table)[-1].index("even")
        await pilot.click(Words, offset=(at + 3, 9))
        while table._arranging.is_working:
            await pilot.pause()
        assert table.choice == "even" and sorted(table.order) == [0, 2, 4]
        table.set_reactive(Words.choice, "of other rows")
        await pilot.press("left")
        assert table.choice == "", "one that has gone leads to the first"


@pytest.mark.parametrize("theme", ["textual-light", "rose-pine-dawn"])
async def test_the_cursor_of_a_list_without_focus_can_be_seen(theme: str) -> None:
    table = Table()
    async with alone(table, size=(40, 10)) as (pilot, _):
        pilot.app.screen.set_focus(None)
        pilot.app.theme = theme
        await pilot.pause()
        await pilot.pause()
        cursor, usual = (table.style_of(ink).bgcolor for ink in ("cursor", "text"))
        assert cursor is not None and usual is not None
        shades = zip(cursor.get_truecolor(), usual.get_truecolor(), strict=True)
        assert max(abs(one - other) for one, other in shades) >= 20
