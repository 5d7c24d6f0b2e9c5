"""Reading: a text that is split into pieces, maybe in a thread; and the limits of what is done on the screen's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_core.errors import BpeError

if TYPE_CHECKING:  # as long as there is no tokenizer, nothing of the engine is imported
    from bpe_core import Tokenizer
    from bpe_core.live.live_text import LiveText


@dataclass(frozen=True, slots=True)
class Limits:
    """What is done at once, in an edit, and what beside the screen."""

    big_text: int = 500_000
    """Characters of a text above which it is split into pieces beside the screen."""
    big_edit: int = 100_000
    """Characters of an edit above which its tokens are not compared; the text is read anew."""
    compared: int = 5_000
    """Characters edited since the text was pinned up to which it is compared at each edit, not later."""
    patience: float = 0.1
    """Seconds that a pattern may take on the screen's thread before the text is read beside it."""


@dataclass(slots=True)
class Reading:
    """A text that is to be split into pieces; `run` may be called in a thread."""

    tokenizer: Tokenizer
    text: str
    is_thorough: bool = False
    """Whether all pieces shall be known afterwards, as a pattern may take long to find some."""
    live: LiveText | None = None
    problem: BpeError | None = None

    def run(self) -> None:
        """Read it: then there is either `live` or a `problem`."""
        from bpe_core.live.live_text import LiveText

        try:
            live = LiveText(self.tokenizer, self.text)
            if self.is_thorough:
                live.settle(float("inf"))
            self.live = live
        except BpeError as error:
            self.problem = error
