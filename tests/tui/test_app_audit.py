"""An audit in the app: run it, look at a token, go to its merge, see its example in the editor, get the text back."""

from pathlib import Path

import numpy
import pytest
from scope import Opened, Scope, never
from textual.widgets import Button

from bpe_core import Tokenizer, save
from bpe_core.vocabulary import Vocabulary
from tui.dialogs.questions import AskPath
from tui.state.training import Corpus
from tui.widgets.token_panel import TokenPanel
from tui.widgets.token_table import TokenTable
from tui.workers.process import WorkerProcess

pytestmark = pytest.mark.usefixtures("no_process_left")


async def audited(scope: Scope) -> TokenTable:
    """Audit as a user does, and wait until all tokens are listed by what was found."""
    screen, table = scope.screen, scope.screen.query_one(TokenTable)
    if not screen.query_one("#audit-go").has_focus:
        await scope.press("f5")
        screen.query_one("#audit-go").focus()
    await scope.press("enter")
    await judged(scope)
    return table


async def judged(scope: Scope) -> None:
    """Wait until an audit has ended and the list has taken what it found."""
    audit, table = scope.screen, scope.screen.query_one(TokenTable)
    await scope.until(lambda: audit.audit.subject and not audit.audit.running, "the audit ends")
    await scope.until(
        lambda: not table.is_working and len(table.rows.verdicts) == len(audit.audit.verdicts), "it is listed"
    )


def about(scope: Scope) -> str:
    """What the panel says, scrolled or not."""
    panel = scope.screen.query_one(TokenPanel)
    return "\n".join(f"{line.lead}{line.left} {line.right}" for line in panel.lines)


@pytest.mark.slow
async def test_a_token_that_no_text_holds_still_shows_its_merge(opened: Opened, book: Path, kept: Path) -> None:
    merges = [(98, 99, 256), (97, 98, 257), (257, 99, 258)]  # bc comes first, so abc is never built
    impossible = kept.with_name("impossible.json")
    save(Tokenizer(Vocabulary.of_bytes().extended(merges), "none"), impossible)
    async with opened(book) as scope:
        await scope.until_tokenizer()
        scope.screen.requests.use_tokenizer(impossible)
        await scope.until(lambda: scope.screen.path == str(impossible), "it is in force")
        table = await audited(scope)
        assert "in the tokenizer alone" in scope.screen.audit.subject, "nothing says that it learned from the texts"
        before = scope.area.text
        table.search = "abc"
        await scope.press("enter")
        assert scope.training.log_of_merges.current == 2 and scope.area.text == before
        assert "No text is known" in scope.said[-1] and "Step 3 made this token" in scope.said[-1]
        await scope.press("f5", "c")
        await scope.until(lambda: "book.txt" in scope.screen.audit.subject, "the chosen texts are counted, asked for")
        await judged(scope)
        await scope.press("c")
        await scope.until(lambda: "alone" in scope.screen.audit.subject, "and no longer")


@pytest.mark.slow
async def test_another_audit_keeps_focus_order_and_place(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.until(lambda: screen.totals, "the texts are those that it was learned from")
        table = await audited(scope)
        assert table.has_focus and table.show_vertical_scrollbar
        await scope.press("right", "s", "end")
        kind, column, place = table.choice, table.sort_key, table.current
        assert kind and column == "id" and place is not None
        before, top = screen.audit.verdicts, table.scroll_offset.y
        screen.action_do("audit.audit")
        await scope.until(lambda: screen.audit.running, "another begins")
        assert table.rows.verdicts == before, "what was found stays until it has ended"
        await judged(scope)
        assert screen.audit.verdicts is not before and screen.audit.verdicts == before
        assert table.has_focus and (table.choice, table.sort_key, table.current) == (kind, column, place)
        assert table.scroll_offset.y == top


@pytest.mark.slow
async def test_an_audit_can_be_stopped(opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        monkeypatch.setattr(WorkerProcess, "__aenter__", never)
        screen.action_do("audit.audit")
        await scope.until(lambda: screen.audit.running, "an audit begins")
        screen.action_do("audit.audit")
        await scope.settle()
        assert not screen.audit.running
        assert "Audit" in str(screen.query_one("#audit-go", Button).label)


@pytest.mark.slow
async def test_a_training_ends_an_audit_of_what_was_there_and_allows_no_other(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        with monkeypatch.context() as held:
            held.setattr(WorkerProcess, "__aenter__", never)
            screen.action_do("audit.audit")
            await scope.until(lambda: screen.audit.running, "an audit begins")
        await scope.press("f7")
        await scope.until(lambda: screen.run.phase == "paused" and screen.run.done, "a training waits")
        assert not screen.audit.running and not screen.features.audit.is_working
        screen.action_do("audit.audit")
        await scope.until(lambda: scope.said, "it is told")
        assert scope.said == ["A training is running: stop it first (F8), then audit what it learned."]


@pytest.mark.slow
async def test_an_audit_of_what_is_gone_is_told_in_one_sentence(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.until(lambda: screen.totals, "the texts are counted: they are what it learned from")
        screen.corpus = Corpus((str(book.with_name("[gone\x1b.txt")),), (), "gone")
        screen.action_do("audit.audit")
        await scope.until(lambda: scope.said, "it is told")
        (sentence,) = scope.said
        assert "cannot be read" in sentence and "\x1b" not in sentence + scope.shown("#audit-status")
        assert not screen.audit.running


@pytest.mark.slow
async def test_the_rows_of_a_model_are_judged(opened: Opened, book: Path, kept: Path) -> None:
    rows = numpy.random.default_rng(5).standard_normal((280, 8)).astype(numpy.float32)
    rows[[260, 265, 270]] = rows[[0xC0, 0xC1, 0xF5]]  # as if they, too, had never been trained
    few, good = kept.with_name("few.npy"), kept.with_name("good.npy")
    numpy.save(few, rows[:100])
    numpy.save(good, rows)
    async with opened(book) as scope:
        screen, table = scope.screen, scope.screen.query_one(TokenTable)
        await scope.until_tokenizer()
        await scope.press("f5", "m")
        await scope.asked(AskPath)
        await scope.answer(str(few))
        await scope.until(lambda: scope.said, "it cannot be used")
        assert "100 rows, and the tokenizer ids up to 279" in scope.said[-1]
        await scope.press("m")  # another file is asked for at once
        await scope.asked(AskPath)
        await scope.answer(str(good))
        await scope.until(lambda: "indicator" in screen.audit.measures, "the rows are judged")
        await judged(scope)
        table.choice = "undertrained"
        table.focus()
        table.go_to(260)
        await scope.settle()
        assert {table.rows.ids[row] for row in table.order} >= {260, 265, 270}
        assert "undertrained" in about(scope) and "indicator of its row" in about(scope)
        table.sort_key = "indicator"
        await scope.settle()
        values = [screen.audit.measures["indicator"][table.rows.ids[row]] for row in table.order]
        assert values == sorted(values)
        await scope.press("m")  # without them again
        await scope.until(lambda: "indicator" not in screen.audit.measures, "no rows are judged")
