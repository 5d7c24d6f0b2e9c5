"""A tokenizer is fetched by its name beside the screen; Escape leaves it, and what goes wrong is one sentence."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, Scope

from bpe_core import save, train
from tui.dialogs.questions import Ask


async def ask_for(scope: Scope, name: str) -> None:
    await scope.screen.run_action("do('tokenizers.fetch')")
    await scope.asked(Ask)
    await scope.answer(name)


@pytest.mark.slow
async def test_what_is_in_the_cache_is_put_in_force(opened: Opened, kept: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "cache" / "huggingface" / "hub" / "models--some--model" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    save(train(TEXT, vocab_size=290), snapshot / "tokenizer.json", format="huggingface")
    async with opened() as scope:
        await scope.until_tokenizer()
        await ask_for(scope, "some/model")
        await scope.until(lambda: scope.screen.path == str(snapshot / "tokenizer.json"), "the other one is in force")
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.name == "some/model"
        await scope.until(lambda: "some/model" in {kept.name for kept in scope.screen.kept}, "it is listed")


@pytest.mark.slow
async def test_what_cannot_be_is_one_sentence(opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    async with opened() as scope:
        await scope.until_tokenizer()
        await ask_for(scope, "gpt2")
        await scope.until(lambda: any("TIKTOKEN_CACHE_DIR is empty" in said for said in scope.said), "it says why not")
        await scope.until(lambda: not scope.screen.notice, "nothing is awaited any more")
        assert scope.screen.path == str(kept)
