"""Metrics of a tokenizer on a text, and of two tokenizers compared; each names its source.

`Measures.of(tokenizer, text)` computes most of them at once, and the measures of several texts can be added.
`Comparison` does so for several tokenizers.
"""

from bpe_core.metrics.boundaries import Agreement, agreement, boundaries
from bpe_core.metrics.comparison import Amounts, Comparison, sections
from bpe_core.metrics.compression import (
    bytes_per_token,
    characters_per_token,
    count_words,
    fertility,
    parity,
)
from bpe_core.metrics.distribution import renyi_efficiency, renyi_entropy, shannon_efficiency, utilization
from bpe_core.metrics.edits import edit_survival
from bpe_core.metrics.measures import Measures
from bpe_core.metrics.morphology import morphological_alignment
from bpe_core.metrics.overlap import Overlap, merges_in_common, overlap
from bpe_core.metrics.training_curve import CurvePoint, TrainingCurve

__all__ = [
    "Agreement",
    "Amounts",
    "Comparison",
    "CurvePoint",
    "Measures",
    "Overlap",
    "TrainingCurve",
    "agreement",
    "boundaries",
    "bytes_per_token",
    "characters_per_token",
    "count_words",
    "edit_survival",
    "fertility",
    "merges_in_common",
    "morphological_alignment",
    "overlap",
    "parity",
    "renyi_efficiency",
    "renyi_entropy",
    "sections",
    "shannon_efficiency",
    "utilization",
]
