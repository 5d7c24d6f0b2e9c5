"""Texts that ask for much: edits so large that all is read anew, and one that a slow pattern meets at the start."""

from pathlib import Path

import pytest
from scope import Opened

from bpe_core import Tokenizer, load, save
from tui.disk import config

SLOW = r"(?:a|aa)+!|[a-z]+|\s|."


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
