"""Where two encodings meet: whether tokens that were worked out apart are also right side by side.

A list of tokens is the encoding of its bytes exactly when all its neighbors are compatible (`bpe_core.merging.windows`
says why). So tokens on both sides of a change can stay as they are, and only the seams need to be looked at.
"""

from collections.abc import Callable

from bpe_core.vocabulary import Vocabulary


class Seams:
    """Encoding and compatibility under the merges of one vocabulary, for bytes that are only a part of a piece."""

    __slots__ = ("encode", "fit", "token_bytes")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.token_bytes: Callable[[int], bytes] = _Bytes(vocabulary).__getitem__
        """The bytes of a token; for a negative number, which stands for so many that a pattern drops, as many."""
        self.encode: Callable[[bytes], tuple[int, ...]] = vocabulary.join
        """The tokens of bytes; a token that only a whole piece can become is not looked up."""
        self.fit: Callable[[int, int], bool] = vocabulary.compatible
        """Whether two tokens are compatible."""


class _Bytes(dict[int, bytes]):
    """Token -> its bytes, asked for once."""

    __slots__ = ("_vocabulary",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __missing__(self, token: int) -> bytes:
        data = self[token] = self._vocabulary.token_bytes(token) if token >= 0 else bytes(-token)
        return data
