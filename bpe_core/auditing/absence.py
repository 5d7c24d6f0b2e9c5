"""Tokens frequent in the tokenizer's training corpus and missing, or nearly so, from the text a model learns from.

This is how GPT-2 came by its best-known glitch token: a user name, frequent in the text its tokenizer was trained on,
was all but missing from the text the model was trained on (Rumbelow and Watkins 2023, "SolidGoldMagikarp").
"""

from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.plurals import counted

MIN_EXPECTED: Final = 5.0
"""Expected occurrences below which nothing is concluded: of 5 expected, none occurs by chance in 0.7 % (Poisson)."""
MAX_SHARE: Final = 0.1
"""A token is found if it occurs less often in the reference than this part of its expected count."""


def absent_from_reference(subject: Subject) -> Iterator[Finding]:
    """Tokens that occur in the corpus and are absent from the reference, or rarer there by a factor of more than ten.

    expected = count in the corpus * tokens of the reference / tokens of the corpus; seen = count in the reference.
    Ranked by (expected + 1) / (seen + 1), the greatest first. Evidence: "expected", "seen".
    """
    usage, reference = subject.usage, subject.reference
    if usage is None or reference is None or not usage.n_tokens:
        return
    scale = reference.n_tokens / usage.n_tokens
    missing: list[tuple[float, int, float, int]] = []
    for token, _ in subject.tokens("comparing with the reference", usage.remaining):
        expected = usage.remaining[token] * scale
        seen = reference.remaining[token]
        if expected >= MIN_EXPECTED and seen < MAX_SHARE * expected:
            missing.append(((expected + 1) / (seen + 1), token, expected, seen))
    for _, token, expected, seen in sorted(missing, key=lambda row: -row[0]):
        count = usage.remaining[token]
        where = f"only {seen:,} times" if seen > 1 else "only once" if seen else "never"
        reason = (
            f"It occurs {counted(count, 'time')} in the corpus and {where} in the reference, "
            f"where {expected:,.0f} times would be expected."
        )
        severity = subject.severity(token, Severity.WARNING if seen else Severity.PROBLEM)
        yield subject.finding(token, "absent-from-reference", severity, reason, expected=round(expected, 2), seen=seen)
