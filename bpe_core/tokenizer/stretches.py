"""Long pieces of characters that come again and again, as in Chinese: known stretches side by side, if they fit.

Each character begins as a stretch of its own, encoded once. Where the tokens beside a border are not compatible (see
`bpe_core.merging.windows`), the two stretches become one, and what is longer is encoded anew, until all borders hold.
All of it but what is new runs inside of the interpreter.
"""

from collections.abc import Iterator
from itertools import chain, compress, count, islice, pairwise
from operator import itemgetter
from typing import Final

from bpe_core.merging.compatible import Borders
from bpe_core.merging.merge_loop import utf8
from bpe_core.vocabulary import Vocabulary

LEAST: Final = 64
"""Characters of a piece that is worth it."""

_OFTEN: Final = 16
"""How often characters, and borders that are not known yet, must come again on average."""

_TRIED: Final = 1 << 12
"""Characters of a very long piece that tell whether the next as many are better known by then."""

_ROUNDS: Final = 4
"""After so many rounds stretches grow without end, and the piece is better encoded in another way."""

_MOST: Final = 1 << 22
"""Characters and tokens of all stretches that are remembered, some 60 MB."""

_EACH: Final = 16
"""What a short one takes besides, in characters."""

_first, _last = itemgetter(0), itemgetter(-1)


class Stretches:
    """Encodes pieces of one vocabulary, and remembers what it has met."""

    __slots__ = ("_fits", "_ids", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._ids = _Ids(vocabulary)
        self._fits = Borders(vocabulary.join, vocabulary.token_bytes)

    def encode(self, piece: str) -> tuple[int, ...] | None:
        """The ids of a piece; None if there is a better way for it."""
        if len(piece) < LEAST or piece.isascii():
            return None
        stretches = list(piece)
        if len(set(stretches)) * _OFTEN > len(piece):
            return None
        data = utf8(piece)
        if not self._vocabulary.is_bytewise or len(data) < 2 * len(piece) or self._vocabulary.whole(data) is not None:
            return None
        if len(piece) > 8 * _TRIED and not self._grows_known(piece[: 2 * _TRIED]):
            return None
        for _ in range(_ROUNDS):
            ids = list(map(self._ids.__getitem__, stretches))
            met = set(_borders(ids))
            if len(met - self._fits.keys()) * _OFTEN > len(piece):
                return None
            fitting = {border for border in met if self._fits[border]}
            if len(fitting) == len(met):
                return tuple(chain.from_iterable(ids))
            bounds = [0, *compress(count(1), map(fitting.__contains__, _borders(ids))), len(stretches)]
            stretches = ["".join(stretches[start:end]) for start, end in pairwise(bounds)]
        return None

    def _grows_known(self, beginning: str) -> bool:
        """Whether few borders of the second half are new after the first."""
        ids = list(map(self._ids.__getitem__, beginning))
        new = set(_borders(ids[_TRIED:])).difference(_borders(ids[:_TRIED]), self._fits)
        return len(new) * _OFTEN <= _TRIED


def _borders(ids: list[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """The tokens at the borders between neighbors; not kept, so that one pair after the other takes the same place."""
    return zip(map(_last, ids), map(_first, islice(ids, 1, None)), strict=False)


class _Ids(dict[str, tuple[int, ...]]):
    """Stretch -> ids, worked out when first asked for; bounded, by starting over when it is full."""

    __slots__ = ("_room", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._room = _MOST

    def __missing__(self, stretch: str) -> tuple[int, ...]:
        ids = self._vocabulary.join(utf8(stretch))
        size = len(stretch) + len(ids) + _EACH
        if self._room < size:
            self.clear()
            self._room = _MOST
        self._room -= size
        self[stretch] = ids
        return ids
