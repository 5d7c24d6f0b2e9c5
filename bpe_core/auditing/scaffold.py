"""Scaffold: intermediate tokens, nearly all of whose occurrences go into longer ones, by counts or by rank."""

from collections.abc import Iterator
from itertools import accumulate
from operator import itemgetter
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import AuditSubject, Usage, merged_share
from bpe_core.vocabulary import Vocabulary

THRESHOLD: Final = 0.9  # intersection over self (IoS, see `by_counts`) above which a token is scaffold
OFTEN_ENOUGH: Final = 0.1  # part of `even_share` from which on a scaffold token is learned all the same: a note
MAX_GAP: Final = 5  # steps from a token to the only merge that uses it, up to which it is suspected without counts
MIN_RATIO: Final = 0.99  # or its step / the step of that merge, from which on it is
HALF_LEFT: Final = 0.01  # occurrences left / those of the last merge, with which a suspicion has half its strength
COPIED: Final = 0.5  # strength of a suspicion from which on the token it goes into is said to be copied whole
WINDOW: Final = 500  # tokens compared at each side of a place; with fewer than that at a side no place is judged
ENDED: Final = 0.9  # share of tokens in a window that no later merge uses, from which on a training may end there
FALL: Final = 0.25  # by how much it must be lower in the window behind; by chance it deviates by 0.08, one in a million


def scaffold(subject: AuditSubject) -> Iterator[Finding]:
    """Scaffold tokens: judged `by_counts` where the token's counts are known, `by_rank` otherwise.

    Then "verbatim" tokens, which end a chain of merges made close together, by way of scaffold by rank at most 5 steps
    before: likely one string, only ever copied, such as boilerplate, forms and names in lists. A model learns it if it
    learns from the copies, too. Evidence of these: "part" (the id of that parent), "strength" (the parent's).
    """
    usage, vocabulary = subject.usage, subject.tokenizer.vocabulary
    learned = dict.fromkeys(token for _, _, token in vocabulary.merges)
    last = end_of_order(vocabulary)
    copied: dict[int, Finding] = {}
    found: set[int] = set()
    for token, _ in subject.tokens("scaffold", learned):
        if usage and usage.made(token):
            finding = by_counts(subject, usage, token)
        else:
            finding = by_rank(subject, token, last)
            if finding and finding.severity is Severity.WARNING and finding.evidence["strength"] >= COPIED:
                copied[finding.evidence["into"]] = finding
        if finding:
            found.add(token)
            yield finding
    for token, part in copied.items():
        if token not in found:
            by_way = subject.label(part.id)
            reason = f"It was merged in one go, by way of {by_way}: likely one string, always copied whole."
            evidence = {"part": part.id, "strength": part.evidence["strength"]}
            yield subject.finding(token, "verbatim", Severity.NOTE, reason, **evidence)


def by_counts(subject: AuditSubject, usage: Usage, token: int) -> Finding | None:
    """A finding if the intersection over self, IoS = merged / (remaining + merged), is above 0.9; None otherwise.

    The measure is that of Picky BPE (Chizhov et al. 2024, arXiv 2409.04599), computed once, after the last merge.
    Evidence: "merged" (occurrences that later merges consumed), "ios", "into" (the id of the token that consumed most),
    "into_share" (the part of all occurrences that it consumed).
    """
    vocabulary = subject.tokenizer.vocabulary
    merged, made = usage.merged[token], usage.made(token)
    if merged <= THRESHOLD * made or not vocabulary.children(token):
        return None
    uses = {c: usage.made(c) * (vocabulary.parents(c) or ()).count(token) for c in vocabulary.children(token)}
    into, n_into = max(uses.items(), key=itemgetter(1))
    left = usage.remaining[token]
    build = "to build" if n_into >= merged else f"{n_into:,} of them to build"
    reason = (
        f"Later merges took {merged_share(merged, made)}, {build} {subject.label(into)}; "
        f"{f'{left:,}' if left else 'none'} {'are' if left > 1 else 'is'} left."
    )
    is_frequent = left >= OFTEN_ENOUGH * subject.even_share
    severity = Severity.NOTE if is_frequent else Severity.WARNING
    shares = {"ios": round(merged / made, 4), "into": into, "into_share": round(n_into / made, 4)}
    return subject.finding(token, "scaffold", severity, reason, merged=merged, **shares)


def by_rank(subject: AuditSubject, token: int, last: int) -> Finding | None:
    """A finding if just one later merge uses the token, at most 5 steps later or with a ratio of steps of 0.99 or more.

    The count of the pair merged next never rises from step to step, so two merges close in rank had nearly the same
    count, and nearly all occurrences of the first token went into the second. How many are left is guessed by Zipf's
    law, by which counts fall as 1 / step: `left` = (1 / step - 1 / later step) / (1 / last step), in occurrences of the
    last merge. It tells early merges, among which counts fall fast even within five steps, from late ones. Tokens that
    no merge uses, or several, are not judged, nor are merges behind the step `last`.

    Evidence: "into" (the id that the later merge makes), "gap", "ratio", "left", "strength".
    """
    vocabulary = subject.tokenizer.vocabulary
    children = vocabulary.children(token)
    if len(children) != 1:
        return None
    (into,) = children
    step, later = vocabulary.step_of(token), vocabulary.step_of(into)
    if not 0 < step < later <= last:  # in some published files a merge makes what merges before it have used already
        return None
    gap, ratio = later - step, step / later
    if gap > MAX_GAP and ratio < MIN_RATIO:
        return None
    left = last * gap / (step * later)
    when = "in the next step" if gap == 1 else f"{gap:,} steps later"
    reason = f"It goes into {subject.label(into)} only, made {when} and so likely from nearly all its occurrences."
    severity = Severity.WARNING if gap <= MAX_GAP and ratio >= MIN_RATIO else Severity.NOTE
    guess = {"left": round(left, 6), "strength": round(HALF_LEFT / (HALF_LEFT + left), 4)}
    return subject.finding(token, "scaffold", severity, reason, into=into, gap=gap, ratio=round(ratio, 4), **guess)


def end_of_order(vocabulary: Vocabulary) -> int:
    """The last step up to which the ranks are the order of one training; `n_merges` if they are throughout.

    Detected from the vocabulary alone, to within some merges; O(merges). In one training the share of tokens that no
    later merge uses grows with the rank, up to one at the end, because ever fewer merges come behind. Where a second
    list was appended, it falls at once: in Llama 3 from 0.97 to 0.4 behind 100,000 merges, in Qwen too. Not detected
    are lists of fewer than a thousand merges, and of tokens that do not use one another.
    """
    steps, leaves = [], []
    for step, (_, _, token) in enumerate(vocabulary.merges, 1):
        if vocabulary.step_of(token) == step:  # in some published files a later merge makes the same token again
            steps.append(step)
            leaves.append(not vocabulary.children(token))
    sums = list(accumulate(leaves, initial=0))

    def fall(place: int) -> float:
        """By how much the share falls there; 0.0 where it was not high before."""
        before = (sums[place] - sums[place - WINDOW]) / WINDOW
        behind = (sums[place + WINDOW] - sums[place]) / WINDOW
        return before - behind if before >= ENDED else 0.0

    places = range(WINDOW, len(leaves) - WINDOW + 1)
    first = next((place for place in places if fall(place) >= FALL), None)
    if first is None:
        return vocabulary.n_merges
    return steps[max(range(first, min(first + WINDOW, places.stop)), key=fall) - 1]
