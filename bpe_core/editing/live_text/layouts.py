"""Spans of short texts, remembered while there is room for them."""

from collections.abc import Callable, Sequence
from typing import Final

from bpe_core.editing.spans import Span, layout

ROOM: Final = 1 << 18
"""Spans that are remembered in all: some 40 MB of them. A screen shows ten thousand."""


class Layouts:
    """The spans of texts under one vocabulary, where equal texts have equal tokens; when it is full, it starts over."""

    __slots__ = ("_known", "_room", "_token_bytes")

    def __init__(self, token_bytes: Callable[[int], bytes]) -> None:
        self._token_bytes = token_bytes
        self._known: dict[str, tuple[Span, ...]] = {}
        self._room = ROOM

    @property
    def n_spans(self) -> int:
        """How many are remembered; those of an empty text count as one."""
        return ROOM - self._room

    def of(self, text: str, ids: Sequence[int]) -> tuple[Span, ...]:
        """The spans of a text with these tokens, counted from its beginning."""
        spans = self._known.get(text)
        if spans is None:
            spans = layout(text, ids, self._token_bytes)
            size = max(1, len(spans))
            if size > ROOM:
                return spans
            if self._room < size:
                self._known.clear()
                self._room = ROOM
            self._known[text] = spans
            self._room -= size
        return spans
