"""A pane that is added as ARCHITECTURE.md says, without words and keys of its own, takes every key."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scope import ROOT

PANE = """
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Button

from tui.widgets.pane import Pane


class NewPane(Pane):
    def compose(self) -> ComposeResult:
        yield Button("nothing")

    def parts(self) -> tuple[Widget, ...]:
        return (self.query_one(Button),)
"""
ENTRY = """PANES: Final = (
    PaneEntry("new", "ctrl+e", "New", "nothing", "side", "tui.panes.new:NewPane"),
"""
PRESSES = """
import asyncio

from tui.app import BpeScope
from tui.commands.table import COMMANDS


async def main() -> None:
    keys = {
        key
        for commands in COMMANDS.values()
        for command in commands
        for key in command.keys.split(",")
    }
    app = BpeScope()
    async with app.run_test(size=(120, 40)) as pilot:
        await app._loaded.wait()
        for key in ["f1", "f1", *sorted(keys - {"", "ctrl+q"})]:
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
            while app.main.active != "new":
                await pilot.press("ctrl+e")
            await pilot.press(key)
            if key == "f1":
                await pilot.press("f1")
    print("pressed", len(keys))


asyncio.run(main())
"""


@pytest.mark.slow
def test_a_new_pane_takes_every_key(tmp_path: Path, kept: Path) -> None:
    shutil.copytree(ROOT / "tui", tmp_path / "tui")
    (tmp_path / "tui/panes/new.py").write_text(PANE)
    panes = tmp_path / "tui/commands/panes.py"
    source = panes.read_text("utf-8")
    changed = source.replace("PANES: Final = (\n", ENTRY)
    assert changed != source
    panes.write_text(changed, "utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", PRESSES],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.startswith("pressed"), ended.stderr[-3_000:]
