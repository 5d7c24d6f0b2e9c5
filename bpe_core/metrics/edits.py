"""How much of the tokens around an edit stays as it was."""

import random
from itertools import chain

from bpe_core.editing.aligned_text import followed
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer


def edit_survival(tokenizer: Tokenizer, text: str, *, n_edits: int = 200, around: int = 32, seed: int = 0) -> float:
    """The part of the boundaries near an edit that are still there after it; 1.0 where there were none.

    `n_edits` times a random character of the text is replaced by another of the text, and back. Looked at are the
    boundaries up to `around` characters before and behind it, but for the two that the character itself stands at.
    """
    if around < 1:
        raise OptionError(f"Boundaries can be looked at 1 or more characters around an edit, not {around}.")
    choose = random.Random(seed)
    live = followed(tokenizer, text)
    text = live.text
    n_before = n_left = 0
    for _ in range(n_edits if len(text) > 1 else 0):
        at = choose.randrange(len(text))
        low, high = max(0, at - around), min(len(text), at + 1 + around)

        def near(low: int = low, high: int = high, at: int = at) -> set[int]:
            ends = chain.from_iterable((span.start, span.end) for span in live.spans(low, high))
            return {end for end in ends if low <= end <= high and end not in (at, at + 1)}

        before = near()
        live.splice(at, at + 1, choose.choice(text))
        n_before, n_left = n_before + len(before), n_left + len(before & near())
        live.splice(at, at + 1, text[at])
    return n_left / n_before if n_before else 1.0
