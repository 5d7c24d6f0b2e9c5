"""The progress of an audit, as it is reported to the caller."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """The progress of one stage of an audit, such as counting tokens or one check."""

    name: str
    """The stage, in a few words."""
    done: int
    """Pieces, tokens or rows dealt with in this stage."""
    total: int
    """Pieces, tokens or rows of this stage in all."""


OnStage = Callable[[Stage], None]
"""Is called after every few hundred tokens or pieces; what it raises stops the audit and reaches the audit's caller."""
