"""Findings can be sorted by any column, filtered by kind and searched, while more of them arrive."""

import asyncio
from collections.abc import Callable, Generator

import pytest
from amounts import exhaustive
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from bpe_core.auditing.findings import KINDS, Finding, Findings, Severity
from tui.drawing.finding_order import FindingOrder, Wanted, _key_of
from tui.messages import FindingOpened
from tui.widgets.token_table import TokenTable


def finding(id: int, token: bytes, kind: str, severity: Severity, count: int | None = None) -> Finding:
    evidence = {} if count is None else {"count": count}
    return Finding(id, token, kind, severity, f"A reason about {id}.", evidence)


ST = finding(257, b"st", "scaffold", Severity.WARNING, 0)
OW = finding(259, b"ow", "scaffold", Severity.WARNING, 0)
MAGIKARP = finding(43453, b" SolidGoldMagikarp", "never-used", Severity.PROBLEM, 0)
HALF = finding(300, b"\xf0\x9f", "partial-utf8", Severity.NOTE, 7)
REST = finding(260, b"low", "rare", Severity.WARNING, 12_345)
ALL = [ST, OW, MAGIKARP, HALF, REST]


class TableApp(App[None]):
    def __init__(self, findings: list[Finding]) -> None:
        super().__init__()
        self.findings = findings
        self.heard: list[tuple[str, int]] = []

    def compose(self) -> ComposeResult:
        yield TokenTable()

    def on_mount(self) -> None:
        self.table.append(self.findings)
        self.table.finish()
        self.heard.clear()

    @property
    def table(self) -> TokenTable:
        return self.query_one(TokenTable)

    def on_token_table_highlighted(self, message: TokenTable.Highlighted) -> None:
        self.heard.append(("highlighted", message.finding.id))

    def on_finding_opened(self, message: FindingOpened) -> None:
        self.heard.append(("selected", message.finding.id))


def lines(table: TokenTable) -> list[str]:
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def order_of(findings: list[Finding]) -> FindingOrder:
    order = FindingOrder()
    order.add(findings)
    return order


def worked_out(rows: Generator[None, None, list[int]]) -> list[int]:
    """What a generator returns in the end."""
    try:
        while True:
            next(rows)
    except StopIteration as done:
        return list(done.value)


def ids(order: FindingOrder, column: str = "severity", *, reverse: bool = False, **asked: str) -> list[int]:
    return [order.findings[row].id for row in worked_out(order.rows(Wanted(column, reverse, **asked)))]


def test_the_worst_come_first_then_any_column_sorts() -> None:
    order = order_of(ALL)
    assert ids(order) == [43453, 257, 259, 260, 300]
    assert ids(order, "id") == [257, 259, 260, 300, 43453]
    assert ids(order, "count", reverse=True)[:2] == [260, 300]
    assert ids(order, "token")[:2] == [43453, 260], "by bytes: a space comes before letters"
    assert ids(order, "kind")[0] == 43453, "kinds in the order in which an audit lists them"


def test_what_is_equal_keeps_the_order_it_had() -> None:
    order = order_of(ALL)
    ids(order, "id", reverse=True)
    assert ids(order, "count") == [43453, 259, 257, 300, 260], "by count, and the three of count 0 still by id"


def test_a_count_that_is_not_known_comes_last_either_way() -> None:
    order = order_of([finding(1, b"a", "rare", Severity.NOTE), *ALL])
    assert ids(order, "count")[-1] == 1
    assert ids(order, "count", reverse=True)[-1] == 1


def test_search_finds_text_and_ids_and_filter_picks_a_kind() -> None:
    order = order_of(ALL)
    assert ids(order, search="solidgold") == [43453]
    assert ids(order, search=" Solid") == [43453], "a space finds the visible one"
    assert ids(order, search="25") == [257, 259]
    assert ids(order, search="xf0") == [300]
    assert ids(order, kind="scaffold") == [257, 259]
    assert ids(order, kind="scaffold", search="ow") == [259]
    assert ids(order, search="nothing like it") == []


def test_findings_that_arrive_later_are_sorted_in() -> None:
    late, whole = order_of(ALL[:2]), order_of(ALL)
    ids(late)
    late.add(ALL[2:])
    assert ids(late) == ids(whole)
    assert late.kinds == {"never-used": 1, "rare": 1, "scaffold": 2, "partial-utf8": 1}


def many(n: int) -> list[Finding]:
    """All kinds and counts in a muddle, some of them equal."""
    kinds = list(KINDS)
    return [
        finding(i, b"%x" % (i * 7919 % 10_007), kinds[i * 31 % len(kinds)], Severity(1 + i * 17 % 3), i * 37 % 101)
        for i in range(n)
    ]


@pytest.mark.parametrize("column", ["severity", "id", "token", "kind", "count", "reason"])
@pytest.mark.parametrize("reverse", [False, True])
def test_sorting_in_slices_is_sorting(column: str, reverse: bool) -> None:
    findings = many(20_000)
    order = order_of(findings[:13_000])
    ids(order, "id", reverse=True)
    order.add(findings[13_000:])
    before = [*reversed(range(13_000)), *range(13_000, 20_000)]
    key = _key_of(column, reverse)
    assert ids(order, column, reverse=reverse) == sorted(before, key=lambda i: key(findings[i]), reverse=reverse)


@exhaustive
def test_no_slice_looks_at_more_than_a_few_thousand() -> None:
    order = order_of(many(50_000))
    for wanted in (Wanted("reason", True), Wanted("token", search="7"), Wanted("token", kind="rare")):
        assert sum(1 for _ in order.rows(wanted)) >= 50_000 // 4096


async def test_a_finding_says_what_and_why() -> None:
    app = TableApp(list(Findings(ALL)))
    async with app.run_test(size=(110, 12)) as pilot:
        await pilot.pause()
        shown = lines(app.table)
        assert shown[0].split() == ["↑", "id", "token", "kind", "count", "reason"]
        assert shown[1].split() == [
            "▲",
            "43,453",
            "␣SolidGoldMagikarp",
            "never-used",
            "0",
            *["A", "reason", "about", "43453."],
        ]
        assert shown[5].startswith(" ○") and "\\xf0\\x9f" in shown[5]
        assert shown[-1].strip() == "all 5 · never-used 1 · rare 1 · scaffold 2 · partial-utf8 1"


async def test_clicking_a_header_sorts_and_again_turns_around() -> None:
    app = TableApp(ALL)
    async with app.run_test(size=(110, 12)) as pilot:
        await pilot.pause()
        x = lines(app.table)[0].index("id")
        await pilot.click(TokenTable, offset=(x, 0))
        assert "↑ id" in lines(app.table)[0] and " 257 " in lines(app.table)[1]
        await pilot.click(TokenTable, offset=(x, 0))
        assert "↓ id" in lines(app.table)[0] and "43,453" in lines(app.table)[1]
        await pilot.press("r", "s")
        assert "token ↑" in lines(app.table)[0]


async def test_kinds_are_chosen_by_key_or_click() -> None:
    app = TableApp(ALL)
    async with app.run_test(size=(110, 12)) as pilot:
        await pilot.pause()
        table = app.table
        await pilot.press("right")
        assert table.kind == "never-used" and table.row_count == 1
        await pilot.click(TokenTable, offset=(lines(table)[-1].index("scaffold"), 11))
        assert table.kind == "scaffold" and table.row_count == 2
        await pilot.press("left", "left", "left")
        assert table.kind == "" and table.row_count == 5


async def test_the_cursor_keeps_its_finding_or_tells_of_another() -> None:
    app = TableApp(ALL)
    async with app.run_test(size=(110, 12)) as pilot:
        await pilot.pause()
        await pilot.press("down", "down", "enter")
        assert app.heard[-2:] == [("highlighted", 259), ("selected", 259)]
        heard = len(app.heard)
        app.table.search = "ow"
        await pilot.pause()
        assert app.table.row_count == 2 and len(app.heard) == heard, "still on the same finding"
        app.table.search = "magikarp"
        await pilot.pause()
        assert app.heard[-1] == ("highlighted", 43453)
        app.table.search = "zzz"
        await pilot.pause()
        assert "No finding is about a token with “zzz”" in lines(app.table)[1]
        app.table.search, app.table.kind = "zzz", "rare"
        await pilot.pause()
        assert "No finding of the kind rare is about a token with “zzz”" in lines(app.table)[1]


async def test_findings_stream_in() -> None:
    app = TableApp([])
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.empty = "No audit yet."
        await pilot.pause()
        assert lines(table)[1].strip() == "No audit yet."
        table.append(ALL[:2])
        table.append(ALL[2:])
        assert table.row_count == 0, "a moment later, all at once"
        await pilot.pause(2 * table.GATHER)
        assert [line.split()[1] for line in lines(table)[1:6]] == ["43,453", "257", "259", "260", "300"]


async def test_a_narrow_table_keeps_the_kinds_in_reach() -> None:
    app = TableApp(ALL)
    async with app.run_test(size=(54, 10)) as pilot:
        await pilot.pause()
        assert lines(app.table)[0].split() == ["↑", "id", "token", "kind", "count"]
        for kind in app.table.kinds:
            app.table.kind = kind
            assert f"{kind} {app.table.kinds[kind]}" in lines(app.table)[-1], "the chosen one is in sight"


def sorted_in(table: TokenTable) -> bool:
    return not table._gathering and not table._sorting.is_working


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    while not holds():
        await pilot.pause(0.01)


@exhaustive
async def test_adding_many_takes_time_for_each_of_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand batches are not two thousand sortings, and the list is right in the end."""
    n_sorted: list[int] = []

    def counted_rows(self: FindingOrder, wanted: Wanted) -> Generator[None, None, list[int]]:
        n_sorted.append(len(self.findings))
        return (yield from rows(self, wanted))

    rows = FindingOrder.rows
    monkeypatch.setattr(FindingOrder, "rows", counted_rows)
    findings = many(100_000)
    app = TableApp([])
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        await pilot.pause()
        n_sorted.clear()
        for start in range(0, len(findings), 50):
            table.append(findings[start : start + 50])
            if start % 1000 == 0:
                await asyncio.sleep(0)
        table.finish()
        await until(pilot, lambda: sorted_in(table))
        assert table.row_count == len(findings)
        assert [table.findings[row].severity for row in table.order] == sorted(f.severity for f in findings)[::-1]
        assert sum(n_sorted) < 20 * len(findings), "with a sorting for each batch it would be a thousand times as many"


@exhaustive
async def test_there_is_time_for_keys_while_many_are_sorted() -> None:
    app = TableApp([])
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.append(many(100_000))
        await until(pilot, lambda: sorted_in(table) and table.row_count == 100_000)
        table.sort_by("reason")
        assert table._sorting.is_working, "it is not done at once"
        table.sort_by("token")
        n_moments = 0
        while not sorted_in(table):
            await asyncio.sleep(0)
            n_moments += 1
        assert n_moments > 20
        tokens = [table.findings[row].token.lower() for row in table.order]
        assert tokens == sorted(tokens), "what was asked for last counts"


@exhaustive
async def test_what_the_user_asks_for_is_not_lost_to_findings_that_arrive() -> None:
    app = TableApp([])
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        findings = many(60_000)
        table.append(findings[:30_000])
        await until(pilot, lambda: table.row_count == 30_000)
        app.heard.clear()
        table.sort_by("id")
        for start in range(30_000, 60_000, 1000):
            table.append(findings[start : start + 1000])
            await pilot.pause(0.01)
        await until(pilot, lambda: sorted_in(table) and table.row_count == 60_000)
        assert list(table.order) == list(range(60_000))
        assert app.heard[0] == ("highlighted", 0), "and its beginning was looked at"


async def test_another_audit_keeps_order_filter_and_place() -> None:
    app = TableApp(ALL)
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.sort_by("id")
        table.kind = "scaffold"
        await pilot.press("end")
        assert table.finding == OW
        table.begin_again()
        await pilot.pause()
        assert table.row_count == 0
        table.append([*ALL[3:], ST])
        await until(pilot, lambda: table.row_count == 1)
        table.append([MAGIKARP, OW])
        table.finish()
        await pilot.pause()
        assert (table.sort_key, table.kind, table.finding) == ("id", "scaffold", OW)
        table.clear()
        table.append(ALL)
        table.finish()
        await pilot.pause()
        assert (table.sort_key, table.kind, table.finding) == ("id", "", ST), "for another tokenizer: from the first"


async def test_whoever_goes_to_a_finding_before_the_end_stays_there() -> None:
    app = TableApp([])
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.append(ALL[:2])
        await until(pilot, lambda: table.row_count == 2)
        await pilot.press("down")
        assert table.finding == OW
        table.append(ALL[2:])
        table.finish()
        await pilot.pause()
        assert table.finding == OW and table.cursor == 2
