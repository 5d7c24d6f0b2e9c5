"""The vocabulary: which bytes stand behind each id, and the merges that built them, in order.

A vocabulary is immutable. Its versions, after different numbers of merges, share one `Store`, which only grows; a
version holds how many merges of it are *in force* in it. So `at` and `extended` copy no merges. Threads may share one:
its caches and tables are replaced at once or hold what any thread would put there, and `extended` locks the store.

Pieces become ids in the kernel where it can. It raises LookupError for a symbol without a token; such pieces, and all
of them where there is no kernel, are merged in Python, which gives the unknown token or says which symbol it was.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import Any, Final, Self

from bpe_core import kernel
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.utf8 import utf8, without_surrogates
from bpe_core.vocabulary.merge_loop import NO_RANK, Triple, merge
from bpe_core.vocabulary.store import Store, check_ids, whole_by_default
from bpe_core.vocabulary.symbols import ByteSymbols, Symbols, bytes_among

ID_LAYOUTS: Final = ("bytes-first", "specials-first")
"""bytes-first: 0..255 bytes, merges, special tokens last. specials-first: special tokens, bytes, merges."""


def check_special_tokens(
    special_tokens: Mapping[str, int], bytes_of: Mapping[int, bytes]
) -> None:
    """Raise `OptionError` for a special token that has no text, or the id of a token with other bytes, and for what is
    no id among all of them."""
    check_ids(chain(bytes_of, special_tokens.values()))
    text_of = {token: utf8(text) for text, token in special_tokens.items()}
    for text, token in special_tokens.items():
        if not text:
            raise OptionError("A special token is empty; give it a text.")
        if without_surrogates(text) != text:
            raise OptionError(
                f"The special token {text!r} holds half of a character; give it a text."
            )
        if bytes_of.get(token, utf8(text)) != text_of[token] or text_of[token] != utf8(
            text
        ):
            raise OptionError(
                f"The special token {text!r} has the id {token}, which is taken already."
            )


class Vocabulary:
    """Ids, their bytes, and the merges between them. Immutable; ids need not be contiguous.

    `base` maps an id to bytes for every token that no merge makes: the single bytes, and in some published files whole
    words too, which only a piece equal to them can become. `merges` are (left, right, token) ids in the order in which
    they were learned; the first is step 1 and has rank 0. `special_tokens` maps texts to ids. `symbols` says what a
    piece is before any merge, by default its bytes and then the marker `end_of_word`, the id of a token of `base`, if
    one is given. `whole_pieces` maps bytes to the token that a piece of just these bytes becomes at once, without
    merging; by default, without a marker, the tokens of `base` that are longer than a byte. `most_bytes` limits
    the bytes of all tokens of merges, of which a few that each double one would fill the memory.

    Raises `OptionError` if a merge uses an id that does not exist yet or makes one that has other bytes, if the tokens
    become too long, or if a special token is empty or has the id of another token.

    >>> Vocabulary({108: b"l", 111: b"o"}, [(108, 111, 256)]).encode(b"lol")
    (256, 108)

    For a vocabulary that is given by ranks, see `bpe_core.vocabulary.ranked.RankedVocabulary`.
    """

    special_tokens: Mapping[str, int]
    """Text of each special token -> its id."""

    knows_merges: bool = (
        True  # false for a vocabulary of ranks until they are recovered
    )
    recovered_share: float = (
        1.0  # of the tokens, how many have their merges recovered, 0 to 1
    )
    _limit: int | None = None  # how many merges are in force; None: all that there are
    _store: Store  # the merges, of which the first `n_merges` are in force

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
    ) -> None:
        if symbols is None:
            others = {
                token: data for token, data in base.items() if token != end_of_word
            }
            symbols = ByteSymbols(bytes_among(others), end_of_word)
        if whole_pieces is None:
            whole_pieces = {} if symbols.end is not None else whole_by_default(base)
        store = Store(base, symbols, whole_pieces)
        store.extend(merges, most_bytes)
        self._set_merges(store, len(store.merges), special_tokens)
        check_special_tokens(self.special_tokens, store.bytes_of)

    def _set_merges(
        self, store: Store, n_merges: int, special_tokens: Mapping[str, int]
    ) -> None:
        self._store, self._limit = store, n_merges
        self._set(store.symbols, store.bytes_of, special_tokens)

    def _set(
        self,
        symbols: Symbols,
        bytes_of: Mapping[int, bytes],
        special_tokens: Mapping[str, int],
    ) -> None:
        self._symbols = symbols
        self._bytes_of = bytes_of  # id -> bytes of all versions' tokens
        self.special_tokens = MappingProxyType(dict(special_tokens))
        self._texts = {token: utf8(text) for text, token in special_tokens.items()}
        self._asked: dict[
            int, bytes
        ] = {}  # id -> bytes of the tokens that somebody has asked for

    @classmethod
    def of_bytes(
        cls,
        id_layout: str = "bytes-first",
        special_tokens: Sequence[str] = (),
        end_of_word: str = "",
    ) -> Self:
        """The vocabulary before the first merge: 256 bytes, the end-of-word marker if there is one, special tokens.

        Raises `OptionError` if there is no such layout.

        >>> Vocabulary.of_bytes("specials-first", ["<|endoftext|>"]).token_bytes(66)
        b'A'
        """
        if id_layout not in ID_LAYOUTS:
            raise OptionError(
                f"There is no id layout {id_layout!r}; choose one of {', '.join(ID_LAYOUTS)}."
            )
        behind = id_layout == "bytes-first"
        first, first_special = (
            (0, 256 + bool(end_of_word)) if behind else (len(special_tokens), 0)
        )
        specials = {text: first_special + n for n, text in enumerate(special_tokens)}
        base = {first + byte: bytes([byte]) for byte in range(256)}
        marker = {first + 256: utf8(end_of_word)} if end_of_word else {}
        return cls(base | marker, (), specials, end_of_word=next(iter(marker), None))

    @property
    def end_of_word(self) -> int | None:
        """The id of the marker at the end of every piece (Sennrich's `</w>`); None if there is none."""
        return self._symbols.end

    @property
    def n_merges(self) -> int:
        """How many merges are in force; the step of this version."""
        return len(self._store.merges) if self._limit is None else self._limit

    @property
    def n_vocab(self) -> int:
        """The highest id + 1, so a table with this many rows has a row for every id; tiktoken's meaning."""
        return self.highest_id + 1

    @cached_property
    def n_tokens(self) -> int:
        """How many tokens there are, special tokens included; less than `n_vocab` if some ids are unused."""
        store, n = self._store, self.n_merges
        only_special = sum(
            one not in store.bytes_of or store.step_of.get(one, 0) > n
            for one in self._texts
        )
        return len(store.base) + n - bisect_right(store.repeats, n) + only_special

    @cached_property
    def merges(self) -> Sequence[Triple]:
        """(left, right, token) of every merge in force, in order; listed when first asked for, in O(n)."""
        return self._store.merges[: self.n_merges]

    def merge_of(self, step: int) -> Triple:
        """(left, right, token) of the merge of a step, from 1 to `n_merges`; in O(1), also of a version just made."""
        return self._store.merges[step - 1]

    @property
    def base(self) -> Mapping[int, bytes]:
        """Id -> bytes of the tokens that no merge makes."""
        return MappingProxyType(self._store.base)

    @cached_property
    def bytes_of(self) -> Mapping[int, bytes]:
        """Id -> bytes of the tokens, without those that are only special. O(n) at first."""
        tokens = dict(self._store.base)
        for _, _, token in self.merges:
            tokens[token] = self._bytes_of[token]
        return MappingProxyType(tokens)

    @cached_property
    def ranks(self) -> Mapping[tuple[int, int], int]:
        """(left, right) -> rank of the merge that joins them. O(n) at first."""
        ranks: dict[tuple[int, int], int] = {}
        for rank, (left, right, _) in enumerate(self.merges):
            ranks.setdefault((left, right), rank)
        return MappingProxyType(ranks)

    def step_of_pair(self, left: int, right: int) -> int | None:
        """The step that joins two tokens, which a later version may have yet to come; None if none of them does."""
        rank = self._store.rank_of.get((left, right))
        return None if rank is None else rank + 1

    def encode(self, piece: bytes) -> tuple[int, ...]:
        """The ids of one piece: the token of `whole_pieces` that is equal to it, or else what merging leaves. Raises
        `UnknownTokenError` if a byte or character of the piece has no token, as in some published files."""
        if compiled := self.compiled:
            with suppress(LookupError):
                return compiled.piece(piece, self._limit)
        whole = self.whole(piece)
        return self.join_in_python(piece) if whole is None else (whole,)

    def whole(self, piece: bytes) -> int | None:
        """The token that a piece equal to it becomes without merging; None if the piece is merged."""
        token = self._store.whole_pieces.get(piece)
        return (
            token
            if token is not None and self._store.step_of.get(token, 0) <= self.n_merges
            else None
        )

    def join(self, data: bytes) -> tuple[int, ...]:
        """The ids that merging leaves of `data`, a piece or a part of one; `whole_pieces` is not consulted. Raises
        `UnknownTokenError` as `encode` does."""
        if compiled := self.compiled:
            with suppress(LookupError):
                return compiled.part(data, self._limit)
        return self.join_in_python(data)

    def join_in_python(self, data: bytes) -> tuple[int, ...]:
        """What `join` gives: two neighbors join if there is a merge of these two ids."""
        rank_of_pair, merges, n_merges = (
            self._store.rank_of.get,
            self._store.merges,
            self.n_merges,
        )

        def rank_of(left: int, right: int) -> int:
            rank = rank_of_pair((left, right), NO_RANK)
            return rank if rank < n_merges else NO_RANK

        return tuple(
            merge(
                self.symbols(data), rank_of, lambda left, right, rank: merges[rank][2]
            )
        )

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        """The kernel's encoder, made when first asked for; None if there is no kernel or it cannot have one."""
        return self._store.compiled(self.n_merges)

    def encode_pieces(
        self, pieces: list[str]
    ) -> "tuple[array[int], array[int]] | None":
        """(ids of all pieces in a row, index in it behind the last id of each piece); None if it takes Python. Raises
        UnicodeEncodeError for a surrogate."""
        if compiled := self.compiled:
            with suppress(LookupError):
                ids, ends = compiled.pieces(pieces, self._limit)
                return array("I", ids), array("Q", ends)
        return None

    def encode_texts(
        self, texts: list[str], scanner: "kernel.Scanner | None", as_arrays: bool
    ) -> list[Any] | None:
        """The ids of each text, lists or arrays of four bytes an id. `scanner` splits them, None: each is one piece.
        One call encodes all free of the GIL, so many short texts cost little more than a long one. None if it takes
        Python; errors as above."""
        try:
            return (
                self.compiled.encode_batch(texts, scanner, self._limit, as_arrays)
                if self.compiled
                else None
            )
        except LookupError:
            return None

    def compatible(self, left: int, right: int) -> bool:
        """Whether two tokens can be neighbors: merging the bytes of both, joined, gives just these two ids. A list of
        tokens is what merging a piece leaves exactly when all its neighbors are compatible; the proof stands in
        `bpe_core.vocabulary.merge_loop`."""
        return self.join(self.token_bytes(left) + self.token_bytes(right)) == (
            left,
            right,
        )

    def symbols(self, piece: bytes) -> list[int]:
        """The ids of a piece before any merge: of its bytes, as a rule. Raises `UnknownTokenError`."""
        return self._symbols.ids(piece)

    @property
    def is_bytewise(self) -> bool:
        """Whether the symbols of a piece are its bytes alone: no characters, and no end-of-word marker."""
        return isinstance(self._symbols, ByteSymbols) and self._symbols.end is None

    @property
    def is_faithful(self) -> bool:
        """Whether the ids of a piece always decode to its bytes; not with an unknown token or an end-of-word marker."""
        return self._symbols.is_faithful

    @property
    def has_repeats(self) -> bool:
        """Whether two merges make the same token."""
        return bisect_right(self._store.repeats, self.n_merges) > 0

    @cached_property
    def whole_pieces(self) -> Mapping[bytes, int]:
        """Bytes -> the token that a piece of just these bytes becomes at once, without merging. O(n) at first."""
        step_of, n_merges = self._store.step_of, self.n_merges
        pieces = self._store.whole_pieces.items()
        return MappingProxyType(
            {
                piece: token
                for piece, token in pieces
                if step_of.get(token, 0) <= n_merges
            }
        )

    def as_merges(self) -> "Vocabulary":
        """A vocabulary of merges that gives every piece the same ids; this one itself, unless it is one of ranks."""
        return self

    def recover(self, seconds: float = float("inf")) -> bool:
        """Recover merges of a vocabulary of ranks for `seconds`; whether all are known. Here they always are."""
        return True

    def __contains__(self, token: object) -> bool:
        if token not in self._bytes_of:
            return token in self._texts
        step = self._store.step_of.get(token, 0)  # type: ignore[call-overload]
        return step <= self.n_merges or token in self._texts

    def __repr__(self) -> str:
        return f"<Vocabulary: {self.n_tokens} tokens, {self.n_merges} merges>"

    def __reduce__(self) -> tuple[Callable[..., "Vocabulary"], tuple[Any, ...]]:
        columns = array("I", chain.from_iterable(self.merges))
        whole = dict(self.whole_pieces)
        return _of_merges, (
            self._store.base,
            columns,
            dict(self.special_tokens),
            self._symbols,
            whole,
        )

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same tokens, ids, merges or ranks: what is pickled is equal. O(n), as a rule less."""
        if self is other or not isinstance(other, Vocabulary):
            return self is other or NotImplemented
        is_like = type(self) is type(other) and self.n_tokens == other.n_tokens
        if is_like and vars(self).get("_store", self) is vars(other).get(
            "_store"
        ):  # two versions of one
            return (
                self.n_merges == other.n_merges
                and self.special_tokens == other.special_tokens
            )
        return is_like and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self.n_tokens, frozenset(self.special_tokens.items())))

    def token_bytes(self, token: int) -> bytes:
        """The bytes of an id; a special token's are its text in UTF-8. Raises `UnknownTokenError`."""
        data = self._asked.get(token)
        if data is None:
            self._check(token)
            data = self._asked[token] = (
                self._texts[token] if token in self._texts else self._bytes_of[token]
            )
        return data

    def joined(
        self, ids: list[int], read: Callable[[int], bytes] | None = None
    ) -> bytes:
        """The bytes of all `ids`, by `token_bytes` or, where one was never asked for before, by `read`."""
        # Looking all of them up at once takes a third of the time of a call a token.
        try:
            return b"".join(map(self._asked.__getitem__, ids))
        except KeyError:
            read = (
                read or self.token_bytes
            )  # not called in here, so that its error is the only one
        known = {token: read(token) for token in dict.fromkeys(ids)}
        return b"".join(map(known.__getitem__, ids))

    def parents(self, token: int) -> tuple[int, int] | None:
        """The (left, right) ids whose merge makes this token; None if no merge does. Raises `UnknownTokenError`."""
        step = self.step_of(token)
        return self.merge_of(step)[:2] if step else None

    def step_of(self, token: int) -> int:
        """The step that first made this id, from 1; 0 if no merge in force did, and for one of `base`, which a merge
        may make again. Raises `UnknownTokenError`.
        """
        self._check(token)
        step = self._store.step_of.get(token, 0)
        return (
            step if step <= self.n_merges else 0
        )  # a special token may be made by a later merge, too

    def ends_word(self, token: int) -> bool:
        """Whether the token is the end-of-word marker, or its merges end with it. False in a vocabulary without one."""
        end = self.end_of_word
        while end is not None and (parents := self.parents(token)):
            token = parents[1]
        return token == end

    def text_bytes(self, token: int) -> bytes:
        """The bytes of text that the token stands for: `token_bytes` without the end-of-word marker at its end."""
        own, end = self.token_bytes(token), self.end_of_word
        return (
            own.removesuffix(self.token_bytes(end))
            if end is not None and self.ends_word(token)
            else own
        )

    def children(self, token: int) -> tuple[int, ...]:
        """The ids that merges make of this one and another (or itself), in the order of their steps."""
        self._check(token)
        steps = self._store.step_of
        return tuple(
            child
            for child in self._store.children(token)
            if steps.get(child, 0) <= self.n_merges
        )

    def ids(self) -> list[int]:
        """Of all tokens, special ones too, ascending; sorts them anew each time."""
        return sorted(
            {*self._store.base, *(token for _, _, token in self.merges), *self._texts}
        )

    @cached_property
    def highest_id(self) -> int:
        """The highest id in use; -1 in a vocabulary without tokens. O(n) at first."""
        return max(self.ids(), default=-1)

    @cached_property
    def id_by_bytes(self) -> Mapping[bytes, int]:
        """Bytes of each token -> its id; of several ids the lowest that is not special alone. O(n) at first."""
        ids = sorted(self.ids(), key=lambda one: (one in self.bytes_of, -one))
        return {self._texts.get(one) or self.bytes_of[one]: one for one in ids}

    def at(self, step: int) -> "Vocabulary":
        """The version after `step` merges; special tokens keep their ids. Takes the same time for any step. Raises
        `OptionError` for a step below 0 or above `n_merges`."""
        if not 0 <= step <= self.n_merges:
            raise OptionError(
                f"There is no step {step}; this vocabulary has the steps 0 to {self.n_merges}."
            )
        return self._version(self._store, step, self.special_tokens)

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> "Vocabulary":
        """A copy with just these special tokens; the constructor's errors. O(n)."""
        make, (*tables, _, symbols, last) = self.__reduce__()
        return make(*tables, special_tokens, symbols, last)

    def extended(self, merges: Iterable[Triple]) -> "Vocabulary":
        """The version with `merges` added. Special tokens whose ids these take move up behind them."""
        merges = list(merges)
        with self._store.lock:
            store = self._store
            if len(store.merges) > self.n_merges:  # another version was extended before
                store = Store(store.base, store.symbols, self.whole_pieces)
                store.extend(self.merges)
            store.extend(merges)
        specials: Mapping[str, int] = self.special_tokens
        made = {token for _, _, token in merges} if specials else set()
        if not made.isdisjoint(specials.values()):
            first = min(made)
            behind = {token for token in specials.values() if token >= first}
            shift = max(made) + 1 - min(behind)
            specials = {
                text: token + shift if token in behind else token
                for text, token in specials.items()
            }
        return self._version(store, len(store.merges), specials)

    @staticmethod
    def _version(
        store: Store, n_merges: int, special_tokens: Mapping[str, int]
    ) -> "Vocabulary":
        version = object.__new__(Vocabulary)
        version._set_merges(store, n_merges, special_tokens)
        return version

    def _check(self, token: int) -> None:
        if token not in self:
            raise UnknownTokenError(
                f"There is no token with the id {token} in this vocabulary of {self.n_tokens}."
            )


def _of_merges(
    base: Any, columns: "array[int]", specials: Any, symbols: Any, whole: Any
) -> Vocabulary:
    merges = zip(columns[::3], columns[1::3], columns[2::3], strict=True)
    return Vocabulary(base, merges, specials, symbols=symbols, whole_pieces=whole)
