"""Steering a training in the app: its pace, how far it goes, and the way to a step that is told in words."""

import asyncio
import gc
import os
import re
import signal
from pathlib import Path
from typing import Any, cast

import pytest
from scope import TEXT, Opened, Scope
from textual.widgets import Input

from bpe_core import Trainer, save
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.trainer.conditions import condition
from bpe_core.worker.explain import ExplainRequest
from tui.features import explaining, results
from tui.state import PACES, Loaded
from tui.widgets.curve import Curve

pytestmark = pytest.mark.usefixtures("no_process_left")

TRAINER = Trainer(TEXT, vocab_size=300)
MERGES = list(TRAINER)


@pytest.mark.parametrize(
    "text",
    ["step >= 9", "step > 9", "step <= 9", "ratio >= 2", "count < 20", "tokens < 1"],
)
def test_the_first_step_of_which_something_is_so(text: str) -> None:
    wanted = condition(text)
    held = [merge.step for merge in MERGES if wanted.holds(merge, len(TEXT))]
    assert wanted.first_step(MERGES, len(TEXT)) == next(iter(held), 0)


async def test_a_step_that_is_given_up_while_it_is_drawn_holds_up_no_other(
    opened: Opened, kept: Path
) -> None:
    async with opened() as scope:
        shown = scope.screen.features.shown
        loaded = cast(Loaded, shown.loaded)
        tokenizer = loaded.tokenizer
        going = asyncio.create_task(shown.go_to_soon(3))
        await asyncio.sleep(0)
        assert scope.screen.step == 3 and not shown.is_drawn
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
        assert going.cancelled()
        await scope.until(lambda: shown.is_drawn, "the next step may come")
        await shown.travel_to(5)
        assert scope.screen.step == 5
        # Nor is one forgotten that waits for it, whatever is learned or kept meanwhile.
        await scope.screen.features.shown.travel_to(tokenizer.step)
        await scope.until(
            lambda: shown.is_drawn and scope.screen.step == tokenizer.step,
            "it is at the end",
        )
        steps = [asyncio.create_task(shown.travel(-1)) for _ in range(2)]
        await asyncio.sleep(0)
        assert not shown.is_drawn and scope.screen.step == tokenizer.step - 1
        shown.keep(loaded)
        await asyncio.gather(*steps)
        await scope.until(
            lambda: scope.screen.step == tokenizer.step - 2, "both steps are gone"
        )
        await scope.press("f3", "f3", "g")
        await scope.answer("ratio >= 900")
        await scope.until(
            lambda: any(
                "does not hold at any step up to 24" in said for said in scope.said
            ),
            "it is said",
        )


def fill(scope: Scope, field: str, value: str) -> None:
    scope.training.query_one(f"#{field}", Input).value = value


async def merging(scope: Scope) -> None:
    """Begin a training of more merges than are learned while a test waits, and wait for the first ones."""
    fill(scope, "vocab-size", "1000000")
    await scope.press("f6")
    await scope.until(
        lambda: scope.screen.run.phase == "merging" and scope.screen.run.done > 3,
        "merges arrive",
    )


@pytest.mark.slow
async def test_no_step_of_a_training_is_asked_about_before_it_is_known_what_it_learns_from(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def heard(*file: Any, **training: Any) -> ExplainRequest:
        asked.extend(file[:1])
        return ExplainRequest(*file, **training)

    monkeypatch.setattr(explaining, "ExplainRequest", heard)
    async with opened(book) as scope:
        await scope.press("f3", "f7")
        await scope.until(lambda: scope.screen.step == 1, "it shows the first")
        assert "" not in asked


@pytest.mark.slow
async def test_what_was_learned_and_cannot_be_saved_is_called_so(
    opened: Opened, huge_book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "save_beside", full)
    async with opened(huge_book, size=(160, 40)) as scope:
        screen = scope.screen
        await merging(scope)
        assert re.search(r"learning \d+%", scope.shown("TitleLine"))
        worker = screen.features.training.newest.worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGKILL)
        await scope.until(
            lambda: any("could not be saved" in said for said in scope.said),
            "it is told",
        )
        await scope.settle()
        assert "not saved" in scope.shown(
            "TitleLine"
        ) and "learning" not in scope.shown("TitleLine")
        screen.features.audit.audit()
        await scope.settle()
        assert "The tokenizer is not saved" in scope.said[-1]


@pytest.mark.slow
async def test_what_cannot_be_trained_is_told_in_one_sentence(
    opened: Opened, book: Path, kept: Path
) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        tokenizer = screen.tokenizer

        async def told(sentence: str) -> None:
            n = len(scope.said)
            await scope.press("f6")
            await scope.until(
                lambda: len(scope.said) > n and not screen.run.busy, "it is told"
            )
            assert sentence in scope.said[-1] and len(scope.said) == n + 1
            assert screen.tokenizer is tokenizer and screen.path == str(kept)

        fill(scope, "vocab-size", "")
        await told("The vocabulary size is empty; enter a whole number from 257 up.")
        assert screen.focused is scope.training.query_one("#vocab-size")
        fill(scope, "vocab-size", "many")
        await told("The vocabulary size is many")
        assert scope.training.query_one("#vocab-size", Input).selected_text == "many"
        fill(scope, "vocab-size", "256")
        await told("The vocabulary size is 256")
        fill(scope, "vocab-size", "9" * 5000)
        await told("The vocabulary size is 999")
        fill(scope, "vocab-size", "257")
        fill(scope, "special", "<a> <b> <c>")
        await told(
            "“vocabulary” is 257, but must be at least 260"
        )  # no room for three special tokens
        fill(scope, "vocab-size", "300")
        fill(scope, "special", "")
        fill(scope, "min-count", "0")
        await told("The minimum count is 0")
        fill(scope, "min-count", "1")
        book.write_bytes(bytes(range(256)))
        await told("book.txt cannot be read")
        book.unlink()
        await told("book.txt cannot be read")


async def test_a_tokenizer_that_has_left_the_screen_is_freed_when_the_next_but_one_comes(
    opened: Opened, book: Path, kept: Path
) -> None:
    async with opened(book) as scope:
        alive = []
        gc.disable()
        try:
            for number in range(9):
                path = kept.with_name(f"{number}.json")
                save(TRAINER.tokenizer(), path)
                scope.screen.features.tokenizers.load(path)
                await scope.until(
                    lambda path=path: scope.screen.path == str(path), "it is shown"
                )
                await scope.settle()
                alive.append(
                    sum(isinstance(one, TrainingRecord) for one in gc.get_objects())
                )
        finally:
            gc.enable()
        assert alive[8] < alive[0] + 6, (
            alive
        )  # other tests of this process leave some, too


async def test_end_on_the_curve_shows_all_merges_of_a_training(
    opened: Opened, book: Path, kept: Path
) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        screen.pace = max(PACES)
        await scope.press("f6")
        await scope.until(lambda: screen.run.phase == "showing", "all is learned")
        await scope.until(lambda: screen.step > 0, "the curve has a step")
        screen.set_focus(screen.query_one(Curve))
        await scope.press("end")
        await scope.until(lambda: screen.run.phase == "done", "all is shown")
        assert screen.step == screen.training.log_of_merges.merges[-1].step
