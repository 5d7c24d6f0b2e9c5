"""The vocabulary: which bytes stand behind each id, and the merges that built them, in order.

A vocabulary never changes, yet going back to an earlier step and learning one merge more are both cheap, because
all of its versions look at one store that only grows; each version merely knows how much of it is in force.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, Self, get_args

from bpe_core.bpe import Triple, merge_piece, utf8
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.prefix import Prefix

IdLayout = Literal["bytes-first", "specials-first"]
ID_LAYOUTS: Final[tuple[str, ...]] = get_args(IdLayout)
"""bytes-first: 0..255 bytes, merges, special tokens last. specials-first: special tokens, bytes, merges."""


class _Store:
    """What the versions of a vocabulary share. Nothing in it is ever taken back."""

    __slots__ = (
        "base",
        "byte_ids",
        "bytes_of",
        "children",
        "merges",
        "n_indexed",
        "rank_of",
        "repeats",
        "step_of",
        "whole_pieces",
    )

    def __init__(self, base: Mapping[int, bytes]) -> None:
        self.base = dict(base)
        self.bytes_of = dict(base)
        self.byte_ids = {base[i][0]: i for i in sorted(base, reverse=True) if len(base[i]) == 1}
        self.whole_pieces = {base[i]: i for i in sorted(base, reverse=True) if len(base[i]) > 1}
        self.merges: list[Triple] = []
        self.rank_of: dict[tuple[int, int], int] = {}
        self.step_of: dict[int, int] = {}
        self.repeats: list[int] = []  # steps that made a token which was there before (published files have them)
        self.children: dict[int, list[int]] = {}
        self.n_indexed = 0

    def append(self, merge: Triple) -> None:
        left, right, token = merge
        try:
            joined = self.bytes_of[left] + self.bytes_of[right]
        except KeyError as error:
            raise OptionError(
                f"Merge {len(self.merges) + 1} joins the id {error.args[0]}, which no merge before it makes."
            ) from None
        known = self.bytes_of.get(token)
        if known is not None and known != joined:
            raise OptionError(f"Merge {len(self.merges) + 1} gives the id {token} a second meaning.")
        self.rank_of.setdefault((left, right), len(self.merges))
        self.merges.append(merge)
        if known is None:
            self.bytes_of[token] = joined
            self.step_of[token] = len(self.merges)
        else:
            self.repeats.append(len(self.merges))

    def index_children(self) -> dict[int, list[int]]:
        """Id -> the ids made from it in the order of their steps; brought up to date only when asked for."""
        for left, right, token in self.merges[self.n_indexed :]:
            for part in {left, right}:
                made = self.children.setdefault(part, [])
                if token not in made[-1:]:
                    made.append(token)
        self.n_indexed = len(self.merges)
        return self.children


class Vocabulary:
    """Ids, their bytes, and the merges between them. Frozen; ids need not be contiguous.

    `base` maps an id to bytes for every token that no merge makes: the single bytes, and in some published files whole
    words too, which only a piece equal to them can become. `merges` are (left, right, token) triples in the order of
    their steps, the first being step 1. Raises `OptionError` if a merge uses an id that does not exist yet.
    """

    __slots__ = ("_n_merges", "_specials", "_store", "_texts")

    def __init__(
        self,
        base: Mapping[int, bytes],
        merges: Iterable[Triple] = (),
        special_tokens: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        store = _Store(base)
        for merge in merges:
            store.append(merge)
        self._set(store, len(store.merges), special_tokens)
        for text, token in special_tokens.items():
            if not text:
                raise OptionError("A special token is empty; give it a text.")
            if token in store.bytes_of or self._texts[token] != utf8(text):
                raise OptionError(f"The special token {text!r} has the id {token}, which is taken already.")

    def _set(self, store: _Store, n_merges: int, special_tokens: Mapping[str, int]) -> None:
        self._store = store
        self._n_merges = n_merges
        self._specials = MappingProxyType(dict(special_tokens))
        self._texts = {token: utf8(text) for text, token in special_tokens.items()}

    @classmethod
    def of_bytes(cls, id_layout: str = "bytes-first", special_tokens: Sequence[str] = ()) -> Self:
        """The vocabulary before the first merge: 256 bytes and the special tokens.

        >>> Vocabulary.of_bytes("specials-first", ["<|endoftext|>"]).token_bytes(66)
        b'A'
        """
        if id_layout not in ID_LAYOUTS:
            raise OptionError(f"There is no id layout {id_layout!r}; choose one of {', '.join(ID_LAYOUTS)}.")
        first = len(special_tokens) if id_layout == "specials-first" else 0
        first_special = 256 if id_layout == "bytes-first" else 0
        base = {first + byte: bytes([byte]) for byte in range(256)}
        return cls(base, (), {text: first_special + n for n, text in enumerate(special_tokens)})

    @property
    def n_merges(self) -> int:
        """How many merges are in force."""
        return self._n_merges

    @property
    def n_vocab(self) -> int:
        """How many ids there are. In a vocabulary with holes this is not the highest id + 1."""
        made = self._n_merges - bisect_right(self._store.repeats, self._n_merges)
        return len(self._store.base) + made + len(self._specials)

    @property
    def merges(self) -> Prefix[Triple]:
        """(left, right, token) of every merge in force, in order; a view, not a copy."""
        return Prefix(self._store.merges, self._n_merges)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Text -> id."""
        return self._specials

    @property
    def base(self) -> Mapping[int, bytes]:
        """Id -> bytes of the tokens that no merge makes."""
        return MappingProxyType(self._store.base)

    @property
    def ranks(self) -> Mapping[tuple[int, int], int]:
        """(left, right) -> rank; shared by all steps, so entries from `n_merges` on are not in force here."""
        return self._store.rank_of

    def encode(self, piece: bytes) -> tuple[int, ...]:
        """The ids of one piece: of the whole of it if it is a token that no merge makes, else what the merges leave.

        Raises `UnknownTokenError` if a byte of the piece has no token, as can be in published files.
        """
        store = self._store
        whole = store.whole_pieces.get(piece)
        if whole is not None:
            return (whole,)
        try:
            symbols = [store.byte_ids[byte] for byte in piece]
        except KeyError as error:
            raise UnknownTokenError(f"This vocabulary has no token for the byte 0x{error.args[0]:02x}.") from None
        return tuple(merge_piece(symbols, store.rank_of, store.merges, self._n_merges))

    def __contains__(self, token: object) -> bool:
        store = self._store
        return (token in store.bytes_of and store.step_of.get(token, 0) <= self._n_merges) or token in self._texts

    def __len__(self) -> int:
        return self.n_vocab

    def __repr__(self) -> str:
        return f"<Vocabulary: {self.n_vocab} tokens, {self._n_merges} merges>"

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
        return sorted({*self._store.base, *(token for _, _, token in self.merges), *self._texts})

    def at(self, step: int) -> Self:
        """This vocabulary as it was after `step` merges. Costs the same for any step; special tokens keep their ids."""
        if not 0 <= step <= self._n_merges:
            raise OptionError(f"There is no step {step}; this vocabulary has the steps 0 to {self._n_merges}.")
        return self._version(self._store, step, self._specials)

    def extended(self, merges: Iterable[Triple]) -> Self:
        """This vocabulary with more merges. Special tokens that the new ids run into move up behind them."""
        merges = list(merges)
        store = self._store
        if len(store.merges) > self._n_merges:  # the store went another way after this step
            store = _Store(store.base)
            for merge in self.merges:
                store.append(merge)
        for merge in merges:
            store.append(merge)
        return self._version(store, len(store.merges), _moved_up(self._specials, merges))

    def _version(self, store: _Store, n_merges: int, special_tokens: Mapping[str, int]) -> Self:
        version = object.__new__(type(self))
        version._set(store, n_merges, special_tokens)
        return version

    def _check(self, token: int) -> None:
        if token not in self:
            raise UnknownTokenError(f"There is no token with the id {token} in this vocabulary of {self.n_vocab}.")


def _moved_up(special_tokens: Mapping[str, int], merges: Sequence[Triple]) -> Mapping[str, int]:
    made = [token for _, _, token in merges]
    behind = [token for token in special_tokens.values() if made and token >= min(made)]
    if not behind or min(behind) > max(made):
        return special_tokens
    shift = max(made) + 1 - min(behind)
    return {text: token + shift if token in behind else token for text, token in special_tokens.items()}
