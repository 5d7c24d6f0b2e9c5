"""The app on disks that refuse, and beside another copy of itself: it goes on, says what is wrong, loses nothing."""

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scope import Opened, eventually

from tui.dialogs.ask_path import AskPath
from tui.dialogs.confirm import Confirm
from tui.dialogs.more_options import MoreOptions
from tui.disk import config, locked
from tui.terminal.guards import Field


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may have a byte; this binds root, too."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.slow
async def test_a_text_that_cannot_be_kept_is_told_once_and_asked_about_at_the_end(
    opened: Opened, kept: Path
) -> None:
    async with opened() as scope:
        with full_disk():
            await scope.press("a")
            await scope.until(lambda: scope.said, "it is told")
            await scope.press("b")
            assert "not kept: file too large" in str(scope.screen.editor.border_title)
            assert (
                len(
                    [
                        sentence
                        for sentence in scope.said
                        if "The text cannot be saved" in sentence
                    ]
                )
                == 1
            )
            assert "File too large" in scope.said[-1]
            await scope.press("ctrl+q")
            await scope.asked(Confirm)
            await scope.press("n")
            await scope.back()
            assert scope.app.is_running
        await scope.press("ctrl+q")  # now there is room
        await eventually(lambda: scope.app._exit, "it leaves without a question")
    assert (config.load_text() or "").startswith("ab")
    assert not scope.app.main.last_words


@pytest.mark.slow
async def test_a_second_ctrl_q_leaves_and_the_text_goes_where_there_is_room(
    opened: Opened, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked.tempfile, "tempdir", str(tmp_path))
    async with opened() as scope:
        config.text_file().mkdir()  # nothing can be written there
        await scope.press("a")
        await scope.press("ctrl+q")
        await scope.asked(Confirm)
        await scope.press("ctrl+q")
        await eventually(lambda: scope.app._exit, "it leaves")
    (sentence,) = scope.app.main.last_words
    (saved,) = tmp_path.glob("bpescope-text-*.txt")
    assert str(saved) in sentence and saved.read_text().startswith("a")


@pytest.mark.slow
async def test_a_home_that_cannot_be_written_to(
    opened: Opened, home: Path, book: Path
) -> None:
    for name in ("data", "config", "cache"):
        (home.parent / name).touch()  # a file where a folder should be
    async with opened(book) as scope:
        await scope.until(
            lambda: len(scope.said) > 1, "it is told, and that nothing can be learned"
        )
        assert any(
            "The tokenizers trained here cannot be listed" in said
            for said in scope.said
        )
        await scope.until(
            lambda: any("training was not started" in said for said in scope.said),
            "why it does not train",
        )
        assert len(set(scope.said)) == len(scope.said), (
            "what is still on the screen is said once"
        )
        assert all(said.endswith(".") and "Errno" not in said for said in scope.said)
        await scope.press("a")
        assert scope.area.text.startswith("a")
        await scope.until(
            lambda: any("The text cannot be saved" in said for said in scope.said),
            "it is told",
        )


@pytest.mark.slow
async def test_a_full_disk_does_not_cost_what_a_text_is_saved_over(
    opened: Opened, kept: Path, home: Path
) -> None:
    (home / "notes.txt").write_text("written long ago")
    async with opened() as scope:
        with full_disk():
            await scope.press("ctrl+s")
            await scope.asked(AskPath)
            await scope.answer("notes.txt")
            await scope.asked(Confirm)
            await scope.press("y")
            await scope.until(
                lambda: any(
                    "notes.txt could not be written" in said for said in scope.said
                ),
                "it is told",
            )
    assert (home / "notes.txt").read_text() == "written long ago"


@pytest.mark.slow
async def test_keys_wait_for_no_disk(
    opened: Opened,
    kept: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    far, stat, asked = home / "far", os.stat, set[str]()
    far.mkdir()
    (far / "text.txt").write_text("far away " * 50)

    def noted(path: str | Path, **options: object) -> os.stat_result:
        if threading.current_thread() is threading.main_thread() and Path(
            path
        ).is_relative_to(tmp_path):
            asked.add(Path(path).name)
        return stat(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", noted)
    async with opened(far / "text.txt") as scope:
        screen, features = scope.screen, scope.screen.features
        for deed, path in (
            (features.corpus.add_path, far),
            (features.texts.open, far / "text.txt"),
            (features.tokenizers.open, kept),
        ):
            work = deed()
            if work is not None:
                screen.run_in_background(work)
            await scope.asked(AskPath)
            await scope.answer(str(path))
            await scope.back()
        screen.run_in_background(features.corpus.more_options())
        dialog = await scope.asked(MoreOptions)
        for field in dialog.query(Field):
            assert field.placeholder.startswith("e.g. "), "it is not taken for a value"
        dialog.query_one("#extend", Field).value = str(kept)
        await scope.press("enter")
        await scope.back()
        await scope.press("f6")
        await scope.until(
            lambda: scope.screen.features.training.newest, "a training begins"
        )
        await scope.press("ctrl+q")
    assert asked <= {"bpescope", "configuration.json", "editor.txt"}, (
        "what the first frame needs, and no more"
    )
