"""The app on disks that refuse, and beside another copy of itself: it goes on, says what is wrong, loses nothing."""

import asyncio
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scope import Opened, Scope, eventually
from terminal import terminal

from bpe_core import load
from tui.app import BpeScope
from tui.dialogs.button_questions import Confirm
from tui.dialogs.questions import AskPath
from tui.disk import autosave, config
from tui.workers import process


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
async def test_a_text_that_cannot_be_kept_is_told_once_and_asked_about_at_the_end(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("a")
        with full_disk():
            for _ in range(3):
                await scope.screen._keep_text().wait()
            await scope.until(lambda: scope.said, "it is told")
            assert len([sentence for sentence in scope.said if "The text cannot be kept" in sentence]) == 1
            assert "File too large" in scope.said[-1]
            await scope.press("ctrl+q")
            await scope.asked(Confirm)
            await scope.press("n")
            await scope.back()
            assert scope.app.is_running
        await scope.press("ctrl+q")  # now there is room
        await eventually(lambda: scope.app._exit, "it leaves without a question")
    assert (config.load_text() or "").startswith("a")
    assert not scope.app.last_words


@pytest.mark.slow
async def test_a_second_ctrl_q_leaves_and_the_text_goes_where_there_is_room(
    opened: Opened, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autosave.tempfile, "tempdir", str(tmp_path))
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("a")
        config.text_file().mkdir()  # nothing can be written there
        await scope.press("ctrl+q")
        await scope.asked(Confirm)
        await scope.press("ctrl+q")
        await eventually(lambda: scope.app._exit, "it leaves")
    (sentence,) = scope.app.last_words
    (saved,) = tmp_path.glob("bpescope-text-*.txt")
    assert str(saved) in sentence and saved.read_text().startswith("a")


@pytest.mark.slow
async def test_a_home_that_cannot_be_written_to(opened: Opened, home: Path, book: Path) -> None:
    for name in ("data", "config", "cache"):
        (home.parent / name).touch()  # a file where a folder should be
    async with opened(book) as scope:
        await scope.until(lambda: len(scope.said) > 1, "it is told, and that nothing can be learned")
        assert any("The kept tokenizers cannot be listed" in said for said in scope.said)
        await scope.until(lambda: any("Nothing is learned" in said for said in scope.said), "why it does not train")
        assert len(set(scope.said)) == len(scope.said), "what is still on the screen is said once"
        assert all(said.endswith(".") and "Errno" not in said for said in scope.said)
        await scope.press("a")
        assert scope.area.text.startswith("a")
        await scope.screen._keep_text().wait()
        await scope.until(lambda: any("The text cannot be kept" in said for said in scope.said), "it is told")


@pytest.mark.slow
async def test_an_untouched_greeting_is_nothing_to_ask_about(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        with full_disk():
            await scope.press("ctrl+q")
            await eventually(lambda: scope.app._exit, "it leaves")
    assert not scope.app.last_words and config.load_text() is None


@pytest.mark.slow
async def test_two_copies_keep_a_text_each(opened: Opened, kept: Path) -> None:
    async with opened() as first:
        await first.until_tokenizer()
        await first.press("1")
        other = BpeScope()
        async with other.run_test(size=(120, 40)) as pilot:
            await other.main.loaded.wait()
            await pilot.press("2")
            await pilot.pause()
        await first.press("1")
    assert (config.load_text() or "").startswith("11")
    assert (config.load_text(config.text_file(2)) or "").startswith("2")


async def learning(scope: Scope) -> None:
    await scope.press("f7")  # one merge
    await scope.until(lambda: scope.screen.run.phase == "paused" and scope.screen.step == 1, "a merge is learned")


@pytest.mark.slow
async def test_what_a_worker_has_told_is_kept_even_if_it_is_not_given_the_time_to(
    opened: Opened, kept: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        await learning(scope)
        worker = scope.screen.features.training.newest.worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGSTOP)  # as one that is busy saving
        monkeypatch.setattr(process, "PATIENCE", 0.1)
        output = scope.screen.features.training.output
        Path(f"{output}.checkpoint").unlink(missing_ok=True)  # it may have been in time for one
    assert load(output).step == 1
    assert config.load_configuration().tokenizer == str(output)


@pytest.mark.slow
def test_a_training_that_had_learned_nothing_is_told_in_the_terminal(kept: Path, home: Path) -> None:
    words = home / "words.txt"
    words.write_text("".join(f"w{number} " for number in range(3_000_000)))
    with terminal(words) as app:
        app.until_shown("Tokenizers")
        app.settle()
        app.type("\x1b[17~")  # F6
        app.until_shown("counting")
        app.type("\x11")
        assert app.wait() == 0
    assert "bpescope: The training had not learned anything yet, so nothing of it is kept" in app.text
    assert config.load_configuration().tokenizer == str(kept)


@pytest.mark.slow
async def test_keeping_a_long_text_does_not_wait_for_the_disk(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = asyncio.Event()
    loop = asyncio.get_running_loop()
    fsync = os.fsync

    def slow(descriptor: int) -> None:
        asyncio.run_coroutine_threadsafe(written.wait(), loop).result()  # would wait for ever on the screen's thread
        fsync(descriptor)

    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("a")
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", slow)
            worker = scope.screen._keep_text()
            await scope.press("b")
            assert scope.area.text.startswith("ab") and not worker.is_finished
            written.set()
            await worker.wait()
    assert (config.load_text() or "").startswith("ab")


@pytest.mark.slow
async def test_a_full_disk_does_not_cost_what_a_text_is_saved_over(opened: Opened, kept: Path, home: Path) -> None:
    (home / "notes.txt").write_text("written long ago")
    async with opened() as scope:
        await scope.until_tokenizer()
        with full_disk():
            await scope.press("ctrl+s")
            await scope.asked(AskPath)
            await scope.answer("notes.txt")
            await scope.asked(Confirm)
            await scope.press("y")
            await scope.until(
                lambda: any("notes.txt could not be written" in said for said in scope.said), "it is told"
            )
    assert (home / "notes.txt").read_text() == "written long ago"
