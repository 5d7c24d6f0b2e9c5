"""What panes can do beside their main deed: lists of trainings and tokenizers, pairs, weights, exports, views."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from player import play

from bpe_core import load
from tui.disk.config import load_configuration, tokenizers_folder


async def test_trainings_are_listed_told_apart_and_laid_under_and_texts_weighed(
    small: Path, book: Path, home: Path
) -> None:
    (home / "more").mkdir()
    (home / "more" / "a.txt").write_text("aaab " * 90)
    (home / "more" / "image.png").write_bytes(bytes(range(256)))
    async with play(book, tokenizers=(small,)) as player:
        for size, name in ("270", ""), ("275", "-2"):
            player.press("f4", "f3", *["backspace"] * 4, *size, "f6")
            await player.until(
                f"book.txt-gpt4{name} · {size} tokens", "vocabulary size reached"
            )
        player.press(
            "f4", "f3", "f6"
        )  # once more the same: it needs no file of its own
        await player.until(lambda screen: "book.txt-gpt4-2 · 275" not in screen)
        await player.until(
            "book.txt-gpt4-2 · 275 tokens",
            lambda screen: "book.txt-gpt4-3" not in screen,
        )
        await player.command("list of trainings")
        await player.until("the newest first", "Learned from 1 text of 1,340 bytes")
        player.press("space", "down")
        await player.until(
            "vocabulary 275 and 270", "until step 14, where this one ends; ● has 5 more"
        )
        player.press("u")
        await player.until(
            "book.txt-gpt4-2 · 275", lambda screen: "newest first" not in screen
        )
        await player.command("list of trainings")
        await player.until("○ book.txt-gpt4 ")
        player.press("down", "enter")
        await player.until("book.txt-gpt4 · 270 tokens", "step 14 of 14")
        player.press("f3", "f3", "w")
        await player.until("after 14", "␣th + i", "12 pairs in 520 tokens")
        player.press("b")
        await player.until("20 74 68")

        player.press("f2", "home", "down", "#")
        await player.answer("should book.txt count", "no")
        await player.until("Type a number above 0")
        player.press(*"3", "enter")
        await player.until("✓ book.txt     ×3")
        player.press("#", "1", "enter")  # as is usual: that is not said
        await player.until(lambda screen: "×3" not in screen and "×1" not in screen)
        player.press("#", *"1/3", "enter")  # in the place of what is offered
        await player.until("✓ book.txt   ×1/3")
        await player.command("add a file or folder")
        await player.answer("Which file or folder", "more")
        await player.until(
            "✓ more",
            "documents                2",
            "left out                 1",
            "image.png: it is binary",
        )
        player.click("More…")
        await player.until("longest")
        player.press("0", "enter")
        await player.until("must be")
        player.press("9")
        await player.until("Enter: apply", lambda screen: "must be" not in screen)
        player.press("escape", "f6")
        await player.until(
            "book.txt-more-gpt4 · 275 tokens", "step 19 of 19", " 6 2/3 "
        )
    (kept,) = (
        one
        for one in map(load, tokenizers_folder().glob("*.json"))
        if one.record and one.record.weights
    )
    assert (
        kept.record.weights == "book.txt=1/3"
        and kept.record.n_bytes == Fraction(1340, 3) + 450
    )


@pytest.mark.slow
async def test_what_is_read_of_the_texts_is_asked_for_and_said(
    small: Path, book: Path, home: Path
) -> None:
    pytest.importorskip(
        "distributed", reason="counting by Dask needs distributed, of the extra [dask]"
    )
    for name, size in ("b.txt", 1340), ("c.txt", 670):
        (home / name).write_text("low " * (size // 4) + "x" * (size % 4))
    async with play(
        book, home / "b.txt", home / "c.txt", tokenizers=(small,)
    ) as player:
        await player.until(
            "documents                3",
            "book.txt     1.3 kB  40.0%",
            "c.txt         670 B  20.0%",
        )
        player.press("f2", "home", "down", "#")
        await player.answer("should book.txt count", "4")
        await player.until(
            "bytes                3,350",
            "book.txt     1.3 kB  72.7%",
            "b.txt        1.3 kB  18.2%",
        )

        async def ask_for(n_tabs: int, value: str, result: str) -> None:
            await player.until(lambda screen: "Use these options" not in screen)
            player.click("More")
            await player.until("Use these options")
            player.press(*["tab"] * n_tabs, "ctrl+u", *value, "enter")
            await player.until(result)

        await ask_for(8, "0", "leave out “weight”")
        player.press("escape")
        await ask_for(4, "1", "documents                1")
        await ask_for(9, "nowhere", "Dask's workers count the")
        player.press("f6")
        await player.until("No Dask cluster found at")
        await ask_for(9, "local", "Dask's workers count the")
        player.press("f6")
        await player.until("no pair left", "step 3 of 3", "documents                1")
    (kept,) = (
        one
        for one in map(load, tokenizers_folder().glob("*.json"))
        if one.record and one.record.sample
    )
    assert kept.record.sample == "1 document, seed 0" and len(kept.record.sources) == 1


async def test_a_tokenizer_is_renamed_split_anew_and_taken_off_the_list(
    small: Path, other: Path, home: Path
) -> None:
    async with play(tokenizers=(small, other)) as player:
        player.press("f2")
        player.click("small")
        await player.until("step 24 of 24", "Rename")
        await player.command("save this tokenizer for another")
        await player.answer("For which library", "tiktoken")
        await player.answer("In which file?", "mine.tiktoken")
        await player.until(lambda screen: (home / "mine.tiktoken").exists())
        await player.rest()
        player.press("n")
        await player.answer("called in the list", "tiny")
        await player.until("● tiny")
        player.press("p")
        await player.until("How should it split")
        player.press("ctrl+u")
        player.write("(")
        await player.until("regular expression:")
        player.press("ctrl+u")
        player.write("none")
        await player.until("1 piece.")
        player.press("enter")
        await player.until("280 tokens · pattern none")
        player.press("delete")
        await player.until("tiny is removed from the")
        assert small.exists()
    assert load(home / "mine.tiktoken", pattern="gpt4").n_vocab == 280


async def test_the_order_of_the_texts_stays_as_they_were_given(
    home: Path, small: Path
) -> None:
    for name in (names := ["b.txt", "c.txt", "a.txt"]):
        (home / name).write_text(f"{name} " * 9)
    for paths in [home / name for name in names], []:
        async with play(*paths, tokenizers=(small,)) as player:
            player.press("f2")
            await player.until(
                "step 24 of 24",
                "documents                3",
                *(f"✓ {name}" for name in names),
            )
            shown = [
                name
                for row in player.screen.text.splitlines()
                for name in names
                if f"✓ {name}" in row
            ]
            assert (
                [Path(path).name for path in load_configuration().corpus]
                == shown
                == names
            )
            if not paths:
                player.press("home", "down", "space")
                await player.until("documents                2")
                player.press("space")
                await player.until("documents                3")
    assert [Path(path).name for path in load_configuration().corpus] == [
        *names[1:],
        names[0],
    ], "chosen last"
    async with play() as player:
        await player.until("Chosen  c.txt + 2 more", "Files                3 ✓")
        player.press("f2", "home")
        await player.until(
            lambda screen: screen.text.count("Your own texts") == 2
        )  # there, and above the keys
        player.press("down", "o")  # only this one
        await player.until(
            "documents                1",
            "Chosen  c.txt",
            "Pieces  c.txt",
            "Files                1 ✓",
        )
        player.press("e")  # in the editor, too
        await player.until("c.txt c.txt c.txt", "54 bytes")


async def test_the_palette_finds_by_what_commands_do_and_what_is_opened_is_seen(
    small: Path, home: Path
) -> None:
    copies = [home / f"copy-{number}.json" for number in range(9)]
    for copy in copies:
        copy.write_bytes(small.read_bytes())
    async with play(tokenizers=(*copies, small)) as player:
        await player.until("● small")
        for sought, found in (
            ("gpt-4o", "Fetch a tokenizer"),
            ("vocabulary", "Extend this"),
            ("undo", "the last edit: Ctrl+Z"),
            ("redo", "undone last: Ctrl+Y"),
        ):
            player.press("ctrl+p", *sought)
            await player.until(
                found, "F6 Train", lambda screen: "F8 Stop" not in screen
            )  # the keys are not the dialog's
            player.press("escape")
            await player.rest()
        player.press("f4", "x")
        await player.until("xType here")
        await player.command("undo")
        await player.until(
            lambda screen: "xType" not in screen and "Type here" in screen
        )
        await player.command("redo")
        await player.until("xType")
        player.press("f2", "f2")
        await player.command(
            "its name in the list"
        )  # what a key does where the focus is has no name of its own
        await player.until("called in the list?")
        player.press("escape", "home")
        await player.until(
            lambda screen: "copy-0" in screen and "● small" not in screen
        )
        await player.command("open a tokenizer file")
        await player.answer("Which tokenizer file", str(home))
        await player.answer("is a folder", str(copies[8]))
        await player.until("● copy-8")


async def test_what_a_question_offers_is_replaced_by_what_is_typed(
    small: Path, book: Path
) -> None:
    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24", "✓ book.txt")
        player.press("f2")
        for ask, question in (
            (["home", "down", "#"], "count compared"),
            (["f2", "n"], "called in the list"),
            ("Extend this", "Extend: keep the"),
            ("Fork at this", "Fork at step 24"),
            ("Export the merges", "to which file?"),
        ):
            await player.command(ask) if isinstance(ask, str) else player.press(*ask)
            await player.until(question)
            player.write("7")
            await player.until(lambda screen: re.search("▊ +7 ", screen.text))
            player.press("escape")
            await player.until(lambda screen, question=question: question not in screen)
