"""Evidence from texts: tokens that they never or hardly use, that few documents use, or that a reference lacks.

Texts that the tokenizer was not trained on lack most of its tokens, for they are other texts. What they show of a token
is a finding only where few of the tokens learned about when it was show the same, see `AuditSubject.unusual_among`.
"""

import math
from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import LIKELY, SUSPECTED, Finding, Severity
from bpe_core.auditing.subject import AuditSubject, merged_share, surprise
from bpe_core.visible import counted, visible

RARE_SHARE: Final = 0.01  # a token is rare below this part of how often each would occur if all were equally frequent
MIN_DOCUMENTS: Final = 10  # that a corpus must have for one or two of them to be few
MIN_COUNT: Final = 5  # occurrences of a token of few documents; fewer come from one or two by chance
MAX_SIZE: Final = 0.5  # part of the corpus, in bytes, above which one or two documents are no surprising source
MIN_EXPECTED: Final = 5.0  # below, nothing is concluded: of 5 expected, none occurs by chance in 0.7 % (Poisson)
MAX_SHARE: Final = 0.1  # a token is absent if it occurs less often than this part of its expected count


def seldom(subject: AuditSubject) -> Iterator[Finding]:
    """Tokens that the texts never use, or once, or less than a hundredth as often as if all were equally frequent.

    "never-used": in the training corpus a problem, unless that is too small to tell. "rare": below tokens in the
    corpus / ids in the vocabulary / 100, which fits corpora of any size. Only of tokens that merges made: bytes are
    needed for other texts. Evidence: "merged" (occurrences that later merges consumed), "strength", of rare tokens
    "even_share".
    """
    usage, strengths = subject.usage, subject.used_up
    if usage is None:
        return
    even_share = usage.n_tokens / max(1, subject.tokenizer.n_vocab)
    for token, _ in subject.tokens("tokens never used", strengths):
        count, merged = usage.remaining[token], usage.merged[token]
        is_rare = 0 < count < RARE_SHARE * even_share
        evidence = {"merged": merged, "strength": round(strengths[token], 4)}
        if is_rare or 0 < count <= 1:
            times = "only once" if count == 1 else f"only {count:,} times"
            even = f"; if all tokens were equally frequent, each would occur {even_share:,.0f} times" if is_rare else ""
            reason = f"It occurs {times} in {subject.texts}{even}."
            severity = _severity(subject, strengths[token], Severity.WARNING)
            yield subject.finding(token, "rare", severity, reason, **evidence, even_share=round(even_share, 2))
        elif not count:
            reason = f"It occurs nowhere in {subject.texts}, nor does any token made of it."
            if merged:
                taken = merged_share(merged, merged)
                reason = f"It is not left anywhere in {subject.texts}: later merges took {taken}."
            severity = _severity(subject, strengths[token], Severity.PROBLEM)
            yield subject.finding(token, "never-used", severity, reason, **evidence)


def _severity(subject: AuditSubject, strength: float, in_training: Severity) -> Severity:
    """How bad it is: `in_training` in the training corpus, in chosen texts a warning, and a note where that is weak."""
    if not subject.of_training:
        return Severity.WARNING if strength >= SUSPECTED else Severity.NOTE
    return in_training if strength >= LIKELY else Severity.NOTE


def few_documents(subject: AuditSubject) -> Iterator[Finding]:
    """Tokens all of whose occurrences come from one or two documents of ten or more, as the name of a single author.

    Evidence: "documents" (their names), "share" (of the corpus, in bytes; None if only its total is known), "strength".
    """
    usage, counts = subject.usage, subject.counts
    if usage is None or counts is None or counts.n_documents < MIN_DOCUMENTS:
        return
    has_sizes = len(counts.sources) == counts.n_documents
    often = {token: token not in usage.documents for token, n in usage.remaining.items() if n >= MIN_COUNT}
    strengths = subject.unusual_among(often, usage.remaining.__getitem__)  # what is seldom here is in few by chance
    for token, _ in subject.tokens("documents", sorted(token for token, many in often.items() if not many)):
        documents, count = sorted(usage.documents[token]), usage.remaining[token]
        size = sum(counts.sources[document].bytes for document in documents) if has_sizes else 0
        share = round(size / counts.n_bytes, 4) if has_sizes else None
        strength = strengths.get(token)
        if strength and (share or 0) <= MAX_SIZE:
            names = [counts.name_of(document) for document in documents]
            reason = (
                f"All its {count:,} occurrences come from {len(names)} of {counts.n_documents:,} documents: "
                f"{visible(' and '.join(names))}."
            )
            if not subject.of_training:  # it tells what these texts are about, and hardly what was learned from
                strength *= SUSPECTED
            severity = Severity.WARNING if strength >= SUSPECTED else Severity.NOTE
            evidence = {"documents": names, "share": share, "strength": round(strength, 4)}
            yield subject.finding(token, "few-documents", severity, reason, **evidence)


def absent_from_reference(subject: AuditSubject) -> Iterator[Finding]:
    """Tokens that occur in the texts and are absent from the reference, or rarer there by a factor of more than ten.

    This is how GPT-2 came by its best-known glitch token: a user name, frequent in the text its tokenizer was trained
    on, was all but missing from the text the model was trained on (Rumbelow and Watkins 2023, "SolidGoldMagikarp").

    expected = count in the texts * tokens of the reference / tokens of the texts; seen = count in the reference.
    Ranked by `surprise`, the greatest first. Evidence: "expected", "seen", "surprise", and "strength": the missing part
    of what was expected, times 1 - exp(-surprise / 2), how far chance cannot explain it.
    """
    usage, reference = subject.usage, subject.reference
    if usage is None or reference is None or not usage.n_tokens:
        return
    scale = reference.n_tokens / usage.n_tokens
    common = {token: n * scale for token, n in usage.remaining.items() if n * scale >= MIN_EXPECTED}
    strengths = subject.unusual_among({token: reference.remaining[token] / n for token, n in common.items()})
    missing: dict[int, float] = {}
    for token, _ in subject.tokens("comparing with the reference", common):
        seen = reference.remaining[token]
        if seen < MAX_SHARE * common[token] and (subject.of_training or token in strengths):
            missing[token] = surprise(usage.remaining[token], usage.n_tokens, seen, reference.n_tokens)
    for token, g2 in sorted(missing.items(), key=lambda row: -row[1]):
        expected, seen = common[token], reference.remaining[token]
        where = f"only {seen:,} times" if seen > 1 else "only once" if seen else "never"
        reason = (
            f"It occurs {counted(usage.remaining[token], 'time')} in {subject.texts} and {where} in the reference, "
            f"where {expected:,.0f} times would be expected."
        )
        strength = (1 - seen / expected) * (1 - math.exp(-g2 / 2)) * (1.0 if subject.of_training else strengths[token])
        severity = subject.severity(token, _severity(subject, strength, Severity.WARNING if seen else Severity.PROBLEM))
        if len(subject.tokenizer.token_bytes(token)) == 1:
            strength = 0.1
        evidence = {"expected": round(expected, 2), "seen": seen, "surprise": round(g2, 2)}
        yield subject.finding(token, "absent-from-reference", severity, reason, **evidence, strength=round(strength, 4))
