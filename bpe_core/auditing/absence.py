"""Tokens frequent in the chosen texts and missing, or nearly so, from the reference, which a model learns from.

This is how GPT-2 came by its best-known glitch token: a user name, frequent in the text its tokenizer was trained on,
was all but missing from the text the model was trained on (Rumbelow and Watkins 2023, "SolidGoldMagikarp").
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.usage import Usage
from bpe_core.plurals import counted

MIN_EXPECTED: Final = 5.0
"""Expected occurrences below which nothing is concluded: of 5 expected, none occurs by chance in 0.7 % (Poisson)."""
MAX_SHARE: Final = 0.1
"""A token is found if it occurs less often in the reference than this part of its expected count."""


def absent_from_reference(subject: Subject) -> Iterator[Finding]:
    """Tokens that occur in the texts and are absent from the reference, or rarer there by a factor of more than ten.

    expected = count in the texts * tokens of the reference / tokens of the texts; seen = count in the reference.
    Ranked by `surprise`, the greatest first. Evidence: "expected", "seen", "surprise", and "strength": the missing part
    of what was expected, times 1 - exp(-surprise / 2), how far chance cannot explain it.
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
            g2 = surprise(usage.remaining[token], usage.n_tokens, seen, reference.n_tokens)
            missing.append((g2, token, expected, seen))
    for g2, token, expected, seen in sorted(missing, key=lambda row: -row[0]):
        count = usage.remaining[token]
        where = f"only {seen:,} times" if seen > 1 else "only once" if seen else "never"
        reason = (
            f"It occurs {counted(count, 'time')} in {subject.texts} and {where} in the reference, "
            f"where {expected:,.0f} times would be expected."
        )
        severity = subject.severity(token, Severity.WARNING if seen else Severity.PROBLEM)
        strength = (1 - seen / expected) * (1 - math.exp(-g2 / 2))
        yield subject.finding(
            token,
            "absent-from-reference",
            severity,
            reason,
            expected=round(expected, 2),
            seen=seen,
            surprise=round(g2, 2),
            strength=round(strength, 4) if severity is not Severity.NOTE else 0.1,
        )


def surprise(count: int, of_tokens: int, seen: int, of_reference: int) -> float:
    """The signed log-likelihood ratio G2 (Dunning 1993) of a token's counts in two corpora of so many tokens.

    2 * (count * ln(count / expected) + seen * ln(seen / expected)), each expected count that of a token as frequent in
    both; with a minus if the token is more frequent in the reference. 0 for equal shares; beyond 10.8 in size one token
    of a thousand would be by chance.

    >>> round(surprise(50, 1000, 0, 1000), 1), surprise(5, 1000, 10, 2000), round(surprise(0, 1000, 50, 1000), 1)
    (69.3, 0.0, -69.3)
    """
    both, total = count + seen, of_tokens + of_reference
    if not both or not of_tokens or not of_reference:
        return 0.0
    parts = ((count, both * of_tokens / total), (seen, both * of_reference / total))
    g2 = max(0.0, 2 * sum(n * math.log(n / expected) for n, expected in parts if n))
    return g2 if count * of_reference >= seen * of_tokens else -g2


def surprises(usage: Usage, reference: Usage) -> Mapping[int, float]:
    """Id -> `surprise`, of all tokens whose counts are known in both corpora."""
    return {
        token: round(surprise(count, usage.n_tokens, reference.remaining[token], reference.n_tokens), 3)
        for token, count in usage.remaining.items()
        if token in reference.remaining
    }
