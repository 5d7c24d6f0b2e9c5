"""A vocabulary given by the ranks of its tokens: it encodes by them, and recovers its merges when they are needed."""

from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain, groupby, islice
from operator import sub
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final

from bpe_core import kernel
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.vocabulary import Vocabulary, check_special_tokens
from bpe_core.vocabulary.merge_loop import NO_RANK, Triple, merge
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import (
    ByteSymbols,
    CharacterSymbols,
    Symbols,
    bytes_among,
)

_SLICE: Final = 500  # tokens whose merges are recovered between two checks of the time: less than a millisecond


class RankedVocabulary(Vocabulary):
    """A vocabulary whose file has a rank for each token but no merges, as those of tiktoken and SentencePiece.

    Two neighbors join if their joined bytes are a token, the lowest rank first: nothing needs to be known of how a
    token was made, so it is right for published files whose merges are not known. With `whole_pieces`, a piece that is
    a token becomes it without merging. `tokens` maps ids to bytes; it is kept, and must not change afterwards. `id_of`
    maps bytes to ids in the order of the ranks, for those tokens that text can become, by default all; `rank_of` is
    given only if some tokens have equal ranks.

    `merges`, `n_merges`, `parents` and whatever else needs the merges recovers all of them first, which takes seconds
    for a large vocabulary where there is no kernel; `recover` does so in slices of time. `at` an earlier step gives a
    vocabulary of merges.
    """

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        *,
        symbols: Symbols | None = None,
        id_of: Mapping[bytes, int] | None = None,
        rank_of: Mapping[bytes, int] | None = None,
        whole_pieces: bool = True,
    ) -> None:
        if id_of is None:
            id_of = dict(zip(tokens.values(), tokens, strict=True))
        self._set(symbols or ByteSymbols(bytes_among(tokens)), tokens, special_tokens)
        check_special_tokens(self.special_tokens, tokens)
        self._id_of, self._rank_of, self._looks_up = (
            id_of,
            rank_of or ranks_in_order(id_of),
            whole_pieces,
        )
        self._is_in_order = rank_of is None
        self._recovery: Iterator[Triple | None] | None = None
        self._found: list[Triple | None] = []  # what `_recovery` has yielded so far
        self._recovered: list[Triple] | None = None
        self._lock = Lock()  # the app asks from several threads

    @cached_property
    def _store(self) -> Store:  # type: ignore[override]
        self.recover()
        merges = list(self._recovered or ())
        made = {token for _, _, token in merges}
        base = dict(
            sorted(
                (token, data)
                for token, data in self.bytes_of.items()
                if token not in made
            )
        )
        longer = (
            (data, token)
            for token, data in base.items()
            if self._looks_up and len(data) > 1
        )
        looked_up = {
            data: token for data, token in longer if self._id_of.get(data) == token
        }
        store = Store(base, self._symbols, looked_up)
        store.merges, store.bytes_of = (
            merges,
            dict(self.bytes_of),
        )  # unchecked: each makes another token
        store.step_of = {token: step for step, (_, _, token) in enumerate(merges, 1)}
        return store

    @cached_property
    def compiled(self) -> "kernel.Encoder | None":
        return _compiled(self._symbols, self._id_of, self._rank_of, self._looks_up)

    def whole(self, piece: bytes) -> int | None:
        return self._id_of.get(piece) if self._looks_up else None

    def join_in_python(self, data: bytes) -> tuple[int, ...]:
        parts = merge_parts(self._symbols.parts(data), self._rank_of)
        ids: list[int] = []
        for _, group in groupby(parts, key=self._id_of.__contains__):
            run = list(
                group
            )  # adjacent parts without a token become symbols together: unknown ones may fuse
            ids += (
                map(self._id_of.__getitem__, run)
                if run[0] in self._id_of
                else self.symbols(b"".join(run))
            )
        return tuple(ids)

    @property
    def n_merges(self) -> int:
        if self._recovered is None:  # it is asked for with every token
            self.recover()
        return len(self._recovered or ())

    @cached_property
    def bytes_of(self) -> Mapping[int, bytes]:
        return MappingProxyType(self._bytes_of)

    @cached_property
    def n_tokens(self) -> int:
        return len(self.bytes_of) + sum(
            token not in self.bytes_of for token in self._texts
        )

    @property
    def knows_merges(self) -> bool:  # type: ignore[override]
        return self._recovered is not None

    def recover(self, seconds: float = float("inf")) -> bool:
        deadline = perf_counter() + seconds
        with self._lock:
            if (
                self._recovery is None
            ):  # not before: making the kernel's encoder would lengthen each loading of a file
                self._recovery = recovered(
                    self._symbols,
                    self._id_of,
                    self.compiled if self._is_in_order else None,
                )
            try:
                while self._recovered is None:
                    found = list(islice(self._recovery, _SLICE))
                    self._found += found
                    if len(found) < _SLICE:
                        self._recovered = [merge for merge in self._found if merge]
                    if perf_counter() >= deadline:
                        break
            except BaseException:  # which has ended the iterator, too
                self._recovery, self._found = None, []
                raise
            return self.knows_merges

    @property
    def recovered_share(self) -> float:  # type: ignore[override]
        return 1.0 if self.knows_merges else len(self._found) / max(1, len(self._id_of))

    def __contains__(self, token: object) -> bool:
        return token in self.bytes_of or token in self._texts

    def __repr__(self) -> str:
        return f"<RankedVocabulary: {self.n_tokens} tokens>"

    def __reduce__(self) -> tuple[Callable[..., Vocabulary], tuple[Any, ...]]:
        by_rank = array("I", self._id_of.values())
        ranks = (
            None
            if self._is_in_order
            else array("I", map(self._rank_of.__getitem__, self._id_of))
        )
        tokens, specials = dict(self.bytes_of), dict(self.special_tokens)
        return _of_ranks, (
            tokens,
            by_rank,
            ranks,
            specials,
            self._symbols,
            self._looks_up,
        )

    def ids(self) -> list[int]:
        return sorted({*self.bytes_of, *self._texts})

    def as_merges(self) -> Vocabulary:
        """A vocabulary of merges, in the order of the ranks, that gives every piece the same ids.

        Its merges are those of `merges` and, for some vocabularies, further ones of tokens that text becomes by merging
        though `recovered` finds no merge for them: see `late_merges`. Raises `OptionError` if some ranks are equal.
        """
        if not self._is_in_order:
            raise OptionError(
                "Some tokens of this vocabulary have equal ranks, which merges can't express."
            )
        late_merges = self.late_merges()
        if not late_merges:
            return super().at(self.n_merges)
        rank_of_id = {token: rank for rank, token in enumerate(self._id_of.values())}
        merges = sorted(
            [*self.merges, *late_merges], key=lambda merge: rank_of_id[merge[2]]
        )
        base = {token: data for token, data in self.base.items() if len(data) == 1}
        made: set[int] = set()
        for (
            left,
            right,
            token,
        ) in merges:  # the parts of a late merge may be made after it
            base |= {
                part: self._bytes_of[part] for part in (left, right) if part not in made
            }
            made.add(token)
        base |= {token: data for token, data in self.base.items() if token not in made}
        return Vocabulary(
            dict(sorted(base.items())),
            merges,
            self.special_tokens,
            symbols=self._symbols,
            whole_pieces=self.whole_pieces,
        )

    def late_merges(self) -> list[Triple]:
        """The merges of tokens that are made with the help of tokens of higher rank.

        Of the tokens abc and ab, in the order of their ranks, the first is not made by tokens of smaller rank; but once
        ab is joined, ab and c become abc. One merge a token is enough: as long as no merge crosses their borders, bytes
        become the same tokens in any text, one join after another (see `bpe_core.vocabulary.merge_loop`), and before
        they are one token, they are two in one way only.
        """
        found: list[Triple] = []
        for token, data in self.base.items():
            n_symbols = len(self._symbols.parts(data))
            if (
                n_symbols > 1
                and self._id_of.get(data) == token
                and self._merges_into(data, token)
            ):
                left, right = self._last_two_parts(data)
                found.append((self._id_of[left], self._id_of[right], token))
        return found

    def _merges_into(self, data: bytes, token: int) -> bool:
        try:
            return self.join(data) == (token,)
        except UnknownTokenError:
            return False

    def _last_two_parts(self, data: bytes) -> tuple[bytes, bytes]:
        """What merging joins last in `data`, which it makes one token of."""
        last_two = [(b"", b"")]

        def join(left: bytes, right: bytes, _: int) -> bytes:
            if left + right == data:
                last_two[0] = left, right
            return left + right

        rank_of = self._rank_of.get
        merge(
            self._symbols.parts(data),
            lambda left, right: rank_of(left + right, NO_RANK),
            join,
        )
        return last_two[0]

    def at(self, step: int) -> Vocabulary:
        """The vocabulary of the first `step` recovered merges; this one itself for the last step."""
        return self if step == self.n_merges else super().at(step)


def _of_ranks(
    tokens: Any,
    by_rank: "array[int]",
    ranks: "array[int] | None",
    specials: Any,
    symbols: Any,
    looks_up: bool,
) -> RankedVocabulary:
    id_of = dict(zip(map(tokens.__getitem__, by_rank), by_rank, strict=True))
    rank_of = None if ranks is None else dict(zip(id_of, ranks, strict=True))
    return RankedVocabulary(
        tokens,
        specials,
        symbols=symbols,
        id_of=id_of,
        rank_of=rank_of,
        whole_pieces=looks_up,
    )


def ranks_in_order(id_of: Mapping[bytes, int]) -> Mapping[bytes, int]:
    """The ranks of tokens that stand in the order of these, no two with the same; ids that ascend serve as ranks."""
    ids = list(id_of.values())
    return (
        id_of if ids == sorted(ids) else dict(zip(id_of, range(len(ids)), strict=True))
    )


def _compiled(
    symbols: Symbols,
    id_of: Mapping[bytes, int],
    rank_of: Mapping[bytes, int],
    looks_up: bool,
) -> "kernel.Encoder | None":
    """The kernel's encoder, if it can have one; made in a twentieth of a second for 200,000 tokens."""
    byte_ids, end, characters = symbols.tables
    if isinstance(symbols, CharacterSymbols):
        # A symbol without a token can be joined to another, which the kernel does not know of.
        if not all(
            symbols.id_of.keys() >= set(token.decode(errors="surrogateescape"))
            for token in id_of
        ):
            return None
    elif any(
        id is None or id_of.get(bytes([byte])) != id for byte, id in enumerate(byte_ids)
    ):
        return None
    tokens = id_of if isinstance(id_of, dict) else dict(id_of)
    ranks = tokens if rank_of is id_of else dict(rank_of)
    with suppress(ValueError, OverflowError):  # an id that is too large
        return kernel.Encoder(byte_ids, end, characters, tokens, ranks, looks_up, True)
    return None


def recovered(
    symbols: Symbols,
    id_of: Mapping[bytes, int],
    encoder: "kernel.Encoder | None" = None,
) -> Iterator[Triple | None]:
    """For each token, in the order of the ranks, the merge that makes it; None if no merge does.

    A token is made of what its bytes become by the tokens of smaller rank, if that is two tokens. These are compatible
    then (see `bpe_core.vocabulary.merge_loop`), so no text ever joins the token from another two. If its bytes become
    more than two parts, no merge makes it in the order of a training; a piece equal to it may still be looked up whole.
    `id_of` must have the order of the ranks, and no two tokens the same rank.
    """
    encoder = encoder or _compiled(symbols, id_of, ranks_in_order(id_of), False)
    tokens, smaller = iter(id_of.items()), dict[bytes, int]()
    while some := list(islice(tokens, _SLICE)):
        if encoder:
            packed_ids, packed_ends = encoder.parents([token for token, _ in some])
            ids, ends = array("I", packed_ids), array("Q", packed_ends)
            for (_, made), end, n in zip(
                some, ends, map(sub, ends, chain((0,), ends)), strict=True
            ):
                yield (ids[end - 2], ids[end - 1], made) if n == 2 else None
            continue
        for token, made in some:
            match [
                id_of.get(part) for part in merge_parts(symbols.parts(token), smaller)
            ]:
                case [int() as left, int() as right]:
                    yield left, right, made
                case _:
                    yield None
            smaller[token] = len(smaller)


def merge_parts(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    """Merge `parts` until no two neighbors, joined, have a rank: the lowest rank first, of equal ranks the leftmost.

    >>> merge_parts([b"l", b"o", b"w"], {b"lo": 0, b"ow": 1, b"low": 2})
    [b'low']
    """
    rank_of_joined = rank_of.get
    return merge(
        parts,
        lambda left, right: rank_of_joined(left + right, NO_RANK),
        lambda left, right, _: left + right,
    )
