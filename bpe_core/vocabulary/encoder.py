"""What turns a piece into ids: by the merges of a vocabulary, or by the ranks of its tokens.

The kernel does it where it can. It raises LookupError for a symbol without a token; such pieces, and all of them where
there is no kernel, are merged in Python, which gives the unknown token or says which symbol it was.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain, groupby
from operator import sub
from typing import Final, Self

from bpe_core import kernel
from bpe_core.vocabulary.merge_loop import NO_RANK, Triple, merge
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import CharacterSymbols, Symbols

_BATCH: Final = 500  # tokens whose parents the kernel is asked for at a time, which takes it less than a millisecond


class Encoder:
    """Encodes pieces for a vocabulary at one step; safe to use from several threads at once."""

    symbols: Symbols
    """What a piece is before any merge."""
    limit: int | None = None
    """How many merges are in force; None for ranks."""

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        """The kernel's encoder, made when first asked for; None if there is no kernel or it cannot have one."""
        raise NotImplementedError

    def whole(self, piece: bytes) -> int | None:
        """The token that a piece equal to it becomes at once; None if the piece is merged."""
        raise NotImplementedError

    def join(self, data: bytes) -> tuple[int, ...]:
        """The ids that merging in Python leaves of a piece, or of a part of one; nothing is looked up whole.

        Raises `UnknownTokenError` for a symbol that has no token.
        """
        raise NotImplementedError

    def piece(self, piece: bytes) -> tuple[int, ...]:
        """The ids of a piece. Raises `UnknownTokenError`."""
        if compiled := self.compiled:
            with suppress(LookupError):
                return compiled.piece(piece, self.limit)
        whole = self.whole(piece)
        return self.join(piece) if whole is None else (whole,)

    def part(self, data: bytes) -> tuple[int, ...]:
        """What `join` gives, by the kernel where it can."""
        if compiled := self.compiled:
            with suppress(LookupError):
                return compiled.part(data, self.limit)
        return self.join(data)

    def pieces(self, pieces: list[str]) -> "tuple[array[int], array[int]] | None":
        """(ids of all pieces in a row, index in it behind the last id of each piece); None if it takes Python.

        Raises UnicodeEncodeError for a surrogate.
        """
        if compiled := self.compiled:
            with suppress(LookupError):
                ids, ends = compiled.pieces(pieces, self.limit)
                return _numbers("I", ids), _numbers("Q", ends)
        return None

    def text(self, text: str, scanner: "kernel.Scanner | None") -> list[int] | None:
        """The ids of a text that `scanner` splits, None: it is one piece. None if it takes Python; errors as above."""
        if compiled := self.compiled:
            with suppress(LookupError):
                return compiled.encode(text, scanner, self.limit)
        return None

    def text_to_array(self, text: str, scanner: "kernel.Scanner | None") -> "array[int] | None":
        """What `text` gives, in four bytes each."""
        if compiled := self.compiled:
            with suppress(LookupError):
                return _numbers("I", compiled.encode_bytes(text, scanner, self.limit))
        return None


def _numbers(kind: str, data: bytes) -> "array[int]":
    numbers = array(kind)
    numbers.frombytes(data)
    return numbers


class MergeEncoder(Encoder):
    """Encodes by the first `n_merges` of a store: two neighbors join if there is a merge of these two ids."""

    limit: int

    def __init__(self, store: Store, n_merges: int) -> None:
        self.store: Final = store  # more merges may be added behind those in force
        self.limit = n_merges
        self.symbols = store.symbols

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        return self.store.compiled(self.limit)

    def whole(self, piece: bytes) -> int | None:
        """See `Encoder`; tokens that later steps make are not there yet."""
        token = self.store.whole_pieces.get(piece)
        return token if token is not None and self.store.step_of.get(token, 0) <= self.limit else None

    def join(self, data: bytes) -> tuple[int, ...]:
        rank_of_pair, merges, n_merges = self.store.rank_of.get, self.store.merges, self.limit

        def rank_of(left: int, right: int) -> int:
            rank = rank_of_pair((left, right), NO_RANK)
            return rank if rank < n_merges else NO_RANK

        return tuple(merge(self.symbols.ids(data), rank_of, lambda left, right, rank: merges[rank][2]))


class RankEncoder(Encoder):
    """Encodes by ranks, as tiktoken and SentencePiece do: two neighbors join if their joined bytes are a token.

    Nothing needs to be known of how a token was made, so it is right for published files whose merges are not known.
    """

    def __init__(
        self, symbols: Symbols, id_of: Mapping[bytes, int], rank_of: Mapping[bytes, int], *, whole_pieces: bool
    ) -> None:
        """`id_of` maps the bytes of each token that text can become to its id, `rank_of` to its rank; with
        `whole_pieces`, a piece that is a token becomes it at once."""
        self.symbols = symbols
        self.id_of: Final = id_of
        self.rank_of: Final = rank_of
        self.whole_pieces: Final = whole_pieces

    @classmethod
    def in_order(cls, symbols: Symbols, id_of: Mapping[bytes, int], *, whole_pieces: bool) -> Self:
        """Of tokens that stand in the order of their ranks, no two with the same; ids that ascend serve as these."""
        ids = list(id_of.values())
        rank_of = id_of if ids == sorted(ids) else dict(zip(id_of, range(len(ids)), strict=True))
        return cls(symbols, id_of, rank_of, whole_pieces=whole_pieces)

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        byte_ids, end, characters = self.symbols.tables
        if isinstance(self.symbols, CharacterSymbols):
            # A symbol without a token can be joined to another, which the kernel does not know of.
            if not all(self.symbols.has_all_of(token) for token in self.id_of):
                return None
        elif any(id is None or self.id_of.get(bytes([byte])) != id for byte, id in enumerate(byte_ids)):
            return None
        tokens = self.id_of if isinstance(self.id_of, dict) else dict(self.id_of)
        ranks = tokens if self.rank_of is self.id_of else dict(self.rank_of)
        return kernel.encoder(byte_ids, end, characters, tokens, ranks, self.whole_pieces, True)

    def whole(self, piece: bytes) -> int | None:
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

    def recovered(self) -> Iterator[Triple | None]:
        """For each token, in the order of the ranks, the merge that makes it; None if no merge does.

        A token is made of what its bytes become by the tokens of smaller rank, if that is two tokens. These are
        compatible then (see `bpe_core.vocabulary.merge_loop`), so no text ever joins the token from another two. If its
        bytes become more than two parts, no merge makes it in the order of a training; a piece equal to it may still
        be looked up whole. `id_of` must have the order of the ranks, and no two tokens the same rank.
        """
        # Not before the first is asked for: making the kernel's encoder would lengthen each loading of a file.
        yield from self._recovered_in_kernel(self.compiled) if self.compiled else self._recovered_in_python()

    def _recovered_in_kernel(self, compiled: "kernel.Encoder") -> Iterator[Triple | None]:
        tokens, made = list(self.id_of), list(self.id_of.values())
        for first in range(0, len(tokens), _BATCH):
            packed_ids, packed_ends = compiled.parents(tokens[first : first + _BATCH])
            ids, ends = _numbers("I", packed_ids), _numbers("Q", packed_ends)
            n_parts = map(sub, ends, chain((0,), ends))
            for token, end, n in zip(made[first : first + _BATCH], ends, n_parts, strict=True):
                yield (ids[end - 2], ids[end - 1], token) if n == 2 else None

    def _recovered_in_python(self) -> Iterator[Triple | None]:
        smaller: dict[bytes, int] = {}
        for rank, (token, made) in enumerate(self.id_of.items()):
            match [self.id_of.get(part) for part in merge_parts(self.symbols.parts(token), smaller)]:
                case [int() as left, int() as right]:
                    yield left, right, made
                case _:
                    yield None
            smaller[token] = rank


def merge_parts(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    """Merge `parts` until no two neighbors, joined, have a rank: the lowest rank first, of equal ranks the leftmost.

    >>> merge_parts([b"l", b"o", b"w"], {b"lo": 0, b"ow": 1, b"low": 2})
    [b'low']
    """
    rank_of_joined = rank_of.get
    return merge(parts, lambda left, right: rank_of_joined(left + right, NO_RANK), lambda left, right, _: left + right)
