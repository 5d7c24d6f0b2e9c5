"""The merges that all versions of a vocabulary share. Each version knows how many of them apply to it."""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, takewhile
from math import inf
from threading import Lock
from typing import NamedTuple

from bpe_core import kernel
from bpe_core.errors import OptionError
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.symbols import Symbols


def check_ids(ids: Iterable[int]) -> None:
    """Raise `OptionError` unless all ids are whole numbers of 32 bits, as arrays of ids hold them."""
    try:
        array("I", ids)
    except (OverflowError, TypeError):
        raise OptionError(
            "Ids must be whole numbers from 0 to 4,294,967,295, and merges rows of three ids."
        ) from None


class _KernelEncoder(NamedTuple):
    """The kernel's encoder and the merges it has. It is replaced in one step, since several threads may ask for it."""

    encoder: "kernel.Encoder | None"  # None if the kernel can't encode by these merges
    n_merges: int


class Store:
    """Merges in the order of their steps, and the tables to look them up. Merges are only ever appended."""

    def __init__(
        self,
        base: Mapping[int, bytes],
        symbols: Symbols,
        whole_pieces: Mapping[bytes, int],
    ) -> None:
        self.base = dict(base)
        self.bytes_of = dict(
            base
        )  # of all tokens: those of `base` and those that merges make
        self.symbols = symbols
        self.whole_pieces = whole_pieces
        self.lock = Lock()  # held while merges are appended
        self.merges: list[Triple] = []
        self.step_of: dict[int, int] = {}
        """Id -> the step that first made it, from 1. Tokens of `base` are not in it."""
        self.repeats: list[int] = []
        """Steps, ascending, whose merge makes a token that existed before, as in some published files."""
        self._kernel_encoder: _KernelEncoder | None = None
        self._children: defaultdict[int, list[int]] = defaultdict(list)
        self._n_indexed = 0  # merges in `_children`
        self._rank_of: dict[tuple[int, int], int] = {}
        self._n_ranked = 0  # merges in `_rank_of`

    @property
    def rank_of(self) -> Mapping[tuple[int, int], int]:
        """(left, right) -> rank. Merges added since the last use are taken up first."""
        n_merges = len(self.merges)
        for rank in range(self._n_ranked, n_merges):
            left, right, _ = self.merges[rank]
            self._rank_of.setdefault((left, right), rank)
        self._n_ranked = n_merges
        return self._rank_of

    def extend(self, merges: Iterable[Triple], most_bytes: float = inf) -> None:
        """Append merges.

        Raises:
            OptionError: A merge is not a row of three ids, uses an id that does not exist yet, or makes an id that has
                other bytes; or these merges make tokens of more than `most_bytes` in all.
        """
        merges = list(merges)
        check_ids(chain.from_iterable(merges))
        self._remove_unfinished()
        bytes_of = self.bytes_of
        step = len(self.merges)
        for merge in merges:
            step += 1
            try:
                left, right, token = merge
                joined = bytes_of[left] + bytes_of[right]
            except (TypeError, ValueError):
                raise OptionError(
                    f"Merge {step} is not a row of three ids (left, right, new)."
                ) from None
            except KeyError as error:
                raise OptionError(
                    f"Merge {step} joins the id {error.args[0]}, which no merge before it makes."
                ) from None
            most_bytes -= len(joined)
            if most_bytes < 0:
                raise OptionError(
                    f"With merge {step} the tokens become too long; leave out merges that double long tokens."
                )
            known = bytes_of.get(token)
            if known is None:
                self.step_of[token] = step
                bytes_of[token] = joined
            elif known == joined:
                self.repeats.append(step)
            else:
                raise OptionError(
                    f"Merge {step} makes the id {token}, which has other bytes already; use a new id."
                )
            self.merges.append(merge)

    def _remove_unfinished(self) -> None:
        """Remove the entries of a merge whose appending was interrupted."""
        n_merges = len(self.merges)
        newest_first = reversed(self.step_of.items())
        unfinished = list(takewhile(lambda entry: entry[1] > n_merges, newest_first))
        for token, _ in unfinished:
            self.bytes_of.pop(token, None)
            del self.step_of[token]
        del self.repeats[bisect_right(self.repeats, n_merges) :]

    def compiled(self, n_merges: int) -> "kernel.Encoder | None":
        """Return the kernel's encoder with at least `n_merges` merges; None if the kernel can't encode by them.

        The encoder made before is extended by the merges that it lacks.
        """
        encoder, n_known = self._kernel_encoder or (None, 0)
        is_first = self._kernel_encoder is None
        try:
            # An encoder with whole pieces can't be extended: the steps that make their tokens are fixed when
            # it is made, and a later merge may make another of them.
            if is_first or (self.whole_pieces and n_known < n_merges):
                encoder = self._encoder_without_merges()
                n_known = 0
            if encoder and n_known < n_merges:
                ids = array("I", chain.from_iterable(self.merges[n_known:n_merges]))
                encoder = encoder.extended(ids[::3], ids[1::3], ids[2::3])
        except (ValueError, OverflowError):  # an id is too large for the kernel
            encoder = None
        self._kernel_encoder = _KernelEncoder(encoder, max(n_known, n_merges))
        return encoder

    def _encoder_without_merges(self) -> "kernel.Encoder":
        # A whole piece becomes its token only from the step on that makes the token.
        steps = {
            piece: self.step_of.get(token, 0)
            for piece, token in self.whole_pieces.items()
        }
        byte_ids, end, characters = self.symbols.tables
        whole_pieces = dict(self.whole_pieces)
        return kernel.Encoder(
            byte_ids, end, characters, whole_pieces, steps, True, False
        )

    def children(self, token: int) -> list[int]:
        """Return the ids of the merges that use this token, in the order of their steps. Indexes new merges first."""
        n_merges = len(self.merges)
        for left, right, made in self.merges[self._n_indexed : n_merges]:
            self._children[left].append(made)
            self._children[right].append(made)
        self._n_indexed = n_merges
        # If two threads indexed at once, each child is listed twice.
        return list(dict.fromkeys(self._children.get(token, ())))


def whole_by_default(base: Mapping[int, bytes]) -> dict[bytes, int]:
    """Return bytes -> the lowest token of `base` with these bytes, for tokens longer than one byte."""
    whole_pieces: dict[bytes, int] = {}
    for token in sorted(base):
        if len(base[token]) > 1:
            whole_pieces.setdefault(base[token], token)
    return whole_pieces
