"""The merges of a vocabulary that encoding can apply, by bytes instead of ids, to compare two vocabularies.

A *piece* is here a list of symbols: its bytes, or its characters in some vocabularies, perhaps with an end-of-word
marker. Take a merge that encoding applies somewhere in a piece, and the bytes that its two parts cover. Until then no
other merge has crossed the ends of these bytes. So the merges inside them were chosen as if nothing were around them:
merging these bytes alone applies the same merges, and this one as the last.

Therefore a merge is ever applied, or *live*, only if it is the last one when the bytes of its token are merged alone.
So each token has at most one live merge, and its parts are always the same. All other merges can be left out, such as
those that Hugging Face's files list for each other way to split a token. So can merges whose bytes are in no valid
UTF-8. A token without a live merge is produced only if a piece equal to it is looked up (`ignore_merges`).
"""

from collections import defaultdict
from typing import NamedTuple

from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.utf8 import incomplete_ends, is_utf8
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.paths import last_rank
from bpe_core.vocabulary.symbols import ByteSymbols, CharacterSymbols


class Parts(NamedTuple):
    """The bytes of two tokens that a merge joins."""

    left: bytes
    right: bytes

    @property
    def token(self) -> bytes:
        return self.left + self.right


class LiveMerges:
    """The tokens and merges that a vocabulary applies to pieces of valid text, by bytes.

    An end-of-word marker is part of the bytes of a token.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.is_exact = True
        """Whether bytes identify the tokens, and merges describe the encoding completely."""
        try:
            self._merges = vocabulary.as_merges()
        except OptionError:  # equal ranks
            self._merges = vocabulary
            self.is_exact = False
        self.has_marker = self._merges.end_of_word is not None
        self._inside = _without_marker(self._merges)
        self.unknown: int | None = None
        """The id for characters without a token, if there are any."""
        self.ids: dict[bytes, int] = {}
        """Bytes -> id of the symbols and of all tokens that merging makes."""
        self.parts_of: dict[bytes, Parts] = {}
        """Bytes of a token -> the parts that are always the last to be joined."""
        self.rank_of: dict[Parts, int] = {}
        """Parts -> rank, in the order of the ranks."""
        self._add_symbols()
        self._add_merges()
        self.whole: dict[bytes, int] = {}
        """Piece -> the token that it becomes although merging makes something else of it."""
        for piece, token in self._merges.whole_pieces.items():
            if self.ids.get(piece) == token and not self.has_marker:
                continue
            if occurs_in_utf8(piece) and self._merged(piece) != (token,):
                self.whole[piece] = token
        if self.whole and self.has_marker:
            self.is_exact = False  # bytes don't say whether a piece ends there

    def text(self, token: bytes) -> bytes:
        """Return the bytes of a token without an end-of-word marker."""
        if not self.has_marker or token not in self.ids:
            return token
        return self._merges.text_bytes(self.ids[token])

    def tokens(self) -> set[bytes]:
        """Return the bytes of all tokens."""
        return set(self._merges.bytes_of.values())

    def unreachable(self) -> set[bytes]:
        """Return the tokens that no text becomes."""
        return self.tokens().difference(self.ids, self.whole)

    def can_make(self, token: bytes) -> bool:
        """Whether a text can become this token."""
        return token in self.ids or token in self.whole

    def encode(self, piece: bytes) -> list[bytes] | None:
        """Return the tokens of a piece; None if it can't be encoded."""
        try:
            ids = self._merges.encode(piece)
        except UnknownTokenError:
            return None
        return [self._merges.token_bytes(token) for token in ids]

    def _merged(self, data: bytes, *, inside: bool = False) -> tuple[int, ...]:
        """Return the ids that merging makes of a piece, or of bytes inside of one; () if it can't."""
        vocabulary = self._inside if inside else self._merges
        try:
            return vocabulary.join(data)
        except UnknownTokenError:
            return ()

    def _add_symbols(self) -> None:
        symbols = self._merges._symbols
        bytes_of = self._merges.bytes_of
        tokens: dict[bytes, int] = {}
        if isinstance(symbols, CharacterSymbols):
            if not symbols.is_faithful:
                self.unknown = symbols.unknown
            for character, token in symbols.id_of.items():
                tokens[character.encode(errors="surrogatepass")] = token
        for byte, token in symbols.byte_ids.items():
            tokens.setdefault(bytes([byte]), token)
        for data, token in tokens.items():
            if not occurs_in_utf8(data):
                continue
            self._add(data, token)
            if bytes_of.get(token) != data:
                self.is_exact = False
        if symbols.end is not None:
            self._add(bytes_of[symbols.end], symbols.end)

    def _add(self, data: bytes, token: int) -> None:
        if self.ids.setdefault(data, token) != token:
            self.is_exact = False  # two tokens with the same bytes

    def _add_merges(self) -> None:
        merges = self._merges.merges
        bytes_of = self._merges.bytes_of
        ranks_of: defaultdict[int, list[int]] = defaultdict(list)
        for rank, (left, right, token) in enumerate(merges):
            ranks_of[token].append(rank)
            if self.unknown is not None and self.unknown in (left, right):
                self.is_exact = False
        live_ranks = []
        for token, ranks in ranks_of.items():
            live_rank = self._live_rank(token, ranks)
            if live_rank is not None:
                live_ranks.append(live_rank)
                self._add(bytes_of[token], token)
        for rank in sorted(live_ranks):
            left, right, token = merges[rank]
            parts = Parts(bytes_of[left], bytes_of[right])
            self.parts_of[bytes_of[token]] = parts
            self.rank_of[parts] = rank

    def _live_rank(self, token: int, ranks: list[int]) -> int | None:
        """Return the one of `ranks` whose merge comes last when the token's bytes are merged; None without one."""
        vocabulary = self._merges
        is_inside = self.has_marker and not vocabulary.ends_word(token)
        data = vocabulary.bytes_of[token]
        if self.has_marker and not is_inside:
            data = vocabulary.text_bytes(token)
        if not occurs_in_utf8(data) or self._merged(data, inside=is_inside) != (token,):
            return None
        if len(ranks) == 1:
            return ranks[0]
        return last_rank(self._inside if is_inside else vocabulary, data)


def _without_marker(vocabulary: Vocabulary) -> Vocabulary:
    """Return a vocabulary that merges bytes as inside a piece, where no end-of-word marker follows."""
    symbols = vocabulary._symbols
    if not isinstance(symbols, ByteSymbols) or symbols.end is None:
        return vocabulary
    return Vocabulary(
        vocabulary.base,
        vocabulary.merges,
        symbols=ByteSymbols(symbols.byte_ids),
        whole_pieces={},
    )


def occurs_in_utf8(data: bytes) -> bool:
    """Whether some text in UTF-8 contains these bytes."""
    return is_utf8(data) or incomplete_ends(data) is not None
