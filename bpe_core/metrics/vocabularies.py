"""Two vocabularies compared: the tokens and the first merges they share."""

from dataclasses import dataclass
from itertools import takewhile

from bpe_core.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Overlap:
    """The tokens of two vocabularies compared by their bytes, without special tokens.

    `n_shared` byte strings are tokens of both; `only_first` and `only_second` are ids, ascending.
    """

    n_shared: int
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]

    @property
    def jaccard(self) -> float:
        """Jaccard index: shared tokens / different tokens of both together; 1.0 for two empty vocabularies."""
        n = self.n_shared + len(self.only_first) + len(self.only_second)
        return self.n_shared / n if n else 1.0


def overlap(first: Tokenizer, second: Tokenizer) -> Overlap:
    """The shared tokens of two vocabularies, and those of only one; O(n log n) for n tokens."""
    ours, theirs = _ids_by_bytes(first), _ids_by_bytes(second)
    return Overlap(
        len(ours.keys() & theirs.keys()),
        tuple(sorted(ours[data] for data in ours.keys() - theirs.keys())),
        tuple(sorted(theirs[data] for data in theirs.keys() - ours.keys())),
    )


def _ids_by_bytes(tokenizer: Tokenizer) -> dict[bytes, int]:
    special = set(tokenizer.special_tokens.values())
    return {tokenizer.token_bytes(id): id for id in tokenizer.vocabulary.ids() if id not in special}


def merges_in_common(first: Tokenizer, second: Tokenizer) -> int:
    """The length of the common prefix of two merge lists; merges are equal if they join the same two byte strings."""

    def same(merges: tuple[tuple[int, int, int], tuple[int, int, int]]) -> bool:
        (a, b, _), (c, d, _) = merges
        return first.token_bytes(a) == second.token_bytes(c) and first.token_bytes(b) == second.token_bytes(d)

    return sum(1 for _ in takewhile(same, zip(first.vocabulary.merges, second.vocabulary.merges, strict=False)))
