"""A tokenizer that always encodes the texts of its special tokens as special tokens."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Self

from bpe_core.patterns.pattern import Else, longest_first
from bpe_core.tokenizer import Tokenizer


class SpecialsAllowed(Tokenizer):
    """A tokenizer whose pieces are the special tokens in a text, and the pieces of the text between them.

    So `encode_ordinary(text) == encode(text, allowed_special="all")`, and code that encodes piece by piece, as
    `LiveText` does, handles special tokens without knowing about them.
    """

    __slots__ = ()

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Tokenizer | Self:
        """The tokenizer with all special tokens allowed; itself if it has none, or is not `by_piece`."""
        texts = tokenizer.vocabulary.special_tokens
        if isinstance(tokenizer, cls) or not texts or not tokenizer.by_piece:
            return tokenizer
        pattern = Else(longest_first(texts), tokenizer.splitter.tree)
        return cls(tokenizer.vocabulary, str(pattern), record=tokenizer.record, name=tokenizer.name)

    def encode_piece(self, piece: str) -> tuple[int, ...]:
        """The ids of a piece; a special token is one id."""
        special = self.vocabulary.special_tokens.get(piece)
        return super().encode_piece(piece) if special is None else (special,)

    def encode_pieces(self, pieces: list[str]) -> Iterator[Sequence[int]]:
        """The ids of each piece."""
        return map(self.encode_piece, pieces)

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of `text`, with special tokens encoded as such."""
        return list(chain.from_iterable(map(self.encode_piece, self.splitter.split(text))))
