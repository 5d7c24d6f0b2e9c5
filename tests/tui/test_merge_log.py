"""The merge log says exactly what was merged, lined up, at any width, and lets the user go back in time."""

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import astuple

from rich.cells import cell_len
from rich.style import Style
from scope import alone, listen
from scope import drawn as lines
from textual.pilot import Pilot

from bpe_core import Merge, Trainer
from bpe_core.content.presets import PRESETS
from bpe_core.explain.trace import UseLedger
from bpe_core.trainer import Merges
from bpe_core.visible import token_label
from tests.core.worker_process import merges_of
from tui.widgets.kept_merges import KeptMerges
from tui.widgets.merge_columns import SHOWN
from tui.widgets.merge_log import MergeLog

# "aaabdaaabac", the textbook's string, with ties "first": 11 tokens, then 9, 7, 5.
TEXTBOOK = [
    Merge(1, 97, 97, 256, b"aa", 4, 1, 9),
    Merge(2, 256, 97, 257, b"aaa", 2, 2, 7),
    Merge(3, 257, 98, 258, b"aaab", 2, 1, 5),
]
STRANGE = [
    Merge(1, 0xE6, 0x97, 256, b"\xe6\x97", 1_200_000, 1, 24_000_000),
    Merge(2, 256, 0xA5, 257, "日".encode(), 1_100_000, 1, 23_000_000),
    Merge(3, 0x1B, 0x5B, 258, b"\x1b[", 900_000, 12_034, 22_500_000),
    Merge(4, 0x20, 0x74, 259, b" t", 800_000, 3, 22_000_000),
]


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def append(log: MergeLog, merges: list[Merge]) -> None:
    assert isinstance(log.merges, Merges)
    log.merges.extend(merges_of(merges).columns)
    log.arrived()


@asynccontextmanager
async def logged(
    merges: list[Merge], n_bytes: int = 11, size: tuple[int, int] = (110, 14)
) -> AsyncIterator[tuple[MergeLog, Pilot[None], list[int]]]:
    """A log of some merges, alone on a screen, where the steps that it asks for are gone to."""
    log = MergeLog()
    async with alone(log, size=size) as (pilot, heard):

        def go_to(_: str, step: int = 0) -> None:
            log.step = step or log.row_count
            heard.append(log.step)

        listen(pilot.app.screen, go_to)
        log.show(Merges(), n_bytes=n_bytes)
        append(log, merges)
        await pilot.pause()
        yield log, pilot, heard


def many(n: int) -> list[Merge]:
    return [
        Merge(k, 97, 97, 255 + k, b"a" * (1 + k % 5), 10_000 - k, 1, 100_000 - k)
        for k in range(1, n + 1)
    ]


async def test_the_textbook_string() -> None:
    async with logged(TEXTBOOK) as (log, pilot, _):
        log.step = 3
        await pilot.pause()
        header, first, second, third = lines(log)[:4]
        assert cells(header) == [
            "step",
            "left",
            "right",
            "token",
            "count",
            "ties",
            "uses",
            "tokens",
            "ratio",
            "share",
        ]
        assert cells(first) == ["1", "a", "a", "aa", "4", "0", "9", "1.22", "18.2 %"]
        assert cells(second) == [
            "2",
            "aa",
            "a",
            "aaa",
            "2",
            "=2",
            "0",
            "7",
            "1.57",
            "22.2 %",
        ]
        assert cells(third)[-2:] == ["2.20", "28.6 %"]
        assert third.startswith(" ●"), "the step in force is marked"
        said = [
            "2 of its 4 occurrences; 9 t",
            "2 times, one of 2 ties; 7 t",
            "2 times; 5 t",
        ]
        assert all(hint in log.row_hint(row) for row, hint in enumerate(said)), (
            "where pairs overlap"
        )


async def test_numbers_end_in_the_same_cell_whatever_the_labels_are() -> None:
    async with logged(STRANGE, 25_000_000) as (log, _, _):
        rows = lines(log)[1:5]
        assert len({cell_len(row) for row in rows}) == 1
        ends = [
            cell_len(row[: row.index(number) + len(number)])
            for row, number in zip(
                rows, ["1,200,000", "1,100,000", "900,000", "800,000"], strict=True
            )
        ]
        assert len(set(ends)) == 1
        assert "日" in rows[1] and "\\xe6\\x97" in rows[0]
        assert "␛[" in rows[2] and "=12k" in rows[2] and "\x1b" not in rows[2]
        assert "␣t" in rows[3]


async def test_narrow_lists_keep_what_matters() -> None:
    async with logged(STRANGE, 25_000_000) as (log, pilot, _):
        for width in (50, 60, 80, 100, 130, 160):
            await pilot.resize_terminal(width, 10)
            await pilot.pause()
            header = lines(log)[0].split()
            assert header[:5] == ["step", "left", "right", "token", "count"]
            assert ("share" in header) == (width >= 80), width
            assert all(cell_len(line) <= width - 1 for line in lines(log))
        await pilot.resize_terminal(60, 10)
        for shown, column in (("ties", "ties"), ("used", "uses"), ("unused", "uses")):
            log.choice = shown
            await pilot.pause()
            assert column in cells(lines(log)[0]), "what is shown is told by its column"


async def test_the_cursor_chooses_steps_and_who_reads_is_not_pulled_away() -> None:
    async with logged(many(500), 200_000) as (log, pilot, heard):
        log.step = 500
        await pilot.pause()
        assert heard == [], "what the program does is no choice of the user's"
        footer = lines(log)[-1]
        assert footer.startswith(" ←→ 500 merges · ") and footer.endswith(" following")
        assert not log.target, "its step is shown already"
        await pilot.press("up", "enter")
        assert heard == [499, 499] and lines(log)[-1].endswith("▼ End to follow")
        append(log, [Merge(501, 97, 97, 756, b"aa", 3, 1, 50)])
        await pilot.pause()
        assert lines(log)[-2].split()[0] == "500", (
            "the view stays where the user is reading"
        )
        await pilot.press("end")
        assert set(heard[2:]) == {501} and log.following
        del heard[2:]
        log.step = 100
        await pilot.pause()
        assert log.current == 99 and any(
            "●" in line and " 100 " in line for line in lines(log)
        )
        append(log, [Merge(502, 97, 97, 757, b"aa", 3, 1, 49)])
        log.step = 502
        await pilot.pause()
        assert log.current == 99 and not log.following, (
            "a growing training pulls nobody away"
        )
        assert heard == [499, 499]


async def test_some_of_the_merges_are_shown_and_found() -> None:
    trainer = Trainer(
        "the theme of the other thesis, 日本 日中 日 日 " * 5, vocab_size=290
    )
    merges = list(trainer)
    async with logged(merges[:-3], trainer.record.n_bytes) as (log, pilot, _):
        app = pilot.app
        app.copy_to_clipboard = lambda text: setattr(app, "_clipboard", text)
        append(log, merges[-3:])
        log.step = len(merges)
        counts = Counter(
            trainer.tokenizer().encode(
                "the theme of the other thesis, 日本 日中 日 日 " * 5
            )
        )

        def shown() -> list[bytes]:
            return [merges[row].token_bytes for row in log.order]

        seen = {}
        for name in ("longest", "used", "ties", "partial", "unused", ""):
            await pilot.press("right")
            assert log.choice == name
            seen[name] = shown()
        assert [len(token) for token in seen["longest"]] == sorted(
            (len(m.token_bytes) for m in merges), reverse=True
        )
        assert seen["used"] == [
            m.token_bytes for m in sorted(merges, key=lambda m: -counts[m.token])
        ]
        assert seen["ties"] == [m.token_bytes for m in merges if m.ties > 1] != []
        assert seen["partial"] == [
            m.token_bytes
            for m in merges
            if "\ufffd" in m.token_bytes.decode(errors="replace")
        ]
        assert (
            seen["unused"]
            == [m.token_bytes for m in merges if not counts[m.token]]
            != []
        )
        assert len(seen[""]) == len(merges)
        log.search = " THE"
        await pilot.press("home", "down")
        holding = [
            row for row, merge in enumerate(merges) if b" the" in merge.token_bytes
        ]
        assert sorted(log.order) == holding and log.current == log.order[1]
        log.search = "no such token"
        await pilot.pause()
        assert "None of these merges has “no such token”" in lines(log)[1]
        log.search = ""
        await pilot.pause()
        assert log.row_count == len(merges) and log.current == log.step - 1, (
            "all are shown, at the step in force"
        )
        await pilot.press("c")
        left, right = (
            trainer.tokenizer().token_bytes(part)
            for part in (merges[log.step - 1].left, merges[log.step - 1].right)
        )
        line = app._clipboard.splitlines()[1].split("\t")
        assert line[:4] == [
            str(log.step),
            token_label(left),
            token_label(right),
            token_label(left + right),
        ]
        await pilot.press("C")
        assert len(app._clipboard.splitlines()) == 1 + len(merges)
        await pilot.press("left")
        assert log.choice == "unused" and not log.following
        append(
            log,
            [Merge(len(merges) + 1, 97, 97, 900, b"aa", 3, 1, merges[-1].n_tokens - 3)],
        )
        await pilot.press("right", "end")
        assert log.following and log.current == len(merges), (
            "the tail is followed where all are shown"
        )


async def test_later_merges_are_faint_and_a_token_has_the_color_of_the_editor() -> None:
    async with logged(TEXTBOOK) as (log, pilot, _):
        log.token_style = lambda token: Style(bgcolor="red") if token == 257 else None
        log.step = 2
        await pilot.pause()
        rows = [
            [(part.text, part.style) for part in log.render_line(y) if part.style]
            for y in (1, 2, 3)
        ]
        faint = log.style_of("faint").color
        assert [any(style.color == faint for _, style in row) for row in rows] == [
            False,
            False,
            True,
        ]
        colored = [
            text
            for row in rows
            for text, style in row
            if style.bgcolor and style.bgcolor.name == "red"
        ]
        assert colored == ["aaa"], "the label, not the column"


async def test_what_nobody_counted_is_left_out() -> None:
    """Merges read from a file have no counts."""
    async with logged([]) as (log, pilot, _):
        log.show(
            merges_of([Merge(*row[:5], 0, 1, 0) for row in map(astuple, TEXTBOOK)])
        )
        await pilot.pause()
        assert cells(lines(log)[0]) == ["step", "left", "right", "token"], (
            "no column is empty from top to bottom"
        )
        assert cells(lines(log)[1]) == ["1", "a", "a", "aa"]
        seen = []
        for key in ("left", "left", "left", "right"):
            await pilot.press(key)
            seen.append(log.choice)
            assert (SHOWN[log.choice].title if log.choice else "3 merges") in lines(
                log
            )[-1]
        assert seen == ["partial", "longest", "", "longest"]
        assert log.target == "step", "Enter goes to a step that is not shown"
        log.show(Merges())
        await pilot.pause()
        assert "will appear here" in lines(log)[1]


async def test_uses_of_a_saved_training_are_counted_from_its_merges() -> None:
    tokenizer = PRESETS["S2"].train()
    assert tokenizer.record
    n_tokens = tokenizer.record.n_tokens_start
    merges = KeptMerges(tokenizer)
    expected = UseLedger(n_tokens)
    for merge in merges:
        expected.add(merge.left, merge.right, merge.token, merge.n_tokens)
    log = MergeLog()
    async with alone(log, size=(100, 20)) as (pilot, _):
        log.show(merges, n_tokens=n_tokens)
        await pilot.pause()
        assert log.uses and log.uses.remaining == expected.remaining
