"""The values of an audit: what it looks at, how far it is, and where a token occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.corpus.reading import TextFile
    from bpe_core.explain.places import CorpusPlace


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """What an audit looks at beside the tokenizer."""

    texts: bool | None = None
    """Whether tokens are counted in the chosen texts; None: if they are what the tokenizer was learned from."""
    embeddings: str = ""
    """Path of a model's embeddings; empty for none."""
    tensor: str = ""
    """The tensor in that file; empty for the usual one."""


@dataclass(frozen=True, slots=True)
class Audit:
    """How far an audit is, and what the last one that came to its end says."""

    running: bool = False
    progress: str = ""
    inputs: AuditInputs = AuditInputs()
    """What the next audit is to look at."""
    subject: str = ""
    """How much was found and what was looked at, or why it could not be done; empty before the first audit."""
    verdicts: Mapping[int, Verdict] = field(default_factory=dict, compare=False)
    """Id -> verdict, of the tokens with a finding, the most suspicious first; replaced at the end of an audit."""
    measures: Mapping[str, Mapping[int, float]] = field(default_factory=dict, compare=False)
    """Name of a measure -> id -> number."""


@dataclass(frozen=True, slots=True)
class TokenLines:
    """The lines in which a token occurs, as far as they are found."""

    token: int | None = None
    searched: bool = False
    """Whether there are texts to search."""
    running: bool = False
    progress: str = ""
    """How far the search is, or why it could not be done."""
    found: tuple[tuple[TextFile, CorpusPlace], ...] = ()
    """One a line, with the text that it is in."""
