"""Writing: typed, pasted, undone, split by other tokenizers, opened, saved, and there again at the next start."""

import re
import shutil
from pathlib import Path

import pytest
from player import Cells, play

from bpe_core import Tokenizer, load, save, train
from tui.disk import config
from tui.state import LaneChoice


def split(tokenizer: Tokenizer, text: str) -> list[str]:
    """The tokens of a text."""
    return [tokenizer.decode([token]) for token in tokenizer.encode(text)]


def edit(screen: Cells) -> str:
    """What the last edit did, as the line below the editor says."""
    return next(
        (
            row.partition("last edit")[2].strip(" │")
            for row in screen.rows
            if "last edit" in row
        ),
        "",
    )


async def test_tokens_form_anew_while_one_types_pastes_and_undoes(small: Path) -> None:
    tokenizer = load(small)
    async with play(tokenizers=(small,)) as player:
        player.press("alt+a", "delete")
        await player.until("0 tokens")
        typed = ""
        for character in "the theme of the other":
            typed += character
            player.write(character)
            if typed.endswith(("m", "e", "r")):
                tokens = split(tokenizer, typed)
                await player.until(f"{len(tokens)} token", f"{len(typed)} bytes", typed)
        player.press("enter")
        await player.until(
            lambda screen: split(tokenizer, typed) in screen.pieces(typed)
        )
        player.press("up", "end", "backspace")
        assert split(tokenizer, typed[:-1]) != split(tokenizer, typed)[:-1]
        player.press("home")
        await player.until(
            lambda screen: split(tokenizer, typed[:-1]) in screen.pieces(typed[:-1])
        )

        # What the last edit did is told, and those before it can be asked for.
        player.press("alt+a", "delete")
        await player.until(
            lambda screen: re.search(r"−\d+ tokens  −\d+ bytes", edit(screen))
        )
        player.write("a thm")
        player.press("left")
        await player.until("5 bytes")
        player.write("e")
        await player.until(
            lambda screen: (
                "␣th m → ␣them" in edit(screen) and "−1 token " in edit(screen)
            )
        )
        player.press("end", "e")
        await player.until(
            lambda screen: (
                "␣them → ␣theme" in edit(screen) and "+1 byte" in edit(screen)
            )
        )
        player.press("alt+up")
        await player.until("␣th m → ␣them")
        player.press("alt+down")
        await player.until("␣them → ␣theme")

        line = "the thing that they thought"
        chapter = f"{line}\n" * 3_000
        player.press("alt+a", "delete")
        await player.until("0 tokens")
        player.paste(chapter)
        n_tokens = len(tokenizer.encode(chapter))
        await player.until(f"{n_tokens:,} tokens", f"{len(chapter):,} bytes")
        player.press("alt+a")
        await player.command("save a picture of the text: markdown")
        await player.until(
            lambda screen: "A picture holds 20,000 characters at most" in screen.told
        )
        await player.until(lambda screen: split(tokenizer, line) in screen.pieces(line))
        player.press("ctrl+z")
        await player.until(" 0 tokens", lambda screen: line not in screen)
        player.press("ctrl+y")
        await player.until(f"{n_tokens:,} tokens")
        player.press("ctrl+home", *["delete"] * 4)
        await player.until(f"{len(chapter) - 4:,} bytes")
        await player.until(
            lambda screen: split(tokenizer, line)[1:] in screen.pieces(line[3:])
        )


async def test_the_same_text_by_two_tokenizers_in_lanes_and_one_after_the_other(
    small: Path, other: Path
) -> None:
    text = "they thought through the thesis"
    first, second = load(small), load(other)
    assert split(first, text) != split(second, text)
    async with play(tokenizers=(other, small)) as player:
        player.press("alt+a", "delete")
        player.write(f"{text}\n")
        await player.until(lambda screen: screen.pieces(text) == [split(first, text)])
        player.press("alt+l")
        await player.until("Lanes")
        player.press("enter")
        await player.until(
            lambda screen: (
                screen.pieces(text) == [split(first, text), split(second, text)]
            )
        )
        end = "that they thought"
        player.paste("\n" * 20 + end)
        await player.until(
            lambda screen: screen.pieces(end) == [split(first, end), split(second, end)]
        )
        player.press("ctrl+z")
        await player.until(lambda screen: len(screen.pieces(text)) == 2)
        player.press("up", "end")
        player.write("es")
        longer = f"{text}es"
        await player.until(
            lambda screen: (
                screen.pieces(longer) == [split(first, longer), split(second, longer)]
            )
        )
        player.press("alt+left")
        earlier = first.at(23)
        await player.until(
            lambda screen: (
                screen.pieces(longer) == [split(earlier, longer), split(second, longer)]
            )
        )
        # The tokenizer of a lane that is put in force changes places with the one before.
        for path, steps, order in (
            (other, 26, [second, first]),
            (small, 24, [first, second]),
        ):
            name, size = f"{path.stem} ", f" {256 + steps}"
            await player.until(
                lambda screen, name=name, size=size: any(
                    name in row and size in row for row in screen.rows
                )
            )
            player.click(name, beside=size)
            await player.until(f"step {steps} of {steps}")
            await player.until(
                lambda screen, order=order: (
                    screen.pieces(longer) == [split(one, longer) for one in order]
                )
            )
        both = player.screen.pieces(longer)
        player.press("f4", "x", "backspace")
        for keys, lanes in (
            (("space", "escape"), both),
            (("space", "alt+l"), both[:1]),
            (("enter",), both),
            (("enter",), both[:1]),
        ):
            player.press("alt+l")
            await player.until("Lanes: the same text")
            player.press(*keys)
            await player.until(
                lambda screen, lanes=lanes: (
                    "Lanes: the same" not in screen and screen.pieces(longer) == lanes
                )
            )
        await player.until(
            lambda screen: "−1 byte" in edit(screen)
        )  # still said without the lanes
        for path, steps in (other, 26), (small, 24):
            player.click(f"{path.stem} ", beside=str(256 + steps))
            await player.until(
                f"step {steps} of {steps}", f"{path.stem} · {256 + steps} tokens"
            )
            await player.until(
                lambda screen, path=path: (
                    split(load(path), longer) in screen.pieces(longer)
                )
            )


async def test_lanes_stay_at_a_step_or_follow_and_go_with_their_files(
    small: Path, other: Path, home: Path
) -> None:
    text = "they thought through the thesis"
    first, second = load(small), load(other)
    third = shutil.copy(other, home / "third.json")
    async with play(tokenizers=(third, other, small)) as player:
        player.press("alt+a", "delete")
        player.write(f"{text}\n")
        player.press("alt+left")
        await player.until("step 23 of 24")
        player.press("alt+l")
        await player.until("lane 1 at step 23", "lane 1 with all its merges")
        for number in 2, 3, 4:
            player.press("end", *["up"] * (number - 2), "space")
            await player.until(f"lane {number} ")
        player.press("home", "space")
        await player.until("Remove one first")
        player.press("enter")
        lanes = [split(lane, text) for lane in (first, first.at(23), second)]
        await player.until(lambda screen: screen.pieces(text)[1:] == lanes)
        player.press("alt+left")
    other.unlink()
    async with play() as player:
        await player.until(lambda screen: "cannot be shown as a lane" in screen.told)
        await player.until(lambda screen: screen.pieces(text)[1:] == lanes[:2])
    assert config.load_configuration().lanes == (LaneChoice(), LaneChoice("", 23))


async def test_after_many_edits_the_cells_are_those_of_the_next_start(
    small: Path,
) -> None:
    def editor(screen: Cells) -> list[str]:
        top, bottom = screen.place("ooo")[1], screen.place("bytes/token")[1]
        left = screen.place("ooo")[0]
        return [
            screen.style(x, y)
            for y in range(top, bottom)
            for x in range(left, left + 40)
        ][1:]  # not the cursor

    async with play(tokenizers=(small,)) as player:
        player.press("alt+a", "delete")
        player.paste(
            "ooo the the ooo oug ooo that thing\n" * 5 + "o" * 300
        )  # equal neighbors take turns in color
        await player.until("475 bytes")
        for column in 50, 41, 30, 17:
            player.press("ctrl+home", *["down"] * 5, *["right"] * column, "delete", "x")
        for row in 1, 3:
            player.press("ctrl+home", *["down"] * row, *["right"] * row)
            player.write("o")
            player.press("end", "backspace", *["left"] * row, "delete")
            player.write("oth ")
            player.press("end", "delete", "enter")
        player.press(
            "ctrl+z", "alt+left", "alt+left", "alt+right", "alt+right", "ctrl+home"
        )
        await player.until("step 24 of 24", lambda screen: "ooo" in screen)
        before: list[str] = []
        while before != editor(player.screen):
            before = editor(player.screen)
            await player.rest()
    async with play() as player:
        await player.until("step 24 of 24", "480 bytes")
        await player.until(lambda screen: editor(screen) == before)


@pytest.mark.slow
@pytest.mark.parametrize("n_frames", [0, 2])
async def test_leaving_while_the_panes_are_still_to_come(
    small: Path, n_frames: int
) -> None:
    async with play(tokenizers=(small,), waits=False) as player:
        for _ in range(n_frames):
            await player.frame()
        player.write("typed ")
    async with play(tokenizers=(small,)) as player:
        await player.until("typed Type here.", "step 24 of 24")


async def test_special_tokens_are_text_until_they_are_asked_for(
    small: Path, book: Path, home: Path
) -> None:
    learned = train(book.read_text(), vocab_size=281, special_tokens=["<end>"])
    save(learned, home / "special.json")
    async with play(tokenizers=(small, home / "special.json")) as player:
        player.press("alt+a", "delete")
        player.write("the<end>\n")
        await player.until(
            lambda screen: ["the", "<", "e", "n", "d", ">"] in screen.pieces("the<end>")
        )
        player.press("ctrl+r")
        await player.until(lambda screen: ["the", "<end>"] in screen.pieces("the<end>"))
        await player.rest()
        assert "Special tokens" not in player.screen.told
        player.press("f2")
        player.click("small")
        await player.until("small · 280 tokens")
        player.press("f4", "ctrl+r", "ctrl+r")
        await player.until(
            lambda screen: "This tokenizer has no special tokens." in screen.told
        )


async def test_a_kill_costs_no_more_than_a_second_of_typing(small: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        for typed in "first ", "then ":
            player.write(typed)
            player.pass_time(1)
            await player.until(
                lambda _, typed=typed: typed in (config.load_text() or "")
            )


async def test_a_text_is_opened_by_its_path_and_saved_and_wrong_files_are_said(
    small: Path, home: Path
) -> None:
    data = "mixed\r\nlines\rand\x0cform feeds \u2028 é\n".encode()
    (home / "in.txt").write_bytes(data)
    (home / "out.txt").write_text("something of value")
    (home / "binary.txt").write_bytes(bytes(range(256)) * 4)
    (home / "broken.json").write_text('{"format": "bpescope"')
    (home / "folder").mkdir()
    async with play(tokenizers=(small,)) as player:
        player.press("ctrl+o")
        for wrong in "nowhere.txt", ".":
            await player.answer("Which text", wrong)
            await player.until("Which text", "Not found")
        await player.answer("Which text", "binary.txt")
        await player.until(
            "binary, not text", lambda screen: "Which text" not in screen
        )
        player.press("ctrl+o")
        await player.answer("Which text", "in.txt")
        await player.until(f"{len(data)} bytes")
        for path, answer in ("new.txt", ""), ("out.txt", "n"), ("out.txt", "y"):
            player.press("ctrl+s")
            await player.answer("to which file?", path)
            if answer:
                await player.until("out.txt", "Replace")
                player.press(answer)
            await player.rest()
            kept = b"something of value" if answer == "n" else data
            await player.until(
                lambda _, path=home / path, kept=kept: (
                    path.exists() and path.read_bytes() == kept
                )
            )
        for wrong, said in (
            ("broken.json", "not JSON"),
            ("folder", "is a folder"),
            ("nowhere.json", "Not found"),
        ):
            await player.command("open a tokenizer")
            await player.answer("Which tokenizer file", wrong)
            await player.until(said)
            player.press("escape")
            await player.until(lambda screen: "Which" not in screen)
        player.press("f4")
        player.write("still here ")
        await player.until("still here ", "small · 280 tokens")


async def test_what_the_editor_tells_of_a_text_and_the_ways_to_see_it(
    small: Path, home: Path
) -> None:
    tokenizer = load(small)
    async with play(tokenizers=(small,)) as player:
        player.press("alt+e")
        await player.until("STRAWBERRY")
        player.press("alt+e")
        await player.until(lambda screen: "STRAWBERRY" not in screen)
        player.press("ctrl+z", "ctrl+z")
        await player.until("Type here.")
        player.press("alt+a", "delete")
        player.write("they thоugh ")  # with a Cyrillic о, and a blank at the end
        await player.until("2 pitfalls", "Cyrillic", "13 bytes")
        player.press("ctrl+n")
        await player.until("selected", "7 bytes", "1 of 2  ")
        player.press("ctrl+end", "ctrl+b")  # pins the text
        player.press("backspace")
        await player.until("pinned", "−1 byte", "1 pitfall")
        player.press("ctrl+t")
        await player.until("no merge", "No merge joins these:")
        player.press("ctrl+t", "home", "right", "right")
        await player.until("they", "␣they")  # what may come
        player.press("ctrl+l")
        await player.until("the│y", "The tokens around the cursor")
        player.press("s")  # what is typed goes into the text
        await player.until("thsey", "Type to see tokens")
        player.press("backspace")
        for view in (
            "the│y│␣th│\\xd0│\\xbe│u│g│h",
            "259 121 257 208 190 117 103 104",
            "259  step 4",
            "they thоugh",
        ):
            player.press("ctrl+l")
            await player.until(view)

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
        await player.answer("Enter to continue", "seen.md")
        await player.until(lambda screen: (home / "seen.md").exists())
        await player.rest()
        assert "thesis" in (home / "seen.md").read_text()

        text = "the thing they thought"
        player.press("alt+i")
        await player.until("Turn ids into text")
        player.paste(str(tokenizer.encode(text)))
        await player.until(
            text, f"{len(tokenizer.encode(text))} ids", f"{len(text)} bytes"
        )
        player.press("alt+a", "delete")
        player.write("104 9999")
        await player.until("2 ids", "vocabulary: 9999")
        player.press("alt+a", "delete")
        player.paste(" ".join(map(str, tokenizer.encode(text))))
        await player.until("4 ids")
        player.press("f4")
        await player.until(
            f"{len(text)} bytes  ",
            lambda screen: split(tokenizer, text) in screen.pieces(text),
        )


@pytest.mark.slow
async def test_a_tokenizer_of_the_list_is_renamed_and_deleted(
    small: Path, book: Path
) -> None:
    async with play(book, tokenizers=(small,)) as player:
        player.press("f7")
        await player.until("paused at 1 of")
        player.press("f8")
        await player.until("step 1 of 1", "book.txt-gpt4")
        player.press("f2", "f2", "n")
        await player.answer("Enter to continue", "mine")
        await player.until("● mine")
        player.press("delete")
        await player.until("mine?")
        player.press("y")
        await player.until(lambda screen: "● mine" not in screen)


@pytest.mark.slow
async def test_ranks_without_a_pattern_are_asked_for_it_once(
    small: Path, home: Path
) -> None:
    save(load(small), home / "ranks.txt", format="tiktoken")
    async with play(tokenizers=(home / "ranks.txt",), waits=False) as player:
        await player.answer("regular expression", "gpt4")
        await player.until("step 24 of 24", "ranks")
    async with play() as player:
        await player.until("step 24 of 24", "ranks · 280 tokens · pattern gpt4")


async def test_a_typed_pattern_is_compared_with_the_one_in_force(small: Path) -> None:
    async with play(tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        await player.command("Split pattern of this tokenizer")
        await player.until("It splits every text like gpt4.")
        player.press("end", "ctrl+u", *"qwen2")
        await player.until(
            "It differs from gpt4 first at '11':",
            "this pattern splits it into '1' and '1'",
        )
        player.press("end", "ctrl+u", *"(a")  # half typed
        await player.until(
            "not a valid regular expression",
            lambda screen: "differs from" not in screen,
        )
        player.press("end", "ctrl+u", *r"(?<=1)1|\S", "escape")
        await player.until(lambda screen: "How should it split text?" not in screen)


async def test_examples_and_presets_leave_the_users_text_and_texts_where_they_are(
    book: Path, small: Path
) -> None:
    async with play(book, tokenizers=(small,)) as player:
        await player.until("step 24 of 24", "✓ book.txt")
        player.press("alt+e", "alt+z")
        await player.until("undoes")  # nothing had been typed
        player.press("ctrl+a", *"mine")
        await player.command("Next example")
        await player.until(
            "brings your text", lambda screen: "mine" not in screen, "✓ book.txt"
        )
        await player.command("strawberry")
        await player.until("STRAWBERRY")
        player.press("ctrl+home", *"edited")
        await player.command("Next example")
        await player.until(lambda screen: "edited" not in screen)
    async with play() as player:
        await player.until("✓ book.txt", "step 24 of 24")
        for text in "edited", "mine":
            player.press("alt+z")
            await player.until(text)


async def test_no_text_is_forgotten_while_texts_are_brought_back(small: Path) -> None:
    texts = [f"text {number}" for number in range(1, 10)]
    config.save_configuration(config.Configuration(texts=tuple(texts)))
    async with play(tokenizers=(small,)) as player:
        await player.until("step 24 of 24")
        player.press("ctrl+a", *"mine")
        await player.until("mine")
        player.press("alt+z")
        await player.until("text 1")
        player.press("ctrl+home", *"edited")
        await player.until("editedtext 1")
        for text in (*texts[1:], "mine", "editedtext 1", "text 2"):
            player.press("alt+z")
            await player.until(text)
        player.press("ctrl+home", *"again")
        await player.until("againtext 2")
        player.press("alt+e")
        await player.until("An older text was forgotten")
