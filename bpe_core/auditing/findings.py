"""What an audit yields, findings, each about one token with a reason in plain words; and how much each kind counts.

Each kind gives a token *points* between 0 and 1: the weight of the kind times how strong this piece of evidence is.
Points are joined as if each kind were right by itself with that probability: score = 1 - (1 - a) * (1 - b) * ..., the
probability that at least one is. So more evidence never lowers a score; kinds of the same evidence count once. It is a
rank for a reader's attention, not a measured probability.

Where the rows of a model are known, these are measured on what the other kinds only guess at: a *guess* then counts
as far as the row agrees: its points fade as the row's percentile rises. So a token that the model has learned is not
suspected for how it was made, and two kinds that agree come first.

What texts show that the tokenizer was not trained on counts as far as it is `unusual` for tokens of that rank.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from bpe_core.visible import token_label


class Severity(IntEnum):
    """How much a finding should worry whoever trains a model with this vocabulary; higher is worse."""

    NOTE = 1  # by design, or harmless
    WARNING = 2  # a model will hardly learn what this token means
    PROBLEM = (
        3  # a model cannot learn it: the token's place in the vocabulary is wasted
    )

    @property
    def word(self) -> str:
        return self.name.lower()


class Kind(NamedTuple):
    meaning: str  # in one sentence
    most: float  # points of the strongest, 0 to 1
    why: str  # why so much, in one sentence
    guess: bool = False  # it only guesses at what the rows of a model would show


_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
KINDS: Final[Mapping[str, Kind]] = {name: Kind(**row) for name, row in _TABLE.items()}
"""The kinds of findings, in the order in which an audit lists them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about one token.

    `evidence` are the measured values that it rests on, as JSON has them. Always there: "step" (0 if no merge made the
    token), "parents" (two ids or None) and "witness" (a text in which the token occurs, or None). If it is known:
    "count", the occurrences in the corpus. The rest depends on the kind.

    >>> from bpe_core import audit, train
    >>> finding = audit(train("low lower", vocab_size=258))[0]
    >>> finding.token, finding.kind, finding.evidence["count"]
    (b'lo', 'never-used', 0)
    """

    id: int
    token: bytes
    kind: str  # one of `KINDS`
    severity: Severity
    reason: (
        str  # one sentence for someone new to tokenizers, safe to write to a terminal
    )
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
    """All findings of an audit: the worst first, then in the order of `KINDS`, then as their check ranked them.

    >>> from bpe_core import audit, train
    >>> audit(train("low lower", vocab_size=258))
    <Findings: 1 never-used, 1 scaffold, 13 unused-byte>
    """

    def __new__(cls, findings: Iterable[Finding]) -> Self:
        order = {kind: place for place, kind in enumerate(KINDS)}
        return super().__new__(
            cls,
            sorted(
                findings, key=lambda finding: (-finding.severity, order[finding.kind])
            ),
        )

    def __repr__(self) -> str:
        return f"<Findings: {', '.join(f'{n} {kind}' for kind, n in self.kinds().items()) or 'none'}>"

    def kinds(self) -> dict[str, int]:
        """How many findings there are of each kind that occurs, in the order of `KINDS`."""
        found = Counter(finding.kind for finding in self)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def of(self, *kinds: str) -> list[Finding]:
        """Those of these kinds, in order."""
        return [finding for finding in self if finding.kind in kinds]


OnStage = Callable[[int, int, str], object]
"""Called with how many pieces, tokens or rows of all are done, and the name of a stage; what it raises is raised."""


SAME_EVIDENCE: Final = frozenset({"scaffold", "never-used", "rare"})
"""Kinds that see the same from two sides: later merges took all of a token, so it is scaffold and never used. Of those
found about one token only the weightiest counts."""

UNPROVEN: Final = 0.5  # strength of "unreachable" for a token that no context tried holds; a judgement
GLITCH_SHARE: Final = 0.003  # of a vocabulary: 140 of GPT-2's 50,257 tokens (Watkins and Rumbelow 2023, "Glitch token
# archaeology"), 188 of Llama 3's 128,256 (the results of Land and Bartolo 2024, "Fishing for Magikarp")
LIKELY: Final = 0.5  # strength from which on a guess at how a token was made, or what a training left, is a warning
SUSPECTED: Final = 0.1  # strength from which on what chosen texts show is: of ten such tokens one is a glitch
HALF_LEFT: Final = 0.01  # occurrences left / those of the last merge, with which a token is half used up
HALF_AT: Final = 2.0  # percentile at which the evidence of a row counts half: Land and Bartolo's threshold


def fading(value: float, half_at: float) -> float:
    """How much evidence counts whose value is the weaker the higher it is: 1 at 0, half at `half_at`, never quite 0.

    >>> fading(0, HALF_AT), fading(2, HALF_AT), round(fading(50, HALF_AT), 3)
    (1.0, 0.5, 0.038)
    """
    return half_at / (half_at + value)


def unusual(share: float) -> float:
    """The probability that a token is a glitch, if a text shows of it what it shows of this share of its neighbors.

    Its neighbors are the thousand tokens learned about when it was: counts never rise with the rank, so they were all
    about as frequent in the tokenizer's own texts, and what the chosen ones show of many of them is how these texts
    differ from those. Bayes: a glitch shows it for certain, any other token as often as its neighbors do.

    >>> round(unusual(0.001), 2), round(unusual(0.03), 2), round(unusual(0.9), 3), unusual(0)
    (0.75, 0.09, 0.003, 1.0)
    """
    return GLITCH_SHARE / (GLITCH_SHARE + (1 - GLITCH_SHARE) * share)
