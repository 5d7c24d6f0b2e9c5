"""Through the life of a vocabulary: every way leads to the same step, and the editor's tokens form anew at each."""

import re
from pathlib import Path

from player import Cells, play

from bpe_core import load

TEXT = "the theme of the other thesis"


async def test_travel_by_keys_the_line_of_steps_and_the_log(small: Path) -> None:
    whole = load(small)

    def at(step: int):
        tokens = [whole.decode([id]) for id in whole.at(step).encode(TEXT)]
        return lambda screen: (
            screen.step == (step, 24) and tokens in screen.pieces(TEXT)
        )

    async with play(tokenizers=(small,)) as player:
        player.write(f"{TEXT}\n")
        await player.until(at(24))
        player.press("alt+left", "alt+left")
        await player.until(at(22))
        player.press("alt+right")
        await player.until(at(23))
        player.click("━", beside="◂")
        await player.until(lambda screen: screen.step[0] < 23)
        for key, step in (
            ("home", 0),
            ("right", 1),
            ("right", 2),
            ("shift+right", 12),
            ("left", 11),
            ("shift+left", 1),
            ("end", 24),
        ):
            player.press(key)
            await player.until(at(step))
        player.press("f3", "f3", "up", "up")
        await player.until(at(22))
        player.press("home")
        await player.until(at(1))
        player.press("alt+left", "alt+left")  # there is nothing before the bytes
        await player.until(at(0), "Step 0: each byte is a")
        player.press("end")
        await player.until(at(24))
        player.click(" 21 ", beside="␣that", right=1)
        await player.until("step 21 of 24")
        player.click(" 19 ", beside="␣thing", right=1)
        await player.until(
            "step 19 of 24", lambda screen: re.search(r"● +19 ", screen.text)
        )  # its row says so, too

        x, y = player.screen.place("●", beside="◂")
        left = player.screen.place("◂")[0]
        player.drag((x, y), (x - 10, y), (x - 20, y), (left + 1, y))
        await player.until(
            lambda screen: screen.step[0] == 0 and list(TEXT) in screen.pieces(TEXT)
        )
        middle = (left + x) // 2
        player.drag((left + 1, y), (left + 9, y), (middle, y))
        await player.until(
            lambda screen: (
                8 < screen.step[0] < 16
                and abs(screen.place("●", " of 24")[0] - middle) < 3
            )
        )
        step = player.screen.step[0]
        tokens = [whole.decode([id]) for id in whole.at(step).encode(TEXT)]
        await player.until(lambda screen: tokens in screen.pieces(TEXT))


def rows_of_the_log(screen: Cells) -> list[int]:
    return [
        int(number)
        for number in re.findall(r"│ +(?:● +)?(\d+)  \S+ +\S+ +\S+ +\d+ ", screen.text)
    ]


async def test_a_step_is_gone_to_by_number_by_condition_by_search_and_by_playing(
    small: Path,
) -> None:
    whole = load(small)
    tokens = [whole.token_bytes(token).decode() for *_, token in whole.merges]
    longest = max(map(len, tokens))

    async with play(tokenizers=(small,)) as player:
        player.press("f3", "f3")
        for goal, step in (
            ("5", 5),
            (
                "length > 5",
                next(at for at, token in enumerate(tokens, 1) if len(token) > 5),
            ),
            ("step >= 11", 11),
        ):
            player.press("g")
            await player.answer("Go to which step", goal)
            await player.until(
                lambda screen, step=step: (
                    screen.step == (step, 24) and "Go to which" not in screen
                )
            )
        player.press("g")
        await player.answer("Go to which step", "99")
        await player.until("24", "Go to which step")
        player.press("escape")
        await player.until(lambda screen: "Go to which" not in screen)
        player.press("home", "slash")
        player.write("thes")
        having = [at for at, token in enumerate(tokens, 1) if "thes" in token]
        await player.until(lambda screen: sorted(rows_of_the_log(screen)) == having)
        player.press("enter")
        await player.until(lambda screen: screen.step[0] == rows_of_the_log(screen)[0])
        player.press("down")
        await player.until(lambda screen: screen.step[0] == rows_of_the_log(screen)[1])
        player.press("slash", "escape")
        await player.until(lambda screen: len(rows_of_the_log(screen)) > len(having))
        assert player.screen.step[0] in having
        # A step that is asked for is seen, whatever hid it.
        hidden = next(at for at in range(1, 25) if at not in having)
        for hide in (
            ["slash", *"thes", "enter"],
            ["right", "right", "right", "right"],
        ):  # partial UTF-8: none
            player.press(*hide)
            await player.until(lambda screen: hidden not in rows_of_the_log(screen))
            player.press("g")
            await player.answer("Go to which step", str(hidden))
            await player.until(
                lambda screen: (
                    re.search(rf"● +{hidden} ", screen.text)
                    and screen.step[0] == hidden
                )
            )
            await player.until(
                lambda screen: (
                    len(rows_of_the_log(screen)) > len(having)
                    and "0x hex" not in screen
                )
            )
        player.press("home")
        await player.until("step  1 of 24", lambda screen: 1 in rows_of_the_log(screen))
        player.press("right")
        await player.until(
            lambda screen: (
                [len(tokens[at - 1]) for at in rows_of_the_log(screen)][:1] == [longest]
            )
        )
        player.press("left")
        await player.until(lambda screen: 1 in rows_of_the_log(screen))

        player.click("●", beside="◂")
        player.press("home")
        await player.until("step  0 of 24")
        player.press(
            "minus", "minus", "minus", "space"
        )  # down to the slowest before it begins: no machine is too busy
        await player.until("Space Pause")
        await player.until(lambda screen: screen.step[0] > 0)
        player.press("space")
        await player.until("Space Play")
        held = player.screen.step[0]
        assert held < 11, "which is the last that changes the text"
        player.press("space", "plus", "plus", "plus")
        player.press("end")
        await player.until("Space Play", "step 24 of 24")
        player.press("space")  # from the first again
        await player.until(lambda screen: screen.step[0] < 11)
