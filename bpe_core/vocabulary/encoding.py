"""Encode pieces to ids, by merges or by the ranks of tokens.

The kernel encodes if it can. It raises LookupError for a symbol without a token. Such pieces, and all pieces if there is
no kernel, are merged in Python, which gives the unknown token or reports the symbol.
"""

from array import array
from collections.abc import Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any, Final, NamedTuple

from bpe_core import kernel
from bpe_core.cached import cached_property
from bpe_core.vocabulary.merge_loop import NO_RANK, merge
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import CharacterSymbols, Symbols


class EncodedPieces(NamedTuple):
    """The ids of several pieces, one after the other."""

    ids: "array[int]"
    ends: "array[int]"  # for each piece, the index in `ids` after its last id


class Encoding:
    """Encodes pieces. A subclass chooses which neighbors are joined, and in which order."""

    n_merges: int | None = None
    """How many merges of `compiled` apply; None for all."""

    @property
    def compiled(self) -> "kernel.Encoder | None":
        """The kernel's encoder, made when first used; None if the kernel can't encode this way."""
        raise NotImplementedError

    def whole(self, piece: bytes) -> int | None:
        """Return the token that `piece` becomes without merging; None if it is merged."""
        raise NotImplementedError

    def merge_in_python(self, data: bytes) -> tuple[int, ...]:
        """Merge a piece, or a part of one. Raises `UnknownTokenError`."""
        raise NotImplementedError

    def encode(self, piece: bytes) -> tuple[int, ...]:
        """Return the ids of one piece. Raises `UnknownTokenError` if a symbol of it has no token."""
        encoder = self.compiled
        if encoder:
            with suppress(LookupError):
                return encoder.piece(piece, self.n_merges)
        token = self.whole(piece)
        if token is not None:
            return (token,)
        return self.merge_in_python(piece)

    def merge(self, data: bytes) -> tuple[int, ...]:
        """Return the ids that merging leaves of a piece, or of a part of one; `whole` is not used."""
        if encoder := self.compiled:
            with suppress(LookupError):
                return encoder.part(data, self.n_merges)
        return self.merge_in_python(data)

    def encode_pieces(self, pieces: list[str]) -> EncodedPieces | None:
        """Encode pieces in one call; None if the kernel can't. Raises UnicodeEncodeError for a surrogate."""
        if encoder := self.compiled:
            with suppress(LookupError):
                ids, ends = encoder.pieces(pieces, self.n_merges)
                return EncodedPieces(array("I", ids), array("Q", ends))
        return None

    def encode_texts(
        self, texts: list[str], scanner: "kernel.Scanner | None", as_arrays: bool
    ) -> list[Any] | None:
        """Split and encode texts in one call, without the GIL; None if the kernel can't.

        Many short texts cost little more than one long text. `scanner` splits the texts; if it is None, each text is
        one piece. The ids of a text are a list, or an array of 32-bit numbers if `as_arrays`. Raises UnicodeEncodeError
        for a surrogate.
        """
        encoder = self.compiled
        if encoder is None:
            return None
        try:  # quicker than `suppress`, which would be a tenth of the time of a short text
            return encoder.encode_batch(texts, scanner, self.n_merges, as_arrays)
        except LookupError:
            return None


class MergeEncoding(Encoding):
    """Two neighbors are joined if a merge joins these two ids, the earliest merge first."""

    n_merges: int

    def __init__(self, store: Store, n_merges: int) -> None:
        self._store: Final = store
        self.n_merges = (
            n_merges  # the store, and so the kernel's encoder, may have more
        )

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        return self._store.compiled(self.n_merges)

    def whole(self, piece: bytes) -> int | None:
        token = self._store.whole_pieces.get(piece)
        if token is None or self._store.step_of.get(token, 0) > self.n_merges:
            return None
        return token

    def merge_in_python(self, data: bytes) -> tuple[int, ...]:
        n_merges = self.n_merges
        merges = self._store.merges
        rank_of_pair = self._store.rank_of.get

        def rank_of(left: int, right: int) -> int:
            rank = rank_of_pair((left, right), NO_RANK)
            return rank if rank < n_merges else NO_RANK

        def join(left: int, right: int, rank: int) -> int:
            return merges[rank][2]

        return tuple(merge(self._store.symbols.ids(data), rank_of, join))


class RankEncoding(Encoding):
    """Two neighbors are joined if their joined bytes are a token, the token of the lowest rank first.

    It needs no merges, so it is right for published files whose merges are not known.
    """

    def __init__(
        self,
        symbols: Symbols,
        id_of: Mapping[bytes, int],
        rank_of: Mapping[bytes, int],
        looks_up: bool,
    ) -> None:
        """`id_of` is in the order of the ranks. `looks_up`: whether a piece that is a token becomes it unmerged."""
        self.symbols: Final = symbols
        self.id_of: Final = id_of
        self.rank_of: Final = rank_of
        self.looks_up: Final = looks_up

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        """The kernel's encoder; None if a symbol has no token, or an id is too large for the kernel.

        It is made in 0.05 s for 200,000 tokens.
        """
        if not self._has_token_for_each_symbol():
            return None
        tables = self.symbols.tables
        tokens = self.id_of if isinstance(self.id_of, dict) else dict(self.id_of)
        ranks = tokens  # not copied a second time
        if self.rank_of is not self.id_of:
            ranks = dict(self.rank_of)
        has_ranks = True
        with suppress(ValueError, OverflowError):  # an id is too large for the kernel
            return kernel.Encoder(
                tables.byte_ids,
                tables.end_of_word,
                tables.characters,
                tokens,
                ranks,
                self.looks_up,
                has_ranks,
            )
        return None

    def _has_token_for_each_symbol(self) -> bool:
        """Whether the kernel can encode: it can't join a symbol that has no token to another symbol."""
        if isinstance(self.symbols, CharacterSymbols):
            known = self.symbols.id_of.keys()
            texts = (token.decode(errors="surrogateescape") for token in self.id_of)
            return all(known >= set(text) for text in texts)
        byte_ids = self.symbols.byte_ids
        return all(
            byte in byte_ids and self.id_of.get(bytes([byte])) == byte_ids[byte]
            for byte in range(256)
        )

    def whole(self, piece: bytes) -> int | None:
        return self.id_of.get(piece) if self.looks_up else None

    def merge_in_python(self, data: bytes) -> tuple[int, ...]:
        parts = merge_parts(self.symbols.parts(data), self.rank_of)
        ids: list[int] = []
        for are_tokens, group in groupby(parts, key=self.id_of.__contains__):
            if are_tokens:
                ids += [self.id_of[part] for part in group]
            else:
                # Adjacent parts without a token become symbols together, since unknown symbols may fuse.
                ids += self.symbols.ids(b"".join(group))
        return tuple(ids)


def merge_parts(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    """Join neighbors until no two neighbors, joined, have a rank: the lowest rank first, of equal ranks the leftmost.

    >>> merge_parts([b"l", b"o", b"w"], {b"lo": 0, b"ow": 1, b"low": 2})
    [b'low']
    """
    rank_of_token = rank_of.get

    def rank_of_joined(left: bytes, right: bytes) -> int:
        return rank_of_token(left + right, NO_RANK)

    def join(left: bytes, right: bytes, rank: int) -> bytes:
        return left + right

    return merge(parts, rank_of_joined, join)
