"""The stage: one text whose letters close up into words, before the panes come in."""

import re
from pathlib import Path

import pytest
from player import Cells, Player, play

from bpe_core import Tokenizer, train
from bpe_core.content.samples import SAMPLES
from tui.disk import config
from tui.features.stage import first_sentence

pytestmark = pytest.mark.usefixtures("no_process_left")

SIZES = [(120, 40), (80, 24), (200, 60)]
NOTE = "Press any key to open the panels."


def has_panes(screen: Cells) -> bool:
    return NOTE not in screen and "Corpus" in screen and "F6" in screen


def at_once(pace: int = 5) -> None:
    """Let the first start show its merges in so many seconds."""
    config.save_configuration(config.Configuration(pace=pace))


async def agree_to_the_end(player: Player, text: str, whole: Tokenizer) -> set[int]:
    """Compare the numbers of each frame with the tokenizer of its step. Return the steps that were seen."""
    seen: set[int] = set()
    while NOTE in player.screen:
        shown = player.screen.text
        step = re.search(r"merge ([\d,]+) of ([\d,]+)", shown)
        n_tokens = re.search(
            r" ([\d,]+) tokens?(?=[ \n])", shown.partition("merge ")[2]
        )
        if step and n_tokens:
            number = int(step[1].replace(",", ""))
            expected = len(whole.at(number).encode(text))
            assert int(n_tokens[1].replace(",", "")) == expected, shown
            seen.add(number)
        await player.frame()
    return seen


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_start_shows_one_text_and_then_the_panes(
    home: Path, size: tuple[int, int]
) -> None:
    at_once()
    story = SAMPLES[0].path.read_text("utf-8")
    whole = train(story, vocab_size=1024)
    async with play(full_speed=False, size=size) as player:
        await player.until(
            NOTE, "Text starts as bytes", lambda screen: "Corpus" not in screen
        )
        await player.until("Merge 1 joined the most frequent pair of neighbors: ␣ + t.")
        seen = await agree_to_the_end(player, first_sentence(), whole)
        assert len(seen) > 5 and 768 in seen
        await player.until("step 768 of 768", "30 tokens")
        player.write("!")
        await player.until("31 tokens")
    async with play(full_speed=False, size=size) as player:
        await player.until("step 768 of 768", "31 tokens")
        assert NOTE not in player.screen


async def test_the_first_key_opens_the_studio_and_goes_into_the_text(
    home: Path,
) -> None:
    at_once(160)
    async with play(full_speed=False) as player:
        await player.until(NOTE, "merge 0 of 768")
        player.write("x")
        await player.until(has_panes, "never gave me back.x")
        player.press("f3")
        await player.until("F7 Step")


async def test_a_screen_that_becomes_too_small_shows_the_panes(home: Path) -> None:
    at_once(160)
    async with play(full_speed=False) as player:
        await player.until(NOTE, "merge 0 of 768")
        player.resize(15, 30)
        await player.until("Editor")
        player.resize(120, 40)
        await player.until(has_panes)


async def test_a_click_opens_the_studio(home: Path) -> None:
    at_once(160)
    async with play(full_speed=False) as player:
        await player.until(NOTE, "merge 0 of 768")
        player.click((5, 5))
        await player.until(has_panes)


@pytest.mark.parametrize("size", [(59, 24), (80, 15)])
async def test_a_small_screen_has_no_stage(home: Path, size: tuple[int, int]) -> None:
    at_once()
    async with play(full_speed=False, size=size) as player:
        await player.until("Type here.", "step 768 of 768")


async def test_a_start_that_trains_nothing_has_no_stage(home: Path, book: Path) -> None:
    at_once()
    async with play(book, full_speed=False) as player:
        await player.until(has_panes, "Type here.")


async def test_a_text_in_the_editor_is_trained_on_and_shown(
    home: Path, small: Path
) -> None:
    at_once()
    text = "she sells sea shells by the sea shore"
    expected = train(text, vocab_size=1024)
    async with play(tokenizers=(small,), full_speed=False) as player:
        await player.until("step 24 of 24")
        player.press("alt+a")
        player.write(text)
        await player.until("shore", lambda screen: "Type here" not in screen)
        player.press("alt+t")
        await player.until(NOTE, f"of {expected.step}")
        seen = await agree_to_the_end(player, text, expected)
        assert expected.step in seen
        await player.until(
            f"step {expected.step} of {expected.step}", "your-text", has_panes
        )
        await player.command("Play on the full screen")
        await player.until(NOTE, f"merge 0 of {expected.step}")
        player.press("escape")
        await player.until(has_panes)


async def test_only_the_selection_is_trained_on(home: Path, small: Path) -> None:
    at_once()
    expected = train("aaabdaaabac", vocab_size=1024)
    async with play(tokenizers=(small,), full_speed=False) as player:
        await player.until("step 24 of 24")
        player.press("alt+a")
        player.write("xyxyxy aaabdaaabac")
        player.press(*["shift+left"] * len("aaabdaaabac"), "alt+t")
        await player.until(NOTE, f"of {expected.step}")
        player.press("escape")
        await player.until(has_panes, "xyxyxy aaabdaaabac")


async def test_an_empty_editor_cannot_be_trained_on(home: Path, small: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.press("alt+a", "delete", "alt+t")
        await player.until(lambda screen: "The editor is empty." in screen.told)
