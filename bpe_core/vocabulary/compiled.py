"""The kernel's encoders of vocabularies: made from merges or from ranks, if there is a kernel and it supports them.

The kernel raises LookupError if a symbol of a text has no token. The text is then encoded in Python, which gives the
unknown token or says which symbol it was.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from bpe_core import kernel
from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.symbols import CharacterSymbols, Symbols


@dataclass(frozen=True, slots=True)
class Compiled:
    """The kernel's encoder of a vocabulary at one step. Safe to use from several threads at once.

    All methods that encode raise LookupError if a symbol has no token.
    """

    encoder: "kernel.Encoder"
    n_merges: int | None
    """How many of its merges are in force; None for a vocabulary of ranks."""

    def piece(self, piece: bytes) -> tuple[int, ...]:
        """The ids of a piece."""
        return self.encoder.piece(piece, self.n_merges)

    def part(self, data: bytes) -> tuple[int, ...]:
        """The ids that merging leaves of a piece or a part of one; nothing is looked up whole."""
        return self.encoder.part(data, self.n_merges)

    def encode(self, text: str, scanner: "kernel.Scanner | None") -> list[int]:
        """The ids of a text, split by `scanner`; None: it is one piece. Raises UnicodeEncodeError for a surrogate."""
        return self.encoder.encode(text, scanner, self.n_merges)

    def encode_to_array(self, text: str, scanner: "kernel.Scanner | None") -> "array[int]":
        """The ids of a text in four bytes each; errors as those of `encode`."""
        return _numbers("I", self.encoder.encode_bytes(text, scanner, self.n_merges))

    def pieces(self, pieces: list[str]) -> "tuple[array[int], array[int]]":
        """(ids of all pieces in a row, index in it behind the last id of each piece); the errors of `encode`."""
        ids, ends = self.encoder.pieces(pieces, self.n_merges)
        return _numbers("I", ids), _numbers("Q", ends)

    def parents(self, tokens: list[bytes]) -> "tuple[array[int], array[int]]":
        """What `pieces` gives, of tokens of a vocabulary of ranks, each merged by those of lower rank than its own."""
        ids, ends = self.encoder.parents(tokens)
        return _numbers("I", ids), _numbers("Q", ends)


def _numbers(kind: str, data: bytes) -> "array[int]":
    numbers = array(kind)
    numbers.frombytes(data)
    return numbers


class CompiledMerges:
    """The kernel's encoder of the merges of a store, extended when more merges are asked for than it has."""

    def __init__(self) -> None:
        # (encoder or None, merges it has): one value, replaced at once, since several threads may ask.
        self._newest: tuple[kernel.Encoder | None, int] | None = None

    def of(
        self,
        symbols: Symbols,
        merges: Sequence[Triple],
        n_merges: int,
        whole_pieces: Mapping[bytes, int],
        step_of: Mapping[int, int],
    ) -> Compiled | None:
        """The encoder for the first `n_merges` of `merges`; None if the kernel cannot have one.

        `merges` must begin with those of earlier calls. `step_of` maps a token to the step that makes it: a piece that
        is in `whole_pieces` becomes its token only from that step on.
        """
        if not kernel.available:
            return None
        encoder, n_known = self._newest or (None, 0)
        try:
            if self._newest is None or (whole_pieces and n_known < n_merges):
                steps = {piece: step_of.get(token, 0) for piece, token in whole_pieces.items()}
                encoder, n_known = kernel.Encoder(*symbols.tables, dict(whole_pieces), steps, True, False), 0
            if encoder and n_known < n_merges:
                columns = zip(*islice(merges, n_known, n_merges), strict=True)
                encoder = encoder.extended(*(array("I", column) for column in columns))
        except (ValueError, OverflowError):  # an id that is too large
            encoder = None
        self._newest = encoder, max(n_known, n_merges)
        return None if encoder is None else Compiled(encoder, n_merges)


def compiled_ranks(
    symbols: Symbols, id_of: Mapping[bytes, int], rank_of: Mapping[bytes, int], *, whole_pieces: bool
) -> Compiled | None:
    """The kernel's encoder for a vocabulary of ranks; None if it cannot have one."""
    if not kernel.available:
        return None
    byte_ids, end, characters = symbols.tables
    if isinstance(symbols, CharacterSymbols):
        # A symbol without a token can be joined to another, which the kernel does not know of.
        if not all(symbols.has_all_of(token) for token in id_of):
            return None
    elif any(id is None or id_of.get(bytes([byte])) != id for byte, id in enumerate(byte_ids)):
        return None
    tokens = id_of if isinstance(id_of, dict) else dict(id_of)
    ranks = tokens if rank_of is id_of else dict(rank_of)
    try:
        return Compiled(kernel.Encoder(byte_ids, end, characters, tokens, ranks, whole_pieces, True), None)
    except (ValueError, OverflowError):  # an id that is too large
        return None
