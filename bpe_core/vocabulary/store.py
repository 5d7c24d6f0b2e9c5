"""What all versions of a vocabulary share: bytes, merges, and the way from a piece to ids. It only ever grows."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.merging.merge_loop import Triple, merge_piece
from bpe_core.vocabulary.symbols import ByteSymbols, Symbols
from bpe_core.vocabulary.wholes import LONGEST, Wholes

ALL: Final = 1 << 62
"""As a number of merges: all there are, and no need to know how many."""


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
        "wholes",
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
        self.wholes = self._wholes()

    def _wholes(self) -> Wholes | None:
        """What need not be merged, where pieces begin as bytes."""
        if not isinstance(self.symbols, ByteSymbols):
            return None
        return Wholes(self.symbols.tokens, self.bytes_of, self.merges, self.rank_of, self.step_of)

    def extend(self, merges: Iterable[Triple]) -> None:
        """Add merges. Raises `OptionError` at the first that does not fit those before it."""
        bytes_of, step_of, rank_of = self.bytes_of, self.step_of, self.rank_of
        step = len(self.merges)
        for merge in merges:
            left, right, token = merge
            try:
                joined = bytes_of[left] + bytes_of[right]
            except KeyError as error:
                raise OptionError(
                    f"Merge {step + 1} joins the id {error.args[0]}, which no merge before it makes."
                ) from None
            known = bytes_of.setdefault(token, joined)
            if known != joined:
                raise OptionError(f"Merge {step + 1} gives the id {token} a second meaning.")
            rank_of.setdefault((left, right), step)
            self.merges.append(merge)
            step += 1
            if known is joined:
                step_of[token] = step
            else:
                self.repeats.append(step)

    def at_tip(self, n_merges: int) -> "Store":
        """A store that can be extended after `n_merges`: this one, or a copy if this one went another way there."""
        return self if len(self.merges) == n_merges else self._copy(n_merges)

    def _copy(self, n_merges: int) -> "Store":
        store = Store(self.base, self.symbols, self.whole_pieces)
        store.extend(islice(self.merges, n_merges))
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
        whole = self.whole(piece, n_merges)
        return self.join(piece, n_merges) if whole is None else (whole,)

    def whole(self, piece: bytes, n_merges: int) -> int | None:
        """The token that a piece becomes at once; None if it is merged."""
        whole = self.whole_pieces.get(piece)
        return whole if whole is not None and self.step_of.get(whole, 0) <= n_merges else None

    def join(self, data: bytes, n_merges: int) -> tuple[int, ...]:
        """The ids of a part of a piece: what the merges leave, and no look-up of the whole."""
        if self.wholes and len(data) <= LONGEST:
            whole = self.wholes.find(data, n_merges)
            if whole is not None:
                return (whole,)
        return tuple(merge_piece(self.symbols.ids(data), self.rank_of, self.merges, n_merges))


def whole_by_default(base: Mapping[int, bytes]) -> dict[bytes, int]:
    """Bytes -> token, of the tokens that are longer than a byte; the lowest where there are several."""
    return {base[i]: i for i in sorted(base, reverse=True) if len(base[i]) > 1}
