"""The training loop of Picky BPE: merge the next pair, then remove what the merge took most of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from bpe_core.picky.candidates import Candidates
from bpe_core.picky.corpus import Corpus
from bpe_core.picky.living_tokens import LivingTokens
from bpe_core.surrogates import utf8
from bpe_core.trainer.learner import Look, Rules
from bpe_core.trainer.pair_index import Pair
from bpe_core.trainer.ties import alphabet, descending


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did. All tokens by the ids that they have before anything is removed."""

    pair: Pair
    token: int
    """What the pair was merged into."""
    is_new: bool
    """Whether that token did not live before."""
    count: int
    """How often the pair occurred, overlaps included."""
    ties: int
    """How many pairs had that count."""
    removed: tuple[int, ...]
    """Tokens that were removed, in this order; each is of the pair."""
    n_tokens: int
    """Tokens in the corpus after all that."""


class PickyLearner:
    """Learns steps from `pieces`, which map each piece to how often it occurs."""

    def __init__(
        self,
        pieces: Mapping[str, int],
        rules: Rules,
        threshold: Fraction,
        base: Sequence[int],
        first: int,
        look: Look | None,
    ) -> None:
        """Count the pairs. `threshold` is the least intersection over self with which a token is removed.

        `base` are the ids of the bytes in the order of `alphabet(rules.ties)`, and that of the end-of-word marker if
        there is one; `first` is the lowest id of what is learned.
        """
        self._base = [*(bytes([byte]) for byte in alphabet(rules.ties)), utf8(rules.end_of_word)][: len(base)]
        self._place_of = {token: place for place, token in enumerate(base)}
        self._min_count = rules.min_count
        self._threshold = threshold
        self.living = LivingTokens(base, first)
        """The tokens there are now."""
        id_of = [base[alphabet(rules.ties).index(byte)] for byte in range(256)]
        words = (([*(id_of[byte] for byte in utf8(piece)), *base[256:]], weight) for piece, weight in pieces.items())
        self.corpus = Corpus(words, base, rules.max_length or inf, look)
        """The corpus as it is now."""
        self.corpus.changed.clear()
        self._candidates = Candidates(self.corpus.counts, self._key_of(rules.ties))

    def _key_of(self, ties: str) -> Callable[[Pair], Any]:
        if ties == "first":
            return lambda pair: min(self.corpus.places[pair])
        if ties == "largest":
            return lambda pair: (descending(self.bytes_of(pair[0])), descending(self.bytes_of(pair[1])))
        place_of = self._place_of.get
        return lambda pair: (place_of(pair[0], pair[0]), place_of(pair[1], pair[1]))

    def bytes_of(self, token: int) -> bytes:
        """The bytes of a living token."""
        return b"".join(self._base[ord(part)] for part in self.living.spelling_of[token])

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus now."""
        return self.corpus.n_tokens

    def step(self) -> Step | None:
        """Merge the next pair and remove what is to be removed; None if no pair occurs often enough."""
        best = self._candidates.next()
        if best is None or best[1] < self._min_count:
            return None
        pair, count, ties = best
        corpus, living = self.corpus, self.living
        before = {part: corpus.token_counts[part] for part in pair}
        n_living = len(living.id_of)
        token = living.make(*pair)
        merged = corpus.merge(pair, token)
        if len(before) == 1:
            before[pair[0]] -= merged
        removed = [
            part
            for part, occurred in before.items()
            if living.is_removable(part) and merged >= self._threshold * occurred
        ]
        for part in removed:
            corpus.split(part, living.remove(part))
        self._candidates.update(corpus.changed)
        corpus.changed.clear()
        is_new = len(living.id_of) + len(removed) > n_living
        return Step(pair, token, is_new, count, ties, tuple(removed), self.n_tokens)
