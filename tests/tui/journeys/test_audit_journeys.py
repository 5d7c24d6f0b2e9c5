"""Looking for suspicious tokens, and comparing tokenizers: each finding leads to its merge and into the editor."""

import csv
import re
from pathlib import Path

from player import Cells, play

from bpe_core import load
from bpe_core.visible import token_label


def findings(screen: Cells) -> list[int]:
    """The ids in the rows of the audit."""
    return [
        int(token)
        for token in re.findall(
            r"││ +(?:[▲●○] +\d\.\d\d [█-▏ ]+(?:[▸▾] \d+ +)?)?(\d+)  \S", screen.text
        )
    ]


async def test_a_finding_leads_to_its_merge_and_into_the_editor(
    small: Path, book: Path
) -> None:
    tokenizer = load(small)
    made = {token: (left, right) for left, right, token in tokenizer.merges}
    async with play(book, tokenizers=(small,)) as player:
        player.press("f5")
        await player.until(
            "notes ·",
            "Enter Show merge",
            lambda screen: 256 in findings(screen),
        )
        worst = findings(player.screen)[:1]
        for key, told in (
            ("w", "does not occur in the chosen"),
            ("audit with the chosen", "tokenizer alone"),
            ("audit with the chosen", "tokenizer, book.txt"),
        ):
            player.press(key) if key == "w" else await player.command(key)
            await player.until(told, lambda screen: findings(screen)[:1] == worst)
        for down in 0, 1:
            token = findings(player.screen)[down]
            player.press(*["down"] * down, "enter")
            text = tokenizer.decode([token])
            merge = " +".join(
                re.escape(token_label(tokenizer.token_bytes(one)))
                for one in (*made[token], token)
            )
            await player.until(
                f"{len(text)} characters",
                lambda screen, merge=merge: re.search(merge, screen.text),
            )
            await player.until(
                lambda screen, text=text: [text] in screen.pieces(text)
            )  # in the editor
            player.press("f5")
            await player.until("notes ·", lambda screen: findings(screen)[:1] == worst)
        player.press("f3", "f7")
        await player.until("paused at 1 of")
        await player.rest()
        assert "F3 changes" in player.screen.text, (
            "a training that forgets the audit leaves the training in sight"
        )
        player.press("f5")
        await player.until("The audit starts")
        player.pass_time(1)
        await player.rest()
        assert (
            "The audit starts" in player.screen
            and "▶ Audit  / text, id, 0x hex   " in player.screen
        )
        assert "not saved" not in player.screen, "no audit is tried beside a training"
        player.press("f8")  # it ends, and the pane is open
        await player.until("13 notes ·")


async def test_the_findings_are_sorted_searched_filtered_and_written(
    small: Path, book: Path, home: Path
) -> None:
    tokenizer = load(small)
    async with play(book, tokenizers=(small,)) as player:
        player.press("f5")
        await player.until("notes ·", lambda screen: 256 in findings(screen))
        scores = re.findall(r"│ +[▲●○] +(\d\.\d\d) ", player.screen.text)
        assert scores == sorted(scores, reverse=True)
        player.press("S")
        await player.until(lambda screen: findings(screen)[0] < 256)
        player.click(" id", beside="score", right=1)
        await player.until(lambda screen: findings(screen) == sorted(findings(screen)))
        player.press("home")
        await player.until(lambda screen: findings(screen)[:3] == [0, 1, 2])
        x, y = player.screen.place("0  ␀")
        player.press("down")
        await player.until(
            lambda screen: (
                screen.style(x, y) == screen.style(x, y + 2) != screen.style(x, y + 1)
            )
        )
        player.press("right")
        await player.until(
            lambda screen: 256 in findings(screen) and 10 not in findings(screen)
        )  # "th" is never used
        player.press("left", "home")
        await player.until(lambda screen: 10 in findings(screen))
        player.press("slash")
        for sought in "oug", "0x6f7567":
            player.write(sought)
            having = [
                token for token in range(280) if b"oug" in tokenizer.token_bytes(token)
            ]
            await player.until(lambda screen, having=having: findings(screen) == having)
            player.press("ctrl+u")
            await player.until(lambda screen: findings(screen)[:3] == [0, 1, 2])
        player.write("oug")
        await player.until(lambda screen: findings(screen) == having)
        player.press(
            "enter", "enter"
        )  # the line of steps, the log and the reason agree on where the token was made
        step = tokenizer.vocabulary.step_of(having[0])
        await player.until(
            f"Step {step} made this token",
            f"merge {step} ",
            lambda screen: screen.step[0] == step,
        )
        await player.until(lambda screen: re.search(rf"● +{step} ", screen.text))
        player.press("f5", "slash", "ctrl+u", "enter", "s", "S")
        await player.rest()
        player.press("x")
        await player.answer("Enter to continue", "found.md")
        await player.until(lambda screen: (home / "found.md").exists())
        await player.rest()
        assert "| id " in (home / "found.md").read_text()
        (home / "more.txt").write_text("other texts than it learned from")
        await player.command("add a file or folder")
        await player.answer("Which file or folder", "more.txt")
        await player.until("✓ more.txt", "characters           1,372")
        player.click("▶ Audit")
        await player.until("tokenizer alone")
        await player.command("measure the editor's text")
        await player.until(
            "Compare",
            "bytes per token",
            lambda screen: "Search for commands" not in screen,
        )


async def test_an_audit_without_merges_says_how_to_get_some(kept: Path) -> None:
    kept.write_text("not a tokenizer")
    async with play(size=(80, 24)) as player:
        player.press("f5")
        await player.until("No merges yet: F6 trains a tokenizer, Ctrl+P opens")


async def test_tokenizers_are_compared_on_the_chosen_text(
    small: Path, other: Path, book: Path, home: Path
) -> None:
    text = book.read_text()
    counts = [len(load(path).encode(text)) for path in (small, other)]
    async with play(book, tokenizers=(other, small)) as player:
        player.press("alt+a", "delete")
        for n in 1, 2:  # what is in the editor when the pane is opened
            player.paste(text)
            player.press("f10")
            now = [len(load(path).encode(text * n)) for path in (small, other)]
            await player.until(
                lambda screen, now=now: re.search(
                    rf"│ *tokens +{now[0]} +{now[1]} ", screen.text
                )
            )
            player.press("f4")
        player.press("f10")
        await player.until("▶ Compare  editor's text")
        player.press("a")
        await player.until(
            "[A]",
            "[B]",
            "▶ Compare  chosen texts",
            "Enter: compare on the chosen texts",
            "Enter Compare  Space Choose",
        )
        player.press("enter")
        await player.until(
            "▶ Compare  chosen texts",
            lambda screen: re.search(
                rf"book\.txt +1,340 +{counts[0]} +{counts[1]} ", screen.text
            ),
        )
        await player.rest()
        player.press("x")
        await player.answer("to which file? .csv, .md, .tex", "found.csv")
        await player.until(lambda screen: (home / "found.csv").exists(), "Saved as")
        (head, row), n = (
            csv.reader((home / "found.csv").read_text().splitlines()),
            len(text.encode()),
        )
        named = [f"A {small.stem}", f"B {other.stem}", "vs. A"]
        assert head == ["text", "bytes", *named] and row[:4] == [
            "book.txt",
            str(n),
            *map(str, counts),
        ]
        for view in (
            "Latin",
            "bytes per token",
            "book.txt:1",
            "boundaries",
            "A and B, part by part",
        ):
            player.press("right")
            await player.until(view)
        player.press("left", "left")
        await player.until("book.txt:1")
        player.press("tab", "enter")  # opens that line in the editor
        await player.until(f"{len(text):,} bytes", "bytes/token")


async def test_the_field_names_the_compared_texts_and_changing_it_compares_again(
    small: Path, other: Path, book: Path
) -> None:
    text = book.read_text()
    in_editor, in_texts = (
        [len(load(path).encode(part)) for path in (small, other)]
        for part in ("a text of mine", text)
    )
    async with play(tokenizers=(other, small), size=(80, 24)) as player:
        player.press("alt+a", "delete")
        player.paste("a text of mine")
        player.press("f10")
        await player.until(
            "▶ Compare  editor's text",
            lambda screen: re.search(rf"│ *tokens +{in_editor[0]} ", screen.text),
        )
        player.press("f10", "f10", "enter", "up", "up", "enter")
        await player.until(
            "▶ Compare  editor's text",
            lambda screen: "No text is chosen" in screen.told,
        )
        await player.command("add a file or folder")
        await player.answer("Which file or folder", str(book))
        player.press("f2")
        await player.until("✓ book.txt")
        player.press("f10", "f10", "f10", "enter", "up", "up", "enter")
        await player.until(
            "▶ Compare  chosen texts",
            lambda screen: re.search(
                rf"book\.txt +1,340 +{in_texts[0]} +{in_texts[1]} ", screen.text
            ),
        )


async def test_one_token_in_the_editor_is_said_to_be_too_short_to_compare(
    small: Path, other: Path
) -> None:
    async with play(tokenizers=(other, small), size=(80, 24)) as player:
        player.press("alt+a", "delete")
        player.write("e")
        player.press("f10")
        await player.until(
            "1 token: too short to compare. Type more (F4), or choose texts above.",
            "▶ Compare  editor's text",
            lambda screen: "Rényi" not in screen,
        )
        player.press("f4")
        player.write(" and more of it")
        player.press("f10")
        await player.until("fertility", lambda screen: "too short" not in screen)


async def test_the_only_tokenizer_is_compared_with_its_first_half(
    small: Path, book: Path
) -> None:
    whole = load(small)
    async with play(tokenizers=(small,), size=(80, 24)) as player:
        player.press("alt+a", "delete")
        player.paste(book.read_text())
        player.press("f10")
        n, half = (len(one.encode(book.read_text())) for one in (whole, whole.at(12)))
        await player.until(
            "A small · B step 12 on the editor's text",
            lambda screen: re.search(rf"tokens +{n:,} +{half:,} ", screen.text),
            "╭ A small",
            "╰ B step",
            "▔",
        )
        player.press("tab", "tab", "down", "down")
        await player.until(
            lambda screen: re.search(r"2 of [\d,]+ differences", screen.text),
            lambda screen: re.search(r" A [^│]+, B .+│.+\. Enter selects", screen.text),
        )
        place = player.screen.text
        assert "meaning" not in place, "the line below explains each metric"
        player.press("enter")
        await player.until("F4 Editor", "selected")


async def test_the_comparison_opens_with_a_text_that_shows_the_difference(
    small: Path, other: Path, book: Path
) -> None:
    text = book.read_text()
    async with play(tokenizers=(other, small), size=(80, 24)) as player:
        player.press("alt+a", "delete")
        player.paste(text)
        player.press("f10")
        await player.until("A and B differ  A ", "Enter Open")
        await player.rest()
        row = next(row for row in player.screen.rows if "A and B differ" in row)
        witness = re.findall(r"differ  A (\S+)", row)[0].replace("␣", " ")
        ids = [load(path).encode(witness) for path in (small, other)]
        assert ids[0] != ids[1] and len(witness) < 12
        player.press("enter")
        shown = (f"╭ small {witness} ", f"╰ other {witness} ")
        await player.until("F4 Editor", *shown, lambda screen: "Alt+Z" in screen.told)
        player.press("f10")
        title = "A small · B other on the editor's text · 1 text"
        n_tokens = len(load(small).encode(text))
        await player.until(
            row[:30],
            title,
            lambda screen: re.search(rf"│ *tokens +{n_tokens} ", screen.text),
        )
        player.press("left", "left", "left")  # before the metrics, and then the last
        await player.until("A and B, part by part", "≠  ")
        player.press("left", "down")
        await player.until("boundaries", "First at")
        player.press("enter")  # the compared text is shown again
        await player.until("F4 Editor", "╭ small the theme")
