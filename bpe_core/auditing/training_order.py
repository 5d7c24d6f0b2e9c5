"""Where ranks stop being the order of one training: merges appended to a vocabulary that was learned before.

Detected from the vocabulary alone. In one training the share of tokens that no later merge uses grows with the rank,
up to one at the end, because ever fewer merges come behind. Where a second list was appended, the first one ends (with
hardly a token that is used later) and another begins (many are used again), so the share falls at once: in Llama 3
from 0.97 to 0.4 behind 100,000 merges, in Qwen too.

What this cannot know: whether the appended merges were learned in a training of their own; appended lists of tokens
that do not use one another (the share does not fall); lists of fewer than a thousand merges; and a training that was
gone on with in one piece from where it had stopped, which is one training.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from bpe_core.vocabulary import Vocabulary

WINDOW: Final = 500
"""Tokens compared at each side of a place; with fewer than that at a side no place is judged."""
ENDED: Final = 0.9
"""The share of tokens in a window that no later merge uses, from which on a training may have ended there."""
FALL: Final = 0.25
"""By how much the share must be lower in the window behind. Within one training it rises, but for chance: a window of
500 deviates by more than 0.08 once in a million windows."""


def end_of_order(vocabulary: Vocabulary) -> int:
    """The last step up to which the ranks are the order of one training; `n_merges` if they are throughout.

    O(merges). The place is where the share of tokens without later use falls most, found to within some merges.
    """
    steps, leaves = [], []
    for step, (_, _, token) in enumerate(vocabulary.merges, 1):
        if vocabulary.step_of(token) == step:  # in some published files a later merge makes the same token again
            steps.append(step)
            leaves.append(not vocabulary.children(token))
    place = _fall(leaves)
    return steps[place - 1] if place else vocabulary.n_merges


def _fall(leaves: Sequence[bool]) -> int:
    """How many of `leaves` come before the first great fall of their share; 0 if there is none."""
    sums = list(accumulate(leaves, initial=0))

    def fall(place: int) -> float:
        before = (sums[place] - sums[place - WINDOW]) / WINDOW
        behind = (sums[place + WINDOW] - sums[place]) / WINDOW
        return before - behind if before >= ENDED else 0.0

    places = range(WINDOW, len(leaves) - WINDOW + 1)
    first = next((place for place in places if fall(place) >= FALL), 0)
    return max(range(first, min(first + WINDOW, places.stop)), key=fall) if first else 0
