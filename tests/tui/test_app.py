"""What is remembered oddly, and paths that people type."""

import json
from pathlib import Path

import pytest
from scope import Opened

from tui.dialogs.questions import AskPlace
from tui.disk import config


@pytest.mark.slow
async def test_odd_things_that_are_remembered_do_no_harm(opened: Opened, kept: Path) -> None:
    config.save_configuration(config.Configuration())
    stored = {
        "theme": "no such theme",
        "tokenizer": "/nu\x00l" + "x" * 300,
        "corpus": ["/gone", "/nu\x00l", "x" * 300],
        "options": {"vocab_size": -5, "pattern": "(", "ties": "by lot", "min_count": 0},
    }
    config._configuration_file().write_text(json.dumps(stored))
    async with opened() as scope:
        await scope.until_tokenizer()
        assert scope.screen.corpus.paths == ()
        await scope.press("f6")
        await scope.until(lambda: scope.said, "something is said")


# Paths that people type


async def test_a_place_that_cannot_be_written_is_told_in_the_dialog(tmp_path: Path) -> None:
    dialog = AskPlace("Where to?", suffixes=(".csv", ".md"))
    for typed, told in (
        (tmp_path / "missing" / "a.csv", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "a.txt", "ends in none of .csv, .md"),
        ("nu\x00l.csv", "cannot be written"),
        (tmp_path / f"{'x' * 300}.csv", "cannot be written"),
    ):
        with pytest.raises(ValueError, match=told):
            dialog.understood(str(typed))
    assert dialog.understood(f" {tmp_path}/a.csv ") == tmp_path / "a.csv"
    assert not list(tmp_path.iterdir())


async def test_a_picture_asked_for_while_the_app_leaves_is_none(opened: Opened) -> None:
    async with opened() as scope:
        app = scope.app
    assert app.deliver_screenshot() is None
