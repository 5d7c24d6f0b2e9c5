"""How many token boundaries survive an edit near them."""

import random
from itertools import chain

from bpe_core.editing.aligned_text import followed
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer


def edit_survival(tokenizer: Tokenizer, text: str, *, n_edits: int = 200, around: int = 32, seed: int = 0) -> float:
    """Boundaries near an edit that are still there after it / boundaries there before; from 0 to 1, 1.0 for none.

    An edit replaces a random character of the text by another random one of its characters; it is undone before the
    next of the `n_edits`. Near are boundaries at most `around` characters before or after the edited character, except
    those directly at it. `seed` makes the result reproducible. Raises `OptionError` for `around` below 1.
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
