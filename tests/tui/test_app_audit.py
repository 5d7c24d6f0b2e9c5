"""An audit in the app: run it, look at a token, go to its merge, see its example in the editor, get the text back."""

from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from scope import ROOT, TEXT, Opened, Scope, never
from textual.events import Resize
from textual.message import Message
from textual.widgets import Button

from bpe_core import save, train
from bpe_core.auditing.findings import KINDS
from bpe_core.content.samples import SAMPLES
from bpe_core.utf8 import UNUSED_BYTES
from bpe_core.worker.audit import AuditRequest
from tui.dialogs.ask_path import AskPath
from tui.disk import config
from tui.panes.audit import AuditPane
from tui.panes.compare import ComparePane
from tui.process import WorkerProcess
from tui.widgets.token_panel import TokenPanel
from tui.widgets.token_table import TokenTable

pytestmark = pytest.mark.usefixtures("no_process_left")


async def judged(scope: Scope) -> None:
    """Wait until an audit has ended and the list has taken what it found."""
    audit, table = scope.screen, scope.screen.query_one(TokenTable)
    await scope.until(
        lambda: audit.audit.subject and not audit.audit.running, "the audit ends"
    )
    await scope.until(
        lambda: (
            not table.is_working
            and len(table.rows.verdicts) == len(audit.audit.verdicts)
        ),
        "it is listed",
    )


def about(scope: Scope) -> str:
    """What the panel says, scrolled or not."""
    panel = scope.screen.query_one(TokenPanel)
    return "\n".join(f"{line.lead}{line.left} {line.right}" for line in panel.lines)


@pytest.mark.slow
async def test_an_audit_begins_when_it_is_looked_at_and_gives_way_to_a_training_and_to_escape(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        start = WorkerProcess.__aenter__

        async def late(worker: WorkerProcess) -> WorkerProcess:
            return await (never if isinstance(worker.request, AuditRequest) else start)(
                worker
            )

        monkeypatch.setattr(WorkerProcess, "__aenter__", late)
        await scope.press("f5")
        await scope.until(lambda: screen.audit.running, "an audit begins")
        assert "Looking for" in "".join(scope.rows("#tokens"))
        await scope.press("f6")
        await scope.until(
            lambda: not screen.audit.running, "a training takes its place"
        )
        await scope.until(lambda: not screen.run.busy, "it has been learned")
        await scope.press("f5")
        await scope.until(lambda: screen.audit.running, "what was learned is audited")
        await scope.press("escape")
        assert not screen.audit.running and len(screen.query_one(TokenTable).rows) > 280
        assert "Audit" in str(screen.query_one("#audit-go", Button).label)


@pytest.mark.slow
async def test_the_rows_of_a_model_are_judged(
    opened: Opened, book: Path, kept: Path
) -> None:
    rows = numpy.random.default_rng(5).standard_normal((280, 8)).astype(numpy.float32)
    never_trained = [*UNUSED_BYTES, 260, 265, 270]
    rows[never_trained] = rows[0xC0] + 0.01 * rows[never_trained]
    few, good = kept.with_name("few.npy"), kept.with_name("good.npy")
    numpy.save(few, rows[:100])
    numpy.save(good, rows)
    async with opened(book) as scope:
        screen, table = scope.screen, scope.screen.query_one(TokenTable)
        await scope.press("f5")
        scope.screen.run_in_background(scope.screen.features.audit.with_model())
        await scope.asked(AskPath)
        await scope.answer(str(few))
        await scope.until(lambda: scope.said, "it cannot be used")
        assert "100 rows, but the tokenizer has ids up to 279" in scope.said[-1]
        scope.screen.run_in_background(
            scope.screen.features.audit.with_model()
        )  # another file is asked for at once
        await scope.asked(AskPath)
        await scope.answer(str(good))
        await scope.until(
            lambda: "indicator" in screen.audit.measures, "the rows are judged"
        )
        await judged(scope)
        table.choice = "undertrained"
        await scope.settle()
        assert {table.rows.ids[row] for row in table.order} >= {260, 265, 270}
        table.focus()
        table.go_to(260)
        await scope.settle()
        assert table.choice == "undertrained"
        assert "undertrained" in about(scope) and "indicator of its embedding" in about(
            scope
        )
        assert "▲ threshold  ● this token" in about(scope)
        table.sort_key = "indicator"
        await scope.settle()
        values = [
            screen.audit.measures["indicator"][table.rows.ids[row]]
            for row in table.order
        ]
        assert values == sorted(values)
        scope.screen.run_in_background(
            scope.screen.features.audit.with_model()
        )  # without them again
        await scope.until(
            lambda: "indicator" not in screen.audit.measures, "no rows are judged"
        )


FORUM, CLEAN = (
    next(sample.path for sample in SAMPLES if sample.name == name)
    for name in ("forum-with-names", "forum-clean")
)


@pytest.mark.slow
async def test_a_glitch_token_is_made_found_and_followed_to_its_lines(
    opened: Opened,
) -> None:
    async with opened(size=(120, 40)) as scope:
        screen = scope.screen
        await scope.until(lambda: screen.in_force, "the first training shows something")
        await scope.command("learns 8")
        await scope.until(
            lambda: "2 of 6" in screen.caption and screen.path, "it has been learned"
        )
        await scope.until(lambda: screen.question, "the lesson asks for a name")
        await scope.press("f12", "f12")
        await scope.until(lambda: screen.audit.subject, "it has been audited")
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
        assert screen.audit.measures["reference"][verdict.id] == 0 and "step " in about(
            scope
        )

        await scope.press("w")
        await scope.until(
            lambda: screen.token_lines.found and not screen.token_lines.running,
            "its lines are found",
        )
        assert (
            panel.side == "lines"
            and about(scope).count("TinTeapotMajor")
            == len(screen.token_lines.found)
            > 100
        )
        await scope.press("tab", "down", "enter")
        _, at = screen.token_lines.found[0]
        await scope.until(
            lambda: scope.area.text == FORUM.read_text("utf-8"),
            "its text is in the editor",
        )
        assert (
            scope.area.selected_text == name
            and scope.area.cursor_location[0] == at.line - 1
        )
        assert scope.area.has_focus
        await scope.press("f5")
        assert table.is_on_screen and table.has_focus
        await scope.press("x")
        await scope.asked(AskPath)
        await scope.answer("tokens.csv")
        await scope.until(
            lambda: "Saved as" in scope.said[-1], "what is shown is written"
        )
        assert len(Path("tokens.csv").read_text("utf-8").splitlines()) > 512


def keep_two() -> tuple[Path, Path]:
    """Two tokenizers in the folder of those that are kept, of one size and of another."""
    folder = config.tokenizers_folder()
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "large.json", folder / "small.json"
    for path, size in zip(paths, (310, 262), strict=True):
        save(train(TEXT, vocab_size=size), path)
    return paths


async def compared(scope: Scope) -> None:
    await scope.settle()
    await scope.until(
        lambda: not scope.screen.comparison.running, "the comparison ends"
    )


@pytest.mark.slow
async def test_a_comparison_is_stopped_and_what_is_missing_is_told(
    opened: Opened, tmp_path: Path
) -> None:
    keep_two()
    for number in range(120):
        (tmp_path / f"{number}.txt").write_text(TEXT * 9)
    async with opened(tmp_path) as scope:
        await scope.press("f10", "a", "enter")
        await scope.until(
            lambda: (
                scope.screen.comparison.texts or not scope.screen.comparison.running
            ),
            "it goes on",
        )
        scope.screen.features.comparison.compare()
        await compared(scope)
        found = (
            scope.screen.comparison.found
        )  # None if it was stopped before more was counted than tokens
        assert found is None or found["total"]["texts"] <= len(
            scope.screen.comparison.texts
        )
        await scope.press("a")
        for one in scope.screen.query_one(ComparePane).picker.chosen:
            scope.screen.query_one(ComparePane).picker.move_to(
                [k.path for k in scope.screen.kept].index(one.path)
            )
            await scope.press("space")
        await scope.press("enter")
        assert any("No tokenizer is chosen" in said for said in scope.said)


@pytest.mark.parametrize("knows_sizes", [True, False])
async def test_the_other_tokenizers_of_the_list_are_asked(
    opened: Opened,
    book: Path,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    knows_sizes: bool,
) -> None:
    monkeypatch.setattr("tui.features.audit.LEAST_ASKED", 600)
    words = Path(ROOT, "sample_texts/english-prose.txt").read_text("utf-8")
    letters = Path(ROOT, "sample_texts/english-everyday.txt").read_text("utf-8")
    others = {
        "other": train(letters, vocab_size=700),
        "tiny": train(words, vocab_size=300),
    }
    for name, tokenizer in others.items():
        save(tokenizer, kept.with_name(f"{name}.json"))
    name = " SolidGoldMagikarp"
    ours = kept.with_name("ours.json")
    save(train(words + 60 * name, vocab_size=800), ours)
    paths = [kept.with_name(f"{name}.json") for name in others]
    half = kept.with_name("half.json")
    save(train(words + 60 * name, vocab_size=700), half)  # of the same training
    paths.append(half)
    async with opened(book, *paths, ours) as scope:
        if not knows_sizes:
            await scope.until(
                lambda: all(known.n_vocab for known in scope.screen.kept),
                "all sizes are known",
            )
            scope.screen.kept = tuple(
                replace(known, n_vocab=0) for known in scope.screen.kept
            )
        await scope.press("f5")
        await judged(scope)
        assert "against other ·" in scope.screen.audit.subject
        table = scope.screen.query_one(TokenTable)
        token = scope.screen.tokenizer.encode_single_token(name)
        assert "only-here" in scope.screen.audit.verdicts[token].kinds
        assert scope.screen.audit.measures["vocabularies"][token] == 0
        table.focus()
        table.go_to(token)
        await scope.settle()
        assert "in another vocabulary" in about(scope)
        panel = scope.screen.query_one(TokenPanel)
        assert panel.lines[1].left in KINDS, "the reasons come before the bytes"
        assert "tokens it becomes there, on average" in about(scope)
        panel.side = "about"
        await scope.settle()
        assert "against other" in about(scope)


async def test_the_panel_is_beside_the_table_again_if_no_resize_is_sent(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(book, size=(200, 60)) as scope:
        await scope.press("f5")
        await judged(scope)
        pane = scope.screen.query_one(AuditPane)
        panel = scope.screen.query_one(TokenPanel)

        def is_beside() -> bool:
            return panel.region.x > pane.table.region.x

        await scope.press("f9")
        await scope.until(is_beside, "the pane is wide")
        post_message = AuditPane.post_message

        def lose_resizes(pane: AuditPane, message: Message) -> bool:
            return not isinstance(message, Resize) and post_message(pane, message)

        monkeypatch.setattr(AuditPane, "post_message", lose_resizes)
        pane.styles.width = 80
        await scope.until(lambda: not is_beside(), "the pane is narrow")
        pane.styles.width = None
        await scope.until(is_beside, "the pane is wide again")
