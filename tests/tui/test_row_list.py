"""A list of 200,000 rows is as light as the rows on the screen, follows its tail politely, and shows nothing raw."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tui.drawing.columns import Column, PlacedColumn, fit, place_columns
from tui.widgets.row_list import RowList

NUMBER = Column("number", 8, right=True, hint="Just a number.")


class Numbers(RowList):
    """Rows that say their number; counts how many were drawn."""

    FOLLOWS = True
    drawn = 0
    text = "{}"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, int]] = []

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        return place_columns([NUMBER], width)

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        self.drawn += 1
        return [Segment(self.text.format(row), base)]

    def row_highlighted(self, row: int) -> None:
        self.heard.append(("highlighted", row))

    def row_selected(self, row: int) -> None:
        self.heard.append(("selected", row))


class NumbersApp(App[None]):
    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        yield Numbers()

    def on_mount(self) -> None:
        self.list.show_rows(range(self.rows))

    @property
    def list(self) -> Numbers:
        return self.query_one(Numbers)

    @property
    def heard(self) -> "list[tuple[str, int]]":
        return self.list.heard


def lines(rows: RowList) -> list[str]:
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


async def app_with(pilot: Pilot[None]) -> tuple[NumbersApp, Numbers]:
    app = pilot.app
    assert isinstance(app, NumbersApp)
    await pilot.pause()
    return app, app.list


async def test_only_what_is_seen_is_drawn() -> None:
    async with NumbersApp(200_000).run_test(size=(30, 10)) as pilot:
        _, rows = await app_with(pilot)
        assert rows.drawn < 100
        assert lines(rows)[0].split() == ["number"]
        assert lines(rows)[-1] == "199999"


async def test_the_tail_is_followed_until_the_user_moves_up_and_again_after_end() -> None:
    async with NumbersApp(100).run_test(size=(30, 10)) as pilot:
        _, rows = await app_with(pilot)
        rows.show_rows(range(150))
        await pilot.pause()
        assert rows.following and lines(rows)[-1] == "149"

        await pilot.press("up", "k")
        rows.show_rows(range(300))
        await pilot.pause()
        assert not rows.following
        assert rows.current == 147 and lines(rows)[-1] == "149"

        await pilot.press("end")
        rows.show_rows(range(400))
        await pilot.pause()
        assert rows.following and lines(rows)[-1] == "399"


async def test_the_wheel_ends_the_following_and_resumes_it_at_the_bottom() -> None:
    async with NumbersApp(100).run_test(size=(30, 10)) as pilot:
        _, rows = await app_with(pilot)
        rows.scroll_to(y=50, animate=False)
        await pilot.pause()
        assert not rows.following and lines(rows)[1] == "50"
        rows.scroll_end(animate=False, immediate=True)
        assert rows.following


async def test_a_new_height_keeps_the_tail_in_sight() -> None:
    async with NumbersApp(100).run_test(size=(30, 20)) as pilot:
        _, rows = await app_with(pilot)
        await pilot.resize_terminal(30, 6)
        await pilot.pause()
        assert rows.following and lines(rows)[-1] == "99"


async def test_going_near_the_tail_is_not_following_it_and_another_height_keeps_the_place() -> None:
    async with NumbersApp(1503).run_test(size=(30, 12)) as pilot:
        _, rows = await app_with(pilot)
        rows.move_to(1499)
        assert not rows.following and lines(rows)[-1] == "1502", "the tail is in sight, but nobody has gone there"
        for height in (40, 12, 1600, 12, 5):
            await pilot.resize_terminal(30, height)
            await pilot.pause()
            assert not rows.following and rows.current == 1499
            assert "1499" in lines(rows), "and it is still seen"


async def test_whoever_scrolls_to_the_tail_keeps_the_cursor_until_rows_arrive() -> None:
    async with NumbersApp(100).run_test(size=(30, 12)) as pilot:
        _, rows = await app_with(pilot)
        rows.move_to(40)
        rows.scroll_end(animate=False, immediate=True)
        assert rows.following
        await pilot.resize_terminal(30, 14)
        await pilot.pause()
        assert rows.following and rows.current == 40 and lines(rows)[-1] == "99"
        rows.show_rows(range(101))
        await pilot.pause()
        assert rows.current == 100


async def test_a_shorter_list_in_its_place_is_followed_from_its_own_tail() -> None:
    async with NumbersApp(100).run_test(size=(30, 12)) as pilot:
        _, rows = await app_with(pilot)
        for n_rows in (9, 9, 50):
            rows.show_rows(range(0))
            rows.show_rows(range(n_rows))
            await pilot.pause()
            assert rows.following and rows.current == n_rows - 1 and lines(rows)[-1 if n_rows > 11 else n_rows]


async def test_keys_move_the_cursor_and_tell() -> None:
    async with NumbersApp(100).run_test(size=(30, 10)) as pilot:
        app, rows = await app_with(pilot)
        await pilot.press("home", "j", "pagedown", "down", "enter")
        assert rows.current == 10
        assert app.heard[-1] == ("selected", 10)
        assert ("highlighted", 0) in app.heard and ("highlighted", 10) in app.heard
        await pilot.press("home", "up")
        assert rows.current == 0, "there is nothing above the first row"


async def test_a_click_moves_and_a_double_click_selects() -> None:
    async with NumbersApp(100).run_test(size=(30, 10)) as pilot:
        app, rows = await app_with(pilot)
        await pilot.press("home")
        await pilot.click(Numbers, offset=(3, 4))
        assert rows.current == 3 and app.heard[-1] == ("highlighted", 3)
        await pilot.click(Numbers, offset=(3, 5), times=2)
        assert app.heard[-1] == ("selected", 4)


async def test_the_header_explains_its_columns() -> None:
    async with NumbersApp(5).run_test(size=(30, 10)) as pilot:
        _, rows = await app_with(pilot)
        await pilot.hover(Numbers, offset=(4, 0))
        assert rows.tooltip == "Just a number."
        await pilot.hover(Numbers, offset=(4, 2))
        assert rows.tooltip is None


async def test_sorting_and_filtering_keep_the_cursor_on_its_row() -> None:
    async with NumbersApp(100).run_test(size=(30, 10)) as pilot:
        _, rows = await app_with(pilot)
        rows.move_to(40)
        rows.show_rows(range(99, -1, -1))
        assert rows.current == 40 and rows.cursor == 59
        rows.show_rows([2, 40, 7])
        assert rows.current == 40 and rows.cursor == 1
        rows.show_rows([7])
        assert rows.current == 7
        rows.show_rows([])
        assert rows.current is None
        await pilot.press("down", "up", "enter", "end", "pageup")
        assert rows.current is None


async def test_nothing_raw_reaches_the_terminal_whatever_a_row_says() -> None:
    async with NumbersApp(3).run_test(size=(30, 10)) as pilot:
        _, rows = await app_with(pilot)
        rows.text = "\x1b]0;title\x07\x00\x9b{}\u202e"
        shown = "".join(lines(rows))
        assert shown.isprintable()
        assert "␛]0;title␇␀¤2" in shown


def test_columns_give_way_by_rank_and_share_what_is_left() -> None:
    columns = [
        Column("step", 5, right=True),
        Column("token", 6, 20),
        Column("share", 6, rank=2),
        Column("count", 5, rank=1),
    ]
    assert [place.column.key for place in place_columns(columns, 40)] == ["step", "token", "share", "count"]
    assert [place.column.key for place in place_columns(columns, 24)] == ["step", "token", "count"]
    assert [place.column.key for place in place_columns(columns, 10)] == ["step", "token"]
    for width in range(15, 60):
        places = place_columns(columns, width)
        assert places[-1].x + places[-1].width <= width - 1
        assert all(a.x + a.width + 2 == b.x for a, b in pairwise(places))


def test_text_is_cut_by_cells() -> None:
    assert fit("日本語", 6) == "日本語"
    assert fit("日本語", 5) == "日本…"
    assert fit("日本語", 4) == "日… "
    assert fit("1,284", 7, right=True) == "  1,284"
    assert fit("\u0301x", 4) == "◌\u0301x  ", "a mark that would climb onto the column before it stands on a circle"
    assert fit("a\x1bb", 4) == "a␛b "
    assert fit("abc", 0) == ""
