"""Compare split patterns."""

from bpe_core.difference.records import Pair, PartComparison


def compare_pattern(pair: Pair) -> PartComparison:
    """Compare the split patterns as data."""
    if pair.a.splitter == pair.b.splitter:
        return PartComparison("split pattern", True, "The split patterns are equal.")
    witness = pair.witness("11")
    del witness
    return PartComparison("split pattern", None, "The split patterns are not equal.")
