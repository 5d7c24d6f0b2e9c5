"""The vocabulary: the bytes of each id, and the merges that built them, in order.

A vocabulary is immutable. Its versions, after different numbers of merges, share one `Store`, which only grows; each
version knows how many of the merges apply to it. So `at` and `extended` copy no merges. Threads may share a vocabulary:
its caches and tables are replaced in one step, or hold what any thread would put there, and `extended` locks the store.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import Any, Final, Self

from bpe_core.cached import cached_property
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.utf8 import utf8, without_surrogates
from bpe_core.vocabulary.encoding import Encoding, MergeEncoding
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.store import Store, check_ids, whole_by_default
from bpe_core.vocabulary.symbols import ByteSymbols, Symbols, bytes_among

ID_LAYOUTS: Final = ("bytes-first", "specials-first")
"""bytes-first: bytes have the ids 0 to 255, then come merges, then special tokens. specials-first: special tokens,
bytes, merges."""


def check_special_tokens(
    special_tokens: Mapping[str, int], bytes_of: Mapping[int, bytes]
) -> None:
    """Check special tokens (text -> id) against the other tokens (id -> bytes).

    Raises:
        OptionError: A special token has no text, or the id of a token with other bytes, or an id is out of range.
    """
    check_ids(chain(bytes_of, special_tokens.values()))
    data_of_special = {token: utf8(text) for text, token in special_tokens.items()}
    for text, token in special_tokens.items():
        data = utf8(text)
        if not text:
            raise OptionError("A special token is empty; give it a text.")
        if without_surrogates(text) != text:
            raise OptionError(
                f"The special token {text!r} contains half of a character; use whole characters."
            )
        if bytes_of.get(token, data) != data or data_of_special[token] != data:
            raise OptionError(
                f"The special token {text!r} has the id {token}, which is taken already; use a free id."
            )


class Vocabulary:
    """Ids, their bytes, and the merges between them. Immutable; ids need not be contiguous.

    For a vocabulary given by the ranks of its tokens, see `bpe_core.vocabulary.ranked.RankedVocabulary`.

    Examples:
        >>> Vocabulary({108: b"l", 111: b"o"}, [(108, 111, 256)]).encode(b"lol")
        (256, 108)
    """

    special_tokens: Mapping[str, int]
    """Text of each special token -> its id."""
    encoding: Encoding
    """How pieces become ids."""

    _own_store: Store | None = None  # None until the merges are known
    _listed: Sequence[Triple] = ()

    def __init__(
        self,
        base: Mapping[int, bytes],
        merges: Iterable[Triple] = (),
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        *,
        symbols: Symbols | None = None,
        end_of_word: int | None = None,
        whole_pieces: Mapping[bytes, int] | None = None,
        most_bytes: float = inf,
        listed: Sequence[Triple] = (),
    ) -> None:
        """Check and store the tokens and merges.

        Args:
            base: Id -> bytes of each token that no merge makes: the single bytes and, in some published files, whole
                words, which only a piece equal to them can become.
            merges: (left, right, token) ids in the order of training. The first merge is step 1 and has rank 0.
            special_tokens: Text -> id.
            symbols: How a piece becomes symbols before any merge; by default its bytes, followed by `end_of_word`.
            end_of_word: Id of the marker at the end of each piece, a token of `base`; None for no marker.
            whole_pieces: Bytes -> the token that a piece equal to them becomes without merging. By default the tokens
                of `base` longer than one byte, or none if there is an end-of-word marker.
            most_bytes: Limit on the bytes of all tokens made by merges. A few merges that each double a token would
                fill the memory.
            listed: All merges in the file, if it lists several for a token; see `bpe_core.vocabulary.paths`.

        Raises:
            OptionError: A merge uses an id that does not exist yet, or makes an id that has other bytes; the tokens
                become too long; or a special token is invalid.
        """
        if symbols is None:
            others = {
                token: data for token, data in base.items() if token != end_of_word
            }
            symbols = ByteSymbols(bytes_among(others), end_of_word)
        if whole_pieces is None:
            whole_pieces = {} if symbols.end is not None else whole_by_default(base)
        store = Store(base, symbols, whole_pieces)
        store.extend(merges, most_bytes)
        self._listed = listed
        self._use_merges(store, len(store.merges), special_tokens)
        check_special_tokens(self.special_tokens, store.bytes_of)

    def _use_merges(
        self, store: Store, n_merges: int, special_tokens: Mapping[str, int]
    ) -> None:
        """Set all fields, for a version with the first `n_merges` of the store."""
        self._own_store = store
        self._n_merges = n_merges
        encoding = MergeEncoding(store, n_merges)
        self._set_fields(encoding, store.symbols, store.bytes_of, special_tokens)

    def _set_fields(
        self,
        encoding: Encoding,
        symbols: Symbols,
        bytes_of: Mapping[int, bytes],
        special_tokens: Mapping[str, int],
    ) -> None:
        self.encoding = encoding
        self.special_tokens = MappingProxyType(dict(special_tokens))
        self._symbols = symbols
        self._bytes_of = bytes_of  # of the tokens of all versions
        self._special_bytes = {
            token: utf8(text) for text, token in special_tokens.items()
        }
        self._cached_bytes: dict[int, bytes] = {}  # of the tokens used so far

    @classmethod
    def of_bytes(
        cls,
        id_layout: str = "bytes-first",
        special_tokens: Sequence[str] = (),
        end_of_word: str = "",
    ) -> Self:
        """Make the vocabulary before the first merge.

        Args:
            id_layout: One of `ID_LAYOUTS`.
            special_tokens: Texts, whose ids follow each other.
            end_of_word: Text of the end-of-word marker; "" for none.

        Raises:
            OptionError: The layout is unknown.

        Examples:
            >>> Vocabulary.of_bytes("specials-first", ["<|endoftext|>"]).token_bytes(66)
            b'A'
        """
        if id_layout == "bytes-first":
            first_byte = 0
            first_special = 257 if end_of_word else 256
        elif id_layout == "specials-first":
            first_byte = len(special_tokens)
            first_special = 0
        else:
            raise OptionError(
                f"Unknown id layout {id_layout!r}; choose {' or '.join(ID_LAYOUTS)}."
            )
        base = {first_byte + byte: bytes([byte]) for byte in range(256)}
        marker = None
        if end_of_word:
            marker = first_byte + 256
            base[marker] = utf8(end_of_word)
        specials = {text: first_special + n for n, text in enumerate(special_tokens)}
        return cls(base, (), specials, end_of_word=marker)

    @property
    def _store(self) -> Store:
        """The merges of all versions."""
        if self._own_store is None:
            self._own_store = self._recovered_store()
        return self._own_store

    def _recovered_store(self) -> Store:
        raise NotImplementedError  # only ranks hide their merges

    @property
    def knows_merges(self) -> bool:
        """Whether the merges are known; False for a vocabulary of ranks until they are recovered."""
        return True

    @property
    def recovered_share(self) -> float:
        """The share of the tokens whose merges have been recovered, from 0 to 1."""
        return 1.0

    def recover(self, seconds: float = inf) -> bool:
        """Recover merges of a vocabulary of ranks for `seconds`. Return whether all merges are known."""
        return True

    def as_merges(self) -> "Vocabulary":
        """Return a vocabulary of merges that gives every piece the same ids."""
        return self

    @property
    def end_of_word(self) -> int | None:
        """The id of the marker at the end of every piece (Sennrich's `</w>`), or None."""
        return self._symbols.end

    @property
    def n_merges(self) -> int:
        """The number of merges; the step of this version."""
        return self._n_merges

    @property
    def n_vocab(self) -> int:
        """The highest id + 1, as in tiktoken: a table with this many rows has a row for every id."""
        return self.highest_id + 1

    @cached_property
    def n_tokens(self) -> int:
        """The number of tokens, with special tokens; less than `n_vocab` if some ids are unused."""
        store = self._store
        n_merges = self.n_merges
        n_repeated = bisect_right(store.repeats, n_merges)
        n_only_special = 0
        for token in self._special_bytes:
            is_made_later = store.step_of.get(token, 0) > n_merges
            if token not in store.bytes_of or is_made_later:
                n_only_special += 1
        return len(store.base) + n_merges - n_repeated + n_only_special

    @cached_property
    def merges(self) -> Sequence[Triple]:
        """(left, right, token) of every merge, in order. Takes O(n) the first time."""
        return self._store.merges[: self.n_merges]

    def merge_of(self, step: int) -> Triple:
        """Return (left, right, token) of the merge of a step, from 1 to `n_merges`, in O(1)."""
        return self._store.merges[step - 1]

    @property
    def base(self) -> Mapping[int, bytes]:
        """Id -> bytes of the tokens that no merge makes."""
        return MappingProxyType(self._store.base)

    @cached_property
    def bytes_of(self) -> Mapping[int, bytes]:
        """Id -> bytes of all tokens except those that are only special. Takes O(n) the first time."""
        tokens = dict(self._store.base)
        for _, _, token in self.merges:
            tokens[token] = self._bytes_of[token]
        return MappingProxyType(tokens)

    @cached_property
    def ranks(self) -> Mapping[tuple[int, int], int]:
        """(left, right) -> rank of the merge that joins them. Takes O(n) the first time."""
        ranks: dict[tuple[int, int], int] = {}
        for rank, (left, right, _) in enumerate(self.merges):
            ranks.setdefault((left, right), rank)
        return MappingProxyType(ranks)

    @cached_property
    def whole_pieces(self) -> Mapping[bytes, int]:
        """Bytes -> the token that a piece equal to them becomes without merging. Takes O(n) the first time."""
        step_of = self._store.step_of
        pieces = {}
        for piece, token in self._store.whole_pieces.items():
            if step_of.get(token, 0) <= self.n_merges:
                pieces[piece] = token
        return MappingProxyType(pieces)

    @property
    def listed_merges(self) -> Sequence[Triple]:
        """`merges`, and those that the file lists but that are never applied; see `bpe_core.vocabulary.paths`.

        Other versions of the vocabulary know only the merges that are applied.
        """
        return self._listed or self.merges

    def step_of_pair(self, left: int, right: int) -> int | None:
        """Return the step that joins two tokens, which may be a step of a later version; None if no merge does."""
        rank = self._store.rank_of.get((left, right))
        return None if rank is None else rank + 1

    def encode(self, piece: bytes) -> tuple[int, ...]:
        """Return the ids of one piece.

        Raises:
            UnknownTokenError: A byte or character of the piece has no token, as in some published files.
        """
        return self.encoding.encode(piece)

    def join(self, data: bytes) -> tuple[int, ...]:
        """Return the ids that merging leaves of a piece, or of a part of one, without looking it up as a whole.

        Raises:
            UnknownTokenError: As for `encode`.
        """
        return self.encoding.merge(data)

    def compatible(self, left: int, right: int) -> bool:
        """Whether two tokens can be neighbors: merging their joined bytes gives these two ids.

        A list of tokens is the result of merging a piece exactly if all its neighbors are compatible. The proof is in
        `bpe_core.vocabulary.merge_loop`.
        """
        data = self.token_bytes(left) + self.token_bytes(right)
        return self.join(data) == (left, right)

    def symbols(self, piece: bytes) -> list[int]:
        """Return the ids of a piece before any merge: usually one per byte. Raises `UnknownTokenError`."""
        return self._symbols.ids(piece)

    @property
    def alphabet(self) -> Symbols:
        """How a piece becomes symbols before any merge."""
        return self._symbols

    @property
    def is_bytewise(self) -> bool:
        """Whether the symbols of a piece are just its bytes: no characters, and no end-of-word marker."""
        return isinstance(self._symbols, ByteSymbols) and self._symbols.end is None

    @property
    def is_faithful(self) -> bool:
        """Whether ids always decode to the piece. An unknown token or an end-of-word marker makes it False."""
        return self._symbols.is_faithful

    @property
    def has_repeats(self) -> bool:
        """Whether two merges make the same token."""
        return bisect_right(self._store.repeats, self.n_merges) > 0

    def __contains__(self, token: object) -> bool:
        if token in self._special_bytes:
            return True
        if token not in self._bytes_of:
            return False
        return self._store.step_of.get(token, 0) <= self.n_merges  # type: ignore[call-overload, no-any-return]

    def __repr__(self) -> str:
        return f"<Vocabulary: {self.n_tokens} tokens, {self.n_merges} merges>"

    def __reduce__(self) -> tuple[Callable[..., "Vocabulary"], tuple[Any, ...]]:
        return _from_pickle, (*self._compared(), self._listed)

    def _compared(self) -> tuple[Any, ...]:
        """Return what two equal vocabularies have in common."""
        columns = array("I", chain.from_iterable(self.merges))
        specials = dict(self.special_tokens)
        whole_pieces = dict(self.whole_pieces)
        return self._store.base, columns, specials, self._symbols, whole_pieces

    def __eq__(self, other: object) -> bool:
        """Whether both have the same tokens, ids, and merges or ranks. Takes O(n) time if they have, usually less."""
        if self is other:
            return True
        if not isinstance(other, Vocabulary):
            return NotImplemented
        if type(self) is not type(other) or self.n_tokens != other.n_tokens:
            return False
        if self._own_store is not None and self._own_store is other._own_store:
            # Two versions of one vocabulary.
            has_same_specials = self.special_tokens == other.special_tokens
            return has_same_specials and self.n_merges == other.n_merges
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((self.n_tokens, frozenset(self.special_tokens.items())))

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of an id. The bytes of a special token are its text in UTF-8.

        Raises:
            UnknownTokenError: There is no such token.
        """
        data = self._cached_bytes.get(token)
        if data is None:
            self._check(token)
            data = self._special_bytes.get(token)
            if data is None:
                data = self._bytes_of[token]
            self._cached_bytes[token] = data
        return data

    def joined(
        self, ids: list[int], read: Callable[[int], bytes] | None = None
    ) -> bytes:
        """Return the bytes of all `ids`, joined. `read` gives the bytes of an id; by default `token_bytes`."""
        # One lookup for all ids takes a third of the time of a call per id. It works if all of them were used before.
        try:
            return b"".join(map(self._cached_bytes.__getitem__, ids))
        except KeyError:
            pass  # an error of `read` is then not chained to this one
        bytes_of_id = read or self.token_bytes
        known = {token: bytes_of_id(token) for token in dict.fromkeys(ids)}
        return b"".join(map(known.__getitem__, ids))

    def parents(self, token: int) -> tuple[int, int] | None:
        """Return the (left, right) ids whose merge makes this token; None if no merge does.

        Raises:
            UnknownTokenError: There is no such token.
        """
        step = self.step_of(token)
        if not step:
            return None
        left, right, _ = self.merge_of(step)
        return left, right

    def step_of(self, token: int) -> int:
        """Return the first step that makes this id, from 1; 0 if no merge makes it, or if it is a token of `base`.

        Raises:
            UnknownTokenError: There is no such token.
        """
        self._check(token)
        step = self._store.step_of.get(token, 0)
        # A merge of a later version may make the bytes of a special token.
        return step if step <= self.n_merges else 0

    def ends_word(self, token: int) -> bool:
        """Whether the token is the end-of-word marker or ends with it. False in a vocabulary without a marker."""
        end = self.end_of_word
        if end is None:
            return False
        while parents := self.parents(token):
            token = parents[1]
        return token == end

    def text_bytes(self, token: int) -> bytes:
        """Return `token_bytes` without the end-of-word marker."""
        data = self.token_bytes(token)
        if self.end_of_word is not None and self.ends_word(token):
            return data.removesuffix(self.token_bytes(self.end_of_word))
        return data

    def children(self, token: int) -> tuple[int, ...]:
        """Return the ids of the merges that use this token, in the order of their steps."""
        self._check(token)
        steps = self._store.step_of
        return tuple(
            child
            for child in self._store.children(token)
            if steps.get(child, 0) <= self.n_merges
        )

    def ids(self) -> list[int]:
        """Return the ids of all tokens, with special tokens, in ascending order. Sorts them each time."""
        ids = set(self._store.base)
        ids.update(token for _, _, token in self.merges)
        ids.update(self._special_bytes)
        return sorted(ids)

    @cached_property
    def highest_id(self) -> int:
        """The highest id in use; -1 without tokens. Takes O(n) the first time."""
        return max(self.ids(), default=-1)

    @cached_property
    def id_by_bytes(self) -> Mapping[bytes, int]:
        """Bytes of each token -> its id. Of several ids with the same bytes it is the lowest id of an ordinary token, or
        of a special token if none is ordinary. Takes O(n) the first time."""
        found: dict[bytes, int] = {}
        is_ordinary = self.bytes_of.__contains__
        for token in sorted(
            self.ids(), key=lambda token: (not is_ordinary(token), token)
        ):
            found.setdefault(self.token_bytes(token), token)
        return found

    def at(self, step: int) -> "Vocabulary":
        """Return the version after `step` merges, in O(1). Special tokens keep their ids.

        Raises:
            OptionError: `step` is below 0 or above `n_merges`.
        """
        if not 0 <= step <= self.n_merges:
            raise OptionError(
                f"Step {step} does not exist; this vocabulary has the steps 0 to {self.n_merges}."
            )
        if step == self.n_merges:
            return self
        return self._version(self._store, step, self.special_tokens)

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> "Vocabulary":
        """Return a copy with exactly these special tokens, in O(n). Raises `OptionError` as the constructor does."""
        return Vocabulary(
            self._store.base,
            self.merges,
            special_tokens,
            symbols=self._symbols,
            whole_pieces=self.whole_pieces,
            listed=self._listed,
        )

    def extended(self, merges: Iterable[Triple]) -> "Vocabulary":
        """Return a version with `merges` appended. Special tokens whose ids they use move up, after the new merges."""
        new_merges = list(merges)
        with self._store.lock:
            store = self._store
            if len(store.merges) > self.n_merges:
                # Another version was extended before, so the merges after this version are not ours.
                store = Store(store.base, store.symbols, self.whole_pieces)
                store.extend(self.merges)
            store.extend(new_merges)
        specials = _moved_up(self.special_tokens, {token for _, _, token in new_merges})
        return self._version(store, len(store.merges), specials)

    @staticmethod
    def _version(
        store: Store, n_merges: int, special_tokens: Mapping[str, int]
    ) -> "Vocabulary":
        version = object.__new__(Vocabulary)
        version._use_merges(store, n_merges, special_tokens)
        return version

    def _check(self, token: int) -> None:
        if token not in self:
            raise UnknownTokenError(
                f"Unknown token id {token}; this vocabulary has {self.n_tokens} tokens."
            )


def _moved_up(
    special_tokens: Mapping[str, int], new_ids: set[int]
) -> Mapping[str, int]:
    """Move the special tokens at or above the new ids up, past the new ids, if one of them is in the way."""
    if new_ids.isdisjoint(special_tokens.values()):
        return special_tokens
    first = min(new_ids)
    in_the_way = [token for token in special_tokens.values() if token >= first]
    shift = max(new_ids) + 1 - min(in_the_way)
    moved = {}
    for text, token in special_tokens.items():
        moved[text] = token + shift if token >= first else token
    return moved


def _from_pickle(
    base: Mapping[int, bytes],
    columns: "array[int]",
    special_tokens: Mapping[str, int],
    symbols: Symbols,
    whole_pieces: Mapping[bytes, int],
    listed: Sequence[Triple],
) -> Vocabulary:
    merges = zip(columns[::3], columns[1::3], columns[2::3], strict=True)
    return Vocabulary(
        base,
        merges,
        special_tokens,
        symbols=symbols,
        whole_pieces=whole_pieces,
        listed=listed,
    )
