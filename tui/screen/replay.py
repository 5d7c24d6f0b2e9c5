"""Replay: the editor's text is played from bytes to the last merge, through the steps that change it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Final

from bpe_core.explain.trace import steps_seen
from tui.state.training import PACES
from tui.widgets.step_line import StepLine

if TYPE_CHECKING:
    from textual.timer import Timer

    from tui.screen.main import MainScreen

LONGEST: Final = 100_000
"""Characters of a text whose steps are played; of a longer one its beginning decides which they are."""
_SECONDS: Final = 20
"""How long a replay takes about, until another pace is chosen."""
_FRAMES: Final = 20
"""Steps that are shown in a second at most; of a faster pace some are left out."""


class Replay:
    """Moves the step in force along by itself, as fast as is wished."""

    def __init__(self, screen: MainScreen, go_to: Callable[[int], Awaitable[None]]) -> None:
        """`go_to` puts a step in force once the one before has been drawn."""
        self._screen = screen
        self._go_to = go_to
        self._timer: Timer | None = None
        self._steps: list[int] = []
        self._shown = 0
        """How many of these steps have been shown."""
        self._pace = 0
        """Steps a second of the last play, with which it goes on after a pause; 0 before the first."""
        self._since, self._before = 0.0, 0
        """When the present pace began, and how many had been shown then."""

    async def toggle(self) -> None:
        """Play, from the first merge if the last is in force; or pause, and go on from there."""
        if self._timer is not None:
            self.stop()
            return
        screen, tokenizer = self._screen, self._screen.tokenizer
        if tokenizer is None or not tokenizer.vocabulary.knows_merges:
            screen.say("There are no merges to play yet.", "warning")
            return
        self._steps = steps_seen(tokenizer, screen.editor.area.text[:LONGEST])
        if not self._steps:
            screen.say("No merge changes this text: each of its tokens is one byte.", "warning")
            return
        at_end = screen.step >= self._steps[-1]
        if at_end:
            await self._go_to(0)
        self._shown = 0 if at_end else bisect_right(self._steps, screen.step)
        self._play(self._usual_pace if at_end or not self._pace else self._pace)
        self._show_keys()

    def _show_keys(self) -> None:
        """Go to the line of steps, whose keys pause it and change its pace; from elsewhere, the text is shown too."""
        screen = self._screen
        line = screen.query_one(StepLine)
        if screen.focused is not line:
            screen.active = "editor"
            screen.set_focus(line)

    def stop(self) -> None:
        """Stay where it is."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._screen.playing = 0

    def change_pace(self, by: int) -> None:
        """The next faster pace (1), or the next slower (-1), while it plays."""
        paces = PACES[:-1]
        if self._timer is not None:
            here = paces.index(self._screen.playing)
            self._play(paces[max(0, min(here + by, len(paces) - 1))])

    @property
    def _usual_pace(self) -> int:
        return next((pace for pace in PACES if pace * _SECONDS >= len(self._steps)), PACES[-2])

    def _play(self, pace: int) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._screen.playing = self._pace = pace
        self._since, self._before = monotonic(), self._shown
        self._timer = self._screen.set_interval(max(1 / pace, 1 / _FRAMES), self._advance)

    async def _advance(self) -> None:
        """Go to the step whose time has come; a screen that was late leaves some out."""
        due = round((monotonic() - self._since) * self._screen.playing)
        self._shown = min(max(self._shown + 1, self._before + due), len(self._steps))
        step = self._steps[self._shown - 1]
        if self._shown == len(self._steps):
            self.stop()
        await self._go_to(step)
