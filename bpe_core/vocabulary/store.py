"""What all versions of a vocabulary share: bytes, merges, and the way from a piece to ids. It only ever grows."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from time import perf_counter
from typing import Any, Final

from bpe_core.bpe import LONG, Triple, merge_piece
from bpe_core.errors import OptionError
from bpe_core.vocabulary.joined import merge_parts
from bpe_core.vocabulary.recovery import recovered
from bpe_core.vocabulary.symbols import Symbols

ALL: Final = 1 << 62
"""As a number of merges: all there are, and no need to know how many."""

_VERY_LONG: Final = 1 << 16
"""Bytes of a piece for which it pays to recover the merges first: long pieces are encoded much faster with them."""

_SLICE: Final = 500
"""Tokens whose merges are recovered between two looks at the clock."""


class Store:
    """Merges in order, each the one and only way to its token. Nothing in it is ever taken back."""

    __slots__ = (
        "base",
        "bytes_of",
        "children",
        "merges",
        "n_indexed",
        "rank_of",
        "repeats",
        "step_of",
        "symbols",
        "whole_pieces",
    )

    def __init__(self, base: Mapping[int, bytes], symbols: Symbols, whole_pieces: Mapping[bytes, int]) -> None:
        self.base = dict(base)
        self.bytes_of = dict(base)
        self.symbols = symbols
        self.whole_pieces = whole_pieces
        self.merges: list[Triple] = []
        self.rank_of: dict[tuple[int, int], int] = {}
        self.step_of: dict[int, int] = {}
        self.repeats: list[int] = []  # steps that made a token which was there before (published files have them)
        self.children: dict[int, list[int]] = {}
        self.n_indexed = 0

    def append(self, merge: Triple) -> None:
        """Add a merge. Raises `OptionError` if it does not fit those before it."""
        left, right, token = merge
        try:
            joined = self.bytes_of[left] + self.bytes_of[right]
        except KeyError as error:
            raise OptionError(
                f"Merge {len(self.merges) + 1} joins the id {error.args[0]}, which no merge before it makes."
            ) from None
        known = self.bytes_of.get(token)
        if known is not None and known != joined:
            raise OptionError(f"Merge {len(self.merges) + 1} gives the id {token} a second meaning.")
        self.rank_of.setdefault((left, right), len(self.merges))
        self.merges.append(merge)
        if known is None:
            self.bytes_of[token] = joined
            self.step_of[token] = len(self.merges)
        else:
            self.repeats.append(len(self.merges))

    def at_tip(self, n_merges: int) -> "Store":
        """A store that can be extended after `n_merges`: this one, or a copy if this one went another way there."""
        return self if len(self.merges) == n_merges else self._copy(n_merges)

    def _copy(self, n_merges: int) -> "Store":
        store = Store(self.base, self.symbols, self.whole_pieces)
        for merge in islice(self.merges, n_merges):
            store.append(merge)
        return store

    def index_children(self) -> dict[int, list[int]]:
        """Id -> the ids made from it in the order of their steps; brought up to date only when asked for."""
        for left, right, token in self.merges[self.n_indexed :]:
            for part in {left, right}:
                made = self.children.setdefault(part, [])
                if token not in made[-1:]:
                    made.append(token)
        self.n_indexed = len(self.merges)
        return self.children

    def encode(self, piece: bytes, n_merges: int) -> tuple[int, ...]:
        """The ids of a piece after `n_merges`."""
        whole = self.whole_pieces.get(piece)
        if whole is not None and self.step_of.get(whole, 0) <= n_merges:
            return (whole,)
        return tuple(merge_piece(self.symbols.ids(piece), self.rank_of, self.merges, n_merges))

    def join(self, data: bytes, n_merges: int) -> tuple[int, ...]:
        """The ids of a part of a piece: what the merges leave, and no look-up of the whole."""
        return tuple(merge_piece(self.symbols.ids(data), self.rank_of, self.merges, n_merges))


class RankedStore(Store):
    """Tokens with ranks and no merges: those are recovered when somebody asks for something that needs them.

    With all of it in force, encoding looks at ranks alone, so it is right before the recovery, and where some tokens
    cannot be recovered. If all were, merges do the same, and long pieces faster. An earlier step always goes by merges.
    """

    __slots__ = ("_by_pairs", "_id_of", "_looks_up", "_rank_of", "_recovery", "_triples")

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        symbols: Symbols,
        id_of: Mapping[bytes, int],
        rank_of: Mapping[bytes, int],
        *,
        whole_pieces: bool,
    ) -> None:
        """`id_of` has the tokens that a piece can hold, in the order of their ranks; others are never encoded.

        `whole_pieces`: a piece that is a token becomes it at once.
        """
        self.bytes_of = dict(tokens)
        self.symbols = symbols
        self._rank_of = rank_of
        self._id_of = id_of
        self._looks_up = whole_pieces
        self._by_pairs = False  # whether merges are known to do exactly what ranks do
        self._triples: list[Triple] = []
        self._recovery: Iterator[Triple | None] | None = recovered(id_of, id_of, symbols)

    def __getattr__(self, name: str) -> Any:
        """What is not there yet comes with the merges."""
        if name not in Store.__slots__:
            raise AttributeError(name)
        self.recover(float("inf"))
        return object.__getattribute__(self, name)

    @property
    def is_recovered(self) -> bool:
        """Whether the merges are known."""
        return self._recovery is None

    def recover(self, seconds: float) -> bool:
        """Recover merges for so long; whether all are known now. Calling on gets there."""
        deadline = perf_counter() + seconds
        while self._recovery is not None:
            found = list(islice(self._recovery, _SLICE))
            self._triples += filter(None, found)
            if len(found) < _SLICE:
                self._settle(self._triples)
            elif perf_counter() >= deadline:
                break
        return self.is_recovered

    def adopt(self, merges: Iterable[Triple]) -> None:
        """Take over what was recovered earlier. Raises `OptionError` if it is not from these tokens."""
        merges = list(merges)
        made = [token for _, _, token in merges]
        if len(set(made)) < len(made) or not self.bytes_of.keys() >= set(made):
            raise OptionError("These merges make tokens that this vocabulary does not have.")
        self._settle(merges)

    def _settle(self, merges: list[Triple]) -> None:
        made = {token for _, _, token in merges}
        base = {token: data for token, data in self.bytes_of.items() if token not in made}
        whole = {data: token for data, token in self._id_of.items() if token in base and len(data) > 1}
        whole = whole if self._looks_up else {}
        store = Store(base, self.symbols, whole)
        for merge in merges:
            store.append(merge)
        if store.bytes_of != self.bytes_of:
            raise OptionError("These merges do not make the tokens of this vocabulary.")
        for name in Store.__slots__:
            setattr(self, name, getattr(store, name))
        self._recovery = None
        self._triples = []
        odd = (data for data, token in self._id_of.items() if token not in made)
        self._by_pairs = all(len(self.symbols.parts(data)) < 2 for data in odd)

    def at_tip(self, n_merges: int) -> Store:
        """A plain store: learning goes on by merges, not by ranks."""
        return self._copy(n_merges)

    def encode(self, piece: bytes, n_merges: int) -> tuple[int, ...]:
        """As a store does; with all merges in force, by ranks."""
        if n_merges != ALL:
            return super().encode(piece, n_merges)
        whole = self._id_of.get(piece) if self._looks_up else None
        return self.join(piece, ALL) if whole is None else (whole,)

    def join(self, data: bytes, n_merges: int) -> tuple[int, ...]:
        """As a store does; with all merges in force, by ranks."""
        if n_merges != ALL:
            return super().join(data, n_merges)
        if len(data) >= LONG:
            if len(data) > _VERY_LONG:
                self.recover(float("inf"))
            if self._by_pairs:
                return super().join(data, len(self.merges))
        parts = merge_parts(self.symbols.parts(data), self._rank_of)
        try:
            return tuple(map(self._id_of.__getitem__, parts))
        except KeyError:
            return tuple(self._with_unknown(parts))

    def _with_unknown(self, parts: Iterable[bytes]) -> list[int]:
        """The ids of parts among which are some that the symbols must see to: neighbors together, for they may fuse."""
        ids: list[int] = []
        for is_known, group in groupby(parts, key=self._id_of.__contains__):
            if is_known:
                ids += map(self._id_of.__getitem__, group)
            else:
                ids += self.symbols.ids(b"".join(group))
        return ids


def whole_by_default(base: Mapping[int, bytes]) -> dict[bytes, int]:
    """Bytes -> token, of the tokens that are longer than a byte; the lowest where there are several."""
    return {base[i]: i for i in sorted(base, reverse=True) if len(base[i]) > 1}
