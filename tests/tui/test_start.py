"""The first thing on the screen is the user's own text, and it takes keys; the engine and all files come after it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scope import PATIENCE

from tui.app import BpeScope
from tui.commands.panes import PANES
from tui.disk import config
from tui.widgets.token_area import TokenArea

OWN = "my own text, as I left it\n"

WATCHED = """
import json, os, sys

opened = []

def watch(event, arguments):
    if event == "open":
        opened.append(str(arguments[0]))
        if "/tui/panes/" in opened[-1] and "/corpus." in opened[-1]:  # what comes after the first frame begins with it
            os.write(1, json.dumps({"modules": sorted(sys.modules), "opened": opened}).encode())
            os._exit(0)

from tui.app import BpeScope

app = BpeScope()
sys.addaudithook(watch)
app.run(headless=True)
"""
"""The app, up to the moment when it goes on from the first frame to all the rest."""


def test_before_the_first_frame_no_vocabulary_no_text_and_no_extra_is_touched(
    home: Path, kept: Path
) -> None:
    config.save_configuration(
        config.Configuration(tokenizer=str(kept), corpus=(str(home),))
    )
    config.save_text(OWN)
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED],
        stdout=subprocess.PIPE,
        check=True,
        timeout=PATIENCE,
    )
    before = json.loads(ended.stdout)
    modules = set(before["modules"])
    assert {
        "tui.screen",
        "tui.widgets.token_area",
    } <= modules  # it has been looked at the right moment
    engine = {
        f"bpe_core.{room}"
        for room in (
            "corpus",
            "formats",
            "hub",
            "patterns",
            "tokenizer",
            "trainer",
            "vocabulary",
        )
    }
    extras = {
        "numpy",
        "safetensors",
        "tiktoken",
        "huggingface_hub",
        "tokenizers",
        "textual_serve",
    }
    assert not modules & (
        engine | extras | {"regex", "tui.process", "tui.disk.tokenizer_files"}
    )
    assert not [
        path
        for path in before["opened"]
        if path.startswith((str(kept.parent), str(home)))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (200, 60)])
async def test_nothing_moves_when_the_panes_are_loaded(
    home: Path, kept: Path, size: tuple[int, int]
) -> None:
    config.save_text(OWN * 30)
    app = BpeScope()
    async with app.run_test(size=size) as pilot:
        places = {}
        for moment in "frames", "panes":
            if moment == "panes":
                await app.main.loaded.wait()
                await pilot.pause()
            area = app.screen.query_one(TokenArea)
            frames = [app.screen.query_one(f"#{pane.id}") for pane in PANES]
            titles = [str(frame.border_title) for frame in frames]
            places[moment] = (area.region, *(frame.region for frame in frames), *titles)
        assert places["panes"] == places["frames"]
