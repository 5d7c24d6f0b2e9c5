"""The types and functions that the C sources define, for type checkers and readers."""

from array import array
from collections.abc import Callable
from typing import Self

from typing_extensions import Buffer

STAMP: int
"""The `stamp()` of the sources from which the kernel was compiled."""

class Scanner:
    """Splits texts in UTF-8 into pieces; safe to use from several threads at once."""

    def __init__(
        self,
        ranges_of: Callable[[int], Buffer],
        contractions: int,
        max_digits: int,
        lines: bool,
        end_first: bool,
        usual: bool,
    ) -> None:
        """Create a scanner.

        Args:
            ranges_of: Returns the sets of the characters of a plane (see `grammars._ranges`). It is called when a
                text has such characters.

        The other arguments are the fields of `scanner` in scan.h. Wrong ones make other pieces, but do no harm.
        """

    def last_cut(self, part: Buffer, /) -> int:
        """Return the last offset at which this part of a text may be cut, since a piece ends there; 0 if there is none."""

    def ends(self, text: Buffer, /) -> bytes:
        """Return where each piece of `text` ends: its offset in bytes, as an unsigned 64-bit number."""

class Encoder:
    """The tables of a vocabulary; safe to use from several threads at once.

    `limit` is the number of merges to use, or the rank that joined tokens must be below; None for no limit. Encoding
    raises LookupError for a symbol without an id.
    """

    def __init__(
        self,
        byte_ids: tuple[int | None, ...],
        end: int | None,
        characters: dict[bytes, int] | None,
        tokens: dict[bytes, int],
        ranks: dict[bytes, int],
        looks_up: bool,
        has_ranks: bool,
    ) -> None:
        """Create an encoder without merges; `extended` adds them.

        Args:
            byte_ids: The id of each byte, or None.
            end: The id of the end-of-word marker.
            characters: Character -> id. Other characters become their bytes. None if every byte is a symbol.
            tokens: Token -> id, for joining by ranks or for looking up whole pieces.
            ranks: Token -> rank.
            looks_up: Whether a piece that is a token becomes it without merging. Without `has_ranks`, only if its
                rank is at most `limit`.
            has_ranks: Whether neighbors join by the ranks of their joined bytes, not by merges.
        """

    def extended(self, lefts: Buffer, rights: Buffer, tokens: Buffer, /) -> Self:
        """Return a copy with merges added, from three columns of unsigned 32-bit numbers."""

    def encode_batch(
        self,
        texts: list[str] | list[bytes],
        scanner: Scanner | None,
        limit: int | None,
        as_arrays: bool,
        /,
    ) -> list[list[int]] | list[array[int]]:
        """Return the ids of each text, as lists or as arrays of unsigned 32-bit numbers.

        Bytes are texts in UTF-8. Without a scanner, a text is one piece. Encodes all texts without the GIL.
        """

    def piece(self, piece: str | Buffer, limit: int | None, /) -> tuple[int, ...]:
        """Return the ids of a piece."""

    def part(self, data: str | Buffer, limit: int | None, /) -> tuple[int, ...]:
        """Merge a piece or a part of one, without looking it up whole, and return its ids."""

    def pieces(self, pieces: list[str], limit: int | None, /) -> tuple[bytes, bytes]:
        """Return the ids of all pieces as 32-bit numbers, and their numbers up to the end of each piece as 64-bit ones."""

    def parents(self, tokens: list[bytes], /) -> tuple[bytes, bytes]:
        """Merge each token by the tokens with a lower rank, and return the same as `pieces`."""

class Learner:
    """Learns merges from pieces and their counts. Several threads must not use it at once.

    If an exception interrupts it, each merge is made completely or not at all; `merges` has the merges that are made.
    """

    def __init__(
        self,
        pieces: PieceTable,
        ties: int,
        min_count: int,
        max_length: int,
        alphabet: Buffer,
        end_of_word: Buffer,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Count the pairs of `pieces`.

        Args:
            pieces: The corpus.
            ties: 0 for the pair that occurs first, 1 for the lowest symbols, 2 for the largest bytes.
            min_count: The lowest count of a pair that may be merged.
            max_length: The most initial symbols of a token.
            alphabet: The 256 bytes in the order of their symbols.
            end_of_word: The bytes of symbol 256, which ends each piece; empty for none.
            progress: Called regularly with the work done and the work in all. Its exceptions are passed on.
        """

    @property
    def n_tokens(self) -> int:
        """The number of symbols in the corpus now."""

    @property
    def n_merges(self) -> int:
        """The number of merges made."""

    def merges(self, start: int, /) -> list[tuple[int, int, int, int, int]]:
        """Return the merges from this index on.

        Each is: left symbol, right symbol, count of the pair, pairs with this count (0 if the merge was given),
        symbols in the corpus after it.
        """

    def learn(self, until: int, /) -> None:
        """Learn until there are `until` merges, or until no pair may be merged."""

    def merge(self, left: int, right: int, /) -> None:
        """Merge a given pair everywhere.

        Raises ValueError after the first `learn`, and for unknown symbols.
        """

    def pairs(self) -> list[tuple[int, int, int]]:
        """Return (left, right, count) of each pair in the corpus now, except pairs longer than `max_length`."""

    def symbol_counts(self) -> list[int]:
        """Return how often each symbol occurs in the corpus now. Takes time linear in the corpus."""

class PieceTable:
    """Counts the pieces of texts, document by document, in the order in which they first appear.

    A table may be used by one thread at a time; several tables work at once.
    """

    def __init__(self, scanner: Scanner | None) -> None:
        """Create an empty table whose texts `scanner` splits."""

    def __len__(self) -> int:
        """Return the number of different pieces."""

    n_pieces: int
    """The number of pieces, with repetitions. Weights do not count, except weights that are in added counts already."""
    @property
    def long_bytes(self) -> int:
        """The bytes of the pieces longer than 15 bytes. Other pieces take 32 bytes and their slots."""

    def add(self, text: bytes, document: int, /) -> None:
        """Count the pieces of a text in UTF-8, which is part of this document. Document numbers must not fall."""

    def append(self, other: PieceTable, document: int, weight: int = 1, /) -> None:
        """Add the counts of another table, multiplied by `weight`.

        Its documents are numbered from `document` on. They come after all documents of this table, or its only document
        is the last one of this table.
        """

    def counts(self) -> dict[str, int]:
        """Return piece -> how often it occurs."""

    def columns(self, start: int, stop: int, /) -> tuple[bytes, bytes, bytes]:
        """Return the bytes of the pieces from `start` to `stop`, columns of 64-bit numbers, and one byte of hash each.

        The columns follow each other: where each piece begins and the last one ends; the counts; the numbers of
        documents; the first document if there are one or two; the last document.
        """

    def extend(
        self, pieces: Buffer, columns: Buffer, document: int, weight: int = 1, /
    ) -> bytes:
        """Do what `append` does, from the `columns` of another table.

        Returns a byte for each row: whether its piece is new. Raises ValueError for invalid columns.
        """

def decimals(numbers: bytes, between: str, /) -> str:
    """Return unsigned 32-bit numbers in decimal, separated by `between`.

    Raises ValueError if `numbers` does not have four bytes per number, or if `between` is not ASCII.
    """

def read_ranks(data: bytes, /) -> tuple[dict[int, bytes], dict[bytes, int]] | None:
    """Return (id -> bytes, bytes -> id) of a rank file of tiktoken in its usual form: ids ascending, no bytes twice.

    Returns None for any other form, and for a broken file.
    """
