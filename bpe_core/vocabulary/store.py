"""The merges that all versions of a vocabulary share; each version holds how many of them are in force in it."""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, takewhile
from math import inf
from threading import Lock

from bpe_core import kernel
from bpe_core.errors import OptionError
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.symbols import Symbols


def check_ids(ids: Iterable[int]) -> None:
    """Raise `OptionError` unless all are whole numbers of 32 bits, which is what arrays of ids hold."""
    try:
        array("I", ids)
    except (OverflowError, TypeError):
        raise OptionError(
            "Ids are whole numbers from 0 to 4,294,967,295, and merges rows of three; not all are."
        ) from None


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
        )  # id -> bytes of all tokens, those of `base` and those that merges make
        self.symbols = symbols
        self.whole_pieces = whole_pieces
        self.lock = Lock()  # held while it is extended
        self.merges: list[
            Triple
        ] = []  # (left, right, token); the first is step 1 and has rank 0
        self.step_of: dict[
            int, int
        ] = {}  # id -> the step that first made it; tokens of `base` are not in it
        self.repeats: list[int] = []
        """Steps, ascending, whose merge makes a token that existed before, as in some published files."""
        # (the kernel's encoder or None, merges it has): one value, replaced at once, since several threads may ask.
        self._compiled: tuple[kernel.Encoder | None, int] | None = None
        self._children: defaultdict[int, list[int]] = defaultdict(list)
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

    def extend(self, merges: Iterable[Triple], most_bytes: float = inf) -> None:
        """Append merges. Raises `OptionError` at the first that is no row of three ids, that has an id that does not
        exist yet or has other bytes, or with which these merges make more than `most_bytes`."""
        bytes_of, step_of = self.bytes_of, self.step_of
        step = len(self.merges)
        merges = list(merges)
        check_ids(chain.from_iterable(merges))
        for token, _ in [
            *takewhile(lambda made: made[1] > step, reversed(step_of.items()))
        ]:
            bytes_of.pop(
                token, None
            )  # an interrupt has left it, whose merge is not appended
            del step_of[token]
        del self.repeats[bisect_right(self.repeats, step) :]
        for merge in merges:
            try:
                left, right, token = merge
                joined = bytes_of[left] + bytes_of[right]
            except (TypeError, ValueError):
                raise OptionError(
                    f"Merge {step + 1} is no row of three ids: left, right and what they make."
                ) from None
            except KeyError as error:
                raise OptionError(
                    f"Merge {step + 1} joins the id {error.args[0]}, which no merge before it makes."
                ) from None
            step += 1
            most_bytes -= len(joined)
            if most_bytes < 0:
                raise OptionError(f"With merge {step} the tokens become too long.")
            known = bytes_of.get(token)
            if known is None:
                step_of[token] = step
                bytes_of[token] = joined
            elif known != joined:
                raise OptionError(
                    f"Merge {step} gives the id {token} a second meaning."
                )
            else:
                self.repeats.append(step)
            self.merges.append(merge)

    def compiled(self, n_merges: int) -> "kernel.Encoder | None":
        """The kernel's encoder with `n_merges` or more of the merges; None if the kernel cannot have one. The one made
        before is extended by the merges that it lacks."""
        encoder, n_known = self._compiled or (None, 0)
        try:
            if self._compiled is None or (self.whole_pieces and n_known < n_merges):
                # A whole piece becomes its token only from the step on that makes it.
                steps = {
                    piece: self.step_of.get(token, 0)
                    for piece, token in self.whole_pieces.items()
                }
                encoder, n_known = (
                    kernel.Encoder(
                        *self.symbols.tables,
                        dict(self.whole_pieces),
                        steps,
                        True,
                        False,
                    ),
                    0,
                )
            if encoder and n_known < n_merges:
                ids = array("I", chain.from_iterable(self.merges[n_known:n_merges]))
                encoder = encoder.extended(ids[::3], ids[1::3], ids[2::3])
        except (ValueError, OverflowError):  # an id that is too large
            encoder = None
        self._compiled = encoder, max(n_known, n_merges)
        return encoder

    def children(self, token: int) -> list[int]:
        """The ids that merges make of this one, in the order of their steps. The first call indexes all merges."""
        children, n_merges = self._children, len(self.merges)
        for left, right, made in self.merges[self._n_indexed : n_merges]:
            children[left].append(made)
            children[right].append(made)
        self._n_indexed = (
            n_merges  # where two threads did this, each child stands there twice
        )
        return [*dict.fromkeys(children.get(token, ()))]


def whole_by_default(base: Mapping[int, bytes]) -> dict[bytes, int]:
    """The default of `whole_pieces`: bytes -> the lowest token of `base` with these bytes, for more than one byte."""
    return {base[i]: i for i in sorted(base, reverse=True) if len(base[i]) > 1}
