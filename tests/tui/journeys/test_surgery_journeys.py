"""Changing a vocabulary: marked tokens fall, words become tokens, and the saved file does what was shown."""

import re
from pathlib import Path

from player import play

from bpe_core import load
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label


def split(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.decode([token]) for token in tokenizer.encode(text)]


def built_on_others(tokenizer: Tokenizer) -> tuple[int, int]:
    """A token, and one that is made of it."""
    for left, right, token in tokenizer.merges:
        for part in (left, right):
            if part > 255:
                return part, token
    raise AssertionError


async def test_marked_tokens_fall_with_what_is_built_on_them(
    small: Path, book: Path, home: Path
) -> None:
    before = load(small)
    part, whole = built_on_others(before)
    n_marked = 2
    other = next(
        token
        for _, _, token in reversed(before.merges)
        if all(token not in pair[:2] for pair in before.merges) and token != whole
    )
    text = f"{before.decode([whole])}{before.decode([other])}"
    async with play(book, tokenizers=(small,)) as player:
        player.press("alt+a", "delete")
        player.write(text)
        await player.until(lambda screen: split(before, text) in screen.pieces(text))
        await player.command("without the marked")
        await player.until(lambda screen: "No token is marked" in screen.told)
        player.press("f5")
        await player.until("notes ·", "Space Mark")
        for number, token in enumerate((part, other), 1):
            player.press("slash", "ctrl+u")
            player.write(f"{token}\n")
            await player.until(
                lambda screen, token=token: re.search(rf"│ .*\b{token}  ", screen.text)
            )
            await player.rest()
            player.press("home", "space")
            await player.until(f"× {number} marked")
        player.press("space")
        await player.until("× 1 marked")
        player.press("space")
        await player.until("× 2 marked")
        player.press("d")
        await player.until(
            f"Without {n_marked} tokens",
            f"{before.n_tokens} tokens before, {before.n_tokens - 2} after",
            "Nothing makes these any more",
            f"{whole}  {token_label(before.token_bytes(whole))}",
            "Remove those, too (t)",
            lambda screen: re.search(r"Different lines: [1-9]\d* of \d+", screen.text),
        )
        player.press("s")  # not before it is decided
        await player.rest()
        assert "Remove those, too (t)" in player.screen
        player.press("k")
        await player.until("Kept, since others", f"{before.n_tokens - 1} after.")
        player.press("escape", "d")
        await player.until("Remove those, too (t)")
        player.press("t")
        await player.until("Save… (s)")
        player.press("end")
        await player.until("Nothing makes these any more")
        player.press("l")
        await player.until(
            lambda screen: "Lane 2 is the tokenizer after the change" in screen.told
        )
        await player.until(
            lambda screen: (
                len(screen.pieces(text)) == 2
                and screen.pieces(text)[0] == split(before, text)
                and screen.pieces(text)[1] != split(before, text)
            )
        )
        lane = player.screen.pieces(text)[1]
        player.press("alt+g", "s")
        await player.answer("In which format", "native")
        await player.answer("In which file?", str(home / "without.json"))
        await player.until("without · ", lambda screen: screen.pieces(text) == [lane])
        after = load(home / "without.json")
        assert not {part, whole, other} & set(after.vocabulary.ids())
        assert split(after, text) == lane
        await player.until(lambda screen: "2 marked" not in screen)
        steps = len(after.merges)
        player.press("alt+left")
        await player.until(f"step {steps - 1} of {steps}")


async def test_words_become_single_tokens_or_are_refused(
    small: Path, home: Path
) -> None:
    before = load(small)
    async with play(tokenizers=(small,)) as player:
        player.press("alt+a", "delete")
        player.write("blow xylophone")
        await player.until("14 bytes")
        player.press("alt+g")
        await player.until("Which word should be one token?")
        player.write("New York\n")
        await player.until(
            "'New␣York' can't become one token: the split pattern cuts it into",
            "“New” + “␣York”.",
        )
        player.press("ctrl+u")
        player.write(" xylophone\n")
        await player.until(
            "“␣xylophone” as one token",
            "A model has not seen the new tokens",
            "No text is chosen",
        )
        player.press("w")
        await player.until("Which word should be one token?")
        player.write("blow\n")
        await player.until("2 words as single tokens", "Words  2")
        player.press("s")
        await player.answer("In which format", "huggingface")
        await player.answer("In which file?", str(home / "more.json"))
        await player.until(
            lambda screen: screen.pieces("blow xylophone") == [["blow", " xylophone"]]
        )
        after = load(home / "more.json")
        assert split(after, "blow xylophone") == ["blow", " xylophone"]
        assert after.vocabulary.ids()[: before.n_tokens] == before.vocabulary.ids()
        player.press("alt+g")
        await player.until("Which word should be one token?")
        player.write("zebra\n")
        await player.until("“zebra” as one token")
        player.press("s")
        await player.answer("In which format", "tiktoken")
        await player.answer("In which file?", str(home / "ranks.tiktoken"))
        await player.until("ranks · ", "pattern gpt4")  # a file of ranks has none
        ranks = load(home / "ranks.tiktoken", pattern="gpt4")
        assert split(ranks, "zebra blow") == ["zebra", " ", "blow"]
        player.press("alt+a", "alt+g")  # the selection
        await player.until("the split pattern cuts it into “blow” + “␣xylophone”")
