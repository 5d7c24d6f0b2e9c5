"""The values of a comparison of tokenizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpe_core.metrics.comparison import ComparedText


@dataclass(frozen=True, slots=True)
class Compared:
    """A tokenizer that is compared with others."""

    path: str
    name: str
    pattern: str = ""
    """How text is split where its file does not tell."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a comparison of tokenizers is, and what it found; with a single one, what was measured of it."""

    running: bool = False
    progress: str = ""
    subject: str = ""
    """What was compared on what, or why it could not be."""
    tokenizers: tuple[Compared, ...] = ()
    """The first is the one that the others are compared with."""
    texts: Sequence[ComparedText] = field(default=(), compare=False)
    """So far, in the order they were encoded; more of them come with another text in `progress` or `subject`."""
    found: Mapping[str, Any] | None = field(default=None, compare=False)
    """What `compare --json` prints of all texts; None while it is running."""
