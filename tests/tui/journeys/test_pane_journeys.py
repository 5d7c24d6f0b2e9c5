"""What panes can do beside their main deed: lists of trainings and tokenizers, pairs, weights, exports, views."""

from pathlib import Path

from player import play

from bpe_core import load


async def test_trainings_are_listed_told_apart_and_laid_under(small: Path, book: Path) -> None:
    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        for size, name in ("270", ""), ("275", "-2"):
            player.press("f4", "f3", *["backspace"] * 4, *size, "f6")
            await player.until(f"book.txt-gpt4{name} · {size} tokens", "vocabulary size reached")
        player.press("f4", "f3", "f6")  # once more the same: it needs no file of its own
        await player.until(lambda screen: "book.txt-gpt4-2 · 275" not in screen)
        await player.until("book.txt-gpt4-2 · 275 tokens", lambda screen: "book.txt-gpt4-3" not in screen)
        await player.command("list of trainings")
        await player.until("the newest first", "Learned from 1 text of 1,340 bytes")
        player.press("space", "down")
        await player.until("vocabulary 275 and 270", "until step 14, where this one ends; ● has 5 more")
        player.press("u")
        await player.until("book.txt-gpt4-2 · 275", lambda screen: "newest first" not in screen)
        await player.command("list of trainings")
        await player.until("○ book.txt-gpt4 ")
        player.press("down", "enter")
        await player.until("book.txt-gpt4 · 270 tokens", "step 14 of 14")
        player.press("f3", "f3", "w")
        await player.until("after 14", "␣th + i", "12 pairs in 520 tokens")
        player.press("b")
        await player.until("20 74 68")


async def test_a_tokenizer_is_renamed_split_anew_and_taken_off_the_list(small: Path, other: Path, home: Path) -> None:
    async with play(tokenizers=(small, other)) as player:
        await player.until("step 26 of 26")
        player.press("f2")
        player.click("small")
        await player.until("step 24 of 24", "Rename")
        await player.command("save this tokenizer for another")
        await player.answer("For which library", "tiktoken")
        await player.answer("In which file?", "mine.tiktoken")
        await player.until(lambda screen: (home / "mine.tiktoken").exists())
        await player.rest()
        player.press("r")
        await player.answer("called in the list", "tiny")
        await player.until("● tiny")
        player.press("p")
        await player.until("How should it be")
        player.press("ctrl+u")
        player.write("(")
        await player.until("regular expression:")
        player.press("ctrl+u")
        player.write("none")
        await player.until("1 piece;")
        player.press("enter")
        await player.until("280 tokens · none")
        player.press("delete")
        await player.until("tiny is no longer in the")
        assert small.exists()
    assert load(home / "mine.tiktoken", pattern="gpt4").n_vocab == 280


async def test_texts_are_weighed_added_and_cut_by_options(small: Path, book: Path, home: Path) -> None:
    (home / "more.txt").write_text("aaab " * 90)
    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.press("f2", "home", "down", "w")
        await player.answer("should book.txt count", "no")
        await player.answer("Type a number above 0", "3")
        await player.until("✓ book.txt     ×3")
        await player.command("add a file or folder")
        await player.answer("Which file or folder", "more.txt")
        await player.until("✓ more.txt", "documents                2")
        player.click("More …")
        await player.until("longest")
        player.press("escape")
        await player.rest()


async def test_the_merges_are_played_and_the_play_is_held(small: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.click("●", beside=" of 24")
        player.press("home")
        await player.until("step  0 of 24")
        player.press("space")
        await player.until("space Pause")
        player.press("minus", "minus", "minus")  # down to one a second
        await player.until(lambda screen: screen.step[0] > 0)
        player.press("space")
        await player.until("space Play")
        held = player.screen.step[0]
        assert held < 11, "which is the last that changes the text"
        player.press("space", "plus", "plus", "plus")
        await player.until("space Play", "step 11 of 24")
        player.press("space")  # from the first again
        await player.until(lambda screen: screen.step[0] < 11)


async def test_findings_are_turned_and_written_to_a_file(small: Path, book: Path, home: Path) -> None:
    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.press("f5", "enter")
        await player.until("tokens found in the tokenizer")
        player.press("f5", "s", "r")
        await player.rest()
        player.press("x")
        await player.answer("Enter to go on", "found.md")
        await player.until(lambda screen: (home / "found.md").exists())
        await player.rest()
        assert "| id " in (home / "found.md").read_text()
        await player.command("measure the editor's text")
        await player.until("Compare", "bytes per token", lambda screen: "Search for commands" not in screen)


async def test_a_text_is_copied_pictured_and_seen_in_other_ways(small: Path, home: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.press("alt+a", "delete")
        player.write("the other  thesis")
        await player.until("17 bytes")
        player.press("ctrl+g")
        await player.until("the·other··thesis")
        player.press("ctrl+g")
        await player.until("the other  thesis")
        await player.command("copy token ids")
        await player.until("Copied 4 ids")
        await player.command("save a picture of the text: markdown")
        await player.answer("Enter to go on", "seen.md")
        await player.until(lambda screen: (home / "seen.md").exists())
        await player.rest()
        assert "thesis" in (home / "seen.md").read_text()
