"""Each fact on the screen has one owner: nothing of one training, count, tokenizer or fetch gets into another."""

import asyncio
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.cells import cell_len
from scope import TEXT, Opened, Scope, eventually, never
from textual.widgets import Input, Select

from bpe_core import load, save, train
from bpe_core.formats import is_tokenizer
from tui.__main__ import _told_apart
from tui.app import BpeScope
from tui.dialogs.questions import AskName
from tui.disk import config
from tui.drawing.tokenizer_texts import shortened_within
from tui.features.shown import Shown
from tui.features.tokenizers import MOST_OPENED, Tokenizers
from tui.screen import MainScreen
from tui.widgets.curve import Curve
from tui.widgets.merge_log import MergeLog
from tui.widgets.step_line import StepLine
from tui.workers import process
from tui.workers.process import WorkerProcess

pytestmark = pytest.mark.usefixtures("no_process_left")

SLOW = r"(?:a|aa)+!|[a-z]+|\s|."


def fill(scope: Scope, field: str, value: str) -> None:
    scope.training.query_one(f"#{field}", Input).value = value


async def begun_again(scope: Scope, monkeypatch: pytest.MonkeyPatch, gate: Path) -> WorkerProcess:
    """Train, and at the very moment when that training is over begin another; its worker, which waits for a `gate` to
    be made, then for a command."""
    screen, training, send = scope.screen, scope.screen.features.training, WorkerProcess.send
    fill(scope, "vocab-size", "262")
    screen.action_do("training.train")
    while screen.run.busy:
        await asyncio.sleep(0)
    first = training.newest.worker
    held = gate.with_name("held-python")
    waiting = f"while [ ! -e {shlex.quote(str(gate))} ]; do sleep 0.05; done"
    held.write_text(f'#!/bin/sh\n{waiting}\nexec {shlex.quote(sys.executable)} "$@"\n')
    held.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(held))
    monkeypatch.setattr(
        WorkerProcess,
        "send",
        lambda job, command: None if getattr(command, "verb", "") == "step" else send(job, command),
    )
    screen.action_do("training.step_once")
    assert screen.run.phase == "counting"
    while (job := training.newest.worker) is None or job is first:
        await asyncio.sleep(0)
    return job


@pytest.mark.parametrize("way", ["killed"])
@pytest.mark.slow
async def test_a_training_that_ends_while_it_counts_has_nothing_of_the_one_before(
    opened: Opened, book: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    learned = train(TEXT, vocab_size=262)
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        gate = tmp_path / "gate"
        job = await begun_again(scope, monkeypatch, gate)
        if way == "killed":
            os.kill(job.pid, signal.SIGKILL)
        else:
            screen.action_do("training.stop")
            gate.touch()
        await scope.until(lambda: not screen.run.busy and not screen.features.training.is_working, "it is over")
        assert screen.run.phase == {"killed": "failed", "stopped": "stopped"}[way]
        assert Path(screen.path).stem == "book.txt-gpt4"
        assert screen.tokenizer is not None and screen.tokenizer.merges == learned.merges
        assert scope.screen.query_one(Curve).lengths[0] == len(TEXT)
    assert {path.stem for path in config.tokenizers_folder().iterdir()} == {"small", "book.txt-gpt4"}
    record = load(config.tokenizers_folder() / "book.txt-gpt4.json").record
    assert record is not None and record.n_tokens_start == len(TEXT)


@pytest.mark.slow
async def test_switching_between_tokenizers_of_equal_size_leaves_the_step_in_force_everywhere(
    opened: Opened, kept: Path
) -> None:
    other = kept.with_name("other.json")
    save(train(TEXT[::-1], vocab_size=280), other)
    config.save_configuration(config.Configuration(tokenizer=str(kept)))
    async with opened() as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        scope.area.focus()
        await scope.press("x", "ctrl+b", "y")
        assert "no edit" not in scope.shown("#edit-line").lower()
        before = scope.shown("#edit-line")
        screen.requests.use_tokenizer(other)
        await scope.until(lambda: screen.path == str(other), "the other is in force")
        assert screen.step == 24 == screen.query_one(MergeLog).step == screen.query_one(Curve).step
        assert screen.query_one(StepLine).step == 24
        assert scope.ids() == load(other).encode(scope.area.text)
        assert scope.shown("#edit-line") != before  # nothing is told of the tokens of the one before
        pinned = screen.editor.area.edited
        await scope.until(lambda: pinned.is_compared, "the pinned text is compared by its tokens")
        # What is in force already stays as it is: the step, what an audit found, what was edited.
        await scope.press("z", "alt+left")
        edited = scope.shown("#edit-line")
        screen.requests.use_tokenizer(other)
        await scope.settle()
        await scope.until(lambda: not screen.notice, "it has been looked at")
        assert screen.step == 23 and scope.shown("#edit-line") == edited


@pytest.mark.slow
async def test_a_preset_leaves_the_texts_their_numbers_and_the_options_alone(
    opened: Opened, book: Path, kept: Path
) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.until(lambda: screen.totals, "the text is counted")
        totals = screen.totals
        fill(scope, "vocab-size", "263")
        scope.training.query_one("#ties", Select).value = "lowest"
        screen.requests.run_preset("S2", False)
        await scope.until(lambda: "s2-" in screen.path and not screen.run.busy, "the preset has been run")
        assert screen.totals == totals and screen.corpus.paths == (str(book),)
        assert scope.training.query_one("#vocab-size", Input).value == "263"
        await scope.press("f6")
        await scope.until(
            lambda: "book.txt-gpt4" in screen.path and not screen.run.busy, "what the pane shows is trained"
        )
        assert screen.tokenizer is not None
        assert screen.tokenizer.merges == train(TEXT, vocab_size=263, ties="lowest").merges


@pytest.mark.slow
async def test_after_a_pattern_that_is_too_slow_it_is_told_and_not_counting_for_ever(
    opened: Opened, kept: Path, home: Path
) -> None:
    text = home / "as.txt"
    text.write_text("a" * 60 + " bcd")
    config.save_configuration(config.Configuration())
    async with opened(text) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        screen.features.corpus.choose_pattern(SLOW)
        await scope.press("f6")
        await scope.until(lambda: screen.run.phase == "failed", "the training fails")
        await scope.until(lambda: screen.totals and "too many ways" in screen.totals.error, "the count says why")
        assert "counting" not in scope.shown("#totals")


async def test_where_there_is_no_tokenizer_an_audit_says_that(
    opened: Opened, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "__aenter__", never)
    config.save_configuration(config.Configuration(tokenizer="/gone.json"))
    async with opened(book) as scope:
        scope.screen.action_do("audit.audit")
        await scope.until(lambda: scope.said[1:], "it is told, and before that that the last one is gone")
        assert scope.said[-1] == "There is no tokenizer yet: train one (F6), or open one, and audit it then."


@pytest.mark.slow
async def test_where_no_worker_can_be_started_each_task_says_so_and_the_app_goes_on(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*arguments: object, **options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(process.asyncio, "create_subprocess_exec", refused)
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.until(lambda: screen.totals and "No worker" in screen.totals.error, "the count says so")
        await scope.press("f6")
        await scope.until(lambda: screen.run.phase == "failed", "the training says so")
        scope.app.clear_notifications()  # a sentence that still stands there is not said again
        screen.action_do("audit.audit")
        await scope.until(lambda: "No worker" in screen.audit.subject and not screen.audit.running, "the audit says so")
        scope.app.clear_notifications()
        await screen.run_action("fetch_tokenizer")
        await scope.asked(AskName)
        await scope.answer("gpt2")
        await scope.until(lambda: len(scope.said) == 3 and not screen.notice, "the fetch says so")
        assert all("No worker process can be started" in sentence for sentence in scope.said)
        assert screen.path == str(kept) and scope.ids()


# Tokenizers from elsewhere


def test_a_tokenizer_file_is_told_from_a_text(kept: Path, book: Path, home: Path) -> None:
    (home / "text.json").write_text(json.dumps({"model": "of what?", "format": "bpescope", "version": 1}))
    ranks = home / "ranks.txt"
    save(load(kept), ranks, format="tiktoken")
    assert is_tokenizer(kept) and is_tokenizer(ranks)
    assert not any(map(is_tokenizer, (book, home, home / "text.json", home / "missing")))
    texts, tokenizers, told = _told_apart(["book.txt", str(kept), str(home), "text.json", "ranks.txt"])
    assert texts == (str(book), str(home), str(home / "text.json"))
    assert tokenizers == (str(kept), str(ranks))
    assert [sentence for sentence in told if "text.json" not in sentence] == []


@pytest.mark.slow
async def test_one_that_was_opened_is_in_force_and_stays_in_the_list_until_it_is_taken_off(
    opened: Opened, kept: Path, home: Path
) -> None:
    elsewhere = home / "model" / "tokenizer.json"
    elsewhere.parent.mkdir()
    save(train(TEXT, vocab_size=290), elsewhere, format="huggingface")
    for tokenizers in ((str(elsewhere),), ()):
        app = BpeScope((), tokenizers)
        async with app.run_test(size=(120, 40)):
            await eventually(lambda app=app: app.main.path == str(elsewhere) and app.main.in_force, "it is in force")
            assert [one.name for one in app.main.kept] == ["small", "model/tokenizer"]
            assert app.main.corpus.paths == ()
    async with opened() as scope:
        screen = scope.screen
        await scope.until(lambda: screen.path == str(elsewhere), "it is in force again")
        screen.requests.use_tokenizer(kept)
        await scope.until(lambda: screen.path == str(kept), "another one is")
        assert len(screen.kept) == 2
        screen.requests.discard_tokenizer(elsewhere)
        await scope.until(lambda: len(screen.kept) == 1, "it is taken off")
        assert elsewhere.exists() and scope.app.configuration.opened == ()


def test_only_so_many_from_elsewhere_are_remembered(home: Path) -> None:
    small = train(TEXT, vocab_size=260)
    screen = SimpleNamespace(kept=(), remembered=config.Configuration(), remember=lambda **changes: None)
    shelf = Tokenizers(cast(MainScreen, screen), cast(Shown, SimpleNamespace(forgets=[])))
    paths = [home / f"{n}.json" for n in range(MOST_OPENED + 5)]
    for path in (*paths, paths[7]):
        shelf.add(path, small)
    listed = [one.path for one in screen.kept]
    assert listed == list(map(str, (*paths[5:7], *paths[8:], paths[7])))


def test_names_are_shortened_in_the_middle() -> None:
    assert shortened_within("short", 9) == "short"
    for room in range(1, 20):
        assert len(shortened_within("the-python-library-gpt4-12", room)) == room
        assert cell_len(shortened_within("日本語の語彙・日本語の語彙", room)) == room
    assert shortened_within("the-python-library-gpt4-12", 12).endswith("t4-12")
