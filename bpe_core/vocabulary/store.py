"""The merges that all versions of a vocabulary share, each version knowing how many of them are in force."""

from collections.abc import Iterable, Mapping
from itertools import islice

from bpe_core.errors import OptionError
from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.compiled import CompiledMerges
from bpe_core.vocabulary.symbols import Symbols


class Store:
    """Merges in order. It only grows; nothing in it is ever taken back."""

    __slots__ = (
        "_children",
        "_n_indexed",
        "base",
        "bytes_of",
        "compiled",
        "merges",
        "rank_of",
        "repeats",
        "step_of",
        "symbols",
        "whole_pieces",
    )

    def __init__(self, base: Mapping[int, bytes], symbols: Symbols, whole_pieces: Mapping[bytes, int]) -> None:
        self.base = dict(base)
        """Id -> bytes of the tokens that no merge makes."""
        self.bytes_of = dict(base)
        """Id -> bytes of all tokens."""
        self.symbols = symbols
        """What a piece is before any merge."""
        self.whole_pieces = whole_pieces
        """Bytes -> the token that a piece of these bytes becomes at once."""
        self.merges: list[Triple] = []
        """(left, right, token); the first is step 1 and has rank 0."""
        self.rank_of: dict[tuple[int, int], int] = {}
        """(left, right) -> rank."""
        self.step_of: dict[int, int] = {}
        """Id -> the step that first made it; a token of `base` is in none."""
        self.repeats: list[int] = []
        """Steps that made a token which was there before, as in some published files."""
        self.compiled = CompiledMerges()
        """The merges in the kernel, as far as somebody has asked for them."""
        self._children: dict[int, list[int]] = {}
        self._n_indexed = 0

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

    def extend_known(self, merges: list[Triple], bytes_of: Mapping[int, bytes]) -> None:
        """Fill an empty store with merges that are known to fit, each of which makes one token of `bytes_of`."""
        self.bytes_of = dict(bytes_of)
        self.merges = merges
        self.rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
        self.step_of = {token: step for step, (_, _, token) in enumerate(merges, 1)}

    def at_tip(self, n_merges: int) -> "Store":
        """A store that can be extended after `n_merges`: this one, or a copy if this one went another way there."""
        if len(self.merges) == n_merges:
            return self
        store = Store(self.base, self.symbols, self.whole_pieces)
        store.extend(islice(self.merges, n_merges))
        return store

    def children(self, token: int) -> list[int]:
        """The ids made from this one, in the order of their steps. The first question indexes all merges."""
        if self._n_indexed < len(self.merges):  # islice walks over what it skips
            for left, right, made in islice(self.merges, self._n_indexed, None):
                for part in {left, right}:
                    known = self._children.setdefault(part, [])
                    if made not in known[-1:]:
                        known.append(made)
            self._n_indexed = len(self.merges)
        return self._children.get(token, [])


def whole_by_default(base: Mapping[int, bytes]) -> dict[bytes, int]:
    """Bytes -> token, of the tokens that are longer than a byte; the lowest where there are several."""
    return {base[i]: i for i in sorted(base, reverse=True) if len(base[i]) > 1}
