"""The training loop on symbols: take the next pair, merge it, update the candidates. In Python, or in the kernel."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf
from struct import iter_unpack, unpack
from typing import Final, Protocol

from bpe_core import kernel
from bpe_core.kernel.fallback import PieceTable
from bpe_core.trainer.candidates import Candidates
from bpe_core.trainer.pair_index import Pair, PairIndex
from bpe_core.trainer.ties import alphabet, descending
from bpe_core.utf8 import utf8

Look = Callable[[int, int], None]
"""Called now and then with how much is done and of how much; an exception it raises ends the counting."""

Step = tuple[int, int, int, int, int]
"""A merge: left symbol, right symbol, count of the pair, pairs with this count (0: the merge was given), and
tokens after the merge."""

_NO_LIMIT: Final = (1 << 63) - 1
"""The largest number that the kernel takes."""
_TIES: Final = {"first": 0, "lowest": 1, "lowest-hf": 1, "largest": 2}
"""Tie rule -> its number in the kernel; the two "lowest" rules differ only in the alphabet that is passed along."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a learner is to merge. Symbols 0 to 255 are the bytes in the order of `alphabet(ties)`."""

    ties: str
    min_count: int
    max_length: int | None
    """Bytes of a token at most, the end-of-word marker counting as one; None for no limit."""
    end_of_word: str
    """The marker behind every piece, which is symbol 256; "" for none."""


class Learner(Protocol):
    """Learns merges of symbols; each makes a new symbol, whose number is the number of symbols before it."""

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""

    def learn(self, n: int) -> list[Step]:
        """Learn the next `n` merges; fewer if no pair is left that may be merged."""

    def merge(self, pair: Pair) -> Step:
        """Merge a pair that is given, and not chosen: before the first `learn` only. Its step has 0 tied pairs.

        The pair may occur nowhere, be longer than `max_length` or rarer than `min_count`.
        """

    def pairs(self) -> Iterable[tuple[Pair, int]]:
        """(pair, count) for every pair that occurs in the corpus now, in no order."""

    def symbol_counts(self) -> list[int]:
        """How often each symbol occurs in the corpus now; linear in the corpus."""


def learner(table: "kernel.PieceTable | PieceTable", rules: Rules, look: Look | None) -> Learner:
    """A learner that has counted the pairs of the pieces in `table`: compiled if this is."""
    if isinstance(table, PieceTable):
        return PythonLearner(table.counts(), rules, look)
    return CompiledLearner(table, rules, look)


class PythonLearner:
    """The learner in Python: used without the kernel, and the reference for it."""

    def __init__(self, pieces: Mapping[str, int], rules: Rules, look: Look | None) -> None:
        """Count the pairs of `pieces`, which map each piece to how often it occurs."""
        self._bytes = [bytes([byte]) for byte in alphabet(rules.ties)]
        numbers = bytes(map(alphabet(rules.ties).index, range(256)))
        end = (256,) if rules.end_of_word else ()
        self._bytes += [utf8(rules.end_of_word)] * len(end)
        symbols = ((utf8(piece).translate(numbers), weight) for piece, weight in pieces.items())
        self._max_length = rules.max_length or inf
        self._index = PairIndex(symbols, len(self._bytes), end, self._max_length, look)
        key = {"first": self._index.first_place, "largest": self._largest_first}.get(rules.ties, _lowest_first)
        self._candidates = Candidates(self._index, key, key_grows=rules.ties == "first", min_count=rules.min_count)
        self._giving = False

    def _largest_first(self, pair: Pair) -> tuple[str, str]:
        return descending(self._bytes[pair[0]]), descending(self._bytes[pair[1]])

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""
        return self._index.n_tokens

    def learn(self, n: int) -> list[Step]:
        """Learn the next `n` merges; fewer if no pair is left that may be merged."""
        if self._giving:
            self._index.limit(self._max_length)
            self._giving = False
        return list(islice(self._steps(), n))

    def _steps(self) -> Iterator[Step]:
        while (pair := self._candidates.pop()) is not None:
            count = self._candidates.level
            yield self._merge(pair, count, self._index.n_tied[count])

    def _merge(self, pair: Pair, count: int, n_tied: int) -> Step:
        made = self._index.merge(pair, len(self._bytes))
        self._bytes.append(self._bytes[pair[0]] + self._bytes[pair[1]])
        self._candidates.add(made)
        return *pair, count, n_tied, self._index.n_tokens

    def merge(self, pair: Pair) -> Step:
        """Merge a pair that is given, and not chosen: before the first `learn` only. Its step has 0 tied pairs."""
        if not self._giving:
            self._index.limit(inf)  # given merges may be longer
            self._giving = True
        return self._merge(pair, self._index.counts.get(pair, 0), 0)

    def pairs(self) -> Iterable[tuple[Pair, int]]:
        """(pair, count) for every pair that occurs in the corpus now, in no order."""
        return self._index.counts.items()

    def symbol_counts(self) -> list[int]:
        """How often each symbol occurs in the corpus now; linear in the corpus."""
        return self._index.symbol_counts()


def _lowest_first(pair: Pair) -> Pair:
    return pair


class CompiledLearner:
    """The learner in the kernel; its results are those of `PythonLearner`."""

    def __init__(self, table: "kernel.PieceTable", rules: Rules, look: Look | None) -> None:
        """Count the pairs of the pieces in `table`."""
        self._trainer = kernel.Trainer(
            table,
            _TIES[rules.ties],
            min(rules.min_count, _NO_LIMIT),
            min(rules.max_length or _NO_LIMIT, _NO_LIMIT),
            alphabet(rules.ties),
            utf8(rules.end_of_word),
            look,
        )

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""
        return self._trainer.n_tokens

    def learn(self, n: int) -> list[Step]:
        """Learn the next `n` merges; fewer if no pair is left that may be merged."""
        return list(iter_unpack("=5Q", self._trainer.learn(n)))

    def merge(self, pair: Pair) -> Step:
        """Merge a pair that is given, and not chosen: before the first `learn` only. Its step has 0 tied pairs."""
        step: Step = unpack("=5Q", self._trainer.merge(*pair))
        return step

    def pairs(self) -> Iterable[tuple[Pair, int]]:
        """(pair, count) for every pair that occurs in the corpus now, in no order."""
        return (((left, right), count) for left, right, count in iter_unpack("=3Q", self._trainer.pair_table()))

    def symbol_counts(self) -> list[int]:
        """How often each symbol occurs in the corpus now; linear in the corpus."""
        return [count for (count,) in iter_unpack("=Q", self._trainer.symbol_counts())]
