"""Encoding a piece: by the merges of a vocabulary, or by the ranks of its tokens. The Python side of `compiled`."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import groupby
from typing import Final, Protocol, Self

from bpe_core.merging.merge_loop import NO_RANK, merge
from bpe_core.vocabulary.compiled import Compiled, compiled_ranks
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import Symbols


class Encoder(Protocol):
    """What turns the bytes of a piece into ids, for a vocabulary at one step."""

    @property
    def symbols(self) -> Symbols:
        """What a piece is before any merge."""

    @property
    def compiled(self) -> Compiled | None:
        """An encoder in the kernel that gives the same ids; None if there is none."""

    def whole(self, piece: bytes) -> int | None:
        """The token that a piece equal to it becomes at once; None if the piece is merged."""

    def join(self, data: bytes) -> tuple[int, ...]:
        """The ids that merging leaves of a piece, or of a part of one; nothing is looked up whole.

        Raises `UnknownTokenError` for a symbol that has no token.
        """


class MergeEncoder:
    """Encodes by the first `n_merges` of a store: two neighbors join if there is a merge of these two ids."""

    def __init__(self, store: Store, n_merges: int) -> None:
        self.store: Final = store
        """The merges; more may be added behind those in force."""
        self.n_merges: Final = n_merges
        """How many of them are in force."""
        self.symbols: Final = store.symbols

    @cached_property
    def compiled(self) -> Compiled | None:
        """See `Encoder`; made when first asked for."""
        store = self.store
        return store.compiled.of(self.symbols, store.merges, self.n_merges, store.whole_pieces, store.step_of)

    def whole(self, piece: bytes) -> int | None:
        """See `Encoder`; tokens that later steps make are left out."""
        token = self.store.whole_pieces.get(piece)
        return token if token is not None and self.store.step_of.get(token, 0) <= self.n_merges else None

    def join(self, data: bytes) -> tuple[int, ...]:
        """See `Encoder`."""
        rank_of_pair, merges, n_merges = self.store.rank_of.get, self.store.merges, self.n_merges

        def rank_of(left: int, right: int) -> int:
            rank = rank_of_pair((left, right), NO_RANK)
            return rank if rank < n_merges else NO_RANK

        return tuple(merge(self.symbols.ids(data), rank_of, lambda left, right, rank: merges[rank][2]))


class RankEncoder:
    """Encodes by ranks, as tiktoken and SentencePiece do: two neighbors join if their joined bytes are a token.

    Nothing needs to be known of how a token was made, so it is right for published files whose merges are not known.
    """

    def __init__(
        self, symbols: Symbols, id_of: Mapping[bytes, int], rank_of: Mapping[bytes, int], *, whole_pieces: bool
    ) -> None:
        """`id_of` maps the bytes of each token that text can become to its id, `rank_of` to its rank."""
        self.symbols: Final = symbols
        self.id_of: Final = id_of
        """Bytes -> id."""
        self.rank_of: Final = rank_of
        """Bytes -> rank, the lowest joined first."""
        self.whole_pieces: Final = whole_pieces
        """Whether a piece that is a token becomes it at once."""

    @classmethod
    def in_order(cls, symbols: Symbols, id_of: Mapping[bytes, int], *, whole_pieces: bool) -> Self:
        """Of tokens that stand in the order of their ranks, no two with the same; ids that ascend serve as these."""
        ids = list(id_of.values())
        rank_of = id_of if ids == sorted(ids) else dict(zip(id_of, range(len(ids)), strict=True))
        return cls(symbols, id_of, rank_of, whole_pieces=whole_pieces)

    @cached_property
    def compiled(self) -> Compiled | None:
        """See `Encoder`; made when first asked for, which takes a twentieth of a second for 200,000 tokens."""
        return compiled_ranks(self.symbols, self.id_of, self.rank_of, whole_pieces=self.whole_pieces)

    def whole(self, piece: bytes) -> int | None:
        """See `Encoder`."""
        return self.id_of.get(piece) if self.whole_pieces else None

    def join(self, data: bytes) -> tuple[int, ...]:
        """See `Encoder`. Adjacent parts without a token become symbols together: unknown ones may fuse."""
        parts = merge_parts(self.symbols.parts(data), self.rank_of)
        try:
            return tuple(map(self.id_of.__getitem__, parts))
        except KeyError:
            return tuple(self._with_unknown(parts))

    def _with_unknown(self, parts: Iterable[bytes]) -> Iterable[int]:
        for is_known, group in groupby(parts, key=self.id_of.__contains__):
            run = list(group)
            yield from map(self.id_of.__getitem__, run) if is_known else self.symbols.ids(b"".join(run))


def merge_parts(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    """Merge `parts` until no two neighbors, joined, have a rank: the lowest rank first, of equal ranks the leftmost.

    >>> merge_parts([b"l", b"o", b"w"], {b"lo": 0, b"ow": 1, b"low": 2})
    [b'low']
    """
    rank_of_joined = rank_of.get
    return merge(parts, lambda left, right: rank_of_joined(left + right, NO_RANK), lambda left, right, _: left + right)
