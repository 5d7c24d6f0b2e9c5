"""A tokenizer is fetched by its name beside the screen; Escape leaves it, and what goes wrong is one sentence."""

import asyncio
from pathlib import Path

import pytest
from conftest import Opened
from scope import TEXT, Scope, eventually

from bpe_core import save, train
from tui import engine
from tui.dialogs import AskName


async def ask_for(scope: Scope, name: str) -> None:
    await scope.screen.run_action("fetch_tokenizer")
    await eventually(lambda: isinstance(scope.app.screen, AskName), "it asks")
    await scope.pilot.press(*name, "enter")


async def test_what_is_in_the_cache_is_put_in_force(opened: Opened, kept: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "cache" / "huggingface" / "hub" / "models--some--model" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    save(train(TEXT, vocab_size=290), snapshot / "tokenizer.json", format="huggingface")
    async with opened() as scope:
        await eventually(lambda: scope.screen.tokenizer, "the kept one is there")
        await ask_for(scope, "some/model")
        await eventually(lambda: scope.screen.path == str(snapshot / "tokenizer.json"), "the other one is in force")
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.name == "some/model"
        await eventually(lambda: "some/model" in {kept.name for kept in scope.screen.kept}, "it is listed")


async def test_what_is_no_name_is_told_in_the_dialog(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await ask_for(scope, "no name")
        assert isinstance(scope.app.screen, AskName)
        await scope.pilot.press("escape")


async def test_what_cannot_be_is_one_sentence(opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    async with opened() as scope:
        await eventually(lambda: scope.screen.tokenizer, "the kept one is there")
        before = scope.screen.run
        await ask_for(scope, "gpt2")
        await eventually(lambda: any("TIKTOKEN_CACHE_DIR is empty" in said for said in scope.said), "it says why not")
        await eventually(lambda: scope.screen.run == before, "nothing is awaited any more")
        assert scope.screen.path == str(kept)


async def test_escape_leaves_it(opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.Job, "__aenter__", never)
    async with opened() as scope:
        await eventually(lambda: scope.screen.tokenizer, "the kept one is there")
        before = scope.screen.run
        await ask_for(scope, "gpt2")
        await eventually(lambda: "fetching gpt2" in scope.screen.run.detail, "it says what it waits for")
        await scope.pilot.press("escape")
        await eventually(lambda: scope.screen.run == before, "nothing is awaited any more")
        assert scope.screen.path == str(kept)


async def never(job: engine.Job) -> engine.Job:
    await asyncio.Event().wait()
    return job
