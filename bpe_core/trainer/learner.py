"""Learning one merge after the other: the pair index and the candidates take turns, here or in the compiled kernel."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf
from struct import iter_unpack
from typing import Final, Protocol

from bpe_core import kernel
from bpe_core.surrogates import utf8, without_surrogates
from bpe_core.trainer.candidates import Candidates
from bpe_core.trainer.pair_index import Pair, PairIndex
from bpe_core.trainer.ties import alphabet, descending

Look = Callable[[int, int], None]

Step = tuple[int, int, int, int, int]
"""Left symbol, right symbol, how often they stood side by side, pairs that had this count, tokens after the merge."""

_NO_LIMIT: Final = (1 << 63) - 1
_TIES: Final = {"first": 0, "lowest": 1, "lowest-hf": 1, "largest": 2}
"""Tie rule -> its number in the kernel, where the alphabet tells the two lowest apart."""


@dataclass(frozen=True, slots=True)
class Rules:
    """By which a learner chooses. Symbols 0 to 255 are the bytes in the order of the tie rule's alphabet."""

    ties: str
    min_count: int
    max_length: int | None
    """Bytes of a token at most, an end of a word counting as one."""
    end_of_word: str
    """Where it is not empty, symbol 256 is it."""


class Learner(Protocol):
    """Learns merges; the new symbols are numbered on."""

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""

    def learn(self, n: int) -> list[Step]:
        """The next `n` merges; fewer where there is none any more."""

    def pairs(self) -> Iterable[tuple[Pair, int]]:
        """Every pair that stands in the corpus now, with its count."""


def learner(pieces: Mapping[str, int], rules: Rules, look: Look | None) -> Learner:
    """Count the pairs of pieces; `look` is told now and then how much is done, and of how much."""
    return CompiledLearner(pieces, rules, look) if kernel.available else PythonLearner(pieces, rules, look)


class PythonLearner:
    """The reference for the kernel."""

    def __init__(self, pieces: Mapping[str, int], rules: Rules, look: Look | None) -> None:
        """Count the pairs of pieces."""
        self._bytes = [bytes([byte]) for byte in alphabet(rules.ties)]
        numbers = bytes(map(alphabet(rules.ties).index, range(256)))
        end = (256,) if rules.end_of_word else ()
        self._bytes += [utf8(rules.end_of_word)] * len(end)
        symbols = ((utf8(piece).translate(numbers), weight) for piece, weight in pieces.items())
        self._index = PairIndex(symbols, len(self._bytes), end, rules.max_length or inf, look)
        key = {"first": self._index.first_place, "largest": self._largest_first}.get(rules.ties, _lowest_first)
        self._candidates = Candidates(
            self._index.counts, key, key_grows=rules.ties == "first", min_count=rules.min_count
        )

    def _largest_first(self, pair: Pair) -> tuple[str, str]:
        return descending(self._bytes[pair[0]]), descending(self._bytes[pair[1]])

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""
        return self._index.n_tokens

    def learn(self, n: int) -> list[Step]:
        """The next `n` merges; fewer where there is none any more."""
        return list(islice(self._steps(), n))

    def _steps(self) -> Iterator[Step]:
        candidates, index = self._candidates, self._index
        while (pair := candidates.take()) is not None:
            count, n_tied = candidates.level, candidates.n_tied
            made, fallen = index.merge(pair, len(self._bytes), count)
            self._bytes.append(self._bytes[pair[0]] + self._bytes[pair[1]])
            candidates.update(made, fallen + 1)
            yield *pair, count, n_tied, index.n_tokens

    def pairs(self) -> Iterable[tuple[Pair, int]]:
        """Every pair that stands in the corpus now, with its count."""
        return self._index.counts.items()


def _lowest_first(pair: Pair) -> Pair:
    return pair


class CompiledLearner:
    """The kernel, which does as `PythonLearner` does."""

    def __init__(self, pieces: Mapping[str, int], rules: Rules, look: Look | None) -> None:
        """Count the pairs of pieces."""
        options = (
            _TIES[rules.ties],
            min(rules.min_count, _NO_LIMIT),
            min(rules.max_length or _NO_LIMIT, _NO_LIMIT),
            alphabet(rules.ties),
            utf8(rules.end_of_word),
            look,
        )
        try:
            self._trainer = kernel.Trainer(pieces if isinstance(pieces, dict) else dict(pieces), *options)
        except UnicodeEncodeError:
            readable: dict[str, int] = {}
            for piece, weight in pieces.items():
                readable[without_surrogates(piece)] = readable.get(without_surrogates(piece), 0) + weight
            self._trainer = kernel.Trainer(readable, *options)

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""
        return self._trainer.n_tokens

    def learn(self, n: int) -> list[Step]:
        """The next `n` merges; fewer where there is none any more."""
        return list(iter_unpack("=5Q", self._trainer.learn(n)))

    def pairs(self) -> Iterable[tuple[Pair, int]]:
        """Every pair that stands in the corpus now, with its count."""
        return (((left, right), count) for left, right, count in iter_unpack("=3Q", self._trainer.pair_table()))
