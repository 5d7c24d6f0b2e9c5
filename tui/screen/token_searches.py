"""TokenSearches: what is found out about a single token once somebody looks: its lines, partners, nearest rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tui.owners.nearest import NearestSearch
from tui.owners.occurrences import OccurrenceSearch
from tui.owners.partner_search import PartnerSearch

if TYPE_CHECKING:
    from tui.screen.main import MainScreen


class TokenSearches:
    """Begins each search for a token of the tokenizer on the screen."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._lines = OccurrenceSearch(screen, partial(setattr, screen, "token_lines"))
        self._nearest = NearestSearch(screen, partial(setattr, screen, "nearest_rows"))
        self._partners = PartnerSearch(screen, partial(setattr, screen, "partners"))

    def forget(self) -> None:
        """Another tokenizer takes the place of the one that was asked about."""
        for search in (self._lines, self._nearest, self._partners):
            search.forget()

    def forget_lines(self) -> None:
        """Other texts are chosen."""
        self._lines.forget()

    def find_lines(self, token: int) -> None:
        """The lines of the chosen texts in which it occurs."""
        tokenizer = self._screen.tokenizer
        if tokenizer is not None and token in tokenizer.vocabulary:
            self._lines.find(tokenizer, token, self._screen.corpus.paths)

    def find_nearest(self, token: int) -> None:
        """The tokens whose rows lie nearest to its own, in the matrix of the last audit."""
        audit = self._screen.audit
        if audit.judged_rows is not None:
            self._nearest.find(audit.judged_rows.inputs, token)

    def find_partners(self, token: int) -> None:
        """The tokens with which it is text."""
        tokenizer = self._screen.tokenizer
        if tokenizer is not None and token in tokenizer.vocabulary:
            self._partners.find(tokenizer, token)
