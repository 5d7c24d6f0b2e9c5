"""How far an audit is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """How far an audit is with one of the things it does."""

    name: str
    """What it is doing, in a few words."""
    done: int
    """Pieces or tokens looked at."""
    total: int
    """Pieces or tokens to look at."""


OnStage = Callable[[Stage], None]
"""Is called every few milliseconds; an exception that it raises ends the audit, which is how one is stopped early."""
