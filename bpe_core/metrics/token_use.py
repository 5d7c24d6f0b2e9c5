"""How evenly texts use the tokens of a vocabulary, and the token counts of many groups of texts."""

import pickle
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from math import log2
from typing import NamedTuple, Self

from bpe_core.metrics import efficiency, ratio, renyi_entropy


class TokenUse(NamedTuple):
    """How evenly some texts use the tokens of one tokenizer."""

    n_used: int  # different tokens that occur
    n_tokens: int  # all tokens of the vocabulary
    renyi_entropy: float  # of order 2.5, in bits
    shannon_entropy: float  # in bits

    @classmethod
    def of(cls, counts: Collection[int], n_tokens: int) -> Self:
        """Return the use of a vocabulary of `n_tokens`, given the counts of the tokens that occur."""
        return cls(
            n_used=len(counts),
            n_tokens=n_tokens,
            renyi_entropy=renyi_entropy(counts),
            shannon_entropy=renyi_entropy(counts, alpha=1),
        )

    @property
    def renyi_efficiency(self) -> float:
        return efficiency(self.renyi_entropy, self.n_used)

    @property
    def renyi_efficiency_of_vocabulary(self) -> float:
        return self.renyi_entropy / log2(max(2, self.n_tokens))

    @property
    def shannon_efficiency(self) -> float:
        return efficiency(self.shannon_entropy, self.n_used)

    @property
    def utilization(self) -> float:
        return ratio(self.n_used, self.n_tokens)


@dataclass
class GroupedCounts:
    """Token counts of groups of texts, by tokenizer. Only the counts of the last group used are not packed.

    Texts of one folder usually follow each other, and there may be hundreds of folders. Packed counts take a
    sixth of the memory.
    """

    n_tokenizers: int
    _open_name: str | None = None
    _open_counts: list[Counter[int]] = field(default_factory=list)
    _packed: dict[str, bytes] = field(default_factory=dict)

    def of(self, name: str) -> list[Counter[int]]:
        """Return the counts of a group, which may be changed until the next call."""
        if name == self._open_name:
            return self._open_counts
        if self._open_name is not None:
            self._packed[self._open_name] = pickle.dumps(self._open_counts)
        self._open_name = name
        if name in self._packed:
            self._open_counts = pickle.loads(self._packed.pop(name))
        else:
            self._open_counts = [Counter() for _ in range(self.n_tokenizers)]
        return self._open_counts
