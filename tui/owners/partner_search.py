"""PartnerSearch: the tokens with which one that is a piece of a character is text, found in a thread, on demand."""

from collections.abc import Callable, Iterator
from functools import partial
from heapq import nlargest
from typing import Final

from bpe_core.auditing.incomplete_bigrams import Bigram, partners
from bpe_core.tokenizer import Tokenizer
from tui.owners.owner import Host, Owner, in_thread
from tui.state.audit import Partners

SHOWN: Final = 8
"""Partners that are kept, those of most bytes: a model has met them least. Of more only the number is."""


class PartnerSearch(Owner[Partners]):
    """Searches for the partners of one token; its value is what was found so far."""

    def __init__(self, host: Host, publish: Callable[[Partners], None]) -> None:
        super().__init__(host, Partners(), publish)

    def find(self, tokenizer: Tokenizer, token: int) -> None:
        """Search for the partners of this token; a search under way is given up."""
        self._replace(Partners(token, True))
        self._begin(partial(self._find, tokenizer, token))

    def forget(self) -> None:
        """Give up, and know nothing: there is another tokenizer."""
        self.cancel()
        self._replace(Partners())

    async def _find(self, tokenizer: Tokenizer, token: int) -> None:
        search = partners(tokenizer, token)
        found: list[Bigram] = []
        more = True
        while more:
            some, more = await in_thread(_some, search)
            found += some
        longest = nlargest(SHOWN, found, key=lambda bigram: len(bigram.text.encode()))
        self._replace(Partners(token, False, tuple(longest), len(found)))


def _some(search: Iterator[Bigram | None]) -> tuple[list[Bigram], bool]:
    """The partners up to the next pause, and whether there may be more."""
    found: list[Bigram] = []
    for one in search:
        if one is None:
            return found, True
        found.append(one)
    return found, False
