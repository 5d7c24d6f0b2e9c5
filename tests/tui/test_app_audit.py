"""An audit in the app: run it, look at a token, go to its merge, see its example in the editor, get the text back."""

from pathlib import Path

import numpy
import pytest
from scope import Opened, Scope, never
from textual.widgets import Button

from tui.dialogs.questions import AskPath
from tui.process import WorkerProcess
from tui.widgets.token_table import TokenPanel, TokenTable

pytestmark = pytest.mark.usefixtures("no_process_left")


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
