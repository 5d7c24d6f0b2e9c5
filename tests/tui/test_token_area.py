"""The editor: what is typed is tokenized, drawn and told; what was put in comes out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from bpe_core import Tokenizer, train
from tui.text.document import LONG_LINE
from tui.widgets.token_area import TokenArea

TOKENIZER = train("the theme of the other thesis\n" * 9 + "日本語 日本語\n" * 4, vocab_size=285, pattern="gpt4")
RAW = "\x1b]0;title\x07 a\r\nb\x0cc\x00\x9b\u2028d\n"


class Harness(App[None]):
    def compose(self) -> ComposeResult:
        yield TokenArea(id="text")


class Opened:
    """A running editor and the messages it sent."""

    def __init__(self, pilot: Pilot[None], messages: list[Message]) -> None:
        self.pilot = pilot
        self.area = pilot.app.query_one(TokenArea)
        self._messages = messages

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def sent(self, kind: type[Any]) -> list[Any]:
        # A message is seen once by each widget that it bubbles through.
        found = {id(message): message for message in self._messages if isinstance(message, kind)}
        return list(found.values())

    async def settled(self) -> int:
        """How many tokens there are, once all are known and that was told."""
        while (n_tokens := self.area.edited.n_tokens) is None or not self.sent(TokenArea.Told):
            await self.pilot.pause(0.02)
        return n_tokens

    def rows(self) -> list[str]:
        height = self.area.size.height
        return [self.area.render_line(y).text.rstrip() for y in range(height)]


@asynccontextmanager
async def opened(text: str = "", tokenizer: Tokenizer | None = TOKENIZER, **size: int) -> AsyncIterator[Opened]:
    messages: list[Message] = []
    app = Harness()
    async with app.run_test(size=(size.get("width", 40), 12), message_hook=messages.append) as pilot:
        editor = Opened(pilot, messages)
        editor.area.cursor_blink = False
        editor.area.tokenizer = tokenizer
        editor.area.load_text(text)
        editor.area.focus()
        await pilot.pause()
        yield editor


async def test_a_paste_from_a_terminal_has_newlines() -> None:
    async with opened("ab") as editor:
        await editor.press("right")
        editor.area.post_message(events.Paste("the\rtheme\r\n"))
        await editor.pilot.pause()
        assert editor.area.text == "athe\ntheme\nb"
        assert len(editor.sent(TokenArea.Edited)) == 1


async def test_nothing_raw_is_drawn() -> None:
    async with opened(RAW) as editor:
        assert editor.rows()[:3] == ["␛]0;title␇ a␍↵", "b␌c␀¤¶d↵", ""]


async def test_rows_that_look_the_same_are_not_drawn_again() -> None:
    async with opened("the theme\n" * 30) as editor:
        before = [editor.area.draw_row(y) for y in range(8)]
        await editor.press("down", "x")
        after = [editor.area.draw_row(y) for y in range(8)]
        assert [old is new for old, new in zip(before, after, strict=True)] == [False, False, *[True] * 6]


async def test_soft_wrap_follows_the_width_and_gives_up_on_very_long_lines() -> None:
    async with opened("the theme of the other thesis " * 3, width=30) as editor:
        area = editor.area
        width = area.wrap_width
        assert 20 < width < 30
        assert all(len(row) <= width + 1 for row in editor.rows())
        assert area.virtual_size.height == area.wrapped_document.height > 3
        await editor.pilot.resize_terminal(60, 12)
        await editor.pilot.pause()
        assert area.wrap_width > width
        area.insert("x" * LONG_LINE)
        await editor.pilot.pause()
        assert area.virtual_size.height == 1
        assert area.virtual_size.width > LONG_LINE
        area.undo()
        assert area.virtual_size.width == 0


async def test_the_cursor_stays_in_sight_in_a_terminal_of_another_size() -> None:
    async with opened("the theme of the other thesis " * 30 + "END", width=60) as editor:
        await editor.press("ctrl+end")
        for size in ((20, 8), (60, 12)):
            await editor.pilot.resize_terminal(*size)
            await editor.pilot.pause()
            assert any("END" in row for row in editor.rows()), size


async def test_a_click_lands_on_the_character_that_is_drawn_there() -> None:
    async with opened("\x1b漢\t日本語x\nthe") as editor:
        area = editor.area
        for x, column in ((0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (6, 4), (10, 6), (11, 7)):
            await editor.pilot.click(TokenArea, offset=(x + 2, 1))
            assert area.cursor_location == (0, column)


async def test_the_cursor_goes_by_clusters_and_backspace_by_characters() -> None:
    async with opened("e\u0301👩\u200d👧x") as editor:
        area = editor.area
        seen = [area.cursor_location[1]]
        for _ in range(3):
            await editor.press("right")
            seen.append(area.cursor_location[1])
        assert seen == [0, 2, 5, 6]
        await editor.press("home", "right", "backspace")
        assert area.text == "e👩\u200d👧x"


async def test_a_big_paste_is_worked_out_beside_the_screen() -> None:
    text = "the theme of the other thesis\n" * 20_000
    async with opened("x") as editor:
        area = editor.area
        area.post_message(events.Paste(text))
        await editor.pilot.pause()
        assert area.text == text + "x"
        assert editor.sent(TokenArea.Edited)[-1].lanes == ((None,),)
        await editor.press("y")
        assert await editor.settled() == len(TOKENIZER.encode(text + "yx"))
