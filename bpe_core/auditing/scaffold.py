"""Scaffold: intermediate tokens, nearly all of whose occurrences go into longer ones, by counts or by rank."""

from collections.abc import Iterator
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from bpe_core.auditing.findings import HALF_LEFT, LIKELY, Finding, Severity, fading, unusual
from bpe_core.auditing.subject import AuditSubject, Usage, merged_share
from bpe_core.vocabulary import Vocabulary

THRESHOLD: Final = 0.9  # intersection over self (IoS, see `by_counts`) above which a token is scaffold
MAX_GAP: Final = 5  # steps from a token to the only merge that uses it, up to which it is suspected without counts
MIN_RATIO: Final = 0.99  # or its step / the step of that merge, from which on it is
WINDOW: Final = 500  # tokens compared at each side of a place; with fewer than that at a side no place is judged
ENDED: Final = 0.9  # share of tokens in a window that no later merge uses, from which on a training may end there
FALL: Final = 0.25  # by how much it must be lower in the window behind; by chance it deviates by 0.08, one in a million


def scaffold(subject: AuditSubject) -> Iterator[Finding]:
    """Scaffold tokens: by the counts of the training corpus where these are known, otherwise by rank, and where this
    finds nothing by the counts of chosen texts; see `by_counts` and `by_rank`.

    Then "verbatim" tokens, which end a chain of merges made close together, by way of scaffold by rank: likely one
    string, only ever copied, such as boilerplate, forms and names in lists. A model learns it if it learns from the
    copies, too. Evidence of these: "part" (the id of that parent), "strength" (the parent's).

    The strength of a guess by rank is `fading` in what is left, as far as it is `unusual` in this vocabulary that so
    little is: of a small corpus many merges have equal counts and so stand close together, which tells nothing of one.
    That by the counts of a training fades with the share left, one occurrence more or less: of twelve all go by chance.
    """
    usage, trained, vocabulary = subject.usage, subject.trained, subject.tokenizer.vocabulary
    learned = list(dict.fromkeys(token for _, _, token in vocabulary.merges))
    exact = {token for token in learned if trained and trained.made(token)}
    last = end_of_order(vocabulary)
    guesses = {token: guess for token in learned if token not in exact and (guess := by_rank(vocabulary, token, last))}
    spent = {token: fading(guess["left"], HALF_LEFT) for token, guess in guesses.items()}
    n_likely = sum(one >= LIKELY for one in spent.values())
    found: dict[int, tuple[int, float]] = {}  # token that a guess says is a copy -> (its part, strength)
    for token, _ in subject.tokens("scaffold", learned):
        guess = guesses.get(token)
        if guess:
            strength = spent[token] * unusual(n_likely / len(learned))
            if spent[token] >= LIKELY:
                found[guess["into"]] = token, strength
            when = "in the next step" if guess["gap"] == 1 else f"{guess['gap']:,} steps later"
            into = subject.label(guess["into"])
            reason = f"It goes into {into} only, made {when} and so likely from nearly all its occurrences."
            severity = Severity.WARNING if strength >= LIKELY else Severity.NOTE
            yield subject.finding(token, "scaffold", severity, reason, **guess, strength=round(strength, 4))
        elif trained and token in exact:
            left = (trained.remaining[token] + 1) / trained.made(token)
            yield from by_counts(subject, trained, token, fading(left, HALF_LEFT))
        elif usage and token in subject.used_up:
            yield from by_counts(subject, usage, token, subject.used_up[token])
    for token, (part, strength) in found.items():
        if token not in guesses:
            by_way, severity = subject.label(part), Severity.WARNING if strength >= LIKELY else Severity.NOTE
            reason = f"It was merged in one go, by way of {by_way}: likely one string, always copied whole."
            yield subject.finding(token, "verbatim", severity, reason, part=part, strength=round(strength, 4))


def by_counts(subject: AuditSubject, usage: Usage, token: int, strength: float) -> Iterator[Finding]:
    """A finding if the intersection over self, IoS = occurrences that one later merge took / all, is above 0.9.

    The measure is that of Picky BPE (Chizhov et al. 2024, arXiv 2409.04599), computed once, after the last merge. A
    token that several later ones are made of is a common part of words. Evidence: "merged" (occurrences that later
    merges consumed), "ios", "into" (the id of the token that took most of them).
    """
    vocabulary, merged, made = subject.tokenizer.vocabulary, usage.merged[token], usage.made(token)
    uses = {c: usage.made(c) * (vocabulary.parents(c) or ()).count(token) for c in vocabulary.children(token)}
    into, n_into = max(uses.items(), key=itemgetter(1), default=(token, 0))
    if n_into <= THRESHOLD * made:
        return
    left, when = usage.remaining[token], "Later" if usage is subject.usage else "In its training later"
    build = "to build" if n_into >= merged else f"{n_into:,} of them to build"
    reason = (
        f"{when} merges took {merged_share(merged, made)}, {build} {subject.label(into)}; "
        f"{f'{left:,}' if left else 'none'} {'are' if left > 1 else 'is'} left."
    )
    severity = Severity.WARNING if strength >= LIKELY else Severity.NOTE
    evidence = {"merged": merged, "ios": round(n_into / made, 4), "into": into, "strength": round(strength, 4)}
    yield subject.finding(token, "scaffold", severity, reason, **evidence)


def by_rank(vocabulary: Vocabulary, token: int, last: int) -> dict[str, Any] | None:
    """Evidence if just one later merge uses the token, at most 5 steps later or with a ratio of steps of 0.99 or more.

    The count of the pair merged next never rises from step to step, so two merges close in rank had nearly the same
    count, and nearly all occurrences of the first token went into the second. How many are left is guessed by Zipf's
    law, by which counts fall as 1 / step: `left` = (1 / step - 1 / later step) / (1 / last step), in occurrences of the
    last merge. It tells early merges, among which counts fall fast even within five steps, from late ones. Tokens that
    no merge uses, or several, are not judged, nor are merges behind the step `last`.

    Evidence: "into" (the id that the later merge makes), "gap", "ratio", "left".
    """
    children = vocabulary.children(token)
    if len(children) != 1:
        return None
    (into,) = children
    step, later = vocabulary.step_of(token), vocabulary.step_of(into)
    if not 0 < step < later <= last:
        return None
    gap, ratio = later - step, step / later
    if gap > MAX_GAP and ratio < MIN_RATIO:
        return None
    return {"into": into, "gap": gap, "ratio": round(ratio, 4), "left": round(last * gap / (step * later), 6)}


def end_of_order(vocabulary: Vocabulary) -> int:
    """The last step up to which the ranks are the order of one training; `n_merges` if they are throughout.

    Detected from the vocabulary alone, to within some merges; O(merges). In one training the share of tokens that no
    later merge uses grows with the rank, up to one at the end, because ever fewer merges come behind. Where a second
    list was appended, it falls at once: in Llama 3 from 0.97 to 0.4 behind 100,000 merges, in Qwen too. Not detected
    are lists of fewer than a thousand merges, and of tokens that do not use one another.
    """
    merges = vocabulary.merges
    used = {part for left, right, _ in merges for part in (left, right)}
    sums = list(accumulate((token not in used for _, _, token in merges), initial=0))

    def fall(place: int) -> float:
        """By how much the share falls there; 0.0 where it was not high before."""
        before = (sums[place] - sums[place - WINDOW]) / WINDOW
        behind = (sums[place + WINDOW] - sums[place]) / WINDOW
        return before - behind if before >= ENDED else 0.0

    places = range(WINDOW, len(merges) - WINDOW + 1)
    first = next((place for place in places if fall(place) >= FALL), None)
    if first is None:
        return vocabulary.n_merges
    return max(range(first, min(first + WINDOW, places.stop)), key=fall)
