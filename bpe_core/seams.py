"""Where two encodings meet: whether tokens that were worked out apart are also right side by side.

Call two neighboring tokens *compatible* if encoding their joined bytes gives the two back. A list of tokens is the
encoding of its bytes exactly when all its neighbors are compatible: the first merge that joined bytes across a border
would join them when the two tokens beside that border stand alone, too. So tokens on both sides of a change can stay
as they are, and only the seams need to be looked at. (The same fact carries the linear-time encoder of the Rust crate
`bpe` by H. van Antwerpen and A. Neubeck, 2024.)
"""

from collections.abc import Callable

from bpe_core.bpe import merge_piece
from bpe_core.vocabulary import Vocabulary


class Seams:
    """Encoding and compatibility under the merges of one vocabulary, for bytes that are only a part of a piece."""

    __slots__ = ("_byte_ids", "_fits", "_merges", "_n_merges", "_ranks", "token_bytes")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.token_bytes: Callable[[int], bytes] = vocabulary.token_bytes
        """The bytes of a token."""
        self._byte_ids = _ByteIds(vocabulary)
        self._ranks = vocabulary.ranks
        self._merges = vocabulary.merges
        self._n_merges = vocabulary.n_merges
        self._fits: dict[tuple[int, int], bool] = {}

    def encode(self, data: bytes) -> tuple[int, ...]:
        """The tokens the merges leave; a token that only a whole piece can become is not looked up."""
        symbols = [self._byte_ids[byte] for byte in data]
        return tuple(merge_piece(symbols, self._ranks, self._merges, self._n_merges))

    def fit(self, left: int, right: int) -> bool:
        """Whether the two tokens are compatible."""
        pair = left, right
        fits = self._fits.get(pair)
        if fits is None:
            fits = self._fits[pair] = self.encode(self.token_bytes(left) + self.token_bytes(right)) == pair
        return fits


class _ByteIds(dict[int, int]):
    """Byte -> its token; `UnknownTokenError` for a byte that has none."""

    __slots__ = ("_vocabulary",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __missing__(self, byte: int) -> int:
        token = self[byte] = self._vocabulary.encode(bytes([byte]))[0]
        return token
