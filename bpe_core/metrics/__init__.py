"""Metrics of tokenizers on texts, each with its source, and of two tokenizers compared.

`Comparison` counts what one tokenizer or several make of texts; `catalog` is the registry of what is computed from it.
"""

from bpe_core.metrics.boundaries import Agreement, agreement, boundaries, edit_survival
from bpe_core.metrics.comparison import Amounts, Comparison, sections
from bpe_core.metrics.formulas import (
    bytes_per_token,
    characters_per_token,
    fertility,
    parity,
    renyi_efficiency,
    renyi_entropy,
    shannon_efficiency,
    utilization,
)
from bpe_core.metrics.morphology import morphological_alignment
from bpe_core.metrics.training_curve import CurvePoint, TrainingCurve
from bpe_core.metrics.vocabularies import Overlap, merges_in_common, overlap

__all__ = [
    "Agreement",
    "Amounts",
    "Comparison",
    "CurvePoint",
    "Overlap",
    "TrainingCurve",
    "agreement",
    "boundaries",
    "bytes_per_token",
    "characters_per_token",
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
