"""Opening: what is asked for as a text, and may turn out to be a tokenizer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.formats import why_no_tokenizer
from bpe_core.formats.folder import tokenizer_at
from bpe_core.visible import visible
from tui.dialogs.questions import Choose
from tui.owners.owner import in_thread

if TYPE_CHECKING:
    from tui.screen.main import MainScreen


class Opening:
    """Asks what a path is meant as, where it can be both; `use` puts a tokenizer in force."""

    def __init__(self, screen: MainScreen, use: Callable[[Path], None]) -> None:
        self._screen = screen
        self._use = use

    async def as_text(self, path: Path, as_text: str) -> Path | None:
        """The path, if it is to be taken for a text; None if it is none, and nothing is left to do.

        The answer `as_text` says so where it is a tokenizer; without one, that is opened as such.
        """
        if await in_thread(why_no_tokenizer, path) is not None:
            return path
        answer: int | None = 0
        if as_text:
            question = f"{visible(path.name or str(path))} {'holds' if os.path.isdir(path) else 'is'} a tokenizer."
            answer = await self._screen.ask(Choose(question, ("Open the tokenizer", as_text)))
        if answer == 0:
            self._use(tokenizer_at(path))
        return path if answer == 1 else None
