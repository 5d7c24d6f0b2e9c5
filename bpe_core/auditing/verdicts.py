"""Join the findings about each token into one verdict, with a score that shows how it was made."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bpe_core.auditing.families import families
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

_FAINT: Final = {"duplicate", "special-lookalike"}
"""Kinds whose notes count a tenth."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that an audit knows about one token."""

    id: int
    token: bytes
    """The bytes of the token; the text of a special token in UTF-8."""
    score: float
    """From 0 to 1; higher is more suspicious. See `bpe_core.auditing.findings`."""
    severity: Severity | None
    """The severity of its worst finding."""
    kinds: tuple[str, ...]
    """The kinds of its findings; the one that counts most comes first."""
    reason: str
    """The reasons of its findings, safe to write to a terminal."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Kind -> its part of the score, the greatest first."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Everything known about the token, as JSON values. Always: "step" (0 if no merge made it), "parents" (two ids or None),
    "special". If known: its numbers in `AuditSubject.columns`. With findings: "witness" (a text in which it occurs, or
    None), and for each kind of finding an object with its evidence, "severity" and "reason"."""
    family: int | None = None
    """The id of the token with the highest score in its family, see `families`; None if that is not known."""

    @property
    def label(self) -> str:
        """The token as text that is safe to show."""
        return token_label(self.token)

    @property
    def making(self) -> str:
        """The score as a sum: "0.83 = undertrained 0.60 + scaffold 0.23". Parts that round to 0.00 are left out."""
        parts: list[str] = []
        total = 0.0
        cents = 0
        for kind, share in self.shares.items():
            # Round the running total, so that the parts add up as written.
            total += share
            cents_before = cents
            cents = round(100 * total)
            if cents > cents_before:
                parts.append(f"{kind} {(cents - cents_before) / 100:.2f}")
        if not parts:
            return f"{self.score:.2f}"
        return f"{self.score:.2f} = {' + '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as `audit --jsonl` prints it: "token" in hex, "text" for a reader."""
        return {
            "id": self.id,
            "token": self.token.hex(),
            "text": self.token.decode("utf-8", "backslashreplace"),
            "score": self.score,
            "severity": self.severity.word if self.severity else None,
            "kinds": list(self.kinds),
            "reason": self.reason,
            "family": self.family,
            "shares": dict(self.shares),
            "evidence": dict(self.evidence),
        }


def verdicts(subject: AuditSubject, findings: Sequence[Finding]) -> list[Verdict]:
    """Return the verdicts on all tokens with a finding, the highest score first.

    Of two tokens with equal scores, the longer one is first, because it ends a chain of merges.
    """
    ids = sorted({finding.id for finding in findings})
    found = list(verdicts_on(ids, subject, findings))
    found.sort(key=lambda verdict: (-verdict.score, -len(verdict.token)))
    root_of = families(
        subject.tokenizer.vocabulary, {verdict.id: verdict.kinds for verdict in found}
    )
    first_of: dict[int, int] = {}
    for verdict in found:
        first_of.setdefault(root_of[verdict.id], verdict.id)
    return [replace(verdict, family=first_of[root_of[verdict.id]]) for verdict in found]


def by_family(ranked: Iterable[Verdict]) -> list[list[Verdict]]:
    """Group `verdicts` by family: the highest score first, then the lowest id."""
    found: dict[int, list[Verdict]] = {}
    for verdict in ranked:
        first = verdict.id if verdict.family is None else verdict.family
        found.setdefault(first, []).append(verdict)
    return sorted(found.values(), key=lambda family: (-family[0].score, family[0].id))


def verdicts_on(
    ids: Iterable[int], subject: AuditSubject, findings: Iterable[Finding]
) -> Iterator[Verdict]:
    """Yield the verdicts on tokens, also on special tokens, in the order of `ids`."""
    findings_of: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        findings_of[finding.id].append(finding)
    for token in ids:
        yield verdict(subject, token, findings_of.get(token, []))


def verdict(subject: AuditSubject, token: int, findings: Sequence[Finding]) -> Verdict:
    """Join findings, all about one token, into a verdict."""
    is_special = token in subject.specials
    percentile = None if is_special else subject.percentile(token)
    stretched = None if percentile is None else subject.stretched(percentile)
    points = _points_of_kinds(findings, stretched)
    shares = _shares(points)
    strongest_first = sorted(findings, key=lambda finding: -points[finding.kind])
    kinds = dict.fromkeys(finding.kind for finding in strongest_first)
    reasons = dict.fromkeys(finding.reason for finding in strongest_first)
    return Verdict(
        id=token,
        token=subject.tokenizer.vocabulary.token_bytes(token),
        score=round(sum(shares.values()), 6),
        severity=max((finding.severity for finding in findings), default=None),
        kinds=tuple(kinds),
        reason=" ".join(reasons),
        shares=shares,
        evidence=_evidence(subject, token, strongest_first, percentile),
    )


def _points_of_kinds(
    findings: Sequence[Finding], percentile: float | None
) -> dict[str, float]:
    """Return the points of each kind of finding about one token.

    Args:
        findings: The findings.
        percentile: Where the row of the token in a model is among all rows, from 0 (it looks untrained) to
            100, `stretched`. It replaces the points of the kind "undertrained". None without a model.
    """
    points_of: dict[str, float] = {}
    for finding in findings:
        points = _points(finding, percentile)
        points_of[finding.kind] = max(points, points_of.get(finding.kind, 0.0))
    # Some kinds show one fact in different ways, such as "never used" and "rare". Only the strongest counts.
    same_evidence = [kind for kind in points_of if kind in SAME_EVIDENCE]
    same_evidence.sort(key=points_of.__getitem__)
    for kind in same_evidence[:-1]:
        points_of[kind] = 0.0
    if percentile is not None:
        most = KINDS["undertrained"].most
        points_of["undertrained"] = most * agreement(percentile)
    return points_of


def agreement(percentile: float) -> float:
    """Return how far the row of a token agrees that the token is suspect: 1 at percentile 0, half at `HALF_AT`."""
    return fading(percentile, HALF_AT)


def _points(finding: Finding, percentile: float | None) -> float:
    """Return the weight of a finding's kind times how strong the finding is among others of its kind."""
    kind = KINDS[finding.kind]
    is_faint = finding.severity is Severity.NOTE and finding.kind in _FAINT
    strength: float = finding.evidence.get("strength", 0.1 if is_faint else 1.0)
    points = kind.most * strength
    if kind.guess and percentile is not None:
        points *= agreement(percentile)
    return points


def _shares(points_of: Mapping[str, float]) -> dict[str, float]:
    """Return each kind's part of the score 1 - (1 - a) * (1 - b) * ..., the greatest first."""
    shares: dict[str, float] = {}
    left = 1.0
    for kind, points in sorted(points_of.items(), key=lambda item: -item[1]):
        shares[kind] = round(left * points, 6)
        left *= 1 - points
    return shares


def _evidence(
    subject: AuditSubject,
    token: int,
    findings: Sequence[Finding],
    percentile: float | None,
) -> dict[str, Any]:
    vocabulary = subject.tokenizer.vocabulary
    parents = vocabulary.parents(token)
    evidence: dict[str, Any] = {
        "step": vocabulary.step_of(token),
        "parents": list(parents) if parents else None,
        "special": token in subject.specials,
    }
    for name, column in subject.columns.items():
        if token in column:
            evidence[name] = column[token]
    if percentile is not None:
        evidence["percentile"] = round(percentile, 4)
    if findings:
        witnesses = [
            finding.witness for finding in findings if finding.witness is not None
        ]
        evidence["witness"] = witnesses[0] if witnesses else None
    for finding in findings:
        of_kind: dict[str, Any] = {}
        for name, value in finding.evidence.items():
            if evidence.get(name) != value:  # otherwise it is in the row already
                of_kind[name] = value
        of_kind["severity"] = finding.severity.word
        of_kind["reason"] = finding.reason
        evidence[finding.kind] = of_kind
    return evidence
