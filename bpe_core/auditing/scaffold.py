"""Find scaffold: intermediate tokens that are nearly always merged into longer ones, by their counts or their ranks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from bpe_core.auditing.findings import (
    HALF_LEFT,
    LIKELY,
    Finding,
    Severity,
    fading,
    glitch_probability,
)
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import Usage, merged_share
from bpe_core.vocabulary import Vocabulary
from bpe_core.weighted import Count, formatted

THRESHOLD: Final = 0.9
"""Intersection over self (IoS, see `by_counts`) above which a token is scaffold."""
MAX_GAP: Final = 5
"""Steps from a token to the only merge that uses it, up to which it is suspected without counts."""
MIN_RATIO: Final = 0.99
"""Or its step / the step of that merge, from which on it is suspected."""
WINDOW: Final = 500
"""Tokens compared on each side of a place, in search of the end of a training run."""
ENDED: Final = 0.9
"""Share of tokens in a window that no later merge uses, from which on a training run may end there."""
FALL: Final = 0.25
"""By how much the share must be lower in the next window. By chance it differs by 0.08, one time in a million."""


@dataclass(frozen=True, slots=True)
class RankGuess:
    """Evidence by rank that a token is scaffold; see `by_rank`."""

    into: int  # the id that the later merge makes
    gap: int  # steps until then
    ratio: float  # step / later step
    left: float  # occurrences left, in occurrences of the last merge

    def evidence(self) -> dict[str, Any]:
        return {
            "into": self.into,
            "gap": self.gap,
            "ratio": self.ratio,
            "left": self.left,
        }


@dataclass(frozen=True, slots=True)
class _Copy:
    """A token that ends a chain of merges made close together."""

    part: int  # the scaffold token it was built from
    strength: float


def scaffold(subject: AuditSubject) -> Iterator[Finding]:
    """Find scaffold tokens, and "verbatim" tokens that were built from them.

    Scaffold is judged by the counts of the training corpus if they are known (`by_counts`), otherwise by rank
    (`by_rank`), and if that finds nothing by the counts of chosen texts.

    A "verbatim" token ends a chain of merges made close together, by way of scaffold by rank. It is probably one string
    that was copied many times, such as boilerplate, forms and names in lists. A model learns it if it learns from the
    copies too. Evidence: "part" (the id of that parent), "strength" (the parent's).

    The strength of a guess by rank fades with the occurrences left. It is weighted by the `glitch_probability` in this
    vocabulary, since few tokens may have so few left: in a small corpus, many merges have equal counts and are therefore
    close together, which says nothing about any of them. The strength by the counts of a training run fades with the
    share of the occurrences that is left. One occurrence more or less is allowed: if there are twelve, all may go by
    chance.
    """
    usage = subject.usage
    trained = subject.trained
    vocabulary = subject.tokenizer.vocabulary
    learned = list(dict.fromkeys(token for _, _, token in vocabulary.merges))
    counted = {token for token in learned if trained and trained.made(token)}
    guesses = _guesses_by_rank(vocabulary, [t for t in learned if t not in counted])
    spent = {token: fading(guess.left, HALF_LEFT) for token, guess in guesses.items()}
    n_likely = sum(value >= LIKELY for value in spent.values())
    copies: dict[int, _Copy] = {}
    for token, _ in subject.tokens("scaffold", learned):
        guess = guesses.get(token)
        if guess:
            strength = spent[token] * glitch_probability(n_likely / len(learned))
            if spent[token] >= LIKELY:
                copies[guess.into] = _Copy(token, strength)
            yield _scaffold_by_rank(subject, token, guess, strength)
        elif trained and token in counted:
            left = float((trained.remaining[token] + 1) / trained.made(token))
            yield from by_counts(subject, trained, token, fading(left, HALF_LEFT))
        elif usage and token in subject.used_up:
            yield from by_counts(subject, usage, token, subject.used_up[token])
    for token, copy in copies.items():
        if token not in guesses:
            yield _verbatim(subject, token, copy)


def _guesses_by_rank(vocabulary: Vocabulary, tokens: list[int]) -> dict[int, RankGuess]:
    last = end_of_order(vocabulary)
    guesses: dict[int, RankGuess] = {}
    for token in tokens:
        guess = by_rank(vocabulary, token, last)
        if guess:
            guesses[token] = guess
    return guesses


def _scaffold_by_rank(
    subject: AuditSubject, token: int, guess: RankGuess, strength: float
) -> Finding:
    when = "in the next step" if guess.gap == 1 else f"{guess.gap:,} steps later"
    reason = f"Only {subject.label(guess.into)} is built from it, {when}, so probably from nearly all its occurrences."
    return subject.finding(
        token,
        "scaffold",
        _severity(strength),
        reason,
        **guess.evidence(),
        strength=round(strength, 4),
    )


def _verbatim(subject: AuditSubject, token: int, copy: _Copy) -> Finding:
    reason = (
        f"Merges made close together built it from {subject.label(copy.part)}. That part is the suspect; this token may "
        "be an ordinary word."
    )
    return subject.finding(
        token,
        "verbatim",
        _severity(copy.strength),
        reason,
        part=copy.part,
        strength=round(copy.strength, 4),
    )


def _severity(strength: float) -> Severity:
    return Severity.WARNING if strength >= LIKELY else Severity.NOTE


def by_counts(
    subject: AuditSubject, usage: Usage, token: int, strength: float
) -> Iterator[Finding]:
    """Report a token if one later merge took more than 0.9 of its occurrences.

    The measure is the intersection over self, IoS = occurrences that this merge took / all occurrences, of Picky BPE
    (Chizhov et al. 2024, arXiv 2409.04599), computed once, after the last merge. A token that several later tokens are
    built from is a common part of words. Evidence: "merged" (occurrences that later merges took), "ios", "into" (the id
    of the token that took most of them).
    """
    vocabulary = subject.tokenizer.vocabulary
    merged = usage.merged[token]
    made = usage.made(token)
    into = token
    n_into: Count = 0
    for child in vocabulary.children(token):
        n_parts = (vocabulary.parents(child) or ()).count(token)
        if usage.made(child) * n_parts > n_into:
            into = child
            n_into = usage.made(child) * n_parts
    if n_into <= THRESHOLD * made:
        return
    left = usage.remaining[token]
    who = "Later merges" if usage is subject.usage else "In its training, later merges"
    purpose = (
        "to build" if n_into >= merged else f"{formatted(n_into)} of them to build"
    )
    remainder = (
        f"{formatted(left)} {'is' if left == 1 else 'are'} left"
        if left
        else "none is left"
    )
    reason = f"{who} took {merged_share(merged, made)}, {purpose} {subject.label(into)}; {remainder}."
    yield subject.finding(
        token,
        "scaffold",
        _severity(strength),
        reason,
        merged=merged,
        ios=round(n_into / made, 4),
        into=into,
        strength=round(strength, 4),
    )


def by_rank(vocabulary: Vocabulary, token: int, last: int) -> RankGuess | None:
    """Guess whether a token is scaffold from the steps of two merges: its own, and the only one that uses it.

    The count of the next merged pair never rises from step to step. So two merges close in rank had nearly the same
    count, and nearly all occurrences of the first token went into the second. "Close" is at most 5 steps later, or a
    ratio of steps of 0.99 or more.

    How many occurrences are left is guessed by Zipf's law, by which counts fall as 1 / step:
    left = (1 / step - 1 / later step) / (1 / last step), in occurrences of the last merge. It distinguishes early
    merges, among which counts fall fast even within five steps, from late ones.

    Tokens that no merge uses, or several, are not judged, and neither are merges after the step `last`.
    """
    children = vocabulary.children(token)
    if len(children) != 1:
        return None
    into = children[0]
    step = vocabulary.step_of(token)
    later = vocabulary.step_of(into)
    if not 0 < step < later <= last:
        return None
    gap = later - step
    ratio = step / later
    if gap > MAX_GAP and ratio < MIN_RATIO:
        return None
    left = last * gap / (step * later)
    return RankGuess(into, gap, round(ratio, 4), round(left, 6))


def end_of_order(vocabulary: Vocabulary) -> int:
    """Return the last step up to which the ranks are the order of one training run; `n_merges` if they all are.

    It is detected from the vocabulary alone, to within some merges, in O(merges). In one training run the share of tokens
    that no later merge uses grows with the rank, up to 1 at the end, since fewer and fewer merges follow. If a second
    list was appended, the share falls at once: in Llama 3 from 0.97 to 0.4 after 100,000 merges, in Qwen too. Lists of
    fewer than a thousand merges, and of tokens that don't use one another, are not detected.
    """
    merges = vocabulary.merges
    used = {part for left, right, _ in merges for part in (left, right)}
    unused = (token not in used for _, _, token in merges)
    n_unused = list(accumulate(unused, initial=0))  # among the first k merges

    def fall(place: int) -> float:
        """Return by how much the share falls at a place; 0.0 if it was not high before."""
        before = (n_unused[place] - n_unused[place - WINDOW]) / WINDOW
        after = (n_unused[place + WINDOW] - n_unused[place]) / WINDOW
        return before - after if before >= ENDED else 0.0

    last_place = len(merges) - WINDOW
    for place in range(WINDOW, last_place + 1):
        if fall(place) >= FALL:
            nearby = range(place, min(place + WINDOW, last_place + 1))
            return max(nearby, key=fall)
    return vocabulary.n_merges
