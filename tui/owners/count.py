"""Count: what the chosen texts amount to under the chosen pattern."""

import asyncio
from collections.abc import Callable
from typing import Final

from tui.owners.owner import Host, Owner
from tui.state.training import Totals
from tui.workers.updates import totals

_AT_REST: Final = 0.3
"""Seconds before counting begins: several texts are often marked one after the other."""


class Count(Owner[Totals | None]):
    """Its value is the totals of the texts and pattern asked for last; None while they are not known."""

    def __init__(self, host: Host, publish: Callable[[Totals | None], None]) -> None:
        super().__init__(host, None, publish)
        self._paths: tuple[str, ...] = ()
        self._pattern = ""

    def want(self, paths: tuple[str, ...], pattern: str) -> None:
        """Count these texts, split by this pattern; what was known of others is forgotten."""
        self._paths, self._pattern = paths, pattern
        self._replace(None)
        self._begin(self._count)

    def leave_to_training(self, paths: tuple[str, ...], pattern: str) -> None:
        """A training counts these texts: if their totals are wanted, do not count, but wait for `learn`."""
        if (paths, pattern) == (self._paths, self._pattern):
            self.cancel()

    def learn(self, paths: tuple[str, ...], pattern: str, counted: Totals) -> None:
        """A training has counted these texts: take its totals over if they are wanted."""
        if paths and (paths, pattern) == (self._paths, self._pattern):
            self.cancel()
            self._replace(counted)

    def go_on(self) -> None:
        """Count what is still wanted: the training that was waited for has ended before it had counted."""
        if self._value is None and not self.is_working:
            self._begin(self._count)

    async def _count(self) -> None:
        if self._paths:
            await asyncio.sleep(_AT_REST)
            async for counted in totals(self._paths, self._pattern):
                self._replace(counted)

    def _failed(self, sentence: str) -> None:
        self._replace(Totals(error=sentence))
