"""Which of several equally frequent pairs each tie rule takes; the rules are those of `bpe_core.trainer.ties`."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from bpe_core.explain.pair_counts import Pair, Place
from bpe_core.trainer.ties import alphabet, descending
from bpe_core.vocabulary import Vocabulary

_END_OF_WORD: Final = 256
"""The number of the end-of-word marker as a symbol: behind the bytes, before what merges make."""


def order_of(rule: str, vocabulary: Vocabulary, places: Mapping[Pair, Place]) -> Callable[[Pair], Any]:
    """A sort key: of equally frequent pairs the rule takes the one with the smallest.

    `places` tells where each pair begins first; only the rule "first" asks it.
    """
    if rule == "first":
        return lambda pair: (places[pair].piece, places[pair].token)
    number = _numbers(rule, vocabulary)
    if rule == "largest":
        return lambda pair: (*(descending(vocabulary.token_bytes(part)) for part in pair), *map(number, pair))
    return lambda pair: tuple(map(number, pair))


def choices(
    rules: Collection[str], tied: Collection[Pair], vocabulary: Vocabulary, places: Mapping[Pair, Place]
) -> dict[str, Pair]:
    """Rule -> which of the `tied` pairs it takes."""
    return {rule: min(tied, key=order_of(rule, vocabulary, places)) for rule in rules}


def _numbers(rule: str, vocabulary: Vocabulary) -> Callable[[int], int]:
    """Numbers tokens as a trainer does by this rule: bytes in its alphabet, the end-of-word marker, merges in order."""
    number_of = {bytes([byte]): number for number, byte in enumerate(alphabet(rule))}

    def number(token: int) -> int:
        step = vocabulary.step_of(token)
        return _END_OF_WORD + step if step else number_of.get(vocabulary.token_bytes(token), _END_OF_WORD)

    return number
