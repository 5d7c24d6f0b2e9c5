"""Keep the editor's text and the place in it for the next start: after each edit, and when the app ends."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from tui.disk.locked import Autosave
from tui.features.feature import StateScreen
from tui.state import EditorPlace
from tui.terminal.background import in_thread
from tui.widgets.token_area import TokenArea

_SECONDS_TO_KEEP: Final = 0.5
"""Seconds from an edit until the text is written. An accident costs less than a second of typing."""


class TextKeeper:
    """Writes the user's text to disk. During a lesson, this is not the text in the editor."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        # Kept here, because the text is written after the screen has lost its widgets.
        self._area: TokenArea = screen.editor.area
        self._autosave = Autosave(partial(screen.say, severity="warning"))
        self.last_text = self._autosave.beginning
        """The text of the last run; None at the first start."""
        self.last_place = self._autosave.place
        """The cursor and the part in view of that text."""
        self._is_keeping = False

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the user's text."""
        own_text = self._screen.own_text
        if own_text is None:
            return tuple(self._area.document.lines)
        return own_text.split("\n")

    @property
    def place(self) -> EditorPlace:
        """The cursor of the user's text, and the part in view."""
        if self._screen.own_text is None:
            return self._area.place
        return self._screen.own_place

    def keep_soon(self) -> None:
        """Write the text shortly after an edit."""
        if not self._is_keeping:
            self._is_keeping = True
            self._screen.run_worker(self._keep_until_written())

    async def _keep_until_written(self) -> None:
        """Write the newest text, and try again while the disk refuses it."""
        editor = self._screen.editor
        while self._area.document.n_edits > self._autosave.n_kept:
            await asyncio.sleep(_SECONDS_TO_KEEP)
            problem = await self.keep()
            if problem and problem != editor.not_kept:
                self._screen.say(unkept_sentence(problem), "warning")
            editor.not_kept = problem
        self._is_keeping = False

    async def keep(self) -> str:
        """Write the text and the place in a thread. Return the problem in a few words, or ""."""
        place = self.place
        try:
            await in_thread(
                self._autosave.keep, self.lines, self._area.document.n_edits
            )
            await in_thread(self._autosave.keep_place, place)
        except OSError as error:
            return str(error.strerror)
        return ""

    def keep_at_end(self) -> str:
        """Write the text, if necessary as a temporary file, and the place in it.

        Return a sentence about any problem, or "".
        """
        try:
            self._autosave.keep_place(self.place)
            return self._autosave.keep_somewhere(
                self.lines, self._area.document.n_edits
            )
        except OSError as error:
            return f"The text could not be saved for the next start: {error.strerror}."
        finally:
            self._autosave.release()


def unkept_sentence(problem: str) -> str:
    """Say why the text is not safe, and how to save it."""
    return f"The text cannot be saved for the next start: {problem}. Ctrl+S saves it elsewhere."
