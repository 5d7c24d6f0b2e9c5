"""The vocabulary: which bytes stand behind each id, and the merges that built them, in order.

A vocabulary never changes, yet going back to an earlier step and learning one merge more are both cheap, because
all of its versions look at one store that only grows; each version merely knows how much of it is in force.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Self

from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.merging.merge_loop import Triple, utf8, without_surrogates
from bpe_core.vocabulary.columns import Columns
from bpe_core.vocabulary.layout import ID_LAYOUTS, before_merges, moved_up
from bpe_core.vocabulary.prefix import Prefix
from bpe_core.vocabulary.ranked import RankedStore
from bpe_core.vocabulary.store import ALL, Store, whole_by_default
from bpe_core.vocabulary.symbols import ByteSymbols, MarkedSymbols, Symbols, bytes_among

__all__ = ["ID_LAYOUTS", "Vocabulary"]


class Vocabulary:
    """Ids, their bytes, and the merges between them. Frozen; ids need not be contiguous.

    `base` maps an id to bytes for every token that no merge makes: the single bytes, and in some published files whole
    words too, which only a piece equal to them can become. `merges` are (left, right, token) triples in the order of
    their steps, the first being step 1. `symbols` is what a piece is before any merge, by default its bytes.
    `whole_pieces` are the tokens that a piece equal to them becomes at once, by default those of `base` that are longer
    than a byte. Raises `OptionError` if a merge uses an id that does not exist yet.
    """

    __slots__ = ("_n_apart", "_n_merges", "_specials", "_store", "_texts")

    def __init__(
        self,
        base: Mapping[int, bytes],
        merges: Iterable[Triple] = (),
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        *,
        symbols: Symbols | None = None,
        whole_pieces: Mapping[bytes, int] | None = None,
    ) -> None:
        if whole_pieces is None:
            whole_pieces = whole_by_default(base)
        store = Store(base, symbols or ByteSymbols(bytes_among(base)), whole_pieces)
        store.extend(merges)
        self._set(store, len(store.merges), special_tokens)
        self._check_specials()

    @classmethod
    def ranked(
        cls,
        tokens: Mapping[int, bytes],
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        *,
        symbols: Symbols | None = None,
        id_of: Mapping[bytes, int] | None = None,
        rank_of: Mapping[bytes, int] | None = None,
        whole_pieces: bool = True,
        merges: Columns | None = None,
    ) -> Self:
        """A vocabulary that is given by tokens in the order of their ranks, and encodes as tiktoken does.

        Two neighbors join if their joined bytes are a token, the lowest rank first; a piece that is a token is looked
        up first, unless `whole_pieces` is false. `id_of` names the tokens that take part, in the order of their ranks,
        by default all; `rank_of` is needed where some have equal ranks. What speaks of merges recovers them when it is
        first asked (`recover` does it in slices); `merges` are those that were recovered before, and are believed.
        """
        if id_of is None:
            id_of = dict(zip(tokens.values(), tokens, strict=True))
        if rank_of is None:  # where ids ascend they are as good as ranks
            ids = list(id_of.values())
            rank_of = id_of if ids == sorted(ids) else dict(zip(id_of, range(len(id_of)), strict=True))
        chosen = symbols or ByteSymbols(bytes_among(tokens))
        store = RankedStore(tokens, chosen, id_of, rank_of, whole_pieces=whole_pieces, merges=merges)
        vocabulary = cls._version(store, ALL, special_tokens)
        vocabulary._check_specials()
        return vocabulary

    def _check_specials(self) -> None:
        for text, token in self._specials.items():
            if not text:
                raise OptionError("A special token is empty; give it a text.")
            if without_surrogates(text) != text:
                raise OptionError(f"The special token {text!r} holds half of a character; give it a text.")
            if self._store.bytes_of.get(token, utf8(text)) != self._texts[token] or self._texts[token] != utf8(text):
                raise OptionError(f"The special token {text!r} has the id {token}, which is taken already.")

    def _set(self, store: Store, n_merges: int, special_tokens: Mapping[str, int]) -> None:
        self._store = store
        self._n_merges = n_merges
        self._specials = MappingProxyType(dict(special_tokens))
        self._texts = {token: utf8(text) for text, token in special_tokens.items()}
        self._n_apart = sum(token not in store.bytes_of for token in self._texts)  # a merge can make one, too

    @classmethod
    def of_bytes(
        cls, id_layout: str = "bytes-first", special_tokens: Sequence[str] = (), end_of_word: str = ""
    ) -> Self:
        """The vocabulary before the first merge: 256 bytes, the end-of-word marker if there is one, the special tokens.

        >>> Vocabulary.of_bytes("specials-first", ["<|endoftext|>"]).token_bytes(66)
        b'A'
        """
        first, specials = before_merges(id_layout, special_tokens, 256 + bool(end_of_word))
        base = {first + byte: bytes([byte]) for byte in range(256)}
        if not end_of_word:
            return cls(base, (), specials)
        return cls.marked(base | {first + 256: utf8(end_of_word)}, (), specials, first + 256)

    @classmethod
    def marked(
        cls, base: Mapping[int, bytes], merges: Iterable[Triple], special_tokens: Mapping[str, int], end_of_word: int
    ) -> Self:
        """A vocabulary in which every piece ends with a token, one of `base`, that marks its end."""
        ids = bytes_among({token: data for token, data in base.items() if token != end_of_word})
        return cls(base, merges, special_tokens, symbols=MarkedSymbols(ids, end_of_word), whole_pieces={})

    @property
    def end_of_word(self) -> int | None:
        """The token that marks the end of every piece; None if nothing does."""
        symbols = self._store.symbols
        return symbols.end if isinstance(symbols, MarkedSymbols) else None

    @property
    def n_merges(self) -> int:
        """How many merges are in force."""
        return len(self._store.merges) if self._n_merges == ALL else self._n_merges

    @property
    def n_vocab(self) -> int:
        """How many ids there are. In a vocabulary with holes this is not the highest id + 1."""
        if self._n_merges == ALL:
            return len(self._store.bytes_of) + self._n_apart
        made = self._n_merges - bisect_right(self._store.repeats, self._n_merges)
        return len(self._store.base) + made + self._n_apart

    @property
    def merges(self) -> Prefix[Triple]:
        """(left, right, token) of every merge in force, in order; a view, not a copy."""
        return Prefix(self._store.merges, self.n_merges)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Text -> id."""
        return self._specials

    @property
    def base(self) -> Mapping[int, bytes]:
        """Id -> bytes of the tokens that no merge makes."""
        return MappingProxyType(self._store.base)

    @property
    def bytes_of(self) -> Mapping[int, bytes]:
        """Id -> bytes of the tokens of all steps, those that are only special left out; needs no merges to be known."""
        return MappingProxyType(self._store.bytes_of)

    @property
    def ranks(self) -> Mapping[tuple[int, int], int]:
        """(left, right) -> rank; shared by all steps, so entries from `n_merges` on are not in force here."""
        return self._store.rank_of

    def encode(self, piece: bytes) -> tuple[int, ...]:
        """The ids of one piece: of the whole of it if it is a token that no merge makes, else what the merges leave.

        Raises `UnknownTokenError` if a byte of the piece has no token, as can be in published files.
        """
        return self._store.encode(piece, self._n_merges)

    def whole(self, piece: bytes) -> int | None:
        """The token that a piece becomes at once, as it is equal to it; None if it is merged."""
        return self._store.whole(piece, self._n_merges)

    def join(self, data: bytes) -> tuple[int, ...]:
        """The ids of a part of a piece: as `encode`, but nothing is looked up whole."""
        return self._store.join(data, self._n_merges)

    def symbols(self, piece: bytes) -> list[int]:
        """The ids that a piece begins with, before any merge: those of its bytes, as a rule."""
        return self._store.symbols.ids(piece)

    @property
    def is_bytewise(self) -> bool:
        """Whether a piece begins as its bytes, rather than as its characters."""
        return isinstance(self._store.symbols, ByteSymbols)

    @property
    def is_faithful(self) -> bool:
        """Whether the ids of any piece stand for its very bytes; false where there is a token for the unknown."""
        return self._store.symbols.faithful

    @property
    def is_ranked(self) -> bool:
        """Whether it encodes by the ranks of tokens rather than by merges."""
        return self._n_merges == ALL

    @property
    def has_repeats(self) -> bool:
        """Whether two merges make the same token."""
        return not self.is_ranked and bisect_right(self._store.repeats, self._n_merges) > 0

    @property
    def whole_pieces(self) -> Mapping[bytes, int]:
        """Bytes -> the token that a piece of these bytes becomes at once.

        Of a `ranked` vocabulary those that no merge makes, so that the first question recovers its merges.
        """
        return MappingProxyType(self._store.whole_pieces)

    @property
    def knows_merges(self) -> bool:
        """Whether the merges are at hand; false for a `ranked` one until they are recovered."""
        return not isinstance(self._store, RankedStore) or self._store.is_recovered

    def recover(self, seconds: float = float("inf")) -> bool:
        """Find the merges of a `ranked` vocabulary again, for so long; whether all are there. Calling on gets there."""
        return not isinstance(self._store, RankedStore) or self._store.recover(seconds)

    @property
    def recovered_share(self) -> float:
        """How far the recovery is, 0 to 1."""
        return self._store.share if isinstance(self._store, RankedStore) else 1.0

    def adopt(self, merges: Iterable[Triple]) -> None:
        """Take over the merges that were recovered from the same file earlier, instead of recovering them again.

        Raises `OptionError` if they do not fit; then nothing has changed.
        """
        if isinstance(self._store, RankedStore):
            self._store.adopt(merges)

    def plain_ids(self) -> range | None:
        """The ids that special tokens do not have, if the bytes of these in order tell all that ranks do."""
        return self._store.plain_ids if self.is_ranked and isinstance(self._store, RankedStore) else None

    def __contains__(self, token: object) -> bool:
        store = self._store
        known = token in store.bytes_of and (self._n_merges == ALL or store.step_of.get(token, 0) <= self._n_merges)
        return known or token in self._texts

    def __len__(self) -> int:
        return self.n_vocab

    def __repr__(self) -> str:
        merges = "ranked" if self.is_ranked else f"{self._n_merges} merges"
        return f"<Vocabulary: {self.n_vocab} tokens, {merges}>"

    def token_bytes(self, token: int) -> bytes:
        """The bytes of an id; a special token's are its text in UTF-8. Raises `UnknownTokenError`."""
        if token in self._texts:
            return self._texts[token]
        self._check(token)
        return self._store.bytes_of[token]

    def parents(self, token: int) -> tuple[int, int] | None:
        """The two ids that were joined to make this one; None for a token that no merge makes."""
        step = self.step_of(token)
        return self._store.merges[step - 1][:2] if step else None

    def step_of(self, token: int) -> int:
        """The step that made this id, from 1; 0 if no merge did. Raises `UnknownTokenError`."""
        self._check(token)
        return self._store.step_of.get(token, 0)

    def children(self, token: int) -> tuple[int, ...]:
        """The ids made by joining this one to another (or to itself), in the order of their steps."""
        self._check(token)
        steps = self._store.step_of
        return tuple(c for c in self._store.index_children().get(token, ()) if steps.get(c, 0) <= self._n_merges)

    def ids(self) -> list[int]:
        """Every id there is, ascending."""
        if self.is_ranked:
            return sorted({*self._store.bytes_of, *self._texts})
        return sorted({*self._store.base, *(token for _, _, token in self.merges), *self._texts})

    def at(self, step: int) -> Self:
        """This vocabulary as it was after `step` merges. Costs the same for any step; special tokens keep their ids."""
        if not 0 <= step <= self.n_merges:
            raise OptionError(f"There is no step {step}; this vocabulary has the steps 0 to {self.n_merges}.")
        return self._version(self._store, self._n_merges if step == self.n_merges else step, self._specials)

    def extended(self, merges: Iterable[Triple]) -> Self:
        """This vocabulary with more merges. Special tokens that the new ids run into move up behind them."""
        merges = list(merges)
        store = self._store.at_tip(self._n_merges)
        store.extend(merges)
        return self._version(store, len(store.merges), moved_up(self._specials, merges))

    @classmethod
    def _version(cls, store: Store, n_merges: int, special_tokens: Mapping[str, int]) -> Self:
        version = object.__new__(cls)
        version._set(store, n_merges, special_tokens)
        return version

    def _check(self, token: int) -> None:
        if token not in self:
            raise UnknownTokenError(f"There is no token with the id {token} in this vocabulary of {self.n_vocab}.")
