"""The tie rules: which of several equally frequent pairs is merged first.

To add a rule, add a row here, the comparison to `kernel/candidates.c` and `kernel/fallback.py` (unless a learner knows it),
to `bpe_core/reference.py`, which defines what is correct, and to `sort_key`, with which the app explains a merge.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.kernel.fallback import FIRST, LARGEST, LOWEST, Pair, descending
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.symbols import BYTES_IN_ORDER

_BY_VALUE: Final = bytes(range(256))
_END_OF_WORD: Final = 256  # the number of the end-of-word marker; merges come after it


class TieRule(NamedTuple):
    """A rule, and how it is passed to a learner."""

    name: str
    comparison: int
    """The learner's number for the comparison of two pairs."""
    alphabet: bytes = _BY_VALUE
    """The 256 bytes in the order in which the rule numbers them as symbols: `alphabet[symbol]` is a byte."""


_RULES: Final = (
    # The pair that occurs first in the corpus now (minbpe).
    TieRule("first", FIRST),
    # The lowest (left id, right id), with bytes numbered by value (rustbpe).
    TieRule("lowest", LOWEST),
    # The same, with bytes numbered as Hugging Face does.
    TieRule("lowest-hf", LOWEST, BYTES_IN_ORDER),
    # The largest (left bytes, right bytes), as in learn_bpe of subword-nmt, the program of Sennrich et al. 2016.
    TieRule("largest", LARGEST),
)
_BY_NAME: Final = {rule.name: rule for rule in _RULES}
TIES: Final = tuple(_BY_NAME)
"""The names of the tie rules."""


def tie_rule(name: str) -> TieRule:
    """Return the rule of this name. Raises `OptionError` for an unknown name."""
    rule = _BY_NAME.get(name)
    if rule is None:
        raise OptionError(f"Unknown tie rule {name!r}; choose {', '.join(TIES)}.")
    return rule


def sort_key(
    name: str, vocabulary: Vocabulary, first_place: Callable[[Pair], Any]
) -> Callable[[Pair], Any]:
    """Return a sort key for equally frequent pairs of ids: the rule chooses the pair with the lowest key.

    `first_place` returns where a pair first occurs in the corpus.
    """
    rule = tie_rule(name)
    if rule.comparison == FIRST:
        return first_place
    number_of_byte = {
        bytes([byte]): number for number, byte in enumerate(rule.alphabet)
    }

    def symbol(token: int) -> int:
        """Number a token as the learner does: bytes in the rule's alphabet, the end-of-word marker, merges in order."""
        after_bytes = _END_OF_WORD + vocabulary.step_of(token)
        return number_of_byte.get(vocabulary.token_bytes(token), after_bytes)

    def by_symbols(pair: Pair) -> Any:
        left, right = pair
        return symbol(left), symbol(right)

    def by_bytes(pair: Pair) -> Any:
        left, right = map(vocabulary.token_bytes, pair)
        return descending(left), descending(right), by_symbols(pair)

    return by_bytes if rule.comparison == LARGEST else by_symbols
