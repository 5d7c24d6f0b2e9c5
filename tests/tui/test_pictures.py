"""Pictures tell the story of the app: it learns, shows, explains, travels back, and audits.

After a change that is meant to be seen: `pytest tests/tui/test_pictures.py --snapshot-update`, and look at each of them
(`rsvg-convert PICTURE.svg -o picture.png`).
"""

import os
import re
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, cast

import pytest
from scope import ROOT, Ear, Scope, listen
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot

from bpe_core import save, train
from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import SAMPLES
from bpe_core.worker.explain import Subject
from bpe_core.worker.job import Job
from tui.app import INK, PAPER, BpeScope
from tui.disk import config, sources
from tui.state import StepExplained
from tui.widgets.kept_merges import KeptMerges
from tui.widgets.merge_log import MergeLog
from tui.widgets.why_panel import WhyPanel

Picture = Callable[..., bool]
Story = Callable[[Scope], Awaitable[None]]

DARK, LIGHT = INK.name, PAPER.name
SMALL, USUAL, LARGE = (80, 24), (120, 40), (200, 60)
STORY = next(sample.path for sample in SAMPLES if sample.name == "english-prose")


pytestmark = pytest.mark.skipif(
    f"textual=={version('textual')}\n"
    not in (ROOT / ".ci/constraints.txt").read_text("utf-8"),
    reason="another version of Textual drew the pictures",
)


@pytest.fixture(autouse=True)
def the_same_everywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tokenizers that were learned here before, and nothing that only this computer has."""
    monkeypatch.setattr("tui.widgets.corpus_tree.computer_sources", lambda: [])
    monkeypatch.setattr(sources, "computer_sources", lambda: [])
    monkeypatch.setattr("tui.disk.tokenizer_files.found", lambda forgotten: ())
    text = STORY.read_text("utf-8")
    for age, (name, size) in enumerate(
        (("a-story-in-english-gpt4", 768), ("tiny", 300))
    ):
        path = config.tokenizers_folder() / f"{name}.json"
        save(train(text, vocab_size=size), path)
        os.utime(path, (1_000_000_000 - age,) * 2)  # the newest stands first
    kept = str(config.tokenizers_folder() / "a-story-in-english-gpt4.json")
    config.save_configuration(
        config.Configuration(tokenizer=kept, corpus=(str(STORY),))
    )


def pictured(
    size: tuple[int, int], theme: str
) -> Callable[[Story], Callable[[Picture], None]]:
    """The test that the app looks as it did after a story was played in it."""

    def test_of(story: Story) -> Callable[[Picture], None]:
        async def play(pilot: Pilot[None]) -> None:
            app = cast(BpeScope, pilot.app)
            scope = Scope(app, pilot, Ear())
            app.animation_level = "none"
            await app.main.loaded.wait()
            scope.area.cursor_blink = False
            await scope.until(
                lambda: scope.screen.in_force and scope.screen.totals,
                "tokenizer and totals are there",
            )
            await story(scope)
            await scope.until(
                lambda: scope.area.edited.review and scope.area.edited.review.settled,
                "it is reviewed",
            )
            app.clear_notifications()
            same, before = 0, ""
            while (
                same < 5
            ):  # whatever was on its way has come, however slow the machine is
                await pilot.pause(0.1)
                seen = app.export_screenshot()
                same, before = same + 1 if seen == before else 0, seen

        @pytest.mark.slow
        def test(snap_compare: Picture) -> None:
            config.save_configuration(replace(config.load_configuration(), theme=theme))
            assert snap_compare(BpeScope(), terminal_size=size, run_before=play)

        return test

    return test_of


@pictured(USUAL, DARK)
async def test_the_first_thing_one_sees(scope: Scope) -> None:
    pass


@pictured(USUAL, LIGHT)
async def test_a_vocabulary_is_learned_merge_by_merge(scope: Scope) -> None:
    await scope.press("f3")
    for step in range(1, 15):
        await scope.press("f7")
        await scope.until(
            lambda step=step: scope.screen.step == step, "one more merge is shown"
        )


@pictured(SMALL, DARK)
async def test_typing_among_the_tokens(scope: Scope) -> None:
    scope.area.load_text(
        "The telegraph office was never busy.\nSo I learned to listen.\n"
    )
    scope.area.move_cursor((0, 13))
    await scope.press("s", "backspace", "i")


@pictured(USUAL, LIGHT)
async def test_why_a_word_is_split_so(scope: Scope) -> None:
    await scope.press("alt+e", "ctrl+t")


@pictured(LARGE, DARK)
async def test_back_in_time(scope: Scope) -> None:
    scope.area.load_text(STORY.read_text("utf-8")[:700])
    await scope.press("f3", "f3")
    scope.screen.features.shown.go_to(120)
    await scope.settle()


async def _audited(scope: Scope) -> None:
    await scope.press("f5")
    await scope.until(
        lambda: scope.screen.audit.subject and not scope.screen.audit.running,
        "the audit ends",
    )
    seconds = re.compile(r" · [\d.]+ s$")
    scope.screen.audit = replace(
        scope.screen.audit, subject=seconds.sub("", scope.screen.audit.subject)
    )
    await scope.press("down", "down")


test_what_is_wrong_with_a_vocabulary = pictured(USUAL, DARK)(_audited)


@pictured(LARGE, LIGHT)
async def test_all_of_it_on_a_large_screen(scope: Scope) -> None:
    await _audited(scope)
    await scope.press("enter")


@pictured(SMALL, LIGHT)
async def test_the_texts_on_a_small_screen(scope: Scope) -> None:
    await scope.press("f2")


class TieStories(App[None]):
    """Why a merge of each founding example, whose result depends on the tie rule, was chosen."""

    CSS = "Screen { layout: grid; grid-size: 3 2; } MergeLog { display: none; } .story { border: round gray; }"
    CSS_PATH = "../../tui/app.tcss"
    TOLD: ClassVar[dict[str, int]] = {
        "S0": 2,
        "S1": 1,
        "S2": 1,
        "S2-prose": 1,
        "S3": 1,
        "S4": 1,
    }
    """Example -> the first of its steps that has a tie."""

    def compose(self) -> ComposeResult:
        for name in self.TOLD:
            with Vertical(id=name, classes="story") as story:
                story.border_title = f"{name}: {PRESETS[name].title}"
                yield (log := MergeLog())
                yield WhyPanel(log)

    def tell(self) -> None:
        listen(self.screen, lambda deed, step: None)
        for name, step in self.TOLD.items():
            preset, tokenizer = PRESETS[name], PRESETS[name].train()
            record = tokenizer.record
            assert record is not None
            subject = Subject.of_file(tokenizer, (), preset)
            with closing(Job()) as job:
                subject.count(job)
            told, places = subject.explanation(step), tuple(subject.places(step))
            log, panel = (
                self.query_one(f"#{name} MergeLog", MergeLog),
                self.query_one(f"#{name} WhyPanel", WhyPanel),
            )
            log.merges, log.n_tokens = KeptMerges(tokenizer), record.n_tokens_start
            panel.begin()
            panel.tokenizer, panel.step = tokenizer, step
            panel.explained = StepExplained(
                step, told, places, ties=preset.options.ties
            )


@pytest.mark.slow
def test_the_founding_ties(snap_compare: Picture) -> None:
    app = TieStories()

    async def play(pilot: Pilot[None]) -> None:
        app.tell()
        await pilot.pause()

    assert snap_compare(app, terminal_size=(180, 64), run_before=play)
