"""An audit in the app: run it, look at a finding, go to its merge, see its example in the editor, get the text back."""

import gc
from pathlib import Path

import pytest
from amounts import exhaustive
from scope import TEXT, Opened, Scope, never
from textual.widgets import Button, Input

from bpe_core import Tokenizer, audit, load, save
from bpe_core.auditing.findings import KINDS, Finding
from bpe_core.corpus import Counts
from bpe_core.vocabulary import Vocabulary
from tui.messages import TokenizerChosen
from tui.panes.audit import legend
from tui.state import Corpus
from tui.widgets.token_table import TokenTable
from tui.workers.process import Job

pytestmark = pytest.mark.usefixtures("no_process_left")


@exhaustive
async def test_before_the_first_audit_the_pane_says_what_one_looks_for(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        await scope.press("f5")
        sought = scope.screen.query_one("#sought")
        assert sought.display and not scope.screen.query_one(TokenTable).display
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
        table = screen.query_one(TokenTable)
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
        log = scope.training.log_of_merges
        assert log.current == step - 1 and log.has_focus
        assert any(line.split()[:1] == [str(step)] for line in scope.rows("#merge-log")), "the merge is seen"
        assert f"Step {step} made this token" in scope.said[-1]
        await scope.press("f5")
        assert table.has_focus and table.finding == finding and table.is_on_screen
        scope.area.focus()
        await scope.press("ctrl+z")
        assert scope.area.text == before


async def audited(scope: Scope) -> TokenTable:
    """Audit as a user does, and wait until all findings are listed."""
    screen, table = scope.screen, scope.screen.query_one(TokenTable)
    if not table.has_focus:
        await scope.press("f5")
        screen.query_one("#audit-go").focus()
    await scope.press("enter")
    await scope.until(lambda: screen.audit.subject and not screen.audit.running, "the audit ends")
    await scope.until(lambda: table.row_count == len(screen.audit.findings) > 0, "all are listed")
    return table


@exhaustive
async def test_enter_shows_the_merge_beside_the_findings_where_there_is_room(
    opened: Opened, book: Path, kept: Path
) -> None:
    async with opened(book, size=(200, 60)) as scope:
        await scope.until_tokenizer()
        table = await audited(scope)
        assert table.has_focus
        table.kind = "scaffold"
        await scope.press("home", "enter")
        assert table.finding is not None and table.has_focus, "the next finding is a key away"
        log = scope.training.log_of_merges
        assert log.is_on_screen and log.current == table.finding.evidence["step"] - 1


@exhaustive
async def test_a_token_that_no_text_holds_still_shows_its_merge(opened: Opened, book: Path, kept: Path) -> None:
    merges = [(98, 99, 256), (97, 98, 257), (257, 99, 258)]  # bc comes first, so abc is never built
    impossible = kept.with_name("impossible.json")
    save(Tokenizer(Vocabulary.of_bytes().extended(merges), "none"), impossible)
    async with opened(book) as scope:
        await scope.until_tokenizer()
        scope.screen.post_message(TokenizerChosen(impossible))
        await scope.until(lambda: scope.screen.path == str(impossible), "it is in force")
        table = await audited(scope)
        before = scope.area.text
        table.search = "abc"
        await scope.press("enter")
        assert scope.training.log_of_merges.current == 2 and scope.area.text == before
        assert "No text is known" in scope.said[-1] and "Step 3 made this token" in scope.said[-1]


@exhaustive
async def test_another_audit_keeps_focus_order_and_place(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        table = await audited(scope)
        assert table.has_focus and table.show_vertical_scrollbar
        await scope.press("right", "s", "end")
        kind, column, place = table.kind, table.sort_key, table.finding
        assert kind and column == "id" and place is not None
        n_audits = len(screen.audit.findings)
        screen.action_audit()
        await scope.until(lambda: screen.audit.running, "another begins")
        await scope.until(lambda: not screen.audit.running, "it ends")
        await scope.until(lambda: table.finding is not None, "it is listed")
        assert len(screen.audit.findings) == n_audits
        assert table.has_focus and (table.kind, table.sort_key, table.finding) == (kind, column, place)
        await scope.press("left")
        assert table.kind == "" and table.row_count == n_audits
        assert table.show_vertical_scrollbar and table.max_scroll_y > 0


@exhaustive
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_last_finding_is_seen_however_much_is_said_of_it(
    opened: Opened, book: Path, kept: Path, size: tuple[int, int]
) -> None:
    async with opened(book, size=size) as scope:
        await scope.until_tokenizer()
        table = await audited(scope)
        for keys in (("end",), ("home",), ("pagedown", "pagedown"), ("end", "up", "down")):
            await scope.press(*keys)
            assert table.finding is not None and any(
                line.split()[1:2] == [f"{table.finding.id:,}"] for line in scope.rows("#findings")[1:-1]
            ), keys


@exhaustive
async def test_findings_are_searched_and_go_with_their_tokenizer(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        screen.action_audit()
        await scope.until(lambda: screen.audit.subject and not screen.audit.running, "the audit ends")
        table = screen.query_one(TokenTable)
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


@exhaustive
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


@exhaustive
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


@exhaustive
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


@exhaustive
async def test_the_garbage_collector_leaves_many_findings_alone(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hold the screen each time that it looked at all of them."""
    monkeypatch.setattr("tui.owners.audit._MANY", 20)
    gc.freeze()  # as at the start of the app
    at_start = gc.get_freeze_count()
    try:
        async with opened(book) as scope:
            await scope.until_tokenizer()
            assert gc.get_freeze_count() > at_start / 2, "what was left alone at the start stays so"
            await audited(scope)
            n_found, n_left_alone = len(scope.screen.audit.findings), gc.get_freeze_count()
            assert any(isinstance(one, Finding) for one in scope.screen.audit.findings)
            assert n_left_alone > at_start / 2 + n_found
            scope.screen.session.auditing.forget()
            await scope.settle()
            assert at_start / 2 < gc.get_freeze_count() <= n_left_alone - n_found + 20, "findings go with their audit"
    finally:
        gc.unfreeze()
