"""What became of tokens after their merges: how many uses are left, and which later merges absorbed the others.

Every use of a token begins with its own merge and ends, if it ends, in a merge that has the token as a part. How many
occurrences a merge joined is how many tokens the corpus lost by it (the pair's count would not do: "aaa" holds the pair
(a, a) twice and is merged once). So all of this follows from the merges and the lengths of the corpus after each, which
a training record keeps; no corpus is needed, and any step can be asked for.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from bpe_core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Absorption:
    """A later merge that has the token as a part."""

    step: int
    """Its number."""
    token: int
    """The token it made."""
    n_absorbed: int
    """Uses of the token that ended in it: two for each occurrence where the token is both of its parts."""


@dataclass(frozen=True, slots=True)
class TokenUses:
    """The uses of a token in the corpus that it was learned from."""

    made: int
    """Uses right after its merge."""
    absorbed: tuple[Absorption, ...]
    """The merges that took some of them, in order."""

    def left(self, step: int | None = None) -> int:
        """Uses that are left after so many merges; None for all."""
        return self.made - sum(taken.n_absorbed for taken in self.absorbed if step is None or taken.step <= step)


def token_uses(vocabulary: Vocabulary, length_after: Callable[[int], int], step: int) -> TokenUses:
    """The uses of the token that the merge of `step`, from 1, makes.

    `length_after(k)` is how many tokens the corpus had after k merges, 0 included. Takes a time linear in the merges
    that have the token as a part.

    >>> low = Vocabulary.of_bytes().extended([(97, 97, 256), (256, 97, 257)])
    >>> uses = token_uses(low, [11, 9, 7].__getitem__, 1)
    >>> uses.made, uses.absorbed, uses.left()
    (2, (Absorption(step=2, token=257, n_absorbed=2),), 0)
    """
    token = vocabulary.merges[step - 1][2]
    absorbed = []
    for made in vocabulary.children(token):
        later = vocabulary.step_of(made)
        n_parts = vocabulary.merges[later - 1][:2].count(token)
        absorbed.append(Absorption(later, made, n_parts * (length_after(later - 1) - length_after(later))))
    return TokenUses(length_after(step - 1) - length_after(step), tuple(absorbed))


class UseLedger:
    """Uses of all tokens that merges make, in the corpus they are learned from, after the merges that were added.

    >>> uses = UseLedger(11)
    >>> uses.add(97, 97, 256, 9), uses.add(256, 97, 257, 7)
    (None, None)
    >>> uses.made, uses.left(256), uses.left(257)
    ({256: 2, 257: 2}, 0, 2)
    """

    def __init__(self, n_tokens: int) -> None:
        """`n_tokens` is the length of the corpus before the first merge."""
        self.n_tokens = n_tokens
        """The length of the corpus now."""
        self.made: dict[int, int] = {}
        """Token -> its uses right after its merge."""
        self._absorbed: defaultdict[int, int] = defaultdict(int)

    def add(self, left: int, right: int, token: int, n_tokens: int) -> None:
        """The next merge, after which the corpus has `n_tokens` tokens. O(1)."""
        self.made[token] = made = self.n_tokens - n_tokens
        self.n_tokens = n_tokens
        self._absorbed[left] += made
        self._absorbed[right] += made

    def left(self, token: int) -> int:
        """Uses that are left of a token that a merge has made; 0 for others."""
        return self.made[token] - self._absorbed.get(token, 0) if token in self.made else 0
