"""Guards against faults of Textual 8.2 that would end the app.

For each guard, a test shows the fault, and fails once a new version of Textual no longer has it.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from itertools import accumulate
from typing import Any, ClassVar, Final, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandInput, CommandList, CommandPalette
from textual.errors import NoWidget
from textual.events import MouseEvent
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Label, OptionList
from textual.worker import WorkerError

from bpe_core.visible import visible

SOON: Final = 1.0
"""Seconds that keys wait for a disk: a network folder may never answer."""
LONGEST_PASTE: Final = 10_000
"""Characters that a field accepts in one paste: it redraws all of them at each key."""

Answer = TypeVar("Answer")


def stop_outdated_resize(screen: Screen[Any], event: events.Resize) -> bool:
    """Stop an event whose size the terminal no longer has, and return whether it was stopped.

    Fault: each layout sends the screen a Resize with the size that it was computed for. After two quick
    changes of the size, the two layouts replace each other forever.
    """
    is_outdated = event.size != screen.app.size
    if is_outdated:
        event.prevent_default()
    return is_outdated


class Dialog(ModalScreen[Answer]):
    """A dialog that can be answered only once, and only while it is the top screen.

    Fault: a second Enter or click that is already queued closes the screen under the dialog, down to
    the last screen (ScreenStackError). An answer under an open palette closes the palette instead.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel")
    ]

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        if self.is_active:
            return super().dismiss(result)
        return AwaitComplete()

    async def soon(self, answer: Coroutine[Any, Any, None]) -> None:
        """Run an answer that may read a disk; keys wait for it, but at most `SOON` seconds."""
        worker = self.run_worker(answer, exclusive=True)
        with suppress(TimeoutError, WorkerError):
            async with asyncio.timeout(SOON):
                await asyncio.shield(worker.wait())

    def tell(self, sentence: str, *, wrong: bool = False) -> None:
        hint = self.query_one(".dialog--hint", Label)
        hint.update(visible(sentence))
        hint.set_class(wrong, "-wrong")

    on_resize = stop_outdated_resize


class PagedOptionList(OptionList):
    """An option list that ignores Page Up and Page Down while it has no rows on the screen.

    Fault: KeyError before the first layout, or if there is no room.
    """

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]


class Field(Input):
    """An input field that shows control characters as visible symbols.

    Fault: a pasted or restored U+202E reverses the rest of the line, and ESC sends a command to the terminal.
    """

    @property
    def _value(self) -> Text:
        return Text(visible(self.value), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return cell_len(visible(self.value[:position]))

    def _cell_offset_to_index(self, offset: int) -> int:
        cell = offset + self.scroll_offset.x
        ends = accumulate(map(cell_len, visible(self.value)))
        for index, end in enumerate(ends):
            if cell < end:
                return index
        return len(self.value)

    def _on_paste(self, event: events.Paste) -> None:
        # `Input` inserts the first line of this.
        event.text = event.text[:LONGEST_PASTE]


class _PaletteField(CommandInput, Field):
    """The search field of the palette."""


class GuardedPalette(CommandPalette, Dialog[None]):
    """A command palette that accepts keys and clicks before its first layout and after it is closed."""

    def compose(self) -> ComposeResult:
        for part in super().compose():
            if isinstance(part, CommandInput):
                part = _PaletteField(
                    placeholder=part.placeholder, select_on_focus=False
                )
            yield part

    def _action_command_list(self, action: str) -> None:
        # The palette creates its own list, so the guard of `PagedOptionList` is repeated here.
        turns_page = action in ("page_up", "page_down")
        if turns_page and not self.query_one(CommandList).scrollable_content_region:
            return
        super()._action_command_list(action)

    @on(Input.Submitted)
    async def wait_for_matches(self) -> None:
        """Finish the search before Enter runs a command.

        Fault: Enter right after typing a name runs the first command of the list before the search.
        """
        for worker in list(self.workers):
            if worker.node is self and worker.group == self._GATHER_COMMANDS_GROUP:
                # A later search may have cancelled this one.
                with suppress(WorkerError):
                    await worker.wait()


def leads_nowhere(screen: Screen[Any], event: MouseEvent) -> bool:
    """Return whether the widget under the mouse has been removed but is still drawn.

    Fault: a click on it asks for the region of a container that no longer exists (AttributeError).
    """
    try:
        widget, _ = screen.get_widget_at(event.x, event.y)
    except NoWidget:
        return False
    return widget is not screen and not widget.is_attached
