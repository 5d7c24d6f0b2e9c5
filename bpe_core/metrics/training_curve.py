"""What a larger vocabulary gains: sequence length, compression, use and efficiency after every merge of one training.

A vocabulary of k merges is a prefix of its own merges, so one training gives the values for all sizes. A merge that
joins n occurrences takes n from the counts of its parts, and its token begins with the count n. So each point follows
from the one before in constant time, and nothing is encoded again.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple, Self

from bpe_core.errors import OptionError
from bpe_core.metrics import bytes_per_token
from bpe_core.tokenizer import Tokenizer

ALPHA: Final = 2.5  # the order of the Rényi efficiency
_BITS: Final = 52  # powers are summed in units of 2 ** -_BITS: each float from 1 up is a whole number, sums are exact


class CurvePoint(NamedTuple):
    """The training corpus after one step; the last three are None if the counts of the bytes are not known."""

    step: int  # 0 before the first merge
    n_vocab: int  # special tokens included
    n_tokens: int  # the length of the corpus
    saved: int  # by how many tokens this step has made it shorter
    bytes_per_token: float
    n_used: int | None  # different tokens that occur
    utilization: float | None  # n_used / n_vocab
    renyi_efficiency: float | None  # of order ALPHA, 0 to 1


class TrainingCurve:
    """The points of a training, one more for each merge that is added."""

    def __init__(self, counts: Mapping[int, int] | None, n_tokens: int, n_bytes: int, n_vocab: int) -> None:
        """Begin with the point before the first merge: how often each id occurs then, None if that is not known, the
        sum of these, the size of the corpus, and that of the vocabulary without merges."""
        self._counts = None if counts is None else {token: count for token, count in counts.items() if count}
        self._n_bytes = n_bytes
        self._n_vocab = n_vocab
        self._powers = sum(map(_power, self._counts.values())) if self._counts else 0
        self.points: list[CurvePoint] = []  # so far, that of step 0 first
        self._append(n_tokens, 0)

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Self:
        """The curve of the training that made a tokenizer, to its step. `OptionError` if it has no record of one."""
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
        joined, counts = self.points[-1].n_tokens - n_tokens, self._counts
        if counts is not None and joined:
            for one, by in ((left, -joined), (right, -joined), (token, joined)):
                before = counts.pop(one, 0)
                self._powers += _power(before + by) - _power(before)
                if before + by:
                    counts[one] = before + by
        return self._append(n_tokens, joined)

    def _append(self, n_tokens: int, saved: int) -> CurvePoint:
        step, n_used, part, efficiency = len(self.points), None, None, None
        n_vocab = self._n_vocab + step
        if self._counts is not None:
            n_used, efficiency = len(self._counts), 0.0
            part = n_used / n_vocab
            if n_used > 1:
                entropy = (math.log2(self._powers) - _BITS - ALPHA * math.log2(n_tokens)) / (1 - ALPHA)
                efficiency = min(entropy / math.log2(n_used), 1.0)  # rounding may exceed it
        ratio = bytes_per_token(self._n_bytes, n_tokens)
        self.points.append(CurvePoint(step, n_vocab, n_tokens, saved, ratio, n_used, part, efficiency))
        return self.points[-1]


def _power(count: int) -> int:
    return int(math.ldexp(float(count) ** ALPHA, _BITS))
