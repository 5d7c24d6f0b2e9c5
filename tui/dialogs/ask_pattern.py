"""AskPattern: asks for a split pattern, and shows how it splits a text while it is typed."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.widgets import Input, Static

from bpe_core.errors import BpeError
from bpe_core.patterns import PATTERNS
from bpe_core.plurals import counted
from tui.dialogs.questions import Ask
from tui.drawing.palette import colored_pieces
from tui.terminal.guards import in_front

_SAMPLE: Final = "The café didn't open at 10:45,\n\tso   they've walked 2,500 steps -> 東京タワー!\n"
"""What is split where there is no text at hand: what patterns differ in."""
_AT_REST: Final = 0.15
"""Seconds without a key after which what is typed is tried."""


class AskPattern(Ask[str]):
    """Asks for a split pattern, by its name or as it is; gives one that has been tried."""

    SELECTS = False
    DEFAULT_CSS = """
    AskPattern #tried { height: auto; max-height: 8; margin-top: 1; }
    """
    WAITING: ClassVar[str] = "Trying it …"

    def __init__(self, question: str, start: str = "", read: Callable[[], str] = str) -> None:
        """`read` reads the text that is split, beside the screen; where it finds none, a sentence is."""
        hint = f"{', '.join(PATTERNS)}, or a regular expression. Tab completes a name."
        example = r"a name, or a regular expression such as \w+|\W"
        super().__init__(question, str, start, hint=hint, example=example, suggest=[*PATTERNS])
        self._read = read

    def after_hint(self) -> ComposeResult:
        """The text in pieces."""
        yield Static(id="tried", markup=False)

    def on_mount(self) -> None:
        """One thread splits, so that a slow pattern keeps no more than that busy."""
        self._beside = ThreadPoolExecutor(1, "pattern")
        self._try(self.query_one(Input).value)

    def on_unmount(self) -> None:
        """Nobody waits for it any more."""
        self._beside.shutdown(wait=False, cancel_futures=True)

    @on(Input.Changed)
    def try_soon(self, event: Input.Changed) -> None:
        """Try the pattern a moment after it was changed, and show below how it splits the text."""
        self._try(event.value)

    @work(exclusive=True, group="tried")
    async def _try(self, typed: str) -> None:
        await asyncio.sleep(_AT_REST)
        if not in_front(self):  # it was answered meanwhile
            return
        shown, name = self.query_one("#tried", Static), typed.strip()
        if name not in PATTERNS and any(known.startswith(name) for known in PATTERNS):  # or nothing at all
            shown.update("")
            self.tell(self._hint)
            return
        pieces: list[str] = []
        problem = ""
        try:
            pieces = await self._pieces(typed)
        except BpeError as error:
            problem = str(error)
        if not in_front(self):
            return
        if problem:
            shown.update("")
            self.tell(problem, wrong=True)
        else:
            self.tell(self._hint)
            number = Text(f"{counted(len(pieces), 'piece')}; Enter takes it, Escape leaves all as it was.\n", "dim")
            shown.update(number + colored_pieces(pieces, shown.rich_style, self.app))

    def take(self, typed: str) -> None:
        """A name is taken at once, anything else once it has been tried."""
        if typed.strip() in PATTERNS:
            self.dismiss(typed.strip())
        else:
            self.tell(self.WAITING)
            self._take(typed)

    @work(exclusive=True, group="tried")
    async def _take(self, typed: str) -> None:
        try:
            await self._pieces(typed)
        except BpeError as error:
            if in_front(self):
                self.refuse(typed, str(error))
        else:
            self.dismiss(typed)

    async def _pieces(self, typed: str) -> list[str]:
        return await asyncio.get_running_loop().run_in_executor(self._beside, self._split, typed)

    def _split(self, typed: str) -> list[str]:
        from bpe_core.patterns import tried

        text = ""
        with suppress(BpeError):  # what is wrong with a text is told where it is chosen
            text = self._read()
        return tried(typed, text or _SAMPLE)
