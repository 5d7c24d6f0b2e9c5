"""Following merges: those that made a piece, and those that used a token up."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Applied:
    """The merge of a step, applied to `count` occurrences of its pair in the piece, whose tokens then are `parts`."""

    step: int
    left: int
    right: int
    token: int
    count: int
    parts: tuple[int, ...]


class Trace(NamedTuple):
    start: tuple[
        int, ...
    ]  # the tokens before the first merge: one per byte, or per character of some vocabularies
    applied: tuple[Applied, ...]
    parts: tuple[int, ...]  # the tokens of the piece in the end
    whole: int | None = (
        None  # the id of the piece, if it was looked up and no merge makes it
    )
    unmerged: tuple[tuple[tuple[int, int], int | None], ...] = ()
    """Each pair of neighboring tokens of the result, and the later step that would join it; None if no merge does."""


def trace(vocabulary: Vocabulary, piece: str | bytes) -> Trace:
    """The merges that turn `piece` into its tokens. Raises `UnknownTokenError` for a byte that has no id.

    For pieces of the length of words: O(n * n) for n bytes, since every merge keeps a copy of the tokens after it.

    >>> low = Vocabulary.of_bytes().extended([(108, 111, 256), (256, 119, 257)])
    >>> [merge.parts for merge in trace(low, "low").applied]
    [(256, 119), (257,)]
    >>> trace(low.at(1), "low").unmerged
    (((256, 119), 2),)
    """
    data = utf8(piece) if isinstance(piece, str) else piece
    start = parts = tuple(vocabulary.symbols(data))
    whole = vocabulary.encode(data)
    if len(whole) == 1 < len(data) and vocabulary.parents(whole[0]) is None:
        return Trace(start, (), whole, whole[0])
    n_merges = vocabulary.n_merges
    applied: list[Applied] = []
    while True:
        steps = [
            vocabulary.step_of_pair(left, right) for left, right in pairwise(parts)
        ]
        step = min((step for step in steps if step is not None), default=n_merges + 1)
        if step > n_merges:
            break
        place = steps.index(
            step
        )  # of the pairs with the first step the leftmost, as encoding does
        left, right, token = vocabulary.merge_of(step)
        parts = (*parts[:place], token, *parts[place + 2 :])
        n_before = applied.pop().count if applied and applied[-1].step == step else 0
        applied.append(Applied(step, left, right, token, n_before + 1, parts))
    unmerged = tuple(zip(pairwise(parts), steps, strict=True))
    return Trace(start, tuple(applied), parts, unmerged=unmerged)


class TokenUses(NamedTuple):
    """The uses of a token in the corpus it was learned from, right after its merge, and after all merges."""

    made: int
    left: int
    absorbed: tuple[tuple[int, int, int], ...]
    """What became of the others: (step, token, n) of each later merge that has it as a part. n uses ended in that, two
    for each occurrence where it is both parts."""


def token_uses(
    vocabulary: Vocabulary, length_after: Callable[[int], int], step: int
) -> TokenUses:
    """The uses of the token that the merge of `step`, from 1, makes; linear in the merges that have it as a part.

    `length_after(k)` is how many tokens the corpus had after k merges, 0 included: a merge joined as many occurrences
    as the corpus lost tokens by it (the count of its pair would not do: "aaa" holds (a, a) twice and is merged once).

    >>> low = Vocabulary.of_bytes().extended([(97, 97, 256), (256, 97, 257)])
    >>> uses = token_uses(low, [11, 9, 7].__getitem__, 1)
    >>> uses.made, uses.left, uses.absorbed
    (2, 0, ((2, 257, 2),))
    """
    token, absorbed = vocabulary.merge_of(step)[2], list[tuple[int, int, int]]()
    for child in vocabulary.children(token):
        later = vocabulary.step_of(child)
        n_parts = vocabulary.merge_of(later)[:2].count(token)
        absorbed.append(
            (later, child, n_parts * (length_after(later - 1) - length_after(later)))
        )
    made = length_after(step - 1) - length_after(step)
    return TokenUses(made, made - sum(n for _, _, n in absorbed), tuple(absorbed))


class UseLedger:
    """Uses of all tokens that merges make in the corpus they are learned from, as merges are added.

    >>> uses = UseLedger(11)
    >>> uses.add(97, 97, 256, 9), uses.add(256, 97, 257, 7)
    (None, None)
    >>> uses.made, uses.left
    ({256: 2, 257: 2}, {256: 0, 257: 2})
    """

    def __init__(self, n_tokens: int) -> None:
        self.n_tokens = (
            n_tokens  # the length of the corpus now; before the first merge at first
        )
        self.made: dict[int, int] = {}  # token -> its uses right after its merge
        self.left: dict[int, int] = {}  # token -> its uses that no later merge took

    def add(self, left: int, right: int, token: int, n_tokens: int) -> None:
        """The next merge, after which the corpus has `n_tokens` tokens."""
        self.made[token] = self.left[token] = made = self.n_tokens - n_tokens
        self.n_tokens = n_tokens
        for part in (left, right):
            if part in self.left:
                self.left[part] -= made
