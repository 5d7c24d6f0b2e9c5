"""Lines: search the chosen texts for lines in which a token occurs."""

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from bpe_core.corpus import find_files
from bpe_core.corpus.reading import Unreadable
from bpe_core.explain.places import CorpusText, token_places
from bpe_core.tokenizer import Tokenizer
from tui.features.feature import Feature, StateScreen
from tui.state import TokenLines
from tui.terminal.background import in_thread

MOST_LINES: Final = 200
"""How many lines with a token are found."""
_RESULTS_PER_SLICE: Final = 8
"""Results that are awaited before the search checks whether it was cancelled: lines, or ends of parts of a text."""


class Lines(Feature):
    """Replaces the screen's `token_lines`. One search at a time."""

    def __init__(self, screen: StateScreen) -> None:
        super().__init__(screen)
        screen.watch(screen, "corpus", self._forget, init=False)

    def find(self, token: int) -> None:
        """Search the chosen texts for lines with this token, and cancel any other search."""
        tokenizer = self.screen.tokenizer
        paths = self.screen.corpus.paths
        if tokenizer is None:
            return
        self._forget()
        if paths:
            self.screen.token_lines = TokenLines(token, True, True, "finding the texts")
            search = partial(self._find, tokenizer, token, paths)
            self.begin(search, about_tokenizer=True)
        else:
            self.screen.token_lines = TokenLines(token, False, False, "")

    def _forget(self) -> None:
        self.cancel()
        self.screen.token_lines = TokenLines()

    async def _find(
        self, tokenizer: Tokenizer, token: int, paths: tuple[str, ...]
    ) -> None:
        screen = self.screen
        try:
            files = (await in_thread(find_files, paths)).files
        except Unreadable as error:
            screen.token_lines = replace(
                screen.token_lines, running=False, progress=str(error)
            )
            return
        for number, file in enumerate(files, 1):
            has_rows = bool(file.form)
            text = CorpusText(file.name, file.documents, has_rows)
            search = token_places(tokenizer, token, [text])
            progress = f"{number:,} of {len(files):,} texts"
            while len(screen.token_lines.found) < MOST_LINES:
                try:
                    results = await in_thread(list, islice(search, _RESULTS_PER_SLICE))
                except Unreadable:
                    # The rest of this file is not text. Go on with the next file.
                    break
                if not results:
                    break
                # None is the end of a part of the text, without a line.
                new_lines = [(file, place) for place in results if place is not None]
                lines = (*screen.token_lines.found, *new_lines)[:MOST_LINES]
                screen.token_lines = replace(
                    screen.token_lines, progress=progress, found=lines
                )
        screen.token_lines = replace(screen.token_lines, running=False, progress="")
