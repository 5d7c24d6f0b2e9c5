"""What a larger vocabulary gains: sequence length, compression, use and efficiency after every merge of one training.

A vocabulary of k merges is a prefix of its own merges, so one training gives the values for all sizes. A merge that
joins n occurrences takes n from the counts of its parts, and its token begins with the count n. So each point follows
from the one before in constant time, and nothing is encoded again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from bpe_core.errors import OptionError
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.tokenizer import Tokenizer

ALPHA: Final = 2.5
"""The order of the Rényi efficiency; see `bpe_core.metrics.renyi_efficiency`."""

_BITS: Final = 52
"""The powers are summed in units of 2 ** -_BITS, in which each float from 1 up is a whole number: sums are exact."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The training corpus after one step of a training."""

    step: int
    """How many merges were made; 0 before the first."""
    n_vocab: int
    """Tokens of the vocabulary, special tokens included."""
    n_tokens: int
    """Length of the corpus in tokens."""
    saved: int
    """By how many tokens this step has made it shorter; 0 at step 0."""
    bytes_per_token: float
    """Bytes of the corpus / tokens of the corpus: the compression."""
    n_used: int | None
    """How many different tokens occur in the corpus; None if the counts of the bytes are not known."""
    utilization: float | None
    """`n_used` / `n_vocab`; None likewise."""
    renyi_efficiency: float | None
    """The Rényi efficiency of order ALPHA of the tokens that occur, 0 to 1; None likewise."""


class TrainingCurve:
    """The points of a training, one more for each merge that is added."""

    def __init__(self, counts: Mapping[int, int] | None, n_tokens: int, n_bytes: int, n_vocab: int) -> None:
        """Begin with the point before the first merge.

        `counts` says how often each id occurs then, None if that is not known; `n_tokens` is their sum, `n_bytes` the
        size of the corpus, and `n_vocab` the size of the vocabulary without merges.
        """
        self._counts = None if counts is None else {token: count for token, count in counts.items() if count}
        self._n_bytes = n_bytes
        self._n_vocab = n_vocab
        self._powers = sum(map(_power, self._counts.values())) if self._counts else 0
        self.points: list[CurvePoint] = []
        """The points so far, that of step 0 first."""
        self._append(n_tokens, 0)

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Self:
        """The curve of the training that made a tokenizer, up to the step that is in force in it.

        Raises `OptionError` if the tokenizer has no record of a training.
        """
        record, vocabulary = tokenizer.record, tokenizer.vocabulary
        if record is None:
            raise OptionError("There is no curve of this tokenizer: its file has no record of a training.")
        ids = [token for _, token in sorted((data, token) for token, data in vocabulary.base.items() if len(data) == 1)]
        if vocabulary.end_of_word is not None:
            ids = [*(token for token in ids if token != vocabulary.end_of_word), vocabulary.end_of_word]
        counts = dict(zip(ids, record.first_counts, strict=True)) if record.first_counts else None
        curve = cls(counts, record.n_tokens_start, record.n_bytes, vocabulary.at(0).n_vocab)
        for (left, right, token), (_, _, n_tokens) in zip(vocabulary.merges, record.steps, strict=False):
            curve.add(left, right, token, n_tokens)
        return curve

    def add(self, left: int, right: int, token: int, n_tokens: int) -> CurvePoint:
        """Add the next merge, after which the corpus has `n_tokens`; returns its point."""
        joined = self.points[-1].n_tokens - n_tokens
        if self._counts is not None and joined:
            self._change(left, -joined)
            self._change(right, -joined)
            self._change(token, joined)
        return self._append(n_tokens, joined)

    def _change(self, token: int, by: int) -> None:
        assert self._counts is not None
        before = self._counts.pop(token, 0)
        self._powers += _power(before + by) - _power(before)
        if before + by:
            self._counts[token] = before + by

    def _append(self, n_tokens: int, saved: int) -> CurvePoint:
        step = len(self.points)
        n_vocab = self._n_vocab + step
        n_used = None if self._counts is None else len(self._counts)
        self.points.append(
            CurvePoint(
                step,
                n_vocab,
                n_tokens,
                saved,
                bytes_per_token(self._n_bytes, n_tokens),
                n_used,
                None if n_used is None else n_used / n_vocab,
                None if n_used is None else self._efficiency(n_tokens, n_used),
            )
        )
        return self.points[-1]

    def _efficiency(self, n_tokens: int, n_used: int) -> float:
        if n_used < 2:
            return 0.0
        entropy = (math.log2(self._powers) - _BITS - ALPHA * math.log2(n_tokens)) / (1 - ALPHA)
        return min(entropy / math.log2(n_used), 1.0)  # rounding may exceed it


def _power(count: int) -> int:
    return int(math.ldexp(float(count) ** ALPHA, _BITS))
