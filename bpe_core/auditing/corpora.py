"""Find tokens that texts rarely or never use, that few documents use, or that a reference lacks.

Texts that the tokenizer was not trained on lack most of its tokens, simply because they are other texts. So a low
count is a finding only if few of the token's neighbors have one: see `AuditSubject.glitches_among_neighbors`.
"""

import math
from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import LIKELY, SUSPECTED, Finding, Severity
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import merged_share, surprise
from bpe_core.visible import counted, visible
from bpe_core.weighted import Count, formatted

RARE_SHARE: Final = 0.01
"""A token is rare below this part of how often it would occur if all tokens were equally frequent."""
MIN_DOCUMENTS: Final = 10
"""Documents that a corpus must have for one or two of them to be few."""
MIN_COUNT: Final = 5
"""Occurrences of a token of few documents. Fewer come from one or two documents by chance."""
MAX_SIZE: Final = 0.5
"""Part of the corpus, in bytes, above which one or two documents are not a surprising source."""
MIN_EXPECTED: Final = 5.0
"""Expected occurrences below which nothing is concluded: of 5, none occurs by chance in 0.7 % (Poisson)."""
MAX_SHARE: Final = 0.1
"""A token is absent if it occurs less often than this part of its expected count."""


def seldom(subject: AuditSubject) -> Iterator[Finding]:
    """Find tokens that the texts never use, or once, or far below the average.

    "never-used": it is a problem in the training corpus, unless that is too small. "rare": less than a hundredth of
    tokens in the corpus / ids in the vocabulary, which fits corpora of any size. Only tokens that merges made are
    judged: bytes are needed for other texts. Evidence: "merged" (occurrences that later merges took), "strength", and
    of rare tokens "even_share" (occurrences if all tokens were equally frequent).
    """
    usage = subject.usage
    if usage is None:
        return
    even_share = float(usage.n_tokens / max(1, subject.tokenizer.n_tokens))
    for token, _ in subject.tokens("tokens never used", subject.used_up):
        strength = subject.used_up[token]
        count = usage.remaining[token]
        if count == 0:
            yield _never_used(subject, token, usage.merged[token], strength)
        elif count == 1 or count < RARE_SHARE * even_share:
            yield subject.finding(
                token,
                "rare",
                _severity(subject, strength, Severity.WARNING),
                _why_rare(subject, count, even_share),
                merged=usage.merged[token],
                strength=round(strength, 4),
                even_share=round(even_share, 2),
            )


def _never_used(
    subject: AuditSubject, token: int, merged: Count, strength: float
) -> Finding:
    reason = f"It does not occur in {subject.texts}, and no token built from it does."
    if merged:
        taken = merged_share(merged, merged)
        reason = f"It no longer occurs in {subject.texts}: later merges took {taken}."
    return subject.finding(
        token,
        "never-used",
        _severity(subject, strength, Severity.PROBLEM),
        reason,
        merged=merged,
        strength=round(strength, 4),
    )


def _why_rare(subject: AuditSubject, count: Count, even_share: float) -> str:
    times = "only once" if count == 1 else f"only {formatted(count)} times"
    reason = f"It occurs {times} in {subject.texts}"
    if count < RARE_SHARE * even_share:
        reason += f"; if all tokens were equally frequent, it would occur {even_share:,.0f} times"
    return f"{reason}."


def _severity(
    subject: AuditSubject, strength: float, in_training: Severity
) -> Severity:
    """Return `in_training` for strong evidence from the training corpus, at most a warning from other texts."""
    if subject.of_training:
        return in_training if strength >= LIKELY else Severity.NOTE
    return Severity.WARNING if strength >= SUSPECTED else Severity.NOTE


def few_documents(subject: AuditSubject) -> Iterator[Finding]:
    """Find tokens whose occurrences all come from one or two of ten documents or more, like the name of an author.

    Evidence: "documents" (their names), "share" (of the corpus, in bytes; None if only its total is known), "strength".
    """
    usage = subject.usage
    counts = subject.counts
    if usage is None or counts is None or counts.n_documents < MIN_DOCUMENTS:
        return
    frequent = [token for token, n in usage.remaining.items() if n >= MIN_COUNT]
    # 0 for tokens of few documents, 1 for the others. Neighbors are tokens as frequent here: rare ones are in few
    # documents by chance.
    is_widespread = {token: int(token not in usage.documents) for token in frequent}
    strengths = subject.glitches_among_neighbors(
        is_widespread, usage.remaining.__getitem__
    )
    of_few = sorted(token for token in frequent if not is_widespread[token])
    has_sizes = len(counts.sources) == counts.n_documents
    for token, _ in subject.tokens("documents", of_few):
        documents = sorted(usage.documents[token])
        share = None
        if has_sizes:
            size = sum(counts.sources[document].bytes for document in documents)
            share = round(size / counts.n_bytes, 4)
        strength = strengths.get(token)
        is_most_of_corpus = share is not None and share > MAX_SIZE
        if not strength or is_most_of_corpus:
            continue
        names = [counts.name_of(document) for document in documents]
        reason = (
            f"All its {formatted(usage.remaining[token])} occurrences come from {len(names)} of {counts.n_documents:,} "
            f"documents: {visible(' and '.join(names))}."
        )
        if not subject.of_training:
            # That shows what these texts are about, and little about the texts of the training.
            strength *= SUSPECTED
        yield subject.finding(
            token,
            "few-documents",
            Severity.WARNING if strength >= SUSPECTED else Severity.NOTE,
            reason,
            documents=names,
            share=share,
            strength=round(strength, 4),
        )


def absent_from_reference(subject: AuditSubject) -> Iterator[Finding]:
    """Find tokens that occur in the texts but not in the reference, or more than ten times as seldom there.

    GPT-2 got its best-known glitch token this way: a user name was frequent in the texts that its tokenizer was
    trained on, and almost missing from those that the model was trained on (Rumbelow and Watkins 2023, "SolidGoldMagikarp").

    expected = count in the texts * tokens of the reference / tokens of the texts; seen = count in the reference. The
    greatest `surprise` comes first. Evidence: "expected", "seen", "surprise", and "strength": the missing part of the
    expected occurrences, times 1 - exp(-surprise / 2), which is how far chance cannot explain it.
    """
    usage = subject.usage
    reference = subject.reference
    if usage is None or reference is None or not usage.n_tokens:
        return
    scale = float(reference.n_tokens / usage.n_tokens)
    expected: dict[int, float] = {}
    for token, n in usage.remaining.items():
        if n * scale >= MIN_EXPECTED:
            expected[token] = float(n * scale)
    seen_share = {
        token: float(reference.remaining[token]) / n for token, n in expected.items()
    }
    strengths = subject.glitches_among_neighbors(seen_share)
    surprises: dict[int, float] = {}
    for token, _ in subject.tokens("comparing with the reference", expected):
        seen = reference.remaining[token]
        is_missing = seen < MAX_SHARE * expected[token]
        if is_missing and (subject.of_training or token in strengths):
            count = usage.remaining[token]
            surprises[token] = surprise(count, usage.n_tokens, seen, reference.n_tokens)
    most_surprising_first = sorted(surprises.items(), key=lambda row: -row[1])
    for token, g2 in most_surprising_first:
        strength = (1 - seen_share[token]) * (1 - math.exp(-g2 / 2))
        if not subject.of_training:
            strength *= strengths[token]
        yield _absent(subject, token, expected[token], g2, strength)


def _absent(
    subject: AuditSubject, token: int, expected: float, g2: float, strength: float
) -> Finding:
    assert subject.usage and subject.reference
    seen = subject.reference.remaining[token]
    where = "never"
    if seen:
        where = "only once" if seen == 1 else f"only {formatted(seen)} times"
    reason = (
        f"It occurs {counted(subject.usage.remaining[token], 'time')} in {subject.texts} but {where} in the reference, "
        f"where {expected:,.0f} times would be expected."
    )
    in_training = Severity.WARNING if seen else Severity.PROBLEM
    severity = subject.severity_unless_byte(
        token, _severity(subject, strength, in_training)
    )
    is_byte = len(subject.tokenizer.token_bytes(token)) == 1
    return subject.finding(
        token,
        "absent-from-reference",
        severity,
        reason,
        expected=round(expected, 2),
        seen=seen,
        surprise=round(g2, 2),
        strength=0.1 if is_byte else round(strength, 4),
    )
