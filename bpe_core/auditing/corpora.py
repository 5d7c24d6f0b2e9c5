"""Evidence from texts: tokens that they never or hardly use, that few documents use, or that a reference lacks; and
scaffold: intermediate tokens, nearly all of whose occurrences go into longer ones, by counts or by rank.

Texts that the tokenizer was not trained on lack most of its tokens, for they are other texts. What they show of a token
is a finding only where few of the tokens learned about when it was show the same, see `AuditSubject.unusual_among`.
"""

import math
from collections.abc import Iterator
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from bpe_core.auditing.findings import (
    HALF_LEFT,
    LIKELY,
    SUSPECTED,
    Finding,
    Severity,
    fading,
    unusual,
)
from bpe_core.auditing.subject import AuditSubject, Usage, merged_share, surprise
from bpe_core.visible import counted, visible
from bpe_core.vocabulary import Vocabulary

RARE_SHARE: Final = 0.01  # a token is rare below this part of how often each would occur if all were equally frequent
MIN_DOCUMENTS: Final = 10  # that a corpus must have for one or two of them to be few
MIN_COUNT: Final = (
    5  # occurrences of a token of few documents; fewer come from one or two by chance
)
MAX_SIZE: Final = 0.5  # part of the corpus, in bytes, above which one or two documents are no surprising source
MIN_EXPECTED: Final = 5.0  # below, nothing is concluded: of 5 expected, none occurs by chance in 0.7 % (Poisson)
MAX_SHARE: Final = 0.1  # a token is absent if it occurs less often than this part of its expected count
THRESHOLD: Final = (
    0.9  # intersection over self (IoS, see `by_counts`) above which a token is scaffold
)
MAX_GAP: Final = 5  # steps from a token to the only merge that uses it, up to which it is suspected without counts
MIN_RATIO: Final = 0.99  # or its step / the step of that merge, from which on it is
WINDOW: Final = 500  # tokens compared at each side of a place; with fewer than that at a side no place is judged
ENDED: Final = 0.9  # share of tokens in a window that no later merge uses, from which on a training may end there
FALL: Final = 0.25  # by how much it must be lower in the window behind; by chance it deviates by 0.08, one in a million


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
    even_share = usage.n_tokens / max(1, subject.tokenizer.n_tokens)
    for token, _ in subject.tokens("tokens never used", strengths):
        count, merged = usage.remaining[token], usage.merged[token]
        is_rare = 0 < count < RARE_SHARE * even_share
        evidence = {"merged": merged, "strength": round(strengths[token], 4)}
        if is_rare or 0 < count <= 1:
            times = "only once" if count == 1 else f"only {count:,} times"
            even = (
                f"; if all tokens were equally frequent, each would occur {even_share:,.0f} times"
                if is_rare
                else ""
            )
            reason = f"It occurs {times} in {subject.texts}{even}."
            severity = _severity(subject, strengths[token], Severity.WARNING)
            yield subject.finding(
                token,
                "rare",
                severity,
                reason,
                **evidence,
                even_share=round(even_share, 2),
            )
        elif not count:
            reason = (
                f"It occurs nowhere in {subject.texts}, nor does any token made of it."
            )
            if merged:
                taken = merged_share(merged, merged)
                reason = f"It is not left anywhere in {subject.texts}: later merges took {taken}."
            severity = _severity(subject, strengths[token], Severity.PROBLEM)
            yield subject.finding(token, "never-used", severity, reason, **evidence)


def _severity(
    subject: AuditSubject, strength: float, in_training: Severity
) -> Severity:
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
    often = {
        token: token not in usage.documents
        for token, n in usage.remaining.items()
        if n >= MIN_COUNT
    }
    strengths = subject.unusual_among(
        often, usage.remaining.__getitem__
    )  # what is seldom here is in few by chance
    for token, _ in subject.tokens(
        "documents", sorted(token for token, many in often.items() if not many)
    ):
        documents, count = sorted(usage.documents[token]), usage.remaining[token]
        size = (
            sum(counts.sources[document].bytes for document in documents)
            if has_sizes
            else 0
        )
        share = round(size / counts.n_bytes, 4) if has_sizes else None
        strength = strengths.get(token)
        if strength and (share or 0) <= MAX_SIZE:
            names = [counts.name_of(document) for document in documents]
            reason = (
                f"All its {count:,} occurrences come from {len(names)} of {counts.n_documents:,} documents: "
                f"{visible(' and '.join(names))}."
            )
            if (
                not subject.of_training
            ):  # it tells what these texts are about, and hardly what was learned from
                strength *= SUSPECTED
            severity = Severity.WARNING if strength >= SUSPECTED else Severity.NOTE
            evidence = {
                "documents": names,
                "share": share,
                "strength": round(strength, 4),
            }
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
    common = {
        token: n * scale
        for token, n in usage.remaining.items()
        if n * scale >= MIN_EXPECTED
    }
    strengths = subject.unusual_among(
        {token: reference.remaining[token] / n for token, n in common.items()}
    )
    missing: dict[int, float] = {}
    for token, _ in subject.tokens("comparing with the reference", common):
        seen = reference.remaining[token]
        if seen < MAX_SHARE * common[token] and (
            subject.of_training or token in strengths
        ):
            missing[token] = surprise(
                usage.remaining[token], usage.n_tokens, seen, reference.n_tokens
            )
    for token, g2 in sorted(missing.items(), key=lambda row: -row[1]):
        expected, seen = common[token], reference.remaining[token]
        where = f"only {seen:,} times" if seen > 1 else "only once" if seen else "never"
        reason = (
            f"It occurs {counted(usage.remaining[token], 'time')} in {subject.texts} and {where} in the reference, "
            f"where {expected:,.0f} times would be expected."
        )
        strength = (
            (1 - seen / expected)
            * (1 - math.exp(-g2 / 2))
            * (1.0 if subject.of_training else strengths[token])
        )
        severity = subject.severity(
            token,
            _severity(
                subject, strength, Severity.WARNING if seen else Severity.PROBLEM
            ),
        )
        if len(subject.tokenizer.token_bytes(token)) == 1:
            strength = 0.1
        evidence = {
            "expected": round(expected, 2),
            "seen": seen,
            "surprise": round(g2, 2),
        }
        yield subject.finding(
            token,
            "absent-from-reference",
            severity,
            reason,
            **evidence,
            strength=round(strength, 4),
        )


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
    usage, trained, vocabulary = (
        subject.usage,
        subject.trained,
        subject.tokenizer.vocabulary,
    )
    learned = list(dict.fromkeys(token for _, _, token in vocabulary.merges))
    exact = {token for token in learned if trained and trained.made(token)}
    last = end_of_order(vocabulary)
    guesses = {
        token: guess
        for token in learned
        if token not in exact and (guess := by_rank(vocabulary, token, last))
    }
    spent = {
        token: fading(guess["left"], HALF_LEFT) for token, guess in guesses.items()
    }
    n_likely = sum(one >= LIKELY for one in spent.values())
    found: dict[
        int, tuple[int, float]
    ] = {}  # token that a guess says is a copy -> (its part, strength)
    for token, _ in subject.tokens("scaffold", learned):
        guess = guesses.get(token)
        if guess:
            strength = spent[token] * unusual(n_likely / len(learned))
            if spent[token] >= LIKELY:
                found[guess["into"]] = token, strength
            when = (
                "in the next step"
                if guess["gap"] == 1
                else f"{guess['gap']:,} steps later"
            )
            into = subject.label(guess["into"])
            reason = f"It goes into {into} only, made {when} and so likely from nearly all its occurrences."
            severity = Severity.WARNING if strength >= LIKELY else Severity.NOTE
            yield subject.finding(
                token,
                "scaffold",
                severity,
                reason,
                **guess,
                strength=round(strength, 4),
            )
        elif trained and token in exact:
            left = (trained.remaining[token] + 1) / trained.made(token)
            yield from by_counts(subject, trained, token, fading(left, HALF_LEFT))
        elif usage and token in subject.used_up:
            yield from by_counts(subject, usage, token, subject.used_up[token])
    for token, (part, strength) in found.items():
        if token not in guesses:
            by_way, severity = (
                subject.label(part),
                Severity.WARNING if strength >= LIKELY else Severity.NOTE,
            )
            reason = f"It was merged in one go, by way of {by_way}: likely one string, always copied whole."
            yield subject.finding(
                token,
                "verbatim",
                severity,
                reason,
                part=part,
                strength=round(strength, 4),
            )


def by_counts(
    subject: AuditSubject, usage: Usage, token: int, strength: float
) -> Iterator[Finding]:
    """A finding if the intersection over self, IoS = occurrences that one later merge took / all, is above 0.9.

    The measure is that of Picky BPE (Chizhov et al. 2024, arXiv 2409.04599), computed once, after the last merge. A
    token that several later ones are made of is a common part of words. Evidence: "merged" (occurrences that later
    merges consumed), "ios", "into" (the id of the token that took most of them).
    """
    vocabulary, merged, made = (
        subject.tokenizer.vocabulary,
        usage.merged[token],
        usage.made(token),
    )
    uses = {
        c: usage.made(c) * (vocabulary.parents(c) or ()).count(token)
        for c in vocabulary.children(token)
    }
    into, n_into = max(uses.items(), key=itemgetter(1), default=(token, 0))
    if n_into <= THRESHOLD * made:
        return
    left, when = (
        usage.remaining[token],
        "Later" if usage is subject.usage else "In its training later",
    )
    build = "to build" if n_into >= merged else f"{n_into:,} of them to build"
    reason = (
        f"{when} merges took {merged_share(merged, made)}, {build} {subject.label(into)}; "
        f"{f'{left:,}' if left else 'none'} {'are' if left > 1 else 'is'} left."
    )
    severity = Severity.WARNING if strength >= LIKELY else Severity.NOTE
    evidence = {
        "merged": merged,
        "ios": round(n_into / made, 4),
        "into": into,
        "strength": round(strength, 4),
    }
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
    gap, ratio = (
        later - step,
        step / max(1, later),
    )  # of a token that no merge makes, the step is 0
    if not 0 < step < later <= last or (gap > MAX_GAP and ratio < MIN_RATIO):
        return None
    return {
        "into": into,
        "gap": gap,
        "ratio": round(ratio, 4),
        "left": round(last * gap / (step * later), 6),
    }


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
