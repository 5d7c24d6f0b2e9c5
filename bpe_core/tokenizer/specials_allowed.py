"""A tokenizer for which the texts of its special tokens are these tokens, wherever they stand."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Self

from bpe_core.patterns.pattern import Else, longest_first
from bpe_core.tokenizer import Tokenizer


class SpecialsAllowed(Tokenizer):
    """A tokenizer whose pieces are special tokens, which are found first, and the pieces of what lies between.

    Its `encode_ordinary(text)` gives the ids of `encode(text, allowed_special="all")`, and whatever encodes piece by
    piece, as `LiveText` does, knows special tokens with it.
    """

    __slots__ = ()

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Tokenizer | Self:
        """The tokenizer with its special tokens allowed; itself if it has none, or cannot be followed by the piece."""
        texts = tokenizer.vocabulary.special_tokens
        if isinstance(tokenizer, cls) or not texts or not tokenizer.by_piece:
            return tokenizer
        pattern = Else(longest_first(texts), tokenizer.splitter.tree)
        return cls(tokenizer.vocabulary, str(pattern), record=tokenizer.record, name=tokenizer.name)

    def encode_piece(self, piece: str) -> tuple[int, ...]:
        """The ids of a piece: one if it is a special token."""
        special = self.vocabulary.special_tokens.get(piece)
        return super().encode_piece(piece) if special is None else (special,)

    def encode_pieces(self, pieces: list[str]) -> Iterator[Sequence[int]]:
        """The ids of each piece."""
        return map(self.encode_piece, pieces)

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text, special tokens among them."""
        return list(chain.from_iterable(map(self.encode_piece, self.splitter.split(text))))
