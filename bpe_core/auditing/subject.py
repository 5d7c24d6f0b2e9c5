"""The input of every check of the audit: a tokenizer, its token counts in corpora, and how to make a finding."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bpe_core.auditing.distribution import Distribution
from bpe_core.auditing.findings import (
    GLITCH_SHARE,
    HALF_AT,
    HALF_LEFT,
    Finding,
    OnStage,
    Severity,
    fading,
    glitch_probability,
)
from bpe_core.auditing.usage import PER_REPORT, Usage, surprise
from bpe_core.auditing.witness import witness
from bpe_core.cached import cached_property
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, token_label
from bpe_core.weighted import Count, Measure

if TYPE_CHECKING:
    from bpe_core.auditing.elsewhere import Elsewhere

NEIGHBORS: Final = 1000
"""Tokens learned one after the other that are compared with each other."""
MOST_USUAL: Final = 0.1
"""The largest share of its neighbors that may have as low a value as a token, for the token to be a finding."""
LEAST_PROBABLE: Final = 0.02
"""Tokens that are less probably glitches than this are left out."""
_LONGEST_LABEL: Final = 200  # characters of a token in a sentence


class AuditSubject:
    """The tokenizer under audit with the counts that checks use, and at the end all measured values of its tokens."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        counts: Counts | None = None,
        reference: Counts | None = None,
        spread: Mapping[str, Mapping[int, float]] | None = None,
        elsewhere: Mapping[int, "Elsewhere"] | None = None,
        progress: OnStage | None = None,
    ) -> None:
        """Count the tokens of the texts.

        Args:
            tokenizer: The tokenizer under audit.
            counts: Counts of the training corpus, or of any text of interest. Without them the training record is
                used, if there is one.
            reference: Counts of the text that a model is going to learn from.
            spread: What `spread_of` measured.
            elsewhere: What other vocabularies make of each token, by `ask`.
            progress: Called with (done, total, stage).

        Raises:
            OptionError: The pattern that split the texts is not the tokenizer's.
        """
        self.tokenizer: Final = tokenizer
        self.counts: Final = counts
        self.reference_counts: Final = reference
        self.progress: Final = progress
        usage_in_training = Usage.of_record(tokenizer)
        self.usage: Final = (
            Usage.of(tokenizer, counts, progress) if counts else usage_in_training
        )
        self.reference: Final = (
            Usage.of(tokenizer, reference, progress) if reference else None
        )
        self.of_training: Final = self.usage is not None and self.usage.of_training
        self.trained: Final = self.usage if self.of_training else usage_in_training
        """The usage in the training corpus, even if other texts are given."""
        self.texts: Final = (
            "its training corpus" if self.of_training else "the chosen texts"
        )
        self.specials: Final = frozenset(tokenizer.special_tokens.values())
        self._spread: Final = spread or {}
        self.elsewhere = elsewhere or {}
        self.indicators: Mapping[int, float] = {}
        """Id -> indicator of its row in a model, once the rows are measured."""
        self.ranked: Sequence[float] = ()
        """The indicators of ordinary tokens, ascending."""
        self.distribution: Distribution | None = None
        """The distribution of `ranked`, with the threshold of findings."""

    def add_elsewhere(self, elsewhere: Mapping[int, "Elsewhere"]) -> None:
        """Add the result of `ask` after the other checks. Discard the cached `columns`, which contain it."""
        self.elsewhere = elsewhere
        vars(self).pop("columns", None)

    @cached_property
    def columns(self) -> Mapping[str, Mapping[int, Measure]]:
        """Everything measured of the tokens: name -> id -> number. Read it only when all checks are done.

        - "count" and "merged": see `Usage`;
        - "document_frequency": documents of the chosen texts that contain the token;
        - "largest_share": the largest part of its occurrences in a single document, above 0 and at most 1;
        - "reference": occurrences in the reference;
        - "surprise": how surprising that difference is: G2, positive if the token is rarer in the reference;
        - "vocabularies": how many of the other vocabularies that were asked have the token;
        - "elsewhere": how many tokens it becomes there, on average;
        - "indicator": the indicator of the token's row in the model; the lower, the less trained it looks.
        """
        columns: dict[str, Mapping[int, Measure]] = {}
        if self.usage:
            columns["count"] = self.usage.remaining
            columns["merged"] = self.usage.merged
        columns.update(self._spread)
        if self.reference:
            columns["reference"] = self.reference.remaining
        if self.usage and self.reference:
            columns["surprise"] = _surprises(self.usage, self.reference)
        columns["vocabularies"] = {
            token: found.n_with for token, found in self.elsewhere.items()
        }
        columns["elsewhere"] = {
            token: round(found.mean, 2) for token, found in self.elsewhere.items()
        }
        columns["indicator"] = self.indicators
        return {name: column for name, column in columns.items() if column}

    @cached_property
    def used_up(self) -> Mapping[int, float]:
        """Id -> how much it means, from 0 to 1, that a token has so few occurrences left in the texts.

        In the training corpus it shows how far the token is used up, give or take one occurrence. In chosen texts it is
        known only for tokens that are left seldom, and is their probability from `glitches_among_neighbors`.
        """
        usage = self.usage
        if usage is None:
            return {}
        if not usage.of_training:
            return self.glitches_among_neighbors(usage.remaining)
        vocabulary = self.tokenizer.vocabulary
        made = [token for token in usage.remaining if vocabulary.step_of(token)]
        if not made:
            return {}
        _, _, last_token = vocabulary.merges[-1]
        made_by_last = max(1, usage.made(last_token))
        return {
            token: fading(float((usage.remaining[token] + 1) / made_by_last), HALF_LEFT)
            for token in made
        }

    def glitches_among_neighbors(
        self,
        values: Mapping[int, Measure],
        order: Callable[[int], Count] | None = None,
    ) -> Mapping[int, float]:
        """Return id -> the `glitch_probability` of a token, from the share of its neighbors whose value is not higher.

        A token is left out if that share, see `shares_of_neighbors`, is above `MOST_USUAL`, or the probability below
        `LEAST_PROBABLE`. Tokens learned early were frequent and hardly ever are glitches, so the probability without
        texts grows in proportion to the step.
        """
        vocabulary = self.tokenizer.vocabulary
        per_step = 2 * GLITCH_SHARE / max(1, vocabulary.n_merges)
        probabilities: dict[int, float] = {}
        for token, share in self.shares_of_neighbors(values, order).items():
            prior = per_step * vocabulary.step_of(token)
            probability = glitch_probability(share, prior)
            if share <= MOST_USUAL and probability >= LEAST_PROBABLE:
                probabilities[token] = probability
        return probabilities

    def shares_of_neighbors(
        self,
        values: Mapping[int, Measure],
        order: Callable[[int], Count] | None = None,
    ) -> dict[int, float]:
        """Return id -> share of the neighbors of a token, itself included, whose value is not higher.

        Neighbors are found by sorting the tokens that merges made by step, or by `order`, and dividing them into groups
        of 1,000 to 2,000, or one group if there are fewer.
        """
        step_of = self.tokenizer.vocabulary.step_of
        made = [token for token in values if step_of(token)]
        made.sort(key=order or step_of)
        n_parts = max(1, len(made) // NEIGHBORS)
        shares: dict[int, float] = {}
        for part in range(n_parts):
            start = part * len(made) // n_parts
            end = (part + 1) * len(made) // n_parts
            neighbors = made[start:end]
            sorted_values = sorted(values[token] for token in neighbors)
            for token in neighbors:
                n_as_low = bisect_right(sorted_values, values[token])
                shares[token] = n_as_low / len(neighbors)
        return shares

    def percentile(self, token: int) -> float | None:
        """Return the percentage of ordinary rows whose indicator is not above this token's; None if it is not known."""
        value = self.indicators.get(token)
        if value is None or not self.ranked:
            return None
        return 100 * bisect_right(self.ranked, value) / len(self.ranked)

    def stretched(self, percentile: float) -> float:
        """Return a percentile moved such that the threshold becomes `HALF_AT`, where a row's evidence counts half.

        Without a gap between untrained and trained rows, this is the percentile itself.
        """
        distribution = self.distribution
        if distribution is None or distribution.threshold != distribution.gap:
            return percentile
        at_threshold = 100 * distribution.n_low / len(self.ranked)
        if percentile <= at_threshold:
            return HALF_AT * percentile / at_threshold
        return HALF_AT + percentile - at_threshold

    def tokens(
        self, stage: str, ids: Iterable[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield (id, bytes) of `ids`, by default of all, without special tokens. Report progress as `stage`."""
        vocabulary = self.tokenizer.vocabulary
        if ids is None:
            ids = vocabulary.ids()
        ordinary = [token for token in ids if token not in self.specials]
        for done, token in enumerate(ordinary):
            if self.progress and done % PER_REPORT == 0:
                self.progress(done, len(ordinary), stage)
            yield token, vocabulary.token_bytes(token)

    def severity_unless_byte(self, token: int, of_longer: Severity) -> Severity:
        """Return `of_longer`, or a note for the token of a single byte, which other texts need."""
        is_longer = len(self.tokenizer.token_bytes(token)) > 1
        return of_longer if is_longer else Severity.NOTE

    def label(self, token: int) -> str:
        """Return the token as text that is safe to show, in quotation marks."""
        text = token_label(self.tokenizer.token_bytes(token))
        return f"“{shortened(text, _LONGEST_LABEL)}”"

    def joined(self, tokens: Sequence[int]) -> str:
        """Return the labels of the first four tokens."""
        labels = [self.label(token) for token in tokens[:4]]
        if len(tokens) > 4:
            labels.append("…")
        return " + ".join(labels)

    def finding(
        self, token: int, kind: str, severity: Severity, reason: str, **evidence: Any
    ) -> Finding:
        """Make a finding about `token`. "step", "parents", "count" and "witness" are added to the evidence."""
        vocabulary = self.tokenizer.vocabulary
        usage = self.usage
        parents = vocabulary.parents(token)
        common: dict[str, Any] = {
            "step": vocabulary.step_of(token),
            "parents": list(parents) if parents else None,
        }
        if usage and token in usage.remaining:
            common["count"] = usage.remaining[token]
        if "witness" not in evidence:
            example = usage.examples.get(token, "") if usage else ""
            common["witness"] = witness(self.tokenizer, token, example).text
        return Finding(
            id=token,
            token=vocabulary.token_bytes(token),
            kind=kind,
            severity=severity,
            reason=reason,
            evidence={**common, **evidence},
        )


def _surprises(usage: Usage, reference: Usage) -> dict[int, float]:
    surprises: dict[int, float] = {}
    for token, count in usage.remaining.items():
        if token in reference.remaining:
            seen = reference.remaining[token]
            g2 = surprise(count, usage.n_tokens, seen, reference.n_tokens)
            surprises[token] = round(g2, 3)
    return surprises
