"""The findings of an audit, each about one token with a reason in plain words, and the weights of their kinds.

Each kind gives a token *points* between 0 and 1: the weight of the kind times the strength of the evidence.
Points are combined as if each kind were right with that probability, independently of the others:
score = 1 - (1 - a) * (1 - b) * ..., the probability that at least one is right. Of kinds that show the
same evidence only the strongest counts. A score ranks tokens for a reader; it is not a measured probability.

If the rows of a model are known, they measure what the other kinds only guess. A *guess* then counts only as far as the
row agrees: its points fade as the row's percentile rises. So a token that the model has learned is not suspected for the
way it was built, and tokens on which two kinds agree come first.

If the texts are not those that the tokenizer was trained on, their evidence about a token is weighted by
`glitch_probability`: few tokens of that rank must show the same.
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
    """How much a finding should worry people who train a model with this vocabulary; higher is worse."""

    NOTE = 1  # by design, or harmless
    WARNING = 2  # a model will hardly learn the meaning of this token
    PROBLEM = (
        3  # a model cannot learn it: the token's place in the vocabulary is wasted
    )

    @property
    def word(self) -> str:
        return self.name.lower()


class Kind(NamedTuple):
    """A kind of finding."""

    meaning: str  # one sentence
    most: float  # points of the strongest finding, from 0 to 1
    why: str  # the reason for these points, one sentence
    guess: bool = False  # whether it only guesses what the rows of a model would show


_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
KINDS: Final[Mapping[str, Kind]] = {name: Kind(**row) for name, row in _TABLE.items()}
"""The kinds of findings, in the order in which an audit lists them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about one token.

    Examples:
        >>> from bpe_core import audit, train
        >>> finding = audit(train("low lower", vocab_size=258))[0]
        >>> finding.token, finding.kind, finding.evidence["count"]
        (b'lo', 'never-used', 0)
    """

    id: int
    token: bytes
    kind: str
    """One of `KINDS`."""
    severity: Severity
    reason: str
    """One sentence for someone new to tokenizers, safe to write to a terminal."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The measured values that it is based on, as JSON values. Always: "step" (0 if no merge made the token), "parents"
    (two ids or None) and "witness" (a text in which the token occurs, or None). If it is known: "count" (occurrences in
    the corpus). The rest depends on the kind."""

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

    Examples:
        >>> from bpe_core import audit, train
        >>> audit(train("low lower", vocab_size=258))
        <Findings: 1 never-used, 1 scaffold, 13 unused-byte>
    """

    def __new__(cls, findings: Iterable[Finding]) -> Self:
        place_of = {kind: place for place, kind in enumerate(KINDS)}

        def rank(finding: Finding) -> tuple[int, int]:
            return -finding.severity, place_of[finding.kind]

        return super().__new__(cls, sorted(findings, key=rank))

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {kind}" for kind, n in self.kinds().items())
        return f"<Findings: {counts or 'none'}>"

    def kinds(self) -> dict[str, int]:
        """Return the number of findings of each kind that occurs, in the order of `KINDS`."""
        n_of = Counter(finding.kind for finding in self)
        return {kind: n_of[kind] for kind in KINDS if kind in n_of}

    def of(self, *kinds: str) -> list[Finding]:
        """Return the findings of these kinds, in order."""
        return [finding for finding in self if finding.kind in kinds]


OnStage = Callable[[int, int, str], object]
"""Called with how many pieces, tokens or rows are done, how many there are, and the name of the stage."""


SAME_EVIDENCE: Final = frozenset({"scaffold", "never-used", "rare"})
"""Kinds that see the same thing from different sides: if later merges took all of a token, it is both scaffold and never
used. Of those found about one token only the one with most points counts."""

UNPROVEN: Final = 0.5
"""Strength of "unreachable" for a token that none of the contexts tried contains; a judgement."""
GLITCH_SHARE: Final = 0.003
"""Share of glitch tokens in a vocabulary: 140 of GPT-2's 50,257 tokens (Watkins and Rumbelow 2023, "Glitch token
archaeology"), 188 of Llama 3's 128,256 (the results of Land and Bartolo 2024, "Fishing for Magikarp")."""
LIKELY: Final = 0.5
"""A guess from how a token was built, or from how often a training run left it, is a warning from this strength on."""
SUSPECTED: Final = 0.1
"""Strength from which on evidence from chosen texts is a warning: one in ten such tokens is a glitch."""
HALF_LEFT: Final = 0.01
"""Occurrences left / occurrences of the last merge at which a token is half used up."""
HALF_AT: Final = 2.0
"""Percentile at which the evidence of a row counts half: Land and Bartolo's threshold."""


def fading(value: float, half_at: float) -> float:
    """Return how much evidence counts that is weaker for higher values: 1 at 0, half at `half_at`, never quite 0.

    >>> fading(0, HALF_AT), fading(2, HALF_AT), round(fading(50, HALF_AT), 3)
    (1.0, 0.5, 0.038)
    """
    return half_at / (half_at + value)


def glitch_probability(share: float, prior: float = GLITCH_SHARE) -> float:
    """Return the probability that a token is a glitch if texts show the same of this share of its neighbors.

    Its neighbors are the thousand tokens learned around the same time. Counts never rise with the rank, so they were all
    about equally frequent in the tokenizer's own texts. What the chosen texts show of many of them is only how these
    texts differ from those. By Bayes' theorem: a glitch shows it for certain, any other token as often as its neighbors.
    `prior` is the probability without the texts.

    >>> [round(glitch_probability(share), 2) for share in (0, 0.001, 0.03, 0.3)]
    [1.0, 0.75, 0.09, 0.01]
    """
    return prior / (prior + (1 - prior) * share)
