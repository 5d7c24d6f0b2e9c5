"""What is typed or clicked faster than the app follows: each deed goes to where the one before it has led.

Over a slow line, or on a busy machine, many events come in one batch. Textual sends a key to what has the focus at that
moment, while the key before it is still on its way to what it does: an Enter meant for one dialog would reach another,
digits the field that was just left, and a Backspace between two digits would delete the second. Here what follows a
key that is no letter, or a click, waits until the app has come to rest.
"""

import asyncio
import time
from collections import deque
from typing import Final

from textual.app import App
from textual.events import Event, Key, MouseDown, MouseEvent, MouseMove, MouseUp, Paste
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

_MOVING: Final = frozenset(("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "backspace", "delete"))
"""Keys that lead nowhere else; the editor does them at once, so that nothing has to wait for them there."""
_PATIENCE: Final = 2.0
"""Seconds after which what follows waits no longer for an app that does not come to rest."""
_ROUNDS: Final = 3
"""Rounds of the event loop without a message on its way, after which an app is at rest."""


class TypeAhead:
    """Holds back the input of an app while what came before it has still to have its effect."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._waiting: deque[Event] = deque()
        self._following: asyncio.Task[None] | None = None
        self._passing = False

    @property
    def pending(self) -> bool:
        """Whether something waits for its turn, or would have to."""
        return bool(self._waiting or self._following)

    def holds(self, event: Event) -> bool:
        """Whether `event` has to wait; it comes again, by itself, when its turn has come."""
        if self._passing or not self.pending or event.is_forwarded or not _is_input(event):
            return False
        if isinstance(event, MouseMove) and self._waiting and isinstance(self._waiting[-1], MouseMove):
            self._waiting.pop()  # only where the mouse has come to
        self._waiting.append(event)
        return True

    def passed(self, event: Event) -> None:
        """`event` has been sent to its place: what comes next waits if that may lead elsewhere."""
        focused = self._app.focused if self._app.screen_stack else None
        if self._following is None and leads(event, focused):
            self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        """Wait for the app to come to rest, then let it go on with what has waited."""
        end, quiet = time.monotonic() + _PATIENCE, 0
        while quiet < _ROUNDS and time.monotonic() < end:
            await asyncio.sleep(0)
            quiet = quiet + 1 if at_rest(self._app) else 0
        self._following = None
        if self._waiting:
            self._app.call_later(self._go_on)

    async def _go_on(self) -> None:
        """Send on what has waited, up to the next that leads elsewhere."""
        while self._waiting and self._following is None:
            event = self._waiting.popleft()
            self._passing = True
            try:
                await self._app.on_event(event)
            finally:
                self._passing = False


def leads(event: Event, focused: Widget | None) -> bool:
    """Whether an event has to have had its effect before the next one is sent anywhere.

    A letter is typed where something can be typed; on a list it may be a key that leads to a field.

    >>> [leads(Key(key, None), None) for key in ("tab", "shift+left", "ctrl+p")], leads(Key("a", "a"), Input())
    ([True, True, True], False)
    """
    if isinstance(event, Key):
        at_once = isinstance(focused, TextArea) and event.key.rpartition("+")[2] in _MOVING
        is_typed = event.is_printable and (focused is None or isinstance(focused, TextArea | Input))
        return not (is_typed or at_once)
    return isinstance(event, MouseDown | MouseUp)


def at_rest(app: App[None]) -> bool:
    """Whether no message is on its way, and the screen in front is ready for keys."""
    if not app.screen_stack:
        return True
    screen = app.screen
    if not screen.is_running or (_wants_focus(screen) and screen.focused is None):
        return False
    if screen.is_modal and any(worker.node is screen and not worker.is_finished for worker in app.workers):
        return False  # the palette is looking for what was typed
    return not any(node.message_queue_size for node in (app, screen, *screen.walk_children()))


def _wants_focus(screen: Screen[object]) -> bool:
    wanted = screen.app.AUTO_FOCUS if screen.AUTO_FOCUS is None else screen.AUTO_FOCUS
    return bool(wanted) and screen.is_modal


def _is_input(event: Event) -> bool:
    return isinstance(event, Key | MouseEvent | Paste)
