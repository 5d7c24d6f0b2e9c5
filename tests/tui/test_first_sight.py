"""The first thing on the screen is the user's own text; the engine, the panes and all files come after it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Opened
from scope import eventually
from terminal import terminal

from tui import config
from tui.app import BpeScope
from tui.first_sight import FirstSight
from tui.screen import MainScreen

OWN = "my own text, as I left it\n"

WATCHED = """
import json, os, sys

opened = []

def watch(event, arguments):
    if event == "open":
        opened.append(str(arguments[0]))
    elif event == "import" and arguments[0] == "tui.screen":  # what comes after the first frame begins with this
        print(json.dumps({"modules": sorted(sys.modules), "opened": opened}))
        sys.stdout.flush()
        os._exit(0)

from tui.app import BpeScope

app = BpeScope()
sys.addaudithook(watch)
app.run(headless=True)
"""
"""The app, up to the moment when it goes on from the first frame to all the rest."""


def test_before_the_first_frame_no_vocabulary_no_text_and_no_extra_is_touched(home: Path, kept: Path) -> None:
    config.save_configuration(config.Configuration(tokenizer=str(kept), corpus=(str(home),)))
    config.save_text(OWN)
    ended = subprocess.run([sys.executable, "-c", WATCHED], stdout=subprocess.PIPE, check=True)
    before = json.loads(ended.stdout.splitlines()[-1])
    modules = set(before["modules"])
    assert {"tui.first_sight", "tui.widgets.token_area"} <= modules  # it has been looked at the right moment
    engine = {
        f"bpe_core.{room}" for room in ("corpus", "formats", "hub", "patterns", "tokenizer", "trainer", "vocabulary")
    }
    extras = {"numpy", "safetensors", "tiktoken", "huggingface_hub", "tokenizers", "textual_serve"}
    assert not modules & (engine | extras | {"tui.engine", "tui.shelf"})
    assert not [path for path in before["opened"] if path.startswith((str(kept.parent), str(home)))]


def test_the_text_is_on_the_terminal_before_the_panes_have_anything_in_them(home: Path, kept: Path) -> None:
    config.save_text(OWN)
    with terminal() as app:
        app.until(lambda: "Preview" in app.text, "the corpus pane is there")
        first, _, _ = app.text.partition("Preview")
        assert OWN.strip() in first
        assert "bpescope" in first and "Corpus" in first  # the title and the frames


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (200, 60)])
async def test_the_text_stays_where_it_was_when_the_panes_come(home: Path, kept: Path, size: tuple[int, int]) -> None:
    config.save_text(OWN * 30)
    places = {}
    app = BpeScope()
    async with app.run_test(size=size) as pilot:
        first = FirstSight(OWN * 30)
        await eventually(app.moved_in.is_set, "the main screen is there")
        await pilot.pause()
        for screen in (app.screen, first):
            if screen is first:
                await app.push_screen(first)
            await pilot.pause()
            area = screen.query_one("#text")
            panes = [pane.region for pane in screen.query("#corpus, #training, #audit, #editor")]
            places[type(screen)] = (area.region.offset, area.size.width, *panes)
    assert places[MainScreen] == places[FirstSight]


async def test_a_key_pressed_at_once_is_not_lost(home: Path, kept: Path) -> None:
    config.save_text(OWN)
    app = BpeScope()
    async with app.run_test(size=(120, 40)) as pilot:
        pressed = pilot.press("H", "i", "f5")
        assert not app.moved_in.is_set()
        await pressed
        await eventually(lambda: app.moved_in.is_set(), "the main screen is there")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, MainScreen)
        assert screen.editor.area.text == f"Hi{OWN}"
        assert screen.active == "audit"


async def test_a_first_start_greets(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        assert scope.area.text.startswith("Type here")
