"""OccurrenceSearch: the lines of the chosen texts in which one token occurs, found beside the screen, on demand."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from bpe_core.corpus import find_files
from bpe_core.corpus.reading import Unreadable
from bpe_core.explain.places import CorpusPlace, CorpusText, token_places
from bpe_core.tokenizer import Tokenizer
from tui.owners.owner import Host, Owner
from tui.state.audit import TokenLines
from tui.terminal.background import in_thread

MOST: Final = 200
"""Lines that are found; more of them tell nobody more."""
_PAUSES: Final = 4
"""Parts of a text between two looks at whether somebody still wants to know."""


class OccurrenceSearch(Owner[TokenLines]):
    """Searches for the lines that hold one token; its value is what was found so far."""

    def __init__(self, host: Host, publish: Callable[[TokenLines], None]) -> None:
        super().__init__(host, TokenLines(), publish)

    def find(self, tokenizer: Tokenizer, token: int, paths: tuple[str, ...]) -> None:
        """Search for the lines with this token; a search under way is given up."""
        self._replace(TokenLines(token, bool(paths), bool(paths), "finding the texts" if paths else ""))
        if paths:
            self._begin(partial(self._find, tokenizer, token, paths))

    def forget(self) -> None:
        """Give up, and know nothing: there are other texts, or another tokenizer."""
        self.cancel()
        self._replace(TokenLines())

    async def _find(self, tokenizer: Tokenizer, token: int, paths: tuple[str, ...]) -> None:
        files = (await in_thread(find_files, paths)).files
        for number, file in enumerate(files, 1):
            search = token_places(tokenizer, token, [CorpusText(file.name, file.blocks())])
            while len(self._value.found) < MOST:
                try:
                    found, more = await in_thread(_some, search)
                except Unreadable:  # a file of a folder that is no text further on: the others are
                    break
                progress = f"{number:,} of {len(files):,} texts"
                lines = (*self._value.found, *((file, one) for one in found))[:MOST]
                self._replace(replace(self._value, progress=progress, found=lines))
                if not more:
                    break
        self._replace(replace(self._value, running=False, progress=""))

    def _failed(self, sentence: str) -> None:
        self._replace(replace(self._value, running=False, progress=sentence))


def _some(search: Iterator[CorpusPlace | None]) -> tuple[list[CorpusPlace], bool]:
    """The occurrences in the next parts, and whether there may be more of them."""
    found: list[CorpusPlace] = []
    n_pauses = 0
    for one in search:
        if one is not None:
            found.append(one)
        n_pauses += one is None
        if n_pauses >= _PAUSES or len(found) >= MOST:
            return found, True
    return found, False
