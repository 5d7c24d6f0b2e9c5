"""What tokenizing texts shows: tokens that the tokenizer never, or hardly ever, uses there.

Of texts that are too few for the vocabulary (`Subject.can_tell`) neither is said: nearly every token would be missing.
"""

from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.usage import merged_share

RARE_SHARE: Final = 0.01
"""A token is rare if it occurs less often than this part of `Usage.even_share`."""


def never_used(subject: Subject) -> Iterator[Finding]:
    """Tokens that occur nowhere in the tokenized texts: problems in the training corpus, warnings in chosen texts.

    Evidence: "merged", how often later merges consumed them.
    """
    usage = subject.usage
    if usage is None or not subject.can_tell:
        return
    severity = Severity.PROBLEM if usage.of_training else Severity.WARNING
    for token, _ in subject.tokens("tokens never used", usage.remaining):
        if usage.remaining[token]:
            continue
        merged = usage.merged.get(token, 0)
        if merged:
            reason = f"It is not left anywhere in {subject.texts}: later merges took {merged_share(merged, merged)}."
        else:
            made_of_it = ", nor does any token made of it" if usage.merged else ""
            reason = f"It occurs nowhere in {subject.texts}{made_of_it}."
        yield subject.finding(token, "never-used", subject.severity(token, severity), reason, merged=merged)


def rare(subject: Subject) -> Iterator[Finding]:
    """Tokens that occur once, or less than a hundredth as often as they would if all tokens occurred alike.

    even_share = tokens in the corpus / ids in the vocabulary, so that the limit fits corpora of any size; in natural
    text even the last merges of a training occur far more often than a hundredth of it. Evidence: "even_share",
    "merged" (occurrences that later merges consumed).
    """
    usage = subject.usage
    if usage is None or not subject.can_tell:
        return
    even_share = usage.even_share(subject.tokenizer.n_vocab)
    for token, _ in subject.tokens("rare tokens", usage.remaining):
        count = usage.remaining[token]
        is_rare = 0 < count < RARE_SHARE * even_share
        if is_rare or count == 1:
            times = "only once" if count == 1 else f"only {count:,} times"
            share = f", and each token would {even_share:,.0f} times if all occurred alike" if is_rare else ""
            reason = f"It occurs {times} in {subject.texts}{share}."
            evidence = {"merged": usage.merged.get(token, 0), "even_share": round(even_share, 2)}
            yield subject.finding(token, "rare", subject.severity(token, Severity.WARNING), reason, **evidence)
