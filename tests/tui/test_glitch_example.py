"""The guided example, as the README tells it: a glitch token is made, found at the top, and followed to its lines."""

from pathlib import Path

import pytest
from scope import Opened
from test_app_audit import about, judged

from bpe_core.content.samples import samples
from tui.dialogs.questions import AskPath
from tui.widgets.token_table import TokenPanel, TokenTable

pytestmark = pytest.mark.usefixtures("no_process_left", "kept")

FORUM, CLEAN = (
    next(sample.path for sample in samples() if sample.name == name) for name in ("forum-with-names", "forum-clean")
)


@pytest.mark.slow
async def test_a_glitch_token_is_made_found_and_followed_to_its_lines(opened: Opened) -> None:
    async with opened(size=(120, 40)) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.command("guided example")
        await scope.until(lambda: screen.audit.subject, "it has been learned and audited")
        await judged(scope)
        table, panel = screen.query_one(TokenTable), screen.query_one(TokenPanel)
        await scope.until(lambda: table.has_focus, "the list is gone to")
        assert "Forum with user names, reference Forum without" in screen.audit.subject
        top = [table.rows.tokens[row].decode() for row in table.order[:3]]
        name = top[0]
        assert name == " TinTeapotMajor" and " VelvetPlumbline" in top, top
        assert name in FORUM.read_text("utf-8") and name not in CLEAN.read_text("utf-8")
        verdict = table.rows.verdict(table.current or 0)
        assert verdict is not None and verdict.kinds[0] == "absent-from-reference"
        assert screen.audit.measures["reference"][verdict.id] == 0 and "step " in about(scope)

        await scope.press("w")
        await scope.until(lambda: screen.token_lines.found and not screen.token_lines.running, "its lines are found")
        assert panel.side == "lines" and about(scope).count("TinTeapotMajor") == len(screen.token_lines.found) > 100
        await scope.press("tab", "down", "enter")
        _, at = screen.token_lines.found[0]
        await scope.until(lambda: scope.area.text == FORUM.read_text("utf-8"), "its text is in the editor")
        assert scope.area.selected_text == name and scope.area.cursor_location[0] == at.line - 1
        assert scope.area.has_focus
        await scope.press("f5")
        assert table.is_on_screen and table.has_focus
        await scope.press("x")
        await scope.asked(AskPath)
        await scope.answer("tokens.csv")
        await scope.until(lambda: "Saved as" in scope.said[-1], "what is shown is written")
        assert len(Path("tokens.csv").read_text("utf-8").splitlines()) > 512
