"""Follow the merges that make a piece, and the merges that use up the occurrences of a token."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary
from bpe_core.weighted import Count


@dataclass(frozen=True, slots=True)
class Applied:
    """A merge that was applied to a piece."""

    step: int
    left: int
    right: int
    token: int
    count: int  # how many occurrences of the pair it joined
    parts: tuple[int, ...]  # the tokens of the piece after it


class UnmergedPair(NamedTuple):
    """Two neighboring tokens of a result."""

    pair: tuple[int, int]
    step: int | None  # the later step that would join them; None if no merge does


class Trace(NamedTuple):
    """How a piece became its tokens."""

    start: tuple[int, ...]
    """The tokens before the first merge: one per byte, or one per character in some vocabularies."""
    applied: tuple[Applied, ...]
    parts: tuple[int, ...]  # the tokens after the last merge
    whole: int | None = None
    """The id of the piece if it was looked up as a whole and is not made by merges; else None."""
    unmerged: tuple[UnmergedPair, ...] = ()  # each pair of neighbors in `parts`


def trace(vocabulary: Vocabulary, piece: str | bytes) -> Trace:
    """Return the merges that turn a piece into its tokens.

    This is meant for pieces as short as words. It takes O(n²) time for n bytes, because it keeps the
    tokens after each merge.

    Args:
        vocabulary: A vocabulary whose merges are known.
        piece: A text that the pattern does not split, or its bytes.

    Returns:
        The merges in the order in which they were applied, and the tokens after each.

    Raises:
        UnknownTokenError: A byte has no id.

    Examples:
        >>> low = Vocabulary.of_bytes().extended([(108, 111, 256), (256, 119, 257)])
        >>> [merge.parts for merge in trace(low, "low").applied]
        [(256, 119), (257,)]
        >>> trace(low.at(1), "low").unmerged
        (UnmergedPair(pair=(256, 119), step=2),)
    """
    data = utf8(piece) if isinstance(piece, str) else piece
    start = tuple(vocabulary.symbols(data))
    encoded = vocabulary.encode(data)
    if len(encoded) == 1 < len(data) and vocabulary.parents(encoded[0]) is None:
        return Trace(start, (), encoded, encoded[0])
    parts = start
    applied: list[Applied] = []
    while True:
        steps = [
            vocabulary.step_of_pair(left, right) for left, right in pairwise(parts)
        ]
        possible = [
            step for step in steps if step is not None and step <= vocabulary.n_merges
        ]
        if not possible:
            break
        step = min(possible)
        place = steps.index(step)  # the leftmost pair of the first step, as in encoding
        left, right, token = vocabulary.merge_of(step)
        parts = (*parts[:place], token, *parts[place + 2 :])
        count = 1
        if applied and applied[-1].step == step:
            count += applied.pop().count
        applied.append(Applied(step, left, right, token, count, parts))
    unmerged = tuple(map(UnmergedPair, pairwise(parts), steps))
    return Trace(start, tuple(applied), parts, unmerged=unmerged)


class Absorption(NamedTuple):
    """A later merge that has a token as a part."""

    step: int
    token: int  # the token that the later merge makes
    n: Count
    """How many uses the merge took: two for each pair in which the token is both parts."""


class TokenUses(NamedTuple):
    """How often a token occurs in the corpus that it was learned from."""

    made: Count  # uses right after its merge
    left: Count  # uses after all merges
    absorbed: tuple[Absorption, ...]  # the merges that took the other uses


def token_uses(
    vocabulary: Vocabulary, length_after: Callable[[int], Count], step: int
) -> TokenUses:
    """Return the uses of the token that a merge makes, in time linear in the merges that have it as a part.

    Args:
        vocabulary: A vocabulary whose merges are known.
        length_after: Returns how many tokens the corpus had after k merges, from 0. A merge joined as many occurrences
            as the corpus lost tokens. (The count of its pair can be higher: "aaa" holds (a, a) twice, and one is
            joined.)
        step: The number of the merge, from 1.

    Examples:
        >>> low = Vocabulary.of_bytes().extended([(97, 97, 256), (256, 97, 257)])
        >>> token_uses(low, [11, 9, 7].__getitem__, 1)
        TokenUses(made=2, left=0, absorbed=(Absorption(step=2, token=257, n=2),))
    """

    def n_joined(step: int) -> Count:
        return length_after(step - 1) - length_after(step)

    token = vocabulary.merge_of(step)[2]
    absorbed: list[Absorption] = []
    for child in vocabulary.children(token):
        later = vocabulary.step_of(child)
        n_parts = vocabulary.merge_of(later)[:2].count(token)
        absorbed.append(Absorption(later, child, n_parts * n_joined(later)))
    made = n_joined(step)
    left = made - sum(absorption.n for absorption in absorbed)
    return TokenUses(made, left, tuple(absorbed))


class UseLedger:
    """The uses of all tokens that merges make in the corpus they are learned from, kept as merges are added.

    Examples:
        >>> uses = UseLedger(11)
        >>> uses.add(97, 97, 256, 9)
        >>> uses.add(256, 97, 257, 7)
        >>> uses.made, uses.remaining
        ({256: 2, 257: 2}, {256: 0, 257: 2})
    """

    def __init__(self, n_tokens: Count) -> None:
        """Start with the length of the corpus before the first merge."""
        self.n_tokens = n_tokens  # after the newest merge
        self.made: dict[int, Count] = {}  # token -> its uses right after its merge
        self.remaining: dict[
            int, Count
        ] = {}  # token -> its uses that no later merge took

    def add(self, left: int, right: int, token: int, n_tokens: Count) -> None:
        """Add the next merge. The corpus has `n_tokens` tokens after it."""
        n_made = self.n_tokens - n_tokens
        self.made[token] = n_made
        self.remaining[token] = n_made
        self.n_tokens = n_tokens
        for part in (left, right):
            if part in self.remaining:
                self.remaining[part] -= n_made
