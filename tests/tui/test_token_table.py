"""The table of tokens: it is there before an audit, keeps its place through one, and is steered by keys and clicks."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from test_token_rows import BYTE, LOW, OW, ST, VOCABULARY
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from bpe_core.auditing.verdicts import Verdict
from tui.drawing.token_rows import HOLE, SPECIAL
from tui.terminal.background import SlicedWork
from tui.widgets.token_table import TokenTable

COUNTS = {"count": {256: 0, 257: 0, 300: 12_345}}


class TableApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, int | None]] = []

    def compose(self) -> ComposeResult:
        yield TokenTable()

    @property
    def table(self) -> TokenTable:
        return self.query_one(TokenTable)

    def on_token_table_highlighted(self, message: TokenTable.Highlighted) -> None:
        self.heard.append(("highlighted", None if message.row is None else self.table.rows.ids[message.row]))

    def on_mount(self) -> None:
        self.screen.requests = SimpleNamespace(open_token=lambda token, _: self.heard.append(("selected", token)))


def lines(table: TokenTable) -> list[str]:
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def shown(table: TokenTable) -> list[int]:
    return [table.rows.ids[row] for row in table.order]


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    while not holds():
        await pilot.pause(0.01)
    await pilot.pause()


async def judged(pilot: Pilot[None], table: TokenTable, verdicts: list[Verdict]) -> None:
    table.judge(verdicts, COUNTS)
    await until(pilot, lambda: not table.is_working)


async def test_all_tokens_are_listed_before_any_audit_with_what_they_are_made_of() -> None:
    app = TableApp()
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        await until(pilot, lambda: table.row_count == 261)
        await pilot.press("end", "up")
        first, *_, last = lines(table)
        assert first.split() == ["id", "token", "kinds", "reason"], "a column that has nothing to say is not there"
        assert any(line.split() == ["301", "␣st", "␣", "+", "st"] for line in lines(table))
        assert last.split() == ["all", "261", "·", "special", "1", "·", "hole", "2"]
        await pilot.press("left")
        assert table.kind == HOLE and "No token has the 42 ids from 258 to 299." in lines(table)[1]
        await pilot.press("left", "enter")
        assert table.kind == SPECIAL and "<|end|>" in lines(table)[1] and app.heard[-1] == ("selected", 310)


async def test_no_row_is_left_of_a_vocabulary_while_another_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp()
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        await until(pilot, lambda: table.row_count == 261)
        with monkeypatch.context() as busy:
            busy.setattr(SlicedWork, "AT_ONCE", 0.0)  # as on a machine that has much else to do
            table.list_tokens(VOCABULARY)
            assert (table.current, table.verdict, table.hint) == (None, None, "")
            table.list_tokens(None)
        await until(pilot, lambda: not table.is_working)
        assert not table.row_count and len(lines(table)) == 12


async def test_a_row_tells_what_was_found_and_how_suspicious_it_is() -> None:
    app = TableApp()
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        table.judge([LOW, ST, OW, BYTE], COUNTS)  # before they are read
        await until(pilot, lambda: bool(table.rows.verdicts) and not table.is_working)
        head, low, st, *_, foot = lines(table)
        assert head.split() == ["↓", "score", "id", "token", "kinds", "count", "reason"]
        assert low.split()[:6] == ["▲", "0.95", "300", "low", "unreachable", "12,345"]
        assert st.split()[:7] == ["●", "0.70", "256", "st", "scaffold,", "rare", "0"] and "A reason about 256" in st
        assert foot.split("·")[0].split() == ["all", "261"] and "scaffold 2" in foot
        await pilot.press("v", "v")
        assert shown(table) == [300, 256, 257] and "● and worse" in lines(table)[-1]
        table.kind, table.severity = "rare", 3
        await pilot.pause()
        assert "No token of the kind rare, with ▲ only." in lines(table)[1]
        table.kind, table.severity = SPECIAL, 1
        await pilot.resize_terminal(66, 12)
        foot = lines(table)[-1]
        assert "rare" not in foot, "kinds before the chosen one give way"
        await pilot.click(TokenTable, offset=(foot.index("unused-byte"), 11))
        assert table.kind == "unused-byte", "a click finds the kind that stands there"


async def test_a_click_on_a_header_sorts_and_another_turns_around() -> None:
    app = TableApp()
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST])
        x = lines(table)[0].index("id")
        await pilot.click(TokenTable, offset=(x, 0))
        assert "↑ id" in lines(table)[0] and shown(table)[:2] == [0, 1]
        await pilot.click(TokenTable, offset=(x, 0))
        assert "↓ id" in lines(table)[0] and shown(table)[0] == 310
        await pilot.press("r", "s")
        assert "token ↑" in lines(table)[0]
        await pilot.click(TokenTable, offset=(lines(table)[-1].index("scaffold"), 11))
        assert table.kind == "scaffold" and shown(table) == [256]


async def test_another_audit_keeps_order_filter_and_place() -> None:
    app = TableApp()
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW])
        table.sort_by("id")
        table.kind = "scaffold"
        await pilot.press("end")
        await judged(pilot, table, [ST, OW, BYTE])
        assert (table.sort_key, table.kind, table.verdict) == ("id", "scaffold", OW)
        await judged(pilot, table, [BYTE])
        assert table.kind == "" and table.verdict is None, "there is no scaffold any more: all are shown"
        assert table.current is not None and table.rows.ids[table.current] == 257
        above = table.cursor - table.scroll_offset.y
        await judged(pilot, table, [BYTE, LOW])
        assert table.cursor - table.scroll_offset.y == above, "and stands where it stood"
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST])
        assert table.cursor == 0, "another vocabulary is looked at from its first row"


async def test_going_to_a_token_takes_away_what_hides_it() -> None:
    app = TableApp()
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW])
        table.search, table.kind = "ow", "scaffold"
        await pilot.pause()
        assert shown(table) == [257] and app.heard[-1] == ("highlighted", 257)
        table.go_to(301)
        await until(pilot, lambda: table.current is not None and table.rows.ids[table.current] == 301)
        assert (table.search, table.kind) == ("", "") and app.heard[-1] == ("highlighted", 301)
        table.search = "zzz"
        await pilot.pause()
        assert "No token with “zzz” in its text, its id or its bytes." in lines(table)[1]


@pytest.mark.parametrize("width", [54, 80])
async def test_a_narrow_table_keeps_the_kinds_in_reach(width: int) -> None:
    app = TableApp()
    async with app.run_test(size=(width, 10)) as pilot:
        table = app.table
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW, BYTE])
        assert lines(table)[0].split()[:5] == ["↓", "score", "id", "token", "kinds"]
        for kind, n in table.rows.choices.items():
            table.kind = kind
            assert f"{kind or 'all'} {n}" in lines(table)[-1], "the chosen one is in sight"
