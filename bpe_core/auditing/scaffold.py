"""Scaffold: tokens that were only a step on the way to longer ones, and are left over once those are built."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.usage import Usage, merged_share

THRESHOLD: Final = 0.9
"""Intersection over self above which a token is scaffold."""
OFTEN_ENOUGH: Final = 0.1
"""Part of an even share of the corpus from which on a model will know a token, scaffold or not."""
MAX_GAP: Final = 5
"""A token whose one later use came at most this many steps after it is suspected without any corpus."""
MIN_RATIO: Final = 0.99
"""So is one whose rank is at least this part of the rank of its one later use."""


def scaffold(subject: Subject) -> Iterator[Finding]:
    """Scaffold by counts for every token whose use is known, by the gap between ranks for the others."""
    usage = subject.usage
    learned = dict.fromkeys(token for _, _, token in subject.tokenizer.vocabulary.merges)
    for token, _ in subject.tokens("scaffold", learned):
        finding = by_counts(subject, usage, token) if usage and usage.made(token) else by_rank(subject, token)
        if finding:
            yield finding


def by_counts(subject: Subject, usage: Usage, token: int) -> Finding | None:
    """Intersection over self: IoS = merged / (remaining + merged); above 0.9 the token is scaffold.

    The measure of Picky BPE (Chizhov et al. 2024, arXiv 2409.04599), which takes it at the moment of each merge; here
    it is merged_share once, after the last. Evidence: "merged", "ios", "into" (the id of the token that took most),
    "into_share".
    """
    merged, made = usage.merged[token], usage.made(token)
    if merged <= THRESHOLD * made or not subject.tokenizer.vocabulary.children(token):
        return None
    into, n_into = _main_use(subject, usage, token)
    left = usage.remaining[token]
    build = "to build" if n_into >= merged else f"{n_into:,} of them to build"
    reason = (
        f"Later merges took {merged_share(merged, made)}, {build} {subject.label(into)}; "
        f"{f'{left:,}' if left else 'none'} {'are' if left > 1 else 'is'} left."
    )
    is_frequent = left >= OFTEN_ENOUGH * usage.even_share(subject.tokenizer.n_vocab)
    severity = Severity.NOTE if is_frequent else Severity.WARNING
    shares = {"ios": round(merged / made, 4), "into": into, "into_share": round(n_into / made, 4)}
    return subject.finding(token, "scaffold", severity, reason, merged=merged, **shares)


def _main_use(subject: Subject, usage: Usage, token: int) -> tuple[int, int]:
    """The later token that took most occurrences of this one, and how many."""
    vocabulary = subject.tokenizer.vocabulary
    uses = {c: usage.made(c) * (vocabulary.parents(c) or ()).count(token) for c in vocabulary.children(token)}
    return max(uses.items(), key=itemgetter(1))


def by_rank(subject: Subject, token: int) -> Finding | None:
    """The token's only later use was made right after it: within 5 steps, or its rank at least 0.99 of the other's.

    Why this works: the count of the pair merged next never rises, so two merges close in rank had nearly the same
    count, and nearly all occurrences of the first went into the second. In early merges five steps are a long way, so
    only both together are a warning. It cannot see tokens that no merge uses.
    Evidence: "into" (the id of that later token), "gap" (steps between), "ratio" (of the ranks, both counted from 1).
    """
    vocabulary = subject.tokenizer.vocabulary
    children = vocabulary.children(token)
    if len(children) != 1:
        return None
    (into,) = children
    step, later = vocabulary.step_of(token), vocabulary.step_of(into)
    if not 0 < step < later:  # in some published files a merge makes what merges before it have used already
        return None
    gap, ratio = later - step, step / later
    if gap > MAX_GAP and ratio < MIN_RATIO:
        return None
    when = "in the next step" if gap == 1 else f"{gap} steps later"
    reason = f"It goes into {subject.label(into)} only, made {when} and so likely from nearly all its occurrences."
    severity = Severity.WARNING if gap <= MAX_GAP and ratio >= MIN_RATIO else Severity.NOTE
    return subject.finding(token, "scaffold", severity, reason, into=into, gap=gap, ratio=round(ratio, 4))
