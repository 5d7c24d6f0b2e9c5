"""An audit in the app: run it, look at a finding, go to its merge, see its example in the editor, get the text back."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, never
from textual.widgets import Button, Input

from bpe_core import audit, load
from bpe_core.audit.findings import KINDS
from bpe_core.corpus import Counts
from tui.engine import Job
from tui.panes.audit import legend
from tui.state import Corpus
from tui.widgets.finding_table import FindingTable

pytestmark = pytest.mark.usefixtures("no_process_left")


async def test_before_the_first_audit_the_pane_says_what_one_looks_for(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        await scope.press("f5")
        sought = scope.screen.query_one("#sought")
        assert sought.display and not scope.screen.query_one(FindingTable).display
        assert list(legend().columns[0].cells) == list(KINDS)
        await scope.press("enter")
        await scope.until(lambda: not sought.display, "the findings take its place")


async def test_an_audit_leads_to_the_merge_and_to_an_example(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.press("f5")
        screen.query_one("#audit-go").focus()
        await scope.press("enter")
        await scope.until(lambda: screen.audit.subject and not screen.audit.running, "the audit ends")
        table = screen.query_one(FindingTable)
        expected = audit(load(kept), counts=Counts.of(TEXT, "gpt4"))
        assert {(f.id, f.kind) for f in screen.audit.findings} == {(f.id, f.kind) for f in expected}
        await scope.until(lambda: table.row_count == len(screen.audit.findings), "all are listed")
        assert f"{len(screen.audit.findings):,} findings" in scope.shown("#audit-status")

        finding = next(f for f in screen.audit.findings if f.kind == "scaffold" and f.witness)
        table.focus()
        table.move_to(list(table.order).index(list(table.findings).index(finding)), tell=True)
        await scope.pilot.pause()
        assert finding.reason in scope.shown("#evidence")
        before = scope.area.text
        await scope.press("enter")
        assert scope.area.text == finding.witness
        assert finding.id in scope.ids()
        step = load(kept).vocabulary.step_of(finding.id)
        assert scope.training.log_of_merges.current == step - 1
        scope.area.focus()
        await scope.press("ctrl+z")
        assert scope.area.text == before


async def test_findings_are_searched_and_go_with_their_tokenizer(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        screen.action_audit()
        await scope.until(lambda: screen.audit.subject and not screen.audit.running, "the audit ends")
        table = screen.query_one(FindingTable)
        await scope.until(lambda: table.row_count == len(screen.audit.findings) > 0, "all are listed")
        table.focus()
        await scope.press("slash", *"the")
        assert screen.query_one("#search", Input).value == "the"
        assert 0 < table.row_count < len(screen.audit.findings)
        assert all("the" in table.findings[row].label for row in table.order)
        screen.query_one("#vocab-size", Input).value = "260"
        await scope.press("f6")
        await scope.until_learned()
        assert not screen.audit.findings and not table.findings


async def test_an_audit_can_be_stopped(opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        monkeypatch.setattr(Job, "__aenter__", never)
        screen.action_audit()
        await scope.until(lambda: screen.audit.running, "an audit begins")
        screen.action_audit()
        await scope.settle()
        assert not screen.audit.running
        assert "Audit" in str(screen.query_one("#audit-go", Button).label)


async def test_a_training_ends_an_audit_of_what_was_there_and_allows_no_other(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        with monkeypatch.context() as held:
            held.setattr(Job, "__aenter__", never)
            screen.action_audit()
            await scope.until(lambda: screen.audit.running, "an audit begins")
        await scope.press("f7")
        await scope.until(lambda: screen.run.phase == "paused" and screen.run.done, "a training waits")
        assert not screen.audit.running and not screen.session.auditing.is_working
        screen.action_audit()
        await scope.until(lambda: scope.said, "it is told")
        assert scope.said == ["A training is running: stop it first (F8), then audit what it learned."]


async def test_an_audit_of_what_is_gone_is_told_in_one_sentence(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        screen.corpus = Corpus((str(book.with_name("[gone\x1b.txt")),), (), "gone")
        screen.action_audit()
        await scope.until(lambda: scope.said, "it is told")
        (sentence,) = scope.said
        assert "cannot be read" in sentence and "\x1b" not in sentence + scope.shown("#audit-status")
        assert not screen.audit.running
