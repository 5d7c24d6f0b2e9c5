"""What a larger vocabulary gains: sequence length, compression, use and efficiency after every merge of one training.

A vocabulary of k merges is a prefix of its own merges, so one training gives the values for all sizes. A merge that
joins n occurrences takes n from the counts of its parts, and its token begins with the count n. So each point follows
from the one before in constant time, and nothing is encoded again.
"""

import math
from typing import Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.metrics import ratio
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


def training_curve(tokenizer: Tokenizer) -> list[CurvePoint]:
    """The points of the training that made a tokenizer, from step 0 to its own; `OptionError` without a record."""
    record, vocabulary = tokenizer.record, tokenizer.vocabulary
    if record is None:
        raise OptionError("There is no curve of this tokenizer: its file has no record of a training.")
    ids = [token for _, token in sorted((data, token) for token, data in vocabulary.base.items() if len(data) == 1)]
    if vocabulary.end_of_word is not None:
        ids = [*(token for token in ids if token != vocabulary.end_of_word), vocabulary.end_of_word]
    counts = {token: count for token, count in zip(ids, record.first_counts or [0] * len(ids), strict=True) if count}
    powers, merges, n_vocab = sum(map(_power, counts.values())), vocabulary.merges, vocabulary.at(0).n_vocab
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps[: len(merges)])]
    points = list[CurvePoint]()
    for step, n_tokens in enumerate(lengths):
        saved = lengths[step - 1] - n_tokens if step else 0
        use: tuple[int | None, float | None, float | None] = None, None, None
        if record.first_counts:
            for one, by in zip(merges[step - 1], (-saved, -saved, saved), strict=True) if saved else ():
                before = counts.pop(one, 0)
                powers += _power(before + by) - _power(before)
                if before + by:
                    counts[one] = before + by
            n_used, efficiency = len(counts), 0.0
            if n_used > 1:
                entropy = (math.log2(powers) - _BITS - ALPHA * math.log2(n_tokens)) / (1 - ALPHA)
                efficiency = min(entropy / math.log2(n_used), 1.0)  # rounding may exceed it
            use = n_used, n_used / (n_vocab + step), efficiency
        points.append(CurvePoint(step, n_vocab + step, n_tokens, saved, ratio(record.n_bytes, n_tokens), *use))
    return points


def _power(count: int) -> int:
    return int(math.ldexp(float(count) ** ALPHA, _BITS))
