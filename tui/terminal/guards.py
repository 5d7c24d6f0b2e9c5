"""What Textual 8.2 does not bear, and what is done about it: each deed that would end the app, in one place.

For each guard a test says what happens without it, and fails once Textual needs it no longer.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.command import CommandInput, CommandList, CommandPalette
from textual.errors import NoWidget
from textual.events import MouseEvent
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Label, OptionList
from textual.worker import WorkerError

from bpe_core.visible import visible

SOON: Final = (
    1.0  # seconds that keys wait for a disk: a folder of a network may never answer
)
LONGEST_PASTE: Final = 10_000  # characters that a field takes in one paste: all are drawn again at each key

Answer = TypeVar("Answer")


def outdated(screen: Screen[Any], event: events.Resize) -> bool:
    """Whether the terminal has another size by now; then the screen drops this one. Without: a layout sends its screen
    the size it was made for, and of two sizes in quick succession each brings the other back, for ever."""
    if late := event.size != screen.app.size:
        event.prevent_default()
    return late


class Dialog(ModalScreen[Answer]):
    """A question that is answered once, and only while it is in front.

    Without: a second Enter or click that was on its way already closes what lies below the dialog, down to the last
    screen (ScreenStackError); an answer given while the palette lies above closes the palette in the dialog's place.
    """

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete()

    async def soon(self, answer: Coroutine[Any, Any, None]) -> None:
        """Give an answer that may have to ask a disk: keys wait for it, unless that disk does not answer either."""
        worker = self.run_worker(answer, exclusive=True)
        with suppress(TimeoutError, WorkerError):
            async with asyncio.timeout(SOON):
                await asyncio.shield(worker.wait())

    def tell(self, sentence: str, *, wrong: bool = False) -> None:
        hint = self.query_one(".dialog--hint", Label)
        hint.update(visible(sentence))
        hint.set_class(wrong, "-wrong")

    on_resize = outdated


class PagedOptionList(OptionList):
    """An option list for pages turned before it is laid out, or where it has no room. Without: KeyError."""

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]


class Field(Input):
    """A line to type into, whatever it holds: each character is drawn as one glyph, and the cursor stands on that.

    Without: a pasted or remembered U+202E turns the rest of the terminal's line around, and ESC commands the terminal.
    """

    @property
    def _value(self) -> Text:
        return Text(visible(self.value), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return cell_len(visible(self.value[:position]))

    def _cell_offset_to_index(self, offset: int) -> int:
        cell = offset + self.scroll_offset.x
        ends = accumulate(map(cell_len, visible(self.value)))
        return next(
            (index for index, end in enumerate(ends) if cell < end), len(self.value)
        )

    def _on_paste(self, event: events.Paste) -> None:
        event.text = event.text[
            :LONGEST_PASTE
        ]  # and `Input` takes the first line of it


class _PaletteField(CommandInput, Field):
    """What is sought in the palette."""


class GuardedPalette(CommandPalette, Dialog[None]):
    """The command palette, for keys and clicks that come before it is laid out, or after it has gone."""

    def compose(self) -> ComposeResult:
        for part in super().compose():
            if isinstance(part, CommandInput):
                part = _PaletteField(
                    placeholder=part.placeholder, select_on_focus=False
                )
            yield part

    def _action_command_list(self, action: str) -> None:
        """As a `PagedOptionList`; the palette makes its list itself."""
        if (
            action not in ("page_up", "page_down")
            or self.query_one(CommandList).scrollable_content_region
        ):
            super()._action_command_list(action)

    @on(Input.Submitted)
    async def wait_for_matches(self) -> None:
        """Without: Enter right behind a name runs the command that stood first before that name was looked for."""
        for worker in list(self.workers):
            if worker.node is self and worker.group == self._GATHER_COMMANDS_GROUP:
                with suppress(WorkerError):  # a later search took its place
                    await worker.wait()


def leads_nowhere(screen: Screen[Any], event: MouseEvent) -> bool:
    """Whether what is under the mouse has been removed, and is only still to be seen.

    Without: a click on such a place asks a container that is gone for its region (AttributeError).
    """
    try:
        widget, _ = screen.get_widget_at(event.x, event.y)
    except NoWidget:
        return False
    return widget is not screen and not widget.is_attached
