"""One verdict about each token: evidence of all kinds joined in one row, with a score that tells how it was made."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Final

from bpe_core.auditing.findings import (
    HALF_AT,
    KINDS,
    SAME_EVIDENCE,
    Finding,
    Severity,
    fading,
)
from bpe_core.auditing.subject import AuditSubject
from bpe_core.visible import token_label

_FAINT: Final = {
    "duplicate",
    "special-lookalike",
}  # kinds of which a note counts a tenth


@dataclass(frozen=True, slots=True)
class Verdict:
    """All that an audit has to say about one token.

    `evidence` is what is known of the token, as JSON has it. Always: "step" (0 if no merge made it), "parents" (two ids
    or None), "special" (a special token). As far as they are known, its numbers in `AuditSubject.columns`. With
    findings: "witness" (a text in which it occurs, or None), and for each of its kinds an object of that name: the
    evidence of the finding, "severity" and "reason".
    """

    id: int
    token: bytes  # of a special token its text in UTF-8
    score: float  # 0 to 1, higher is more suspicious, see `bpe_core.auditing.findings`
    severity: Severity | None  # of its worst finding
    kinds: tuple[str, ...]  # of its findings, what counts most first
    reason: str  # those of its findings, safe to write to a terminal
    shares: Mapping[str, float] = field(
        default_factory=dict
    )  # kind -> its part of the score, the greatest first
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return token_label(self.token)

    @property
    def making(self) -> str:
        """The score as a sum of parts above 0.00 that add up as written: "0.83 = undertrained 0.60 + scaffold 0.23"."""
        cents = pairwise(
            round(100 * total)
            for total in accumulate(self.shares.values(), initial=0.0)
        )
        of_each = zip(self.shares, cents, strict=True)
        parts = [
            f"{kind} {(to - since) / 100:.2f}"
            for kind, (since, to) in of_each
            if to > since
        ]
        return f"{self.score:.2f}" + (f" = {' + '.join(parts)}" if parts else "")

    def to_json(self) -> dict[str, Any]:
        """The verdict as `audit --jsonl` prints it: "token" in hex, "text" for a reader."""
        return {
            "id": self.id,
            "token": self.token.hex(),
            "text": self.token.decode("utf-8", "backslashreplace"),
            "score": self.score,
            "severity": self.severity.word if self.severity else None,
            "kinds": list(self.kinds),
            "reason": self.reason,
            "shares": dict(self.shares),
            "evidence": dict(self.evidence),
        }


def verdicts(subject: AuditSubject, findings: Sequence[Finding]) -> list[Verdict]:
    """The verdicts on all tokens with a finding, the highest score first; of equal ones the longer: it ends a chain."""
    ids = sorted({finding.id for finding in findings})
    return sorted(
        verdicts_on(ids, subject, findings),
        key=lambda verdict: (-verdict.score, -len(verdict.token)),
    )


def verdicts_on(
    ids: Iterable[int], subject: AuditSubject, findings: Iterable[Finding]
) -> Iterator[Verdict]:
    """The verdicts on tokens, special ones too, in the order of `ids`."""
    about: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        about[finding.id].append(finding)
    for token in ids:
        yield verdict(subject, token, about.get(token, []))


def verdict(subject: AuditSubject, token: int, findings: Sequence[Finding]) -> Verdict:
    """What these findings, all about it, say of a token."""
    vocabulary, special = subject.tokenizer.vocabulary, token in subject.specials
    parents = vocabulary.parents(token)
    percentile = None if special else subject.percentile(token)
    worth: dict[str, float] = {}
    for finding in (
        findings
    ):  # the weight of its kind, times how strong it is among those of its kind, 0 to 1
        weight = KINDS[finding.kind]
        usual = (
            0.1 if finding.severity is Severity.NOTE and finding.kind in _FAINT else 1.0
        )
        points: float = weight.most * finding.evidence.get("strength", usual)
        if weight.guess and percentile is not None:
            points *= fading(percentile, HALF_AT)
        worth[finding.kind] = max(points, worth.get(finding.kind, 0.0))
    found = sorted(
        (kind for kind in worth if kind in SAME_EVIDENCE), key=worth.__getitem__
    )
    worth.update(dict.fromkeys(found[:-1], 0.0))
    if percentile is not None:
        worth["undertrained"] = KINDS["undertrained"].most * fading(percentile, HALF_AT)
    shares, left = dict[str, float](), 1.0
    for kind, value in sorted(worth.items(), key=lambda item: -item[1]):
        shares[kind] = round(left * value, 6)
        left *= 1 - value
    findings = sorted(findings, key=lambda finding: -worth[finding.kind])
    evidence: dict[str, Any] = {
        "step": vocabulary.step_of(token),
        "parents": list(parents) if parents else None,
    }
    evidence["special"] = special
    evidence |= {
        name: column[token]
        for name, column in subject.columns.items()
        if token in column
    }
    if percentile is not None:
        evidence["percentile"] = round(percentile, 4)
    if findings:
        evidence["witness"] = next(
            (finding.witness for finding in findings if finding.witness is not None),
            None,
        )
    for finding in findings:
        own = {
            name: value
            for name, value in finding.evidence.items()
            if evidence.get(name) != value
        }
        evidence[finding.kind] = own | {
            "severity": finding.severity.word,
            "reason": finding.reason,
        }
    return Verdict(
        token,
        vocabulary.token_bytes(token),
        round(sum(shares.values()), 6),
        max((finding.severity for finding in findings), default=None),
        tuple(dict.fromkeys(finding.kind for finding in findings)),
        " ".join(dict.fromkeys(finding.reason for finding in findings)),
        shares,
        evidence,
    )
