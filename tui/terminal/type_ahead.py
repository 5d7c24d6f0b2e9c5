"""What is typed or clicked while a screen comes or goes waits, and then goes to the screen that is in front.

Textual sends a key to what has the focus when it arrives, while what the key before it does may still be on its way: in
one batch, as over a slow line, the Enter meant for one dialog would reach another, and digits the field that was just
left. So a key that may lead elsewhere is followed up from the widget that it was sent to: once that widget and all that
it stands in have handled their messages, it has led to where it leads. Letters and the editor's own keys are never
followed, so nothing waits behind what is typed.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

from textual.app import App
from textual.dom import DOMNode
from textual.events import Event, Key, MouseDown, MouseEvent, MouseUp, Paste
from textual.screen import Screen
from textual.widgets import Input, TextArea

_EDITING: Final = frozenset(  # keys that stay in the editor, alone or with a modifier
    (
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pageup",
        "pagedown",
        "backspace",
        "delete",
        "enter",
    )
)
_PASSES: Final = 5  # how often a key is followed up: what it does may be done by a message, and that by another
_LIMIT: Final = 0.3  # seconds that a widget is waited for: one that is being removed may never handle the message
_POLL: Final = 0.005  # seconds between two looks at a new screen that is not ready
_POLLS: Final = 100


class TypeAhead:
    """Holds the input of `app` back while a screen comes or goes, and until `ready` is set."""

    def __init__(self, app: App[None], ready: asyncio.Event) -> None:
        self._app = app
        self._ready = ready
        self._waiting: deque[Event] = deque()
        self._following: asyncio.Task[None] | None = None
        self._passing = False
        self._is_starting = True  # whether nothing has had the focus yet

    @property
    def pending(self) -> bool:
        return bool(self._waiting or self._following)

    def holds(self, event: Event) -> bool:
        """Whether `event` has to wait; it is sent again when its turn has come."""
        if (
            self._passing
            or event.is_forwarded
            or not isinstance(event, Key | MouseEvent | Paste)
        ):
            return False
        if self._is_starting and not self.pending:
            self._is_starting = self._app.focused is None
            if self._is_starting:
                self._following = asyncio.create_task(self._await_focus())
        if not self.pending:
            focused = self._focused()
            if (
                self._ready.is_set()
                or not isinstance(event, Key)
                or not leads(event, focused)
            ):
                return False
            self._following = asyncio.create_task(self._follow(focused))
        self._waiting.append(event)
        return True

    async def _await_focus(self) -> None:
        """Wait until the first widget has the focus, then send what was typed."""
        while self._app.focused is None:
            await asyncio.sleep(_POLL)
        self._is_starting = False
        self._following = None
        self._app.call_later(self._send)

    def passed(self, event: Event) -> None:
        """`event` has been sent to its widget: what comes next waits if `event` may lead elsewhere."""
        focused = self._focused()
        if self._following is None and leads(event, focused):
            self._following = asyncio.create_task(self._follow(focused))

    def _focused(self) -> DOMNode:
        """What has the focus; nothing has: the screen, or the app."""
        return (
            (self._app.focused or self._app.screen)
            if self._app.screen_stack
            else self._app
        )

    async def _follow(self, node: DOMNode) -> None:
        await self._ready.wait()
        for _ in range(_PASSES):
            pumps = [*node.ancestors_with_self]
            for pump in pumps:
                handled = asyncio.Event()
                if pump.is_running and pump.call_later(handled.set):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(handled.wait(), _LIMIT)
            node = self._focused()
            if not any(
                pump.message_queue_size for pump in (*pumps, *node.ancestors_with_self)
            ):
                break
        for _ in range(_POLLS):
            if _takes_keys(self._app):
                break
            await asyncio.sleep(_POLL)
        self._following = None
        if self._waiting:
            self._app.call_later(self._send)

    async def _send(self) -> None:
        """Send what has waited, up to the next event that leads elsewhere."""
        while self._waiting and self._following is None:
            focused = self._focused()
            if not self._ready.is_set() and leads(self._waiting[0], focused):
                self._following = asyncio.create_task(self._follow(focused))
                return
            event = self._waiting.popleft()
            self._passing = True
            try:
                await self._app.on_event(event)
            finally:
                self._passing = False


def leads(event: Event, focused: DOMNode) -> bool:
    """Whether an event may open or close a screen, or move the focus.

    A letter is typed where something can be typed; on a list it may be a command.

    >>> [leads(Key(key, None), Screen()) for key in ("tab", "shift+left", "ctrl+p")], leads(Key("a", "a"), Input())
    ([True, True, True], False)
    """
    if isinstance(event, Key):
        edits = (
            isinstance(focused, TextArea) and event.key.rpartition("+")[2] in _EDITING
        )
        types = event.is_printable and isinstance(
            focused, TextArea | Input | Screen | App
        )
        return not (edits or types)
    return isinstance(event, MouseDown | MouseUp)


def _takes_keys(app: App[None]) -> bool:
    """Whether the screen in front is mounted and has its first focus."""
    if not app.screen_stack:
        return True
    screen = app.screen
    wants_focus = screen.is_modal and bool(
        app.AUTO_FOCUS if screen.AUTO_FOCUS is None else screen.AUTO_FOCUS
    )
    return screen.is_running and (screen.focused is not None or not wants_focus)
