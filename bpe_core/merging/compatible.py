"""Borders: whether two neighboring tokens are compatible, worked out when first asked for.

What that means, and what follows from it, stands in `bpe_core.merging.windows`.
"""

from collections.abc import Callable
from typing import Final

MOST: Final = 1 << 17
"""Borders that are remembered, some 20 MB; then it starts over."""


class Borders(dict[tuple[int, int], bool]):
    """Two neighboring tokens -> whether joining their bytes and merging them anew gives the two back."""

    __slots__ = ("_join", "_token_bytes")

    def __init__(self, join: Callable[[bytes], tuple[int, ...]], token_bytes: Callable[[int], bytes]) -> None:
        self._join = join
        self._token_bytes = token_bytes

    def __missing__(self, pair: tuple[int, int]) -> bool:
        if len(self) >= MOST:
            self.clear()
        left, right = pair
        fit = self[pair] = self._join(self._token_bytes(left) + self._token_bytes(right)) == pair
        return fit
