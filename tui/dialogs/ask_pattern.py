"""AskPattern: a question for a split pattern, which is tried on a text and compared with another one while it is typed."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from rich.text import Text
from textual import on, work
from textual.widgets import Input, Static

from bpe_core.errors import BpeError
from bpe_core.patterns import PATTERNS, splitter, tried
from bpe_core.visible import counted
from tui.dialogs.ask import Ask
from tui.drawing.token_labels import colored_pieces
from tui.terminal.background import in_thread

_PAUSE: Final = 0.15
"""Seconds without a key after which a pattern is tried."""
_MOST_COMPARED: Final = 2_000
"""Texts that are split to compare two patterns, if that takes trying: 0.1 s."""
_SAMPLE: Final = (
    "The café didn't open at 10:45,\n\tso   they've walked 2,500 steps -> 東京タワー!\n"
)
"""The text to split by default. Each part of it is split differently by some pattern."""


class AskPattern(Ask[str]):
    """Asks for the name of a split pattern or a regular expression, and shows how it splits a text.

    Only an expression that was tried is accepted.
    """

    SELECTS_REFUSED = False

    def __init__(
        self,
        question: str,
        start: str = "",
        read: Callable[[], str] = str,
        current: str | None = None,
    ) -> None:
        """Prepare the question.

        Args:
            question: The question.
            start: The proposed pattern.
            read: Called in a thread, returns the text to split; "" for a sample sentence.
            current: The pattern in force, with which a typed one is compared; None to compare with nothing.
        """
        super().__init__(
            question,
            self._parse,
            start,
            hint=f"{', '.join(PATTERNS)}, or a regular expression. Tab completes a name.",
            example=r"a name, or a regular expression such as \w+|\W",
            suggest=list(PATTERNS),
        )
        self._read = read
        self._current = current

    def on_mount(self) -> None:
        self.query_one(".dialog").mount(Static(id="tried", markup=False))
        self._try(self.query_one(Input).value)

    @on(Input.Changed)
    def try_soon(self, event: Input.Changed) -> None:
        self._try(event.value)

    async def take(self, answer: str) -> None:
        self.tell("Trying it …")
        await super().take(answer)

    def _parse(self, typed: str) -> str:
        name = typed.strip()
        if name in PATTERNS:
            return name
        self._split(typed)
        return typed

    @work(exclusive=True, group="tried")
    async def _try(self, typed: str) -> None:
        """Soon after the last key, show the pieces that the pattern makes, or why it is invalid."""
        await asyncio.sleep(_PAUSE)
        pieces = None
        error = ""
        if not _is_unfinished_name(typed.strip()):
            try:
                pieces = await in_thread(self._split, typed)
            except BpeError as refusal:
                error = str(refusal)
        if not self.is_active:
            # The question has been answered meanwhile.
            return
        self.tell(error or self._hint, wrong=bool(error))
        shown = self.query_one("#tried", Static)
        if pieces is None:
            shown.update("")
            return
        n_pieces = counted(len(pieces), "piece")
        note = Text(f"{n_pieces}. Enter uses this pattern, Escape cancels.\n", "dim")
        colored = colored_pieces(pieces, shown.rich_style, self.app)
        shown.update(note + colored)
        if self._current is None:
            return
        with suppress(BpeError):
            difference = await in_thread(_difference, self._current, typed)
            if self.is_active:
                shown.update(note + Text(f"{difference}\n") + colored)

    def _split(self, typed: str) -> list[str]:
        text = ""
        # An unreadable text is reported where texts are chosen.
        with suppress(BpeError):
            text = self._read()
        return tried(typed, text or _SAMPLE)


def _is_unfinished_name(typed: str) -> bool:
    if typed in PATTERNS:
        return False
    return any(name.startswith(typed) for name in PATTERNS)


def _difference(current: str, typed: str) -> str:
    """Say where a typed pattern first splits differently from the current one."""
    # Imported here, because nothing else in the app needs them.
    from bpe_core.difference.records import written
    from bpe_core.difference.splits import compare_splits, describe_pieces

    name = current if current in PATTERNS else "the current pattern"
    old = splitter(current)
    new = splitter(typed)
    comparison = compare_splits(old, new, most_tried=_MOST_COMPARED)
    text = comparison.text
    if comparison.is_same:
        return f"It splits every text like {name}."
    if not text:
        n_tried = counted(comparison.n_tried, "text")
        return f"It splits {n_tried} of a few characters like {name}."
    of_old, of_new = describe_pieces(old.split(text), new.split(text), known=text)
    return f"It differs from {name} first at {written(text)}: {name} {of_old}, and this pattern {of_new}."
