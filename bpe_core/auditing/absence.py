"""Tokens that the tokenizer learned from one corpus while the model learns from another that hardly holds them.

This is how GPT-2 came by its best-known glitch token: a user name, frequent in the text its tokenizer was trained on,
was all but missing from the text the model was trained on (Rumbelow and Watkins 2023, "SolidGoldMagikarp").
"""

from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.plurals import counted

MIN_EXPECTED: Final = 5.0
"""Occurrences that the reference should have before their lack means anything: by chance alone none of 5 expected ones
is there in 0.7 % of cases (Poisson)."""
MAX_SHARE: Final = 0.1
"""A token is rare in the reference below this part of what was expected."""


def absent_from_reference(subject: Subject) -> Iterator[Finding]:
    """Tokens that occur in the corpus and are absent from the reference, or rarer there by a factor of more than ten.

    Expected is the count that a reference of its length (in tokens) would have if it were like the corpus. Ranked by
    (expected + 1) / (seen + 1), the greatest first. Evidence: "expected", "seen".
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
