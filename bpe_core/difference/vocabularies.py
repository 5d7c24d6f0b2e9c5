"""Compare vocabularies."""

from bpe_core.difference.records import Pair, PartComparison


def compare_vocabularies(pair: Pair) -> list[PartComparison]:
    """Compare the vocabularies as data."""
    if pair.a.vocabulary == pair.b.vocabulary:
        return [PartComparison("vocabulary", True, "The vocabularies are equal.")]
    return [PartComparison("vocabulary", None, "The vocabularies are not equal.")]
