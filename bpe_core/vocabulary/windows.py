"""Merging very long pieces window by window, each window beginning with the last few tokens of the one before.

Call two neighboring tokens *compatible* if merging what the two are made of, alone, gives the two back. A list of
tokens of a piece is the result of merging that piece exactly when all neighbors in it are compatible. For until a merge
crosses a border between two of the tokens, whatever happens inside of any two neighbors happens there when they stand
alone, too, in the same order; so the first merge to cross a border would cross it there as well, and if none does
there, none does here. This needs nothing but that one looks at neighbors only and takes the lowest rank first, of equal
ranks the leftmost. So it holds for merges and for ranks of joined bytes, in any order, also if some tokens are made by
no merge or by none that is ever applied, with a marker at the end of a piece or tokens for unknown characters. It does
not hold for a piece that is looked up whole, which is done before merging. (The encoder of the Rust crate `bpe` by H.
van Antwerpen and A. Neubeck, 2024, rests on the same fact; its algorithm is another.)

Two things follow. The last tokens found so far may be replaced by those of a window that begins where they begin, if
the first tokens of both end at the same place: then all neighbors are known to be compatible. And if a text repeats
itself and the tokens of one period have followed each other twice, all further periods have the same tokens: no
neighbors are new.

`Vocabulary.compatible` asks this of two tokens. Live text needs it where fragments of a long piece meet, the end of a
text for the tokens that may still swallow it, and recovery because a token made of two is made of no others.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from bpe_core.common_prefix import common_prefix

S = TypeVar("S")

WINDOW: Final = 256
"""New symbols in a window, unless it had to grow; few enough for the caches of the processor."""

_OVERLAP: Final = 6
"""Tokens of the window before that a window merges once more; more than these seldom change."""

_PERIOD: Final = 8
"""Tokens in the longest period that is recognized."""


def merge_in_windows(symbols: Sequence[S], merge: Callable[[Sequence[S]], list[S | None]]) -> list[S]:
    """The tokens that merging `symbols` leaves.

    `merge` merges a window: it returns a list as long as its argument, each token at the index of its first symbol and
    None at the others. If the first token of a window turns out to be wrong, the window is merged again from farther
    back, and the next windows are longer, so that no more symbols are merged again than new ones are merged. The time
    is linear in the symbols as long as windows stay near WINDOW, as in texts; at worst it is that of `merge`, doubled.
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
    """If the last tokens are two equal periods, append all further ones; returns how many symbols are done.

    Some tokens behind these are dropped, since they may be others where a window ended.
    """
    for n_kept in range(len(tokens), max(0, len(tokens) - _OVERLAP - 1), -1):
        end = starts[n_kept] if n_kept < len(tokens) else done
        for n in range(1, min(_PERIOD, n_kept // 2) + 1):
            begin = n_kept - n
            if tokens[begin:n_kept] == tokens[begin - n : begin]:
                period = end - starts[begin]
                times = common_prefix(symbols, symbols, starts[begin - n], starts[begin]) // period - 1
                if starts[begin] - starts[begin - n] == period and times * period > done - end:
                    last = starts[begin:n_kept]
                    tokens[n_kept:] = tokens[begin:n_kept] * times
                    starts[n_kept:] = array("Q", bytes(8 * n * times))
                    for i, start in enumerate(last, n_kept):
                        starts[i::n] = array("Q", range(start + period, start + (times + 1) * period, period))
                    return end + times * period
    return done
