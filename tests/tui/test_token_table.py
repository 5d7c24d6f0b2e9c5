"""The table of tokens: there before an audit, in place through one, steered by keys and clicks, written to files."""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scope import alone, listen
from scope import drawn as lines
from test_table import dropped, worked_out
from textual.pilot import Pilot
from textual.widgets import Tab

from bpe_core.auditing.distribution import Distribution
from bpe_core.auditing.findings import KINDS, Severity
from bpe_core.auditing.verdicts import Verdict
from bpe_core.corpus import find_files
from bpe_core.explain.places import CorpusPlace
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from tui.drawing.lines import InfoLine
from tui.drawing.token_rows import HOLE, SPECIAL, TokenRows, exported
from tui.state import Audit, PlaceInText
from tui.terminal import background
from tui.widgets.token_columns import COLUMNS
from tui.widgets.token_panel import TokenPanel, TokenSides
from tui.widgets.token_table import TokenTable

BASE = {byte: bytes([byte]) for byte in range(256)}
MERGES = [
    (ord("s"), ord("t"), 256),
    (ord("o"), ord("w"), 257),
    (ord("l"), 257, 300),
    (ord(" "), 256, 301),
]
VOCABULARY = Vocabulary(BASE, MERGES, {"<|end|>": 310})
"""Tokens 0 to 257, 300, 301 and a special one, 310: two holes."""
COUNTS = {"count": {256: 0, 257: 0, 300: 12_345, 301: 7}}


def verdict(token: int, score: float, severity: Severity, *kinds: str) -> Verdict:
    shares = dict.fromkeys(kinds, score / len(kinds))
    evidence = {
        kind: {"severity": severity.word, "reason": f"A reason about {token}."}
        for kind in kinds
    }
    data = VOCABULARY.token_bytes(token)
    return Verdict(
        token,
        data,
        score,
        severity,
        kinds,
        f"A reason about {token}.",
        shares,
        evidence,
    )


ST = verdict(256, 0.7, Severity.WARNING, "scaffold", "rare")
OW = verdict(257, 0.6, Severity.WARNING, "scaffold")
LOW = verdict(300, 0.95, Severity.PROBLEM, "unreachable")
BYTE = verdict(0xC0, 0.01, Severity.NOTE, "unused-byte")


Listed = tuple[TokenTable, Pilot[None], list[int]]


@asynccontextmanager
async def listed(*verdicts: Verdict, width: int = 110) -> AsyncIterator[Listed]:
    """The tokens in a table, with what an audit says of them; and those that are selected in it."""
    table = TokenTable()
    async with alone(table, size=(width, 12)) as (pilot, selected):
        table.list_tokens(VOCABULARY)
        if verdicts:
            table.judge(verdicts, COUNTS)  # before they are read
        await until(pilot, lambda: table.row_count and not table.is_working)
        yield table, pilot, selected


def shown(table: TokenTable) -> list[int]:
    return [table.rows.ids[row] for row in table.order]


async def until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    while not holds():
        await pilot.pause(0.01)
    await pilot.pause()


async def judged(
    pilot: Pilot[None], table: TokenTable, verdicts: list[Verdict]
) -> None:
    table.judge(verdicts, COUNTS)
    await until(pilot, lambda: not table.is_working)


ORDERS: list[tuple[dict[str, Any], list[int | None]]] = [
    ({}, [300, 256, 257, 0xC0, 0, 1]),  # the most suspicious first, then by id
    (
        {"reverse": True},
        [0xC0, 257, 256, 300, 0],
    ),  # tokens without a score come last either way
    ({"sort_key": "id", "reverse": True}, [310, 301, 300, 257]),
    ({"sort_key": "count"}, [256, 257, 301, 300, 0]),
    ({"sort_key": "count", "reverse": True}, [300, 301, 256, 257, 0]),
    (
        {"sort_key": "kinds"},
        [300, 256, 257],
    ),  # in the order in which an audit lists them
    ({"sort_key": "token", "search": "ow"}, [257, 300]),
    ({"choice": "scaffold"}, [256, 257, None]),
    (
        {"choice": "rare"},
        [256, None],
    ),  # a token has one row however much is found about it
    ({"severity": 2}, [300, 256, 257, None]),
    ({"severity": 3}, [300, None]),
    ({"choice": "scaffold", "severity": 3}, [None]),
    ({"choice": SPECIAL}, [310, None]),
    ({"choice": HOLE}, [258, 302, None]),
    ({"search": "ow"}, [257, 300, None]),  # what is exactly meant comes first
    (
        {"search": " ST"},
        [301, None],
    ),  # whatever the case, and a space finds the visible one
    ({"search": "257"}, [257]),
    ({"search": "#257"}, [257, None]),
    ({"search": "0x6f77"}, [257, 300, None]),
    ({"search": "6C 6f 77"}, [300, None]),
    ({"search": "\\xc0"}, [0xC0, None]),
    ({"search": "301"}, [301, None]),
    ({"search": "302"}, [302, None]),  # an id that no token has is in a hole
    ({"search": "309"}, [302, None]),
    ({"search": "310"}, [310, None]),
    ({"search": "ow", "choice": "scaffold"}, [257, None]),
    ({"search": "nothing like it"}, [None]),
]
"""What is asked of a table -> the ids of its first rows; None stands for the end."""


async def test_rows_are_sorted_filtered_and_found() -> None:
    async with listed(LOW, ST, OW, BYTE) as (table, pilot, _):
        usual = {name: getattr(table, name) for wanted, _ in ORDERS for name in wanted}
        for wanted, ids in ORDERS:
            for name, value in (usual | wanted).items():
                setattr(table, name, value)
            await until(pilot, lambda: not table.is_working)
            assert [*shown(table), None][: len(ids)] == ids, wanted


async def test_all_tokens_are_listed_before_any_audit_with_what_they_are_made_of() -> (
    None
):
    async with listed() as (table, pilot, selected):
        await pilot.press("end", "up")
        first, *_, last = lines(table)
        assert first.split() == ["id", "token", "kinds", "reason"], (
            "a column that has nothing to say is not there"
        )
        assert any(
            line.split() == ["301", "␣st", "␣", "+", "st"] for line in lines(table)
        )
        assert last.split() == ["all", "261", "·", "special", "1", "·", "hole", "2"]
        assert table.on_merge
        await pilot.press("home")
        assert table.on_example, "no merge makes a byte"
        await pilot.press("left")
        assert not table.target
        assert "No token has the 42 ids from 258 to 299." in lines(table)[1]
        await pilot.press("left", "enter")
        assert "<|end|>" in lines(table)[1] and selected[-1] == 310


async def test_no_row_is_left_of_a_vocabulary_while_another_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with listed() as (table, pilot, _):
        with monkeypatch.context() as busy:
            busy.setattr(
                background, "_SLICE", 0.0
            )  # as on a machine that has much else to do
            table.list_tokens(VOCABULARY)
            assert (table.current, table.hint) == (None, "")
            table.list_tokens(None)
        await until(pilot, lambda: not table.is_working)
        assert not table.row_count and len(lines(table)) == 12


async def test_a_row_tells_what_was_found_and_how_suspicious_it_is() -> None:
    async with listed(LOW, ST, OW, BYTE) as (table, pilot, _):
        head, low, st, *_, foot = lines(table)
        assert head.split() == ["↓", "score", "id", "token", "kinds", "count"], (
            "the panel gives the reason"
        )
        assert low.split() == [
            "▲",
            "0.95",
            "███████▋",
            "300",
            "low",
            "unreachable",
            "12,345",
        ]
        assert st.split() == [
            "●",
            "0.70",
            "█████▋",
            "256",
            "st",
            "scaffold,",
            "rare",
            "0",
        ]
        kinds = "all 261 · unreachable 1 · rare 1 · scaffold 2 · unused-byte 1 · special 1 · hole 2"
        assert foot.strip() == kinds
        await pilot.press("v", "v")
        assert "● and worse · 3 shown" in lines(table)[-1]
        table.choice, table.severity, table.search = "rare", 3, "zzz"
        await until(pilot, lambda: not table.is_working)
        sought = "No tokens of kind rare, with ▲ only, with “zzz” in its text, its id or its bytes."
        assert lines(table)[1].strip() == sought


async def test_a_wide_table_gives_the_reason_and_all_kinds() -> None:
    many = verdict(256, 0.7, Severity.WARNING, "absent-from-reference", "rare")
    async with listed(many, width=84) as (table, _, _):
        assert "absent-from-reference, rare" in lines(table)[1]
    async with listed(many, width=150) as (table, _, _):
        assert lines(table)[0].split()[-1] == "reason"
        assert "A reason about 256." in lines(table)[1]


async def test_another_audit_keeps_order_filter_and_place() -> None:
    async with listed(LOW, ST, OW) as (table, pilot, _):
        table.sort_by("id")
        table.choice = "scaffold"
        await pilot.press("end")
        await judged(pilot, table, [ST, OW, BYTE])
        assert (table.sort_key, table.choice, table.current) == ("id", "scaffold", 257)
        await judged(pilot, table, [BYTE])
        assert table.choice == "", "there is no scaffold any more: all are shown"
        assert table.current is not None and table.rows.ids[table.current] == 257
        above = table.cursor - table.scroll_offset.y
        await judged(pilot, table, [BYTE, LOW])
        assert table.cursor - table.scroll_offset.y == above, (
            "and stands where it stood"
        )
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST])
        assert table.cursor == 0, "another vocabulary is looked at from its first row"


async def test_going_to_a_token_takes_away_what_hides_it() -> None:
    async with listed(LOW, ST, OW) as (table, pilot, _):
        table.search, table.choice = "ow", "scaffold"
        await pilot.pause()
        assert shown(table) == [257]
        table.go_to(301)
        await until(
            pilot,
            lambda: table.current is not None and table.rows.ids[table.current] == 301,
        )
        assert (table.search, table.choice) == ("", "")
        await judged(pilot, table, [LOW, OW])
        assert table.rows.ids[table.current] == 301, "another audit leads nowhere else"


def as_family(*verdicts: Verdict) -> list[Verdict]:
    return [replace(one, family=verdicts[0].id) for one in verdicts]


async def test_one_row_stands_for_a_family_until_plus_opens_it() -> None:
    low, ow = as_family(LOW, OW)
    async with listed(low, ST, ow) as (table, pilot, _):
        assert shown(table)[:3] == [300, 256, 0]
        assert "▸ 1" in lines(table)[1]
        assert 257 not in shown(table)
        assert [table.rows.ids[row] for row in table.unfolded][:3] == [300, 257, 256]
        await pilot.press("plus")
        await until(pilot, lambda: 257 in shown(table))
        assert shown(table)[:3] == [300, 257, 256], "below the first of its family"
        assert table.unfolded == list(table.order)
        await pilot.press("plus")
        await until(pilot, lambda: 257 not in shown(table))
        table.go_to(257)
        await until(pilot, lambda: 257 in shown(table))


async def test_marks_belong_to_one_vocabulary() -> None:
    async with listed(LOW) as (table, pilot, _):
        vocabulary = table._vocabulary
        assert vocabulary is not None
        assert table.marked_in(vocabulary) == ()
        table.go_to(257)
        await pilot.press("space")
        assert table.marked_in(vocabulary) == (257,)
        assert "× 1 marked" in table.note[0]
        assert table.marked_in(copy(vocabulary)) == (), "of another one"
        await pilot.press("space")
        assert table.marked_in(vocabulary) == ()
        await pilot.press("space")
        table.list_tokens(vocabulary)
        assert table.marked_in(vocabulary) == ()


@pytest.mark.parametrize(
    "filtered",
    [{"search": "ow"}, {"choice": "scaffold"}, {"sort_key": "id"}],
)
async def test_a_filter_or_another_order_shows_each_token_by_itself(
    filtered: dict[str, Any],
) -> None:
    low, ow = as_family(LOW, OW)
    async with listed(low, ST, ow) as (table, pilot, _):
        for name, value in filtered.items():
            setattr(table, name, value)
        await until(pilot, lambda: not table.is_working)
        assert 257 in shown(table)


async def test_a_token_is_shown_if_the_first_of_its_family_is_not() -> None:
    byte, ow = as_family(BYTE, OW)
    async with listed(byte, ow) as (table, pilot, _):
        table.severity = 2
        await until(pilot, lambda: not table.is_working)
        assert shown(table) == [257]


@pytest.mark.parametrize("width", [54, 80])
async def test_a_narrow_table_keeps_the_kinds_in_reach(width: int) -> None:
    async with listed(LOW, ST, OW, BYTE, width=width) as (table, pilot, _):
        assert lines(table)[0].split()[:5] == ["↓", "score", "id", "token", "kinds"]
        for kind, title in table.choices:
            table.choice = kind
            await pilot.pause()
            assert title in lines(table)[-1], "the chosen one is in sight"
            await pilot.click(TokenTable, offset=(lines(table)[-1].index(title), 11))
            assert table.choice == kind, "and a click finds it there"


def test_a_narrow_table_drops_what_tells_least_first() -> None:
    measures = [
        "largest_share",
        "document_frequency",
        "reference",
        "indicator",
        "elsewhere",
    ]
    assert dropped(COLUMNS) == ["reason", *measures, "count", "bar", "family", "kinds"]


ROWS = worked_out(
    worked_out(TokenRows().read(VOCABULARY)).judge(
        [LOW, ST], {"count": {300: 7, ord("|"): 3}}
    )
)
ORDER = [
    row
    for row in map(ROWS.row_of, (300, 256, *range(256), 257, 301, 310))
    if row is not None
]


def written(suffix: str) -> str:
    return b"".join(exported(ROWS, ORDER, suffix)).decode()


def test_each_line_of_json_is_a_verdict_also_of_a_token_that_nothing_was_found_about() -> (
    None
):
    lines = [json.loads(line) for line in written(".jsonl").splitlines()]
    assert len(lines) == 261 and [line["id"] for line in lines[:3]] == [300, 256, 0]
    assert lines[0] == LOW.to_json()
    bar = next(line for line in lines if line["id"] == ord("|"))
    assert bar["score"] == 0 and bar["kinds"] == [] and bar["evidence"] == {"count": 3}


def test_a_table_for_a_spreadsheet() -> None:
    head, low, *rest = csv.reader(io.StringIO(written(".csv"), newline=""))
    assert head == [
        "id",
        "token",
        "bytes",
        "score",
        "severity",
        "kinds",
        "reason",
        "count",
    ]
    assert low[:6] == ["300", "low", "6c6f77", "0.95", "problem", "unreachable"]
    assert len(rest) == 260 and all(len(row) == len(head) for row in rest)


def test_a_table_for_people_whatever_the_tokens_are() -> None:
    head, rule, low, *rest = written(".md").splitlines()
    assert low.startswith("| 300 | `low` | 0.95 | unreachable |") and len(rest) == 260
    assert all(
        line.replace("\\|", "").count("|") == head.count("|")
        for line in (rule, low, *rest)
    )


async def test_the_panel_tells_how_many_tokens_have_each_kind_once_they_are_audited() -> (
    None
):
    table = TokenTable()
    panel = TokenPanel(table)
    async with alone(table, panel, size=(110, 40)) as (pilot, _):
        panel.side = "about"
        await pilot.pause()
        kinds = {line.left: line.right for line in panel.lines if line.left in KINDS}
        assert set(kinds) == set(KINDS) and set(kinds.values()) == {""}
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW])
        panel.audit = Audit(subject="it was audited")
        panel.show_token()
        kinds = {line.left: line.right for line in panel.lines if line.left in KINDS}
        assert kinds == {
            **dict.fromkeys(KINDS, "0"),
            "scaffold": "2",
            "rare": "1",
            "unreachable": "1",
        }


DISTRIBUTION = Distribution(
    counts=(40, 8, 0, 0, 2, 30, 80, 20),
    start=0.0,
    end=0.8,
    n_rows=182,
    threshold=0.25,
    n_low=48,
    gap=0.25,
)


@pytest.mark.parametrize(
    ("value", "marks", "legend"),
    [
        (0.05, "● ▲", "▲ threshold  ● this token"),
        (0.75, "  ▲    ●", "▲ threshold  ● this token"),
        (0.22, "  ●", "● threshold and this token"),
    ],
)
async def test_the_panel_draws_the_rows_of_the_model_the_threshold_and_the_token(
    value: float, marks: str, legend: str
) -> None:
    table = TokenTable()
    panel = TokenPanel(table)
    async with alone(table, panel, size=(110, 40)) as (pilot, _):
        panel.tokenizer = Tokenizer(VOCABULARY, "none")
        panel.audit = Audit(
            subject="it was audited",
            measures={"indicator": {LOW.id: value}},
            distribution=DISTRIBUTION,
        )
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW])
        table.go_to(LOW.id)
        await pilot.pause()
        panel.show_token()
        lines = [str(line.left) for line in panel.lines]
        (place,) = [number for number, line in enumerate(lines) if line == legend]
        assert lines[place - 5 : place - 1] == [
            "      █ ",
            "      █ ",
            "█    ▄█ ",
            "█▄··▁███",
        ]
        assert lines[place - 1].rstrip() == marks
        assert "48 of 182 rows" in " ".join(lines[place:])
        table.go_to(ST.id)
        await pilot.pause()
        panel.show_token()
        assert not any("threshold" in str(line.left) for line in panel.lines), (
            "it has no row"
        )


async def test_a_line_of_the_panel_leads_to_a_token_a_text_or_a_place(
    tmp_path: Path,
) -> None:
    table = TokenTable()
    panel = TokenPanel(table)
    asked: list[tuple[str, tuple[Any, ...]]] = []
    (tmp_path / "book.txt").write_text("a slow boat")
    (file,) = find_files([str(tmp_path / "book.txt")]).files
    place = CorpusPlace("book.txt", 1, 2, "a ", "slow", "", " boat")
    async with alone(table, panel, size=(110, 40)) as (pilot, _):
        listen(pilot.app.screen, lambda deed, *what: asked.append((deed, what)))
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW])
        table.severity = 3
        await until(pilot, lambda: shown(table) == [300])
        asked.clear()
        panel.lines = (
            InfoLine("to a token", target=257),
            InfoLine("to a text", target="slow"),
            InfoLine("to a place", target=(file, place)),
            InfoLine("nowhere"),
        )
        assert [panel.row_hint(row) for row in range(4)] == [
            "Enter shows this token.",
            "Enter puts this text into the editor; Alt+Z brings yours back.",
            "Enter opens this text in the editor, at this line.",
            "",
        ]
        panel.row_selected(0)
        await until(pilot, lambda: 257 in shown(table) and not table.is_working)
        assert table.severity == 0 and panel.token == 257, "what hides it goes"
        asked.clear()
        for row in 1, 2, 3:
            panel.row_selected(row)
        path, back = str(tmp_path / "book.txt"), "F5 returns to the list."
        assert asked == [
            ("audit.try_text", ("slow", 257)),
            ("texts.open_place", (PlaceInText(path, 1, 2, 4, back),)),
        ]
        panel.action_turn(-1)
        assert panel.side == "about"
        panel.action_turn(1)
        assert panel.side == "token"


async def test_the_first_click_on_a_row_of_the_panel_counts() -> None:
    # The panel grows when it takes the focus: it is under the mouse at another row by the time of the click.
    table = TokenTable(id="tokens")
    panel = TokenPanel(table, id="evidence")
    async with alone(table, TokenSides(panel, id="evidence-sides"), size=(80, 40)) as (
        pilot,
        _,
    ):
        table.focus()
        table.list_tokens(VOCABULARY)
        await judged(pilot, table, [LOW, ST, OW])
        panel.side = "about"
        await pilot.pause()
        top = panel.region.y
        await pilot.click(TokenPanel, offset=(3, 4))
        await pilot.pause()
        assert panel.region.y < top, "it has grown"
        assert panel.has_focus and panel.cursor == 3


async def test_a_click_on_a_title_of_the_panel_shows_its_side() -> None:
    table = TokenTable(id="tokens")
    panel = TokenPanel(table, id="evidence")
    async with alone(table, TokenSides(panel, id="evidence-sides"), size=(80, 40)) as (
        pilot,
        _,
    ):
        table.focus()
        await pilot.pause()
        for side in "lines", "about", "token":
            title = pilot.app.screen.query_one(f"#title-{side}")
            assert title.region.y == panel.region.y, "titles cost no row"
            await pilot.click(title)
            await pilot.pause()
            assert panel.side == side and title.has_class("-active")
        assert table.has_focus
        panel.action_turn(1)
        await pilot.pause()
        active = pilot.app.screen.query_one("Tab.-active", Tab)
        assert active.id == "title-lines"
