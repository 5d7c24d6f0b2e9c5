"""The rows of the merge log for a kept tokenizer."""

from collections.abc import Sequence
from typing import overload

from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge
from bpe_core.weighted import Count


class KeptMerges(Sequence[Merge]):
    """The merges of a tokenizer, each made when it is read: of 200,000 only a screenful is shown.

    The counts come from the training record. A file from elsewhere has no record, and its merges have no counts.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._vocabulary = tokenizer.vocabulary
        self._merges = tokenizer.vocabulary.merges
        self._counts = tokenizer.record.steps if tokenizer.record else ()

    def __len__(self) -> int:
        return len(self._merges)

    @overload
    def __getitem__(self, index: int) -> Merge: ...
    @overload
    def __getitem__(self, index: slice) -> list[Merge]: ...
    def __getitem__(self, index: int | slice) -> Merge | list[Merge]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        left, right, token = self._merges[index]
        count: Count = 0
        ties = 1
        n_tokens: Count = 0
        if self._counts:
            count, ties, n_tokens = self._counts[index]
        token_bytes = self._vocabulary.token_bytes(token)
        return Merge(index + 1, left, right, token, token_bytes, count, ties, n_tokens)

    @property
    def n_tokens(self) -> list[Count]:
        """The length of the corpus after each merge; empty if it is not known."""
        return [n_tokens for _, _, n_tokens in self._counts]

    def length_of(self, token: int) -> int:
        return len(self._vocabulary.token_bytes(token))
