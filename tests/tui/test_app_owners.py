"""Each fact on the screen has one owner: nothing of one training, count, tokenizer or fetch gets into another."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from scope import TEXT, Opened, never

from bpe_core import save, train
from tui import process
from tui.dialogs.questions import Ask
from tui.disk import config
from tui.features.shown import Shown
from tui.features.tokenizers import MOST_OPENED, Tokenizers
from tui.process import WorkerProcess
from tui.screen import MainScreen

pytestmark = pytest.mark.usefixtures("no_process_left")


@pytest.mark.slow
async def test_where_there_is_no_tokenizer_an_audit_says_that(
    opened: Opened, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "__aenter__", never)
    config.save_configuration(config.Configuration(tokenizer="/gone.json"))
    async with opened(book) as scope:
        scope.screen.action_do("audit.audit")
        await scope.until(lambda: scope.said[1:], "it is told, and before that that the last one is gone")
        assert scope.said[-1] == "There is no tokenizer yet: train one (F6), or open one."


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
        await screen.run_action("do('tokenizers.fetch')")
        await scope.asked(Ask)
        await scope.answer("gpt2")
        await scope.until(lambda: len(scope.said) == 3 and not screen.notice, "the fetch says so")
        assert all("No worker process can be started" in sentence for sentence in scope.said)
        assert screen.path == str(kept) and scope.ids()


# Tokenizers from elsewhere


async def test_only_so_many_from_elsewhere_are_remembered(home: Path) -> None:
    small = train(TEXT, vocab_size=260)
    screen = SimpleNamespace(kept=(), remembered=config.Configuration())
    screen.remember = lambda **changes: vars(screen).update(remembered=replace(screen.remembered, **changes))
    shelf = Tokenizers(cast(MainScreen, screen), cast(Shown, SimpleNamespace()))
    paths = [home / f"{n}.json" for n in range(MOST_OPENED + 5)]
    for path in (*paths, paths[7]):
        await shelf.add(path, small)
    listed = [one.path for one in screen.kept]
    assert listed == list(map(str, (*paths[5:7], *paths[8:], paths[7])))


@pytest.mark.slow
async def test_what_is_in_the_cache_is_put_in_force_and_what_cannot_be_is_one_sentence(
    opened: Opened, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    snapshot = tmp_path / "cache" / "huggingface" / "hub" / "models--some--model" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    save(train(TEXT, vocab_size=290), snapshot / "tokenizer.json", format="huggingface")
    async with opened() as scope:
        await scope.until_tokenizer()
        for name in "gpt2", "some/model":
            assert scope.screen.path == str(kept)
            await scope.screen.run_action("do('tokenizers.fetch')")
            await scope.asked(Ask)
            await scope.answer(name)
            await scope.until(lambda: any("TIKTOKEN_CACHE_DIR is empty" in said for said in scope.said), "it says why")
            await scope.until(lambda: not scope.screen.notice, "nothing is awaited any more")
        await scope.until(lambda: scope.screen.path == str(snapshot / "tokenizer.json"), "the other one is in force")
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.name == "some/model"
        await scope.until(lambda: "some/model" in {kept.name for kept in scope.screen.kept}, "it is listed")
