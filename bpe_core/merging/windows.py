"""Very long pieces in linear time: merged window by window, each window beginning with a few tokens of the last one.

Call two neighboring tokens *compatible* if merging what the two are made of, alone, gives the two back. Then a list of
tokens is what merging a whole piece leaves exactly when all its neighbors are compatible. For until a merge crosses a
border between two of the tokens, whatever happens inside of any two neighbors happens there when they stand alone, too,
in the same order; so the first merge to cross a border would cross it there as well, and if none does there, none does
here. This needs nothing but that one looks at neighbors only and takes the lowest rank first, of equal ranks the
leftmost. So it holds for merges and for ranks of joined bytes, whatever their order, for tokens that no merge makes
and for those that are never reached, with a mark at the end of a piece or symbols for the unknown. It does not hold
where a piece is looked up whole: that is done before, by others. (The fact carries the encoder of the Rust crate `bpe`
by H. van Antwerpen and A. Neubeck, 2024, too; what is made of it here is another algorithm.)

Two things follow. A window may replace the last tokens of what is known if its own first token ends where the first of
those did: then all neighbors are known to be compatible. And a text that goes on repeating itself goes on with the same
tokens, once these have followed each other twice: no neighbors are new.

`Vocabulary.compatible` asks this of two tokens. Live text needs it where fragments of a long piece meet, the end of a
text for the tokens that may still swallow it, and recovery because a token made of two is made of no others.
"""

from array import array
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Final, TypeVar

from bpe_core.common_prefix import common_prefix

S = TypeVar("S")

WINDOW: Final = 256
"""Symbols that a window adds, as a rule; more would leave the caches of the processor."""

_OVERLAP: Final = 6
"""Tokens that a window begins with; it is seldom that more change."""

_PERIOD: Final = 8
"""Tokens of the longest repetition that is noticed."""


def merge_in_windows(symbols: Sequence[S], merge: Callable[[Sequence[S]], list[S | None]]) -> list[S]:
    """What merging `symbols` leaves, in a time that is proportional to their number.

    `merge` does it for a window: it returns a list as long as the one it was given, each token where it begins and
    None in the places behind. If the first token of a window proves wrong, the window is tried again from farther
    back, and the next ones are longer, which pays for it: what was merged twice is never more than what comes new.
    """
    tokens: list[S] = []
    starts = array("Q")  # of a hundred million tokens, numbers in a list would be three gigabytes
    done, ahead = 0, WINDOW
    while done < len(symbols):
        n_again = min(_OVERLAP, len(tokens))
        while True:
            begin = starts[-n_again] if n_again else 0
            slots = merge(symbols[begin : done + ahead])
            found = [begin + i for i, token in enumerate(slots) if token is not None]
            if n_again == len(tokens) or found[1:2] == [starts[1 - n_again] if n_again > 1 else done]:
                break
            n_again = min(4 * n_again, len(tokens))
            ahead = max(ahead, done - starts[-n_again])
        kept = len(tokens) - n_again
        tokens[kept:] = [token for token in slots if token is not None]
        starts[kept:] = array("Q", found)
        done = _repeat(symbols, tokens, starts, begin + len(slots))
        ahead = max(WINDOW, ahead // 2, done - starts[-min(_OVERLAP, len(starts))])
    return tokens


def _repeat(symbols: Sequence[S], tokens: list[S], starts: "array[int]", done: int) -> int:
    """If the last tokens were there twice in a row, add them as often as the symbols repeat; where that ends."""
    for n in range(1, min(_PERIOD, len(tokens) // 2) + 1):
        if tokens[-n:] == tokens[-2 * n : -n]:
            period = done - starts[-n]
            times = common_prefix(symbols, symbols, starts[-2 * n], starts[-n]) // period - 1
            if starts[-n] - starts[-2 * n] == period and times > 0:
                last, behind = starts[-n:], len(starts)
                tokens += tokens[-n:] * times
                starts.extend(repeat(0, n * times))
                for i, start in enumerate(last):
                    starts[behind + i :: n] = array("Q", range(start + period, start + (times + 1) * period, period))
                return done + times * period
    return done
