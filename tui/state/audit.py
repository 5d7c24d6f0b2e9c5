"""The values of an audit: what it looks at, how far it is, and what was asked beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bpe_core.visible import visible

if TYPE_CHECKING:
    from bpe_core.auditing.incomplete_bigrams import Bigram
    from bpe_core.auditing.lines import Occurrence
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.cli.result_events import Embedded
    from bpe_core.corpus.reading import TextFile


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """What an audit looks at beside the tokenizer."""

    texts: bool | None = None
    """Whether tokens are counted in the chosen texts; None: if they are what the tokenizer was learned from."""
    embeddings: str = ""
    """Path of a model's embeddings; empty for none."""
    tensor: str = ""
    """The tensor in that file; empty for the usual one."""
    indicator: str = ""
    """What rows are judged by, one of `bpe_core.embeddings.indicators.INDICATORS`; empty for the usual one."""


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The rows of a model's embeddings as an audit judged them."""

    inputs: AuditInputs
    """The file that they are in."""
    embedded: Embedded
    """The matrix, and what its rows were judged by."""
    ranked: Sequence[float] = ()
    """The indicators of ordinary tokens, ascending."""


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
    judged_rows: JudgedRows | None = field(default=None, compare=False)
    """Those of the model that the last audit looked at."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The tokens that no text would become behind another split pattern or normalizer, as far as they are found."""

    pattern: str = ""
    """What would split the texts; empty: what does now."""
    normalizer: str = ""
    """What would change them before that, one of `bpe_core.auditing.what_if.NORMALIZERS`; empty: what does now."""
    running: bool = False
    progress: str = ""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Id -> what would become of it, in a sentence."""

    def __bool__(self) -> bool:
        """Whether anything was asked."""
        return bool(self.pattern or self.normalizer)

    @property
    def condition(self) -> str:
        """What is supposed, in words; names in it are safe to show.

        >>> WhatIf("gpt2").condition, WhatIf(normalizer="NFC").condition, WhatIf(normalizer="none").condition
        ('if gpt2 split the texts', 'if texts became NFC first', 'if no normalizer changed the texts')
        """
        if self.pattern:
            return f"if {visible(self.pattern)} split the texts"
        return (
            "if no normalizer changed the texts"
            if self.normalizer == "none"
            else f"if texts became {self.normalizer} first"
        )


@dataclass(frozen=True, slots=True)
class TokenLines:
    """The lines in which a token occurs, as far as they are found."""

    token: int | None = None
    searched: bool = False
    """Whether there are texts to search."""
    running: bool = False
    progress: str = ""
    """How far the search is, or why it could not be done."""
    found: tuple[tuple[TextFile, Occurrence], ...] = ()
    """One a line, with the text that it is in."""


@dataclass(frozen=True, slots=True)
class NearestRows:
    """The tokens whose rows in a model point most nearly where the row of one token does."""

    token: int | None = None
    progress: str = ""
    """How far the search is, or why it could not be done; empty at its end."""
    found: tuple[tuple[int, float], ...] = ()
    """(id, cosine), the nearest first; rows of no token are among them."""


@dataclass(frozen=True, slots=True)
class Partners:
    """The tokens with which one that is a piece of a character is text, as far as they are found."""

    token: int | None = None
    running: bool = False
    found: tuple[Bigram, ...] = ()
    """The first of them."""
    n_found: int = 0
    """How many there are."""
