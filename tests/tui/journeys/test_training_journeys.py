"""Learning merges: the first start, to the end, in steps, with a goal, by presets; left, stopped and killed."""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from player import Cells, play, seen_in_terminal

from bpe_core import load, train
from bpe_core.content.presets import PRESETS
from bpe_core.visible import token_label
from tests.tui.terminal import children
from tui.disk import config
from tui.disk.locked import Note
from tui.state import TrainingOptions, UnfinishedTraining

pytestmark = pytest.mark.usefixtures("no_process_left")


async def test_the_first_start_learns_from_a_story(home: Path) -> None:
    async with play() as player:
        await player.until("Type here.")
        await player.until("step 768 of 768", "1,024 tokens")
        await player.until(lambda screen: ["is", " one"] in screen.pieces("is one"))

        def tokens_a_byte(screen: Cells) -> float:
            n_tokens, n_bytes = re.search(
                r"(\d+) tokens  (\d+) bytes", screen.text
            ).groups()
            return int(n_tokens) / int(n_bytes)

        await player.until(
            lambda screen: tokens_a_byte(screen) < 0.6
        )  # the greeting shows what was learned
    async with play() as player:
        await player.until("step 768 of 768", "Chosen  A story in English")


async def test_a_training_goes_on_until_something_is_so_or_to_its_end_and_is_kept(
    book: Path, small: Path
) -> None:
    expected = train(book.read_text(), vocab_size=270)
    async with play(book, tokenizers=(small,), size=(120, 60)) as player:
        player.press("f3", "f3", "u")
        await player.answer("Train until which", "length > many")
        await player.answer("Invalid condition", "length > 4")
        await player.until("reached length > 4", "paused at")
        first = next(
            step
            for step, (*_, id) in enumerate(expected.merges, 1)
            if len(expected.token_bytes(id)) > 4
        )
        await player.until(lambda screen: screen.step[0] == first)
        player.press("u")
        await player.answer("Train until which", "length > 4")
        await player.until("This first holds at step")
        player.press("g")  # to a step that is not learned yet: that is trained for
        await player.answer("Go to which step", str(first + 2))
        await player.until(lambda screen: screen.step[0] == first + 2, "paused at")
        player.press("f8")
        await player.until(f"step {first + 2} of {first + 2}", "stopped at step")
        await player.rest()  # until the fields take a number again
        player.press("f4", "f3", *["backspace"] * 4, *"270", "f6")
        await player.until("step 14 of 14", "book.txt-gpt4-2 · 270 tokens")
        rows = player.screen.text
        for step, (left, right, token) in enumerate(expected.merges, 1):
            shown = (
                re.escape(token_label(expected.token_bytes(one)))
                for one in (left, right, token)
            )
            assert re.search(rf" {step} +{' +'.join(shown)} +\d+ ", rows), step
        player.press("f4", "ctrl+home")
        text = "the theme of the other thesis"
        player.write(f"{text}\n")
        await player.until(
            lambda screen: (
                [expected.decode([id]) for id in expected.encode(text)]
                in screen.pieces(text)
            )
        )


@pytest.mark.slow
async def test_why_the_last_merge_was_chosen_stands_there_after_a_play(
    home: Path,
) -> None:
    async with play(full_speed=False) as player:
        await player.until("merge 0 of 768")
        player.press("escape")
        await player.until(" 20 s ")
        player.click("+", beside="■")
        await player.until(
            "step 768 of 768", "93 pairs tied", "a-story-in-english-gpt4 · 1,024"
        )


async def test_a_training_is_held_stepped_played_on_and_stopped(
    small: Path, long_book: Path, home: Path
) -> None:
    async with play(long_book, tokenizers=(small,)) as player:
        player.click("−", beside="More")
        await player.until(" 5 s ")
        player.press("f4", "f3", "f3", *["minus"] * 4)
        await player.until(
            " 80 s "
        )  # no machine is so busy that all is shown before it is held
        player.press("f6")
        await player.until(lambda screen: screen.step[0] > 0 and screen.step[1] == 768)
        player.press("f3", "space")  # from beside the log too
        await player.until("paused at")
        await player.rest()
        paused, _ = player.screen.step
        for further in 1, 2, 3:
            player.press("f7")
            await player.until(
                lambda screen, step=paused + further: screen.step[0] == step
            )
        player.press("f6")
        await player.until(lambda screen: screen.step[0] > paused + 3)
        player.press("alt+left", "alt+left")
        await player.until("paused at")
        assert (player.screen.step[0], player.screen.step[1]) > (paused + 2, 767), (
            "all are learned by now"
        )
        player.press("f8")
        await player.until(
            lambda screen: screen.step[0] == screen.step[1], "long.txt-gpt4"
        )
        stopped, _ = player.screen.step
        assert paused + 2 <= stopped < 768
    (kept,) = home.parent.rglob("long.txt-gpt4.json")
    assert load(kept).step == stopped
    kept.unlink()
    async with play() as player:
        await player.until(lambda screen: "no longer exists" in screen.told)


@pytest.mark.slow
async def test_the_presets_come_out_as_promised(small: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        player.press("f2", "end")  # the last row is S4
        title = PRESETS["S2-prose"].title
        await player.command(title)  # its article states what no rule gives
        await player.until("step 9 of 9", "article", "west</w>")
        for preset, step, text, ids in (
            ("wikipedia", 3, "aaabdaaabac", [258, 100, 258, 97, 99]),
            ("sennrich", 10, "lowest", [261, 259]),
            ("S0", 20, "Hi this is test", [72, 105, 266, 105, 115, 256, 101, 115, 116]),
            ("S1", 6, "newest", [261, 257]),
            ("S2", 6, "newest", [262, 261]),
            ("S3", 2, "aabdaabdaab", [257, 100, 257, 100, 257]),
            (
                "S4",
                107,
                "Hello world!",
                [72, 101, 265, 111, 32, 119, 111, 114, 108, 100, 33],
            ),
        ):
            await player.command(PRESETS[preset].title)
            await player.until(
                "Matches the published result",
                f"step {step} of {step}",
                f"{len(ids)} tokens",
            )
            expected = PRESETS[preset].train()
            tokens = [expected.decode([id]).removesuffix("</w>") for id in ids]
            await player.until(
                lambda screen, text=text, tokens=tokens: tokens in screen.pieces(text)
            )
            # Only in the last do merges go on whose pair occurs once, and only there is it said.
            if preset == "S4":
                await player.until("occurred only")
            assert ("occurred only" in player.screen) == (preset == "S4")
        for step in 1, 2:
            player.press("f7")
            await player.until(
                lambda screen, step=step: (
                    screen.step[0] == step and "paused at" in screen
                )
            )


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_code_runs_line_by_line_from_merge_to_merge(
    size: tuple[int, int], small: Path, book: Path
) -> None:
    async with play(book, tokenizers=(small,), size=size) as player:
        player.press("f3", "f3", "home", *["w"] * (3 if size[0] < 100 else 2))
        await player.until("short  line 4 of 4", "words = [merge(ids, best, new)")
        player.press("f")
        await player.until(
            "▸         words = [merged(",
            "line 8 of 10",
            "F7 Line",
            "i Encode",
        )
        player.press("left")
        await player.until("▸         best = choose(", "best t + h", "line 7 of 10")
        player.press("right", "f7", "f7", "f7")
        await player.until(
            "▸     for new in range(",
            "line 1 of 10",
            "step  2 of 24",
            "new ␣th (id 257)",
        )
        player.press("left", "f7", "f7")
        await player.until("line 3 of 10", "counts ␣ + th ", "corpus ␣ + th 180")
        player.press("i", "f4")
        player.write("other ")
        player.press("home", "f3", "f3", "f3")
        await player.until("ids = merged(ids, (left, right)", "encode ", "ids o th e r")
        player.press(
            "i", "w", "end", "w", "w", "w"
        )  # away, and the log has the keys; to the end, and back
        await player.until("F7 Line", "step 24 of 24")
        await player.rest()
        player.press("f7", "f7", "f7")
        await player.until("That was the last line")


async def test_leaving_in_mid_training_keeps_it_for_the_next_start(
    small: Path, long_book: Path
) -> None:
    async with play(long_book, tokenizers=(small,)) as player:
        # The first press begins the training. How many of the others come before its first merge is a matter of luck.
        player.press("f7", "f7", "f7")
        await player.until(lambda screen: screen.step[0] >= 2 and "paused at" in screen)
        for _ in range(3):
            await player.rest()
            step = player.screen.step[0] + 1
            player.press("f7")
            await player.until(
                lambda screen, step=step: (
                    screen.step[0] == step and "paused at" in screen
                )
            )
        await player.quit()
    async with play() as player:
        await player.until("long.txt-gpt4 · 1,024 tokens", "step 768 of 768")


async def test_a_training_that_was_killed_before_anything_was_kept_is_offered_again(
    small: Path, book: Path
) -> None:
    unfinished = UnfinishedTraining("book", TrainingOptions(270), (str(book),))
    Note.new(config.tokenizers_folder() / "book.json", unfinished).leave()
    async with play(tokenizers=(small,)) as player:
        await player.until("Start it again?")
        player.press("y")
        await player.until("step 14 of 14", "book-gpt4 · 270 tokens")
    assert not list(config.tokenizers_folder().glob("*.unfinished"))


@pytest.mark.parametrize("end", ["kill", pytest.param("leave", marks=pytest.mark.slow)])
def test_a_training_that_was_killed_or_left_with_the_app_goes_on(
    end: str, small: Path, long_book: Path
) -> None:
    with seen_in_terminal("-t", small, long_book) as (app, screen):
        app.until(lambda: screen().step == (24, 24), "the app is there")
        for step in 1, 2, 3:
            app.type("\x1b[18~")  # F7
            app.until(
                lambda step=step: screen().step[0] == step, "one merge is learned"
            )
        if end == "kill":
            app.kill()
        else:
            app.type("\x11")  # Ctrl+Q
            assert app.wait() == 0
    with seen_in_terminal() as (app, screen):
        app.until(
            lambda: screen().step == (768, 768), "all that it had learned is there"
        )


async def test_options_reach_the_training_and_buttons_do_what_keys_do(
    small: Path, book: Path
) -> None:
    async with play(tokenizers=(small,)) as player:
        player.press("f6")
        await player.until("No text is chosen")
        player.press("f2")
        player.click("home (here)")
        await player.until("book.txt")
        player.click("book.txt")
        await player.until("✓ book.txt", f"{len(book.read_text()):,}")
        player.press("e")
        await player.until("1,340 bytes  ")
        player.press("f3", *["backspace"] * 4, *"262", "tab", "enter")
        await player.until("another")  # the patterns that there are
        player.press("home", "down", "enter")
        await player.until(lambda screen: "another" not in screen)
        player.press("tab", "enter")
        await player.until("largest")
        player.press("end", "enter")
        await player.until(lambda screen: "lowest" not in screen)
        player.click("▸ Step")
        await player.until("step 1 of", "paused at 1 of 6")
        player.click("■")
        await player.until("step 1 of 1", "257 tokens · pattern words")
        player.click("▶")
        await player.until("step 6 of 6", "262 tokens · pattern words", "ties largest")
        player.press("f4", "f3", *["backspace"] * 4, *"258", "f7")
        await player.until("paused at 1 of 2")
        player.press("f7")
        await player.until("step 2 of 2", "vocabulary size reached")
        player.press(
            "f7"
        )  # a new training would replace what is there: that is said first
        await player.until("That was the last merge", "step 2 of 2")
        player.press("f7")
        await player.until("paused at 1 of 2")


@pytest.mark.slow
async def test_what_a_killed_worker_had_learned_is_kept(
    small: Path, huge_book: Path
) -> None:
    async with play(huge_book, tokenizers=(small,)) as player:
        player.press("f4", "f3", *["backspace"] * 4, *"900000", "f6")
        await player.until(
            "learned ", lambda screen: screen.step[0] > 0 and screen.step != (24, 24)
        )
        for worker in children():
            os.kill(worker, signal.SIGKILL)
        await player.until(
            "SIGKILL",
            lambda screen: "saved as" in screen.told,
            "huge.txt-gpt4 · ",
            lambda screen: screen.step[0] == screen.step[1],
        )


@pytest.mark.slow
async def test_a_tokenizer_is_extended_forked_and_exported(
    small: Path, book: Path, home: Path
) -> None:
    async with play(book, tokenizers=(small,)) as player:
        for command, n_tokens, last in ("extend", "300", 26), ("fork", "281", 25):
            await player.command(command)
            await player.answer("Enter to continue", n_tokens)
            await player.until(f"step {last} of {last}", f"-gpt4 · {256 + last} tokens")
            player.press("alt+left", "alt+left")
            await player.until(f"step {last - 2} of {last}")
        await player.command("export the merges")
        await player.until("merges.tsv")
        player.press("enter")
        await player.until(lambda screen: (home / "merges.tsv").exists())
        await player.rest()
        assert (home / "merges.tsv").read_text().count("\n") == 1 + 25


async def test_the_pace_is_kept_and_what_stopped_trainings_left_can_be_deleted(
    small: Path, long_book: Path
) -> None:
    async with play(long_book, tokenizers=(small,)) as player:
        player.press("f3", "f3", "minus")
        await player.until(" 5 s ")
        player.press("plus")
        await player.until(" full ")
        player.press("minus")
        await player.until(" 5 s ")
        player.press("f7")
        await player.until("paused at 1 of")
        player.press("f8")
        await player.until("stopped at step 1")
        kept = config.tokenizers_folder() / "long.txt-gpt4.json"
        for n in range(2, 6):
            shutil.copy(kept, kept.with_stem(f"{kept.stem}-{n}"))
        for step in 1, 2:
            player.press("f7")
            await player.until(f"paused at {step} of")
        player.press("f8")
        await player.until("5 tokenizers from", "long.txt-gpt4-5")
        await player.command("stopped trainings")
        await player.until("Delete 5 unnamed")
        player.press("y")
        await player.until(
            lambda screen: (
                "long.txt-gpt4-6" in screen and "long.txt-gpt4-5" not in screen
            )
        )
    async with play(full_speed=False) as player:
        await player.until(" 5 s ", "long.txt-gpt4-6")
