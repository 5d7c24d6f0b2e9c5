"""What the main screen does about texts: count those that are chosen, open and save the editor's."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from textual import on, work

from bpe_core.errors import BpeError
from bpe_core.visible import visible
from tui import messages
from tui.screen.state import StateScreen

if TYPE_CHECKING:
    from tui.sources import TextSource


class TextsScreen(StateScreen):
    """The part that minds texts."""

    @on(messages.CorpusChosen)
    def take_corpus(self, event: messages.CorpusChosen) -> None:
        """Other texts: count them."""
        self.corpus = event.corpus
        self._remember(corpus=event.corpus.paths, reference=event.corpus.reference)
        self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        from tui.jobs import totals

        self.totals = None
        if not self.corpus.paths:
            return
        await asyncio.sleep(0.3)  # several texts are often marked one after the other
        async for counted in totals(self.corpus, self.pattern):
            self.totals = counted

    @on(messages.PatternChosen)
    def take_pattern(self, event: messages.PatternChosen) -> None:
        """Another pattern: other pieces to preview and to count."""
        self.pattern = event.pattern
        self._count()

    @on(messages.PatternWanted)
    @work
    async def ask_pattern(self) -> None:
        """Ask for a regular expression to split by."""
        from tui.dialogs import AskPattern

        pattern = await self.app.push_screen_wait(AskPattern("Which regular expression should split the text?"))
        self.training.choose_pattern(pattern or self.pattern)
        if pattern:
            self.take_pattern(messages.PatternChosen(pattern))

    @work
    async def action_add_path(self) -> None:
        """Ask for a path and choose it."""
        from tui.dialogs import AskPath

        path = await self.app.push_screen_wait(AskPath("Which file or folder should be added to the corpus?"))
        if path is not None:
            paths = (*self.corpus.paths, str(path))
            self.corpus_pane.choose(paths)

    @work
    async def action_open_text(self) -> None:
        """Ask for a text and open it in the editor."""
        from tui.dialogs import AskPath
        from tui.sources import file_source

        path = await self.app.push_screen_wait(AskPath("Which text should be opened in the editor?"))
        if path is None:
            return
        await self._open(file_source(path))

    @on(messages.TextWanted)
    @work
    async def open_source(self, event: messages.TextWanted) -> None:
        """Open one of the texts of the corpus pane in the editor."""
        await self._open(event.source)

    async def _open(self, source: TextSource) -> None:
        from tui.sources import text_of

        try:
            text = await asyncio.to_thread(text_of, source)
        except BpeError as error:
            self._say(str(error), "error")
            return
        self.editor.put(text)
        self.action_show("editor")

    def action_open_example(self, number: int = 0) -> None:
        """Put an example into the editor."""
        self.action_show("editor")
        self.editor.show_example(number)

    @work
    async def action_save_text(self) -> None:
        """Ask for a path and write the editor's text there, byte for byte."""
        from tui.dialogs import AskPath, Confirm

        path = await self.app.push_screen_wait(AskPath("Where should the text be saved?", must_exist=False))
        if path is None:
            return
        if os.path.exists(path) and not await self.app.push_screen_wait(
            Confirm(f"Replace {visible(str(path))}?", "Replace")
        ):
            return
        try:
            await asyncio.to_thread(path.write_bytes, self.editor.area.text.encode("utf-8", "replace"))
            self._say(f"Saved as {path}.")
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else error
            self._say(f"{path} could not be written: {problem}.", "error")
