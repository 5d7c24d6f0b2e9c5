"""What an audit measured of every token, whether or not it is suspicious: columns of numbers by id."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

COLUMNS: Final[Mapping[str, str]] = {
    "count": "Occurrences in the chosen texts, or in the corpus it was trained on, once tokenized.",
    "merged": "Occurrences there that later merges took.",
    "document_frequency": "Documents of the chosen texts that it occurs in, once these are tokenized.",
    "largest_share": "The part of its occurrences there that comes from a single document, above 0 and at most 1.",
    "reference": "Occurrences in the reference, once tokenized.",
    "surprise": "How surprising that difference is: G2, positive if the token is rarer in the reference.",
    "indicator": "The indicator of the token's row in the model: the lower, the less trained it looks.",
}
"""Name of a column -> what its numbers are."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Columns of numbers by id; an id of which a number is not known is no key."""

    columns: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """Name, one of `COLUMNS` -> id -> number. A column that was not measured is not there."""
    specials: frozenset[int] = frozenset()
    """Ids of special tokens."""
    ranked: Sequence[float] = ()
    """Indicators of ordinary rows, ascending; empty without the rows of a model."""

    def of(self, token: int) -> dict[str, Any]:
        """Name -> number, of those that are known of this token; "percentile" too, where there is an indicator."""
        known = {name: column[token] for name, column in self.columns.items() if token in column}
        percentile = self.percentile(token)
        return known if percentile is None else known | {"percentile": round(percentile, 4)}

    def percentile(self, token: int) -> float | None:
        """Of 100 ordinary rows, how many have an indicator no higher than this token's; None if it is not known."""
        value = self.columns.get("indicator", {}).get(token)
        if value is None or not self.ranked:
            return None
        return 100 * bisect_right(self.ranked, value) / len(self.ranked)
