"""What the app says once, unasked: a file that has gone, and the end of what can be learned step by step."""

from pathlib import Path

import pytest
from player import play

pytestmark = pytest.mark.usefixtures("no_process_left")


async def test_the_tokenizer_of_the_last_time_that_has_gone_is_said(small: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
    small.unlink()
    async with play() as player:
        await player.until("is not there any more")


async def test_behind_the_last_step_the_end_is_said_before_a_training_begins_anew(small: Path, book: Path) -> None:
    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.press("f3", *["backspace"] * 4, *"258", "f7")
        await player.until("paused at 1 of 2")
        player.press("f7")
        await player.until("step 2 of 2")
        player.press("f7")
        await player.until("That was the last merge", "step 2 of 2")
        player.press("f7")
        await player.until("paused at 1 of 2")
