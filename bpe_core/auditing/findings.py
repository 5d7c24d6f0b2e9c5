"""What an audit yields: findings, each about one token with a reason in plain words."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, Self

from bpe_core.visible import token_label


class Severity(IntEnum):
    """How much a finding should worry whoever trains a model with this vocabulary; higher is worse."""

    NOTE = 1  # by design, or harmless
    WARNING = 2  # a model will hardly learn what this token means
    PROBLEM = 3  # a model cannot learn it: the token's place in the vocabulary is wasted

    @property
    def word(self) -> str:
        """ "note", "warning" or "problem"."""
        return self.name.lower()


KINDS: Final[Mapping[str, str]] = {
    "unreachable": "No text was found that becomes this token.",
    "duplicate": "Another token has the same bytes, so only one of the two is ever used.",
    "absent-from-reference": "Common in the chosen texts, missing or rare in the reference.",
    "undertrained": "Its row in the model's embeddings looks as if it had hardly been trained.",
    "never-used": "It occurs nowhere in the texts once these are tokenized.",
    "rare": "It hardly occurs in the texts once these are tokenized.",
    "scaffold": "A step on the way to longer tokens, which replace it nearly everywhere.",
    "verbatim": "Merged in one go: likely one string that was only ever copied.",
    "few-documents": "All its occurrences come from one or two documents.",
    "special-lookalike": "An ordinary token that looks like a special one.",
    "shape": "Much longer than other tokens of its script, or of letters of two scripts.",
    "added-token": "Found in a text before everything else, whatever stands around it.",
    "partial-utf8": "Holds a piece of a character: its bytes alone are no text.",
    "reachable-in-context": "Its own text becomes other tokens, but inside a longer text it does occur.",
    "unused-byte": "One of the 13 bytes that no UTF-8 text contains.",
}
"""Kind of finding -> what it means in one sentence; in the order in which an audit lists them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about one token.

    `evidence` are the measured values that it rests on, as JSON has them. Always there: "step" (0 if no merge made the
    token), "parents" (two ids or None) and "witness" (a text in which the token occurs, or None). If it is known:
    "count", the occurrences in the corpus. The rest depends on the kind.
    """

    id: int
    token: bytes
    kind: str  # one of `KINDS`
    severity: Severity
    reason: str  # one sentence for someone new to tokenizers, safe to write to a terminal
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The token as text that is safe to show."""
        return token_label(self.token)

    @property
    def witness(self) -> str | None:
        """A text in which the token occurs; None if none was found."""
        return self.evidence.get("witness")


class Findings(tuple[Finding, ...]):
    """All findings of an audit: the worst first, then in the order of `KINDS`, then as their check ranked them."""

    __slots__ = ()

    def __new__(cls, findings: Iterable[Finding]) -> Self:
        order = {kind: place for place, kind in enumerate(KINDS)}
        return super().__new__(cls, sorted(findings, key=lambda finding: (-finding.severity, order[finding.kind])))

    def __repr__(self) -> str:
        return f"<Findings: {', '.join(f'{n} {kind}' for kind, n in self.kinds().items()) or 'none'}>"

    def kinds(self) -> dict[str, int]:
        """How many findings there are of each kind that occurs, in the order of `KINDS`."""
        found = Counter(finding.kind for finding in self)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def of(self, *kinds: str) -> list[Finding]:
        return [finding for finding in self if finding.kind in kinds]


OnStage = Callable[[int, int, str], object]
"""Called with how many pieces, tokens or rows of all are done, and the name of a stage; what it raises is raised."""
