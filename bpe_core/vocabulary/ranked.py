"""The store of a vocabulary that knows ranks and no merges, and finds these again only when somebody asks for them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from threading import Lock
from typing import Any

from bpe_core.errors import OptionError
from bpe_core.merging.merge_loop import LONG, Triple
from bpe_core.merging.rank_merging import merge_parts
from bpe_core.vocabulary.columns import Columns
from bpe_core.vocabulary.recovery import Recovery
from bpe_core.vocabulary.store import ALL, Store
from bpe_core.vocabulary.symbols import ByteSymbols, Symbols


class RankedStore(Store):
    """Tokens with ranks. What speaks of merges is not there until it is needed; then it is made at once.

    With all of it in force, encoding looks at ranks alone, so it is right before the recovery, and where some tokens
    cannot be recovered. If all were, merges do the same, and long pieces faster. An earlier step always goes by merges.
    """

    __slots__ = ("_adopted", "_by_pairs", "_id_of", "_looks_up", "_rank_of", "_recovering", "_recovery")

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        symbols: Symbols,
        id_of: Mapping[bytes, int],
        rank_of: Mapping[bytes, int],
        *,
        whole_pieces: bool,
        merges: Columns | None = None,
    ) -> None:
        """`id_of` has the tokens that a piece can hold, in the order of their ranks; others are never encoded.

        `whole_pieces`: a piece that is a token becomes it at once. `merges`: what these tokens gave before.
        """
        self.bytes_of = dict(tokens)
        self.symbols = symbols
        self._rank_of = rank_of
        self._id_of = id_of
        self._looks_up = whole_pieces
        self._by_pairs: bool | None = None
        self._recovery: Recovery | None = None
        self._recovering = Lock()  # the app asks from several threads
        if merges is None:
            self._recovery = Recovery(id_of, symbols)
        else:
            self._settle(merges)

    def __getattr__(self, name: str) -> Any:
        """What is not there yet is made of the merges, each table when somebody asks for it, for each takes a while."""
        if name not in Store.__slots__:
            raise AttributeError(name)
        self.recover(float("inf"))
        match name:
            case "merges" if self._adopted is not None:  # those just recovered are there already
                self.merges = list(self._adopted)
            case "rank_of":
                self.rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(self.merges)}
            case "step_of":
                self.step_of = {token: step for step, (_, _, token) in enumerate(self.merges, 1)}
            case "base":
                self.base = {token: self.bytes_of[token] for token in sorted(self.bytes_of.keys() - self.step_of)}
            case "whole_pieces":
                self.whole_pieces = {data: token for data, token in self._unmade() if len(data) > 1 and self._looks_up}
            case "wholes":
                self.wholes = self._wholes()
        return object.__getattribute__(self, name)

    def _unmade(self) -> Iterator[tuple[bytes, int]]:
        """The tokens that a piece can hold though no merge makes them."""
        return ((data, token) for token, data in self.base.items() if self._id_of.get(data) == token)

    @property
    def is_recovered(self) -> bool:
        """Whether the merges are known."""
        return self._recovery is None

    @property
    def share(self) -> float:
        """How much of the recovery is done, 0 to 1."""
        return self._recovery.n_done / max(1, len(self._id_of)) if self._recovery else 1.0

    def recover(self, seconds: float) -> bool:
        """Recover merges for so long; whether all are known now. Calling on gets there."""
        with self._recovering:
            recovery = self._recovery
            if recovery is not None and recovery.go_on(seconds):
                self.rank_of = recovery.rank_of
                self.merges = recovery.merges
                self._settle(None)
            return self.is_recovered

    def adopt(self, merges: Iterable[Triple]) -> None:
        """Take over what `recover` has found earlier. Raises `OptionError` if it was not for these tokens.

        What the merges join is believed: to look would take as long as to load all the rest.
        """
        columns = merges if isinstance(merges, Columns) else Columns.of(merges)
        made = set(columns.tokens)
        if len(made) < len(columns) or not self.bytes_of.keys() >= made:
            raise OptionError("These merges make tokens that this vocabulary does not have.")
        with self._recovering:
            with suppress(AttributeError):
                del self.merges
            self._settle(columns)

    @property
    def plain_ids(self) -> range | None:
        """The ids, if they follow each other in the order of the ranks, and all tokens are for pieces of bytes."""
        ids = range(first := next(iter(self.bytes_of), 0), first + len(self.bytes_of))
        is_plain = (
            self._looks_up
            and isinstance(self.symbols, ByteSymbols)
            and self._rank_of is self._id_of
            and list(self._id_of.items()) == [(data, token) for token, data in self.bytes_of.items()]
            and all(map(int.__eq__, self.bytes_of, ids))
        )
        return ids if is_plain else None

    def _settle(self, merges: Columns | None) -> None:
        self._adopted = merges
        self.repeats, self.children, self.n_indexed = [], {}, 0
        self._recovery = None

    def at_tip(self, n_merges: int) -> Store:
        """A plain store: learning goes on by merges, not by ranks."""
        return self._copy(n_merges)

    def whole(self, piece: bytes, n_merges: int) -> int | None:
        """As a store does; with all merges in force, any token."""
        if n_merges != ALL:
            return super().whole(piece, n_merges)
        return self._id_of.get(piece) if self._looks_up else None

    def join(self, data: bytes, n_merges: int) -> tuple[int, ...]:
        """As a store does; with all merges in force, by ranks."""
        if n_merges != ALL:
            return super().join(data, n_merges)
        if len(data) >= LONG and self._goes_by_pairs():
            return super().join(data, len(self.merges))
        parts = merge_parts(self.symbols.parts(data), self._rank_of)
        try:
            return tuple(map(self._id_of.__getitem__, parts))
        except KeyError:
            return tuple(self._with_unknown(parts))

    def _goes_by_pairs(self) -> bool:
        """Whether merges are known to do exactly what ranks do: all were recovered, and none are of equal rank."""
        if self._by_pairs is None and self.is_recovered:
            in_order = len(set(self._rank_of.values())) == len(self._rank_of)
            self._by_pairs = in_order and all(len(self.symbols.parts(data)) < 2 for data, _ in self._unmade())
        return bool(self._by_pairs)

    def _with_unknown(self, parts: Iterable[bytes]) -> list[int]:
        """The ids of parts among which are some that the symbols must see to: neighbors together, for they may fuse."""
        ids: list[int] = []
        for is_known, group in groupby(parts, key=self._id_of.__contains__):
            if is_known:
                ids += map(self._id_of.__getitem__, group)
            else:
                ids += self.symbols.ids(b"".join(group))
        return ids
