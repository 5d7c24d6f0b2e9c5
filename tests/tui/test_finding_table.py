"""Findings can be sorted by any column, filtered by kind and searched, while more of them arrive."""

from textual.app import App, ComposeResult

from bpe_core.audit.findings import Finding, Findings, Severity
from tui.widgets.finding_order import FindingOrder
from tui.widgets.finding_table import FindingTable


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
        yield FindingTable()

    def on_mount(self) -> None:
        self.table.load(self.findings)

    @property
    def table(self) -> FindingTable:
        return self.query_one(FindingTable)

    def on_finding_table_highlighted(self, message: FindingTable.Highlighted) -> None:
        self.heard.append(("highlighted", message.finding.id))

    def on_finding_table_selected(self, message: FindingTable.Selected) -> None:
        self.heard.append(("selected", message.finding.id))


def lines(table: FindingTable) -> list[str]:
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def ids(order: FindingOrder, **asked: str) -> list[int]:
    return [order.findings[row].id for row in order.rows(**asked)]


def test_the_worst_come_first_then_any_column_sorts() -> None:
    order = FindingOrder(ALL)
    assert ids(order) == [43453, 257, 259, 260, 300]
    order.sort_by("id")
    assert ids(order) == [257, 259, 260, 300, 43453]
    order.sort_by("count", reverse=True)
    assert ids(order)[:2] == [260, 300]
    order.sort_by("token")
    assert ids(order)[:2] == [43453, 260], "by bytes: a space comes before letters"
    order.sort_by("kind")
    assert ids(order)[0] == 43453, "kinds in the order in which an audit lists them"


def test_what_is_equal_keeps_the_order_it_had() -> None:
    order = FindingOrder(ALL)
    order.sort_by("id", reverse=True)
    order.rows()
    order.sort_by("count")
    assert ids(order) == [43453, 259, 257, 300, 260], "by count, and the three of count 0 still by id"


def test_a_count_that_is_not_known_comes_last_either_way() -> None:
    order = FindingOrder([finding(1, b"a", "rare", Severity.NOTE), *ALL])
    order.sort_by("count")
    assert ids(order)[-1] == 1
    order.sort_by("count", reverse=True)
    assert ids(order)[-1] == 1


def test_search_finds_text_and_ids_and_filter_picks_a_kind() -> None:
    order = FindingOrder(ALL)
    assert ids(order, search="solidgold") == [43453]
    assert ids(order, search=" Solid") == [43453], "a space finds the visible one"
    assert ids(order, search="25") == [257, 259]
    assert ids(order, search="xf0") == [300]
    assert ids(order, kind="scaffold") == [257, 259]
    assert ids(order, kind="scaffold", search="ow") == [259]
    assert ids(order, search="nothing like it") == []


def test_findings_that_arrive_later_are_sorted_in() -> None:
    late, whole = FindingOrder(ALL[:2]), FindingOrder(ALL)
    late.rows()
    late.add(ALL[2:])
    assert ids(late) == ids(whole)
    assert late.kinds == {"never-used": 1, "rare": 1, "scaffold": 2, "partial-utf8": 1}


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
        await pilot.click(FindingTable, offset=(x, 0))
        assert "↑ id" in lines(app.table)[0] and " 257 " in lines(app.table)[1]
        await pilot.click(FindingTable, offset=(x, 0))
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
        await pilot.click(FindingTable, offset=(lines(table)[-1].index("scaffold"), 11))
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
        assert "No token has “zzz”" in lines(app.table)[1]


async def test_findings_stream_in() -> None:
    app = TableApp([])
    async with app.run_test(size=(110, 12)) as pilot:
        table = app.table
        table.empty = "No audit yet."
        await pilot.pause()
        assert lines(table)[1].strip() == "No audit yet."
        table.append(ALL[:2])
        table.append(ALL[2:])
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
