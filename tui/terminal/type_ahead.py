"""Keep keys and clicks while a screen opens or closes, then send them to the top screen.

Textual sends a key to the widget that has the focus when the key arrives, even if the effect of the key
before it is still on its way. Keys can arrive together, for example over a slow line. Then the Enter for
one dialog would reach another, and digits would reach the field that was just left.

So after a key that may open a screen or move the focus, the next events wait until the focused widget and
all its ancestors have handled their messages. Letters and the editor's own keys never make others wait.
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

_EDITING: Final = frozenset(
    [
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
    ]
)
"""Keys that never leave the editor, with or without a modifier."""
_PASSES: Final = 5
"""How often the messages are waited for: a message may post another one."""
_LIMIT: Final = 0.3
"""Seconds to wait for one widget: a widget that is being removed may never handle the message."""
_POLL: Final = 0.005
"""Seconds between two checks of a screen that is not ready."""
_POLLS: Final = 100


class TypeAhead:
    """Holds back the input of `app` while a screen opens or closes, and until a widget has the focus.

    Until `panes_loaded` is set, it also holds back a key that may open a screen or move the focus, and all
    events after it.
    """

    def __init__(self, app: App[None], panes_loaded: asyncio.Event) -> None:
        self._app = app
        self._panes_loaded = panes_loaded
        self._waiting: deque[Event] = deque()
        self._following: asyncio.Task[None] | None = None
        self._passing = False
        self._is_starting = True
        """Whether no widget has had the focus yet."""

    @property
    def pending(self) -> bool:
        return bool(self._waiting or self._following)

    def holds(self, event: Event) -> bool:
        """Return whether `event` has to wait; if so, it is sent again later."""
        is_input = isinstance(event, Key | MouseEvent | Paste)
        if self._passing or event.is_forwarded or not is_input:
            return False
        if self._is_starting and not self.pending:
            self._is_starting = self._app.focused is None
            if self._is_starting:
                self._following = asyncio.create_task(self._await_focus())
        if not self.pending:
            focused = self._focused()
            if self._panes_loaded.is_set() or not isinstance(event, Key):
                return False
            if not leads(event, focused):
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
        """Make the next events wait if `event`, which was just sent, may open a screen or move the focus."""
        focused = self._focused()
        if self._following is None and leads(event, focused):
            self._following = asyncio.create_task(self._follow(focused))

    def _focused(self) -> DOMNode:
        """Return the focused widget, else the screen, else the app."""
        if not self._app.screen_stack:
            return self._app
        return self._app.focused or self._app.screen

    async def _follow(self, node: DOMNode) -> None:
        """Wait until `node` and all that its messages lead to are done, then send the held events."""
        await self._panes_loaded.wait()
        for _ in range(_PASSES):
            pumps = list(node.ancestors_with_self)
            for pump in pumps:
                handled = asyncio.Event()
                if pump.is_running and pump.call_later(handled.set):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(handled.wait(), _LIMIT)
            node = self._focused()
            pumps += node.ancestors_with_self
            if not any(pump.message_queue_size for pump in pumps):
                break
        for _ in range(_POLLS):
            if _takes_keys(self._app):
                break
            await asyncio.sleep(_POLL)
        self._following = None
        if self._waiting:
            self._app.call_later(self._send)

    async def _send(self) -> None:
        """Send the held events, up to the next one that may open a screen or move the focus."""
        while self._waiting and self._following is None:
            focused = self._focused()
            if not self._panes_loaded.is_set() and leads(self._waiting[0], focused):
                self._following = asyncio.create_task(self._follow(focused))
                return
            event = self._waiting.popleft()
            self._passing = True
            try:
                # The app calls `passed`. If the event leads elsewhere, that sets `_following`, which ends the loop.
                await self._app.on_event(event)
            finally:
                self._passing = False


def leads(event: Event, focused: DOMNode) -> bool:
    """Return whether an event may open or close a screen, or move the focus.

    In a field, a letter is only typed; on a list, it may be a command.

    >>> [leads(Key(key, None), Screen()) for key in ("tab", "shift+left", "ctrl+p")], leads(Key("a", "a"), Input())
    ([True, True, True], False)
    """
    if isinstance(event, Key):
        key_alone = event.key.rpartition("+")[2]
        edits = isinstance(focused, TextArea) and key_alone in _EDITING
        accepts_text = isinstance(focused, TextArea | Input | Screen | App)
        types = event.is_printable and accepts_text
        return not (edits or types)
    return isinstance(event, MouseDown | MouseUp)


def _takes_keys(app: App[None]) -> bool:
    """Return whether the top screen is mounted and has its first focus."""
    if not app.screen_stack:
        return True
    screen = app.screen
    auto_focus = screen.AUTO_FOCUS
    if auto_focus is None:
        auto_focus = app.AUTO_FOCUS
    wants_focus = screen.is_modal and bool(auto_focus)
    return screen.is_running and (screen.focused is not None or not wants_focus)
