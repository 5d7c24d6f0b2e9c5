"""Typing .DefaultCellStyle under GPT-4's vocabulary, on the screen: what is told at each key, and the text's tokens."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from real import real_file
from scope import Opened
from textual.strip import Strip

from tui.disk import config
from tui.features.tokenizers import Tokenizers

TOLD = (
    (".", "nothing → .  +1 token  +1 byte"),
    ("D", ". → .D  ±0 tokens  +1 byte"),
    ("e", ".D → .De  ±0 tokens  +1 byte"),
    ("f", ".De → .Def  ±0 tokens  +1 byte"),
    ("a", "nothing → a  +1 token  +1 byte"),
    ("u", "a → au  ±0 tokens  +1 byte"),
    ("l", "au → aul  ±0 tokens  +1 byte"),
    ("t", ".Def aul → .Default  −1 token  +1 byte  ripple 3"),
    ("C", "nothing → C  +1 token  +1 byte"),
    ("e", "C → Ce  ±0 tokens  +1 byte"),
    ("l", "Ce → Cel  ±0 tokens  +1 byte"),
    ("l", "Cel → Cell  ±0 tokens  +1 byte"),
    ("S", "nothing → S  +1 token  +1 byte"),
    ("t", "S → St  ±0 tokens  +1 byte"),
    ("y", "nothing → y  +1 token  +1 byte"),
    ("l", "y → yl  ±0 tokens  +1 byte"),
    ("e", ".Default Cell St yl → .DefaultCellStyle  −3 tokens  +1 byte  ripple 8"),
)
"""Each key, and the line that tells what it did."""


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_every_key_is_told(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tokenizers, "_recover", lambda *_: asyncio.sleep(0))  # no merge is looked at here
    pressed: list[None] = []
    monkeypatch.setattr("tui.app.key_pressed", lambda: pressed.append(None))
    path = real_file("cl100k_base.tiktoken", tmp_path)
    config.save_configuration(replace(config.Configuration(), tokenizer=str(path)))
    async with opened() as scope:
        await scope.until_tokenizer()
        scope.area.load("")
        scope.area.focus()
        for key, told in TOLD:
            await scope.press("full_stop" if key == "." else key)
            assert scope.shown("#edit-line").strip() == f"last edit  {told}"
            if scope.area.text == ".DefaultCellSty":
                assert scope.tokens() == [".Default", "Cell", "St", "y"]
                assert colored(scope.area.draw_row(0)) == [".Default", "Cell", "St", "y"]
        assert scope.ids() == [98518]
        assert len(pressed) == len(TOLD)  # other work waited for each of them
        assert colored(scope.area.draw_row(0)) == [".DefaultCellStyle"]
        assert scope.rows("#inspector")[0].split() == [".DefaultCellS…", "id", "98,518"]


def colored(strip: Strip) -> list[str]:
    """The stretches of a row that have a color of their own."""
    return [part.text for part in strip if part.text.strip()]
