"""Texts that ask for much: edits so large that all is read anew, and one that a slow pattern meets at the start."""

import random
from pathlib import Path

import pytest
from scope import Opened, Scope
from textual.events import Paste

from bpe_core import Tokenizer, load, save
from bpe_core.live.live_text import LiveText
from tui.disk import config
from tui.text.review import Review

SLOW = r"(?:a|aa)+!|[a-z]+|\s|."
WORDS = ["the", "theme", "of", "other", "thesis,", "1234", "日本語", "its", "end ", "\n"]


def text_of(n: int) -> str:
    rng = random.Random(n)
    return " ".join(rng.choices(WORDS, k=n))[:n]


async def check_ids(scope: Scope, text: str) -> LiveText:
    """The tokens are those of the text."""
    edited = scope.area.edited
    await scope.until(lambda: edited.reading is None and edited.is_settled, "all tokens are known")
    live = edited.live
    assert scope.area.text == text and live is not None
    assert live.text == text and list(live.ids) == live.tokenizer.encode_ordinary(text)
    return live


async def check_review(scope: Scope, live: LiveText, text: str) -> None:
    """The review is what a fresh one finds."""
    edited = scope.area.edited
    await scope.until(lambda: edited.settle_review(0.02), "the text is reviewed")
    review = edited.review
    assert review is not None
    fresh = Review(live)
    while not fresh.settle(1.0):
        pass
    assert (review.n_pitfalls, review.worst, edited.why_no_review) == (fresh.n_pitfalls, fresh.worst, "")
    for at in range(0, len(text), 997):
        assert review.next_pitfall(at, 1) == fresh.next_pitfall(at, 1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100_001, 99_999, 499_999, 600_000])
async def test_a_large_edit_is_counted_once(opened: Opened, kept: Path, n: int) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        scope.editor.put("the theme ")
        await scope.settle()
        scope.editor.action_pin()
        large = text_of(n)
        scope.app.post_message(Paste(large))
        await scope.until(lambda: len(scope.area.text) == n + len("the theme "), "it is pasted")
        whole = scope.area.text
        await check_ids(scope, whole)
        scope.area.action_undo()
        await check_ids(scope, "the theme ")
        scope.area.action_redo()
        await check_review(scope, await check_ids(scope, whole), whole)


@pytest.mark.slow
async def test_a_kept_text_on_which_the_pattern_is_too_slow_is_there_at_once(opened: Opened, kept: Path) -> None:
    tokenizer = load(kept)
    save(Tokenizer(tokenizer.vocabulary, SLOW, record=tokenizer.record), kept)
    config.text_file().write_text("a" * 60)
    async with opened() as scope:
        assert scope.area.text == "a" * 60
        await scope.until_tokenizer()
        await scope.until(lambda: scope.area.edited.why_none, "it is said why there are no tokens")
        assert "tries too many ways" in scope.area.edited.why_none
        await scope.press("b")
        assert scope.area.text == "b" + "a" * 60
