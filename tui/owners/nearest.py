"""NearestSearch: the tokens whose rows in a model lie nearest to the row of one, found in a thread, on demand."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from bpe_core.errors import BpeError
from tui.owners.owner import Host, Owner, in_thread
from tui.state.audit import AuditInputs, NearestRows

if TYPE_CHECKING:
    from bpe_core.embeddings.matrix import Matrix

MOST: Final = 10
"""Rows that are found."""


class _UnwantedError(BpeError):
    """The search was cancelled."""


class NearestSearch(Owner[NearestRows]):
    """Searches for the rows nearest to the row of one token; its value is what was found so far."""

    def __init__(self, host: Host, publish: Callable[[NearestRows], None]) -> None:
        super().__init__(host, NearestRows(), publish)
        self._opened: tuple[AuditInputs, Matrix] | None = None

    def find(self, inputs: AuditInputs, token: int) -> None:
        """Search for the rows nearest to this token's in the model of an audit; a search under way is given up."""
        self._replace(NearestRows(token, "Looking at all rows."))
        self._begin(partial(self._find, inputs, token))

    def forget(self) -> None:
        """Give up, and know nothing: there is another tokenizer, or another model."""
        self.cancel()
        self._opened = None
        self._replace(NearestRows())

    async def _find(self, inputs: AuditInputs, token: int) -> None:
        unwanted = Event()
        try:
            found = await in_thread(self._nearest, inputs, token, unwanted)
        finally:
            unwanted.set()  # a thread cannot be ended: it looks at this before each slice of the matrix
        self._replace(NearestRows(token, "", found))

    def _nearest(self, inputs: AuditInputs, token: int, unwanted: Event) -> tuple[tuple[int, float], ...]:
        from bpe_core.embeddings.indicators import nearest  # late: numpy is an extra, and takes a moment to be there
        from bpe_core.embeddings.matrix import open_matrix

        def progress(_done: int, _total: int) -> None:
            if unwanted.is_set():
                raise _UnwantedError

        if self._opened is None or self._opened[0] != inputs:
            self._opened = inputs, open_matrix(Path(inputs.embeddings), inputs.tensor or None)
        return tuple(nearest(self._opened[1], token, MOST, progress))

    def _failed(self, sentence: str) -> None:
        self._replace(replace(self._value, progress=sentence))
