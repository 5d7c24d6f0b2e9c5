"""What the C sources of this folder define, for type checkers and readers."""

from array import array
from collections.abc import Callable
from typing import Self

from typing_extensions import Buffer

STAMP: int
"""`stamp()` of the sources from which this was compiled."""

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
        """`ranges_of(plane)` returns the sets of the characters of a plane (see `grammars._ranges`); it is called when
        a text has such characters. The other arguments are the fields of `scanner` in scan.h. Wrong ones make
        other pieces, and no harm."""

    def last_cut(self, part: Buffer, /) -> int:
        """The last place seen, in bytes, where a piece surely ends and a part of a text may be cut; 0 for none."""

    def ends(self, text: Buffer, /) -> bytes:
        """Where each piece ends, in bytes from the beginning of `text`: an unsigned 64-bit number for each."""

class Encoder:
    """The tables of a vocabulary; safe to use from several threads at once.

    `limit` is how many merges are in force, or below which rank of a token neighbors join; None: no limit. A symbol
    without an id raises LookupError.
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
        """A piece begins as its bytes or, where there are `characters`, as those of them that are in there; `end`
        follows. Two neighbors join if their joined bytes are in `tokens`, which have `ranks`, or, without `has_ranks`,
        by merges of which there are none yet. With `looks_up`, a piece that is one of the tokens becomes it at once;
        without `has_ranks` only where `limit` is its rank or more."""

    def extended(self, lefts: Buffer, rights: Buffer, tokens: Buffer, /) -> Self:
        """A copy with merges added, in three columns of unsigned 32-bit numbers."""

    def encode_batch(
        self,
        texts: list[str] | list[bytes],
        scanner: Scanner | None,
        limit: int | None,
        as_arrays: bool,
        /,
    ) -> list[list[int]] | list[array[int]]:
        """The ids of each text, as str or in UTF-8, each a list or an array of unsigned 32-bit numbers. Without a
        scanner a text is one piece. In one call, free of the GIL for all."""

    def piece(self, piece: str | Buffer, limit: int | None, /) -> tuple[int, ...]:
        """The ids of a piece."""

    def part(self, data: str | Buffer, limit: int | None, /) -> tuple[int, ...]:
        """The ids that merging leaves of a piece or a part of one; nothing is looked up whole."""

    def pieces(self, pieces: list[str], limit: int | None, /) -> tuple[bytes, bytes]:
        """(ids of all pieces as 32-bit numbers, how many there are up to the end of each piece as 64-bit numbers)."""

    def parents(self, tokens: list[bytes], /) -> tuple[bytes, bytes]:
        """The same of tokens that have ranks, each merged by the tokens of lower rank than its own."""

class Learner:
    """Learns merges from pieces and how often each occurs; not to be used by several threads at once.

    Whatever an exception interrupts, each merge is made whole or not at all, and is among the `merges` if it is made.
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

        `ties` is 0 for the pair that stands first, 1 for the lowest symbols, 2 for the largest bytes. Symbols 0 to 255
        are the bytes in the order of the `alphabet`; 256, where it is not empty, is the `end_of_word` behind each
        piece. `progress` is called now and then with how much is done, and of how much; what it raises is passed on.
        """

    @property
    def n_tokens(self) -> int:
        """Symbols in the corpus now."""

    @property
    def n_merges(self) -> int:
        """How many merges were made."""

    def merges(self, start: int, /) -> list[tuple[int, int, int, int, int]]:
        """The merges made, from the one with this index on.

        Left symbol, right symbol, count of the pair, pairs with this count (0: the merge was given), symbols in the
        corpus after it.
        """

    def learn(self, until: int, /) -> None:
        """Learn until `until` merges are made in all; fewer if no pair is left that may be merged."""

    def merge(self, left: int, right: int, /) -> None:
        """Merge a pair that is given and not chosen, wherever it stands.

        ValueError after the first `learn`, and for symbols that are not known yet.
        """

    def pairs(self) -> list[tuple[int, int, int]]:
        """(left, right, count) of each pair in the corpus now that makes a token of at most `max_length`."""

    def symbol_counts(self) -> list[int]:
        """How often each symbol stands in the corpus now; linear in the corpus."""

class PieceTable:
    """Counts the pieces of texts, document by document, in the order in which they first appear.

    A table may be used by one thread at a time; several tables work at once.
    """

    def __init__(self, scanner: Scanner | None) -> None:
        """An empty table; `scanner` splits the texts."""

    def __len__(self) -> int:
        """How many different pieces there are."""

    n_pieces: int
    """Pieces, with repetition and, but for those taken in with weights already, without weights."""
    @property
    def long_bytes(self) -> int:
        """Bytes of the pieces that are longer than 15; of others, a piece takes 32 bytes and its slots."""

    def add(self, text: bytes, document: int, /) -> None:
        """Count the pieces of a text in UTF-8, a part of the document of this number; numbers must not fall."""

    def append(self, other: PieceTable, document: int, weight: int = 1, /) -> None:
        """Add the counts of another table, each `weight` times; its documents are numbered from `document` on: behind
        all that are here, or the last one here and the only one there."""

    def counts(self) -> dict[str, int]:
        """Piece -> how often it occurs."""

    def columns(self, start: int, stop: int, /) -> tuple[bytes, bytes, bytes]:
        """(bytes, columns of 64-bit numbers, a byte of hash each) of the pieces from one number to another.

        The columns, one behind the other: where each begins, and the last ends; how often it occurs, in how many
        documents, the first of them if these are one or two, the last.
        """

    def extend(
        self, pieces: Buffer, columns: Buffer, document: int, weight: int = 1, /
    ) -> bytes:
        """`append` what `columns` gives of another table. A byte for each row: whether its piece is new here.
        ValueError for what are no such columns."""

def decimals(numbers: bytes, between: str, /) -> str:
    """The decimal digits of unsigned 32-bit numbers, with `between`, which is ASCII, between each two.

    ValueError for bytes that are not four a number, and for a separator that is not ASCII.
    """

def read_ranks(data: bytes, /) -> tuple[dict[int, bytes], dict[bytes, int]] | None:
    """(id -> bytes, bytes -> id) of a rank file of tiktoken in its usual form: ids ascending, no bytes twice.

    None for any other form, and for what is broken.
    """
