"""The merges that all versions of a vocabulary share; each version holds how many of them are in force in it."""

from collections.abc import Iterable, Mapping
from itertools import islice

from bpe_core.errors import OptionError
from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.compiled import CompiledMerges
from bpe_core.vocabulary.symbols import Symbols


class Store:
    """Merges in the order of their steps, and the tables to look them up. Merges are only ever appended."""

    __slots__ = (
        "_children",
        "_n_indexed",
        "_n_ranked",
        "_rank_of",
        "base",
        "bytes_of",
        "compiled",
        "merges",
        "repeats",
        "step_of",
        "symbols",
        "whole_pieces",
    )

    def __init__(self, base: Mapping[int, bytes], symbols: Symbols, whole_pieces: Mapping[bytes, int]) -> None:
        self.base = dict(base)
        """Id -> bytes of the tokens that no merge makes."""
        self.bytes_of = dict(base)
        """Id -> bytes of all tokens, those of `base` and those that merges make."""
        self.symbols = symbols
        """What a piece is before any merge."""
        self.whole_pieces = whole_pieces
        """Bytes -> the token that a piece of these bytes becomes at once."""
        self.merges: list[Triple] = []
        """(left, right, token); the first is step 1 and has rank 0."""
        self.step_of: dict[int, int] = {}
        """Id -> the step that first made it; tokens of `base` are not in it."""
        self.repeats: list[int] = []
        """Steps, ascending, whose merge makes a token that existed before, as in some published files."""
        self.compiled = CompiledMerges()
        """The kernel's encoder of these merges, made when first asked for."""
        self._children: dict[int, list[int]] = {}
        self._n_indexed = self._n_ranked = 0
        self._rank_of: dict[tuple[int, int], int] = {}

    @property
    def rank_of(self) -> Mapping[tuple[int, int], int]:
        """(left, right) -> rank. Asked for after merges were added, it takes these up first."""
        n_merges = len(self.merges)
        for rank in range(self._n_ranked, n_merges):
            self._rank_of.setdefault(self.merges[rank][:2], rank)
        self._n_ranked = n_merges
        return self._rank_of

    def extend(self, merges: Iterable[Triple]) -> None:
        """Append merges. Raises `OptionError` at the first with an id that does not exist yet or has other bytes."""
        bytes_of, step_of = self.bytes_of, self.step_of
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
            self.merges.append(merge)
            step += 1
            if known is joined:
                step_of[token] = step
            else:
                self.repeats.append(step)

    def extend_known(self, merges: list[Triple], bytes_of: Mapping[int, bytes]) -> None:
        """Fill an empty store without checks: each merge makes another token of `bytes_of`. O(n) for n merges."""
        self.bytes_of = dict(bytes_of)
        self.merges = merges
        self.step_of = {token: step for step, (_, _, token) in enumerate(merges, 1)}

    def at_tip(self, n_merges: int) -> "Store":
        """A store of the first `n_merges`, to be extended: this one if it has no more, else a copy of that part."""
        if len(self.merges) == n_merges:
            return self
        store = Store(self.base, self.symbols, self.whole_pieces)
        store.extend(islice(self.merges, n_merges))
        return store

    def children(self, token: int) -> list[int]:
        """The ids that merges make of this one, in the order of their steps. The first call indexes all merges."""
        if self._n_indexed < len(self.merges):  # islice walks over what it skips
            for left, right, made in islice(self.merges, self._n_indexed, None):
                for part in {left, right}:
                    known = self._children.setdefault(part, [])
                    if made not in known[-1:]:
                        known.append(made)
            self._n_indexed = len(self.merges)
        return self._children.get(token, [])


def whole_by_default(base: Mapping[int, bytes]) -> dict[bytes, int]:
    """The default of `whole_pieces`: bytes -> the lowest token of `base` with these bytes, for more than one byte."""
    return {base[i]: i for i in sorted(base, reverse=True) if len(base[i]) > 1}
