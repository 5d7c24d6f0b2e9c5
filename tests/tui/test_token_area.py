"""The editor: what is typed is tokenized, drawn and told; what was put in comes out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scope import alone, drawn
from textual import events
from textual.pilot import Pilot

from bpe_core import train
from tui.text.document import LONG_LINE
from tui.widgets.token_area import TokenArea

TOKENIZER = train(
    "the theme of the other thesis\n" * 9 + "日本語 日本語\n" * 4,
    vocab_size=285,
    pattern="gpt4",
)
RAW = "\x1b]0;title\x07 a\r\nb\x0cc\x00\x9b\u2028d\n"


@asynccontextmanager
async def edited(
    text: str, width: int = 40
) -> AsyncIterator[tuple[TokenArea, Pilot[None]]]:
    """A text in an editor that is alone on a screen."""
    async with alone(area := TokenArea(), size=(width, 12)) as (pilot, _):
        area.cursor_blink = False
        area.tokenizer = TOKENIZER
        area.load_text(text)
        await pilot.pause()
        yield area, pilot


async def test_a_paste_from_a_terminal_has_newlines() -> None:
    async with edited("ab") as (area, pilot):
        await pilot.press("right")
        area.post_message(events.Paste("the\rtheme\r\n"))
        await pilot.pause()
        assert area.text == "athe\ntheme\nb"
        await pilot.press("ctrl+z")
        assert area.text == "ab", "it was one edit"


async def test_nothing_raw_is_drawn() -> None:
    async with edited(RAW) as (area, _):
        assert drawn(area)[:3] == ["␛]0;title␇ a␍↵", "b␌c␀¤¶d↵", ""]


async def test_rows_that_look_the_same_are_not_drawn_again() -> None:
    async with edited("the theme\n" * 30) as (area, pilot):
        before = [area.draw_row(y) for y in range(8)]
        await pilot.press("down", "x")
        after = [area.draw_row(y) for y in range(8)]
        assert [old is new for old, new in zip(before, after, strict=True)] == [
            False,
            False,
            *[True] * 6,
        ]


async def test_soft_wrap_follows_the_width_and_gives_up_on_very_long_lines() -> None:
    async with edited("the theme of the other thesis " * 3, 30) as (area, pilot):
        width = area.wrap_width
        assert 20 < width < 30
        assert all(len(row) <= width + 1 for row in drawn(area))
        assert area.virtual_size.height == area.wrapped_document.height > 3
        await pilot.resize_terminal(60, 12)
        await pilot.pause()
        assert area.wrap_width > width
        area.insert("x" * LONG_LINE)
        await pilot.pause()
        assert area.virtual_size.height == 1
        assert area.virtual_size.width > LONG_LINE
        area.undo()
        assert area.virtual_size.width == 0


async def test_the_cursor_stays_in_sight_in_a_terminal_of_another_size() -> None:
    async with edited("the theme of the other thesis " * 30 + "END", 60) as (
        area,
        pilot,
    ):
        await pilot.press("ctrl+end")
        for size in ((20, 8), (60, 12)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert any("END" in row for row in drawn(area)), size


async def test_a_click_lands_on_the_character_that_is_drawn_there() -> None:
    async with edited("\x1b漢\t日本語x\nthe") as (area, pilot):
        for x, column in (
            (0, 0),
            (1, 1),
            (2, 1),
            (3, 2),
            (4, 3),
            (6, 4),
            (10, 6),
            (11, 7),
        ):
            await pilot.click(TokenArea, offset=(x + 2, 1))
            assert area.cursor_location == (0, column)


async def test_the_cursor_goes_by_clusters_and_backspace_by_characters() -> None:
    async with edited("e\u0301👩\u200d👧x") as (area, pilot):
        seen = [area.cursor_location[1]]
        for _ in range(3):
            await pilot.press("right")
            seen.append(area.cursor_location[1])
        assert seen == [0, 2, 5, 6]
        await pilot.press("home", "right", "backspace")
        assert area.text == "e👩\u200d👧x"


async def test_a_big_paste_is_worked_out_beside_the_screen() -> None:
    text = "the theme of the other thesis\n" * 20_000
    async with edited("x") as (area, pilot):
        area.post_message(events.Paste(text))
        await pilot.pause()
        assert area.text == text + "x"
        await pilot.press("y")
        while area.edited.n_tokens is None:
            await pilot.pause(0.02)
        assert area.edited.n_tokens == len(TOKENIZER.encode(text + "yx"))


async def test_a_flash_shows_each_place_of_a_token_strongly_for_a_moment() -> None:
    async with edited("the theme of the other") as (area, pilot):
        area.show_cursor = False
        await pilot.pause()
        the = area.edited.spans(0, 1)[0].ids[0]
        spans = area.edited.spans(0, 22)
        before = area.draw_row(0)
        area.flash(the, 0.2)
        flashing = area.draw_row(0)
        changed = [
            (old.style != new.style, old.text)
            for old, new in zip(before, flashing, strict=True)
        ]
        texts = [text for is_changed, text in changed if is_changed]
        n_places = sum(the in span.ids for span in spans)
        assert n_places and len(texts) == n_places and set(texts) == {"the"}
        while area.edited.flashing:
            await pilot.pause(0.05)
        assert area.draw_row(0) == before
