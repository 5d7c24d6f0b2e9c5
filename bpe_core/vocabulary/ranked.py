"""A vocabulary given by the ranks of its tokens. It encodes by ranks, and recovers its merges when they are needed."""

import os
from array import array
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import inf
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final

from bpe_core import kernel
from bpe_core.cached import cached_property
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.vocabulary import Vocabulary, check_special_tokens
from bpe_core.vocabulary.encoding import RankEncoding, merge_parts
from bpe_core.vocabulary.merge_loop import NO_RANK, Triple, merge
from bpe_core.vocabulary.paths import vocabulary_of
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import ByteSymbols, Symbols, bytes_among

_SLICE: Final = (
    500  # tokens recovered between two looks at the time: less than a millisecond
)


class RankedVocabulary(Vocabulary):
    """A vocabulary whose file has a rank for each token but no merges, like the files of tiktoken and SentencePiece.

    Two neighbors are joined if their joined bytes are a token, the lowest rank first. `merges`, `n_merges`, `parents`
    and everything else that needs merges recovers all of them first; that takes seconds for a large vocabulary if
    there is no kernel. `recover` does it in slices of time. `at` returns a vocabulary of merges for every step but the last.
    """

    encoding: RankEncoding

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
        """Store the tokens.

        Args:
            tokens: Id -> bytes. It is not copied and must not change.
            special_tokens: Text -> id.
            symbols: How a piece becomes symbols before it is merged; by default its bytes.
            id_of: Bytes -> id of the tokens that text can become, in the order of their ranks; by default all tokens.
            rank_of: Bytes -> rank. Only needed if some tokens have equal ranks.
            whole_pieces: Whether a piece that is a token becomes it without merging.

        Raises:
            OptionError: A special token is invalid.
        """
        if id_of is None:
            id_of = dict(zip(tokens.values(), tokens, strict=True))
        if symbols is None:
            symbols = ByteSymbols(bytes_among(tokens))
        encoding = RankEncoding(
            symbols, id_of, rank_of or ranks_in_order(id_of), whole_pieces
        )
        self._set_fields(encoding, symbols, tokens, special_tokens)
        check_special_tokens(self.special_tokens, tokens)
        self._has_equal_ranks = rank_of is not None and len(
            set(rank_of.values())
        ) < len(rank_of)
        self._recovery: Iterator[Triple | None] | None = None
        self._recovered_so_far: list[Triple | None] = []
        self._recovered: list[Triple] | None = None
        self._lock = Lock()  # the app recovers from several threads
        self._process_id = os.getpid()

    def _recovered_store(self) -> Store:
        self.recover()
        merges = list(self._recovered or ())
        made = {token for _, _, token in merges}
        base: dict[int, bytes] = {}
        whole_pieces: dict[bytes, int] = {}
        for token in sorted(self._bytes_of.keys() - made):
            data = base[token] = self._bytes_of[token]
            if len(data) > 1 and self.encoding.whole(data) == token:
                whole_pieces[data] = token
        store = Store(base, self._symbols, whole_pieces)
        # Nothing to check, so this is quicker than `extend`: each merge makes another token.
        store.merges = merges
        store.bytes_of = dict(self._bytes_of)
        store.step_of = {token: step for step, (_, _, token) in enumerate(merges, 1)}
        return store

    @property
    def n_merges(self) -> int:
        if self._recovered is None:
            self.recover()
        return len(self._recovered or ())

    @cached_property
    def bytes_of(self) -> Mapping[int, bytes]:
        return MappingProxyType(self._bytes_of)

    @cached_property
    def n_tokens(self) -> int:
        return len(self._bytes_of.keys() | self._special_bytes.keys())

    @property
    def knows_merges(self) -> bool:
        return self._recovered is not None

    @property
    def recovered_share(self) -> float:
        if self.knows_merges:
            return 1.0
        return len(self._recovered_so_far) / max(1, len(self.encoding.id_of))

    def recover(self, seconds: float = inf) -> bool:
        deadline = perf_counter() + seconds
        if self._process_id != os.getpid():
            self._begin_after_fork()
        with self._lock:
            try:
                while self._recovered is None:
                    self._recover_slice()
                    if perf_counter() >= deadline:
                        break
            except BaseException:  # an interrupt has ended the iterator, so begin again
                self._recovery = None
                self._recovered_so_far = []
                raise
            return self.knows_merges

    def _begin_after_fork(self) -> None:
        """Forget what a thread of the parent was doing, which does not exist in this process."""
        self._lock = Lock()
        self._process_id = os.getpid()
        if self._recovered is None:
            self._recovery = None
            self._recovered_so_far = []

    def _recover_slice(self) -> None:
        if self._recovery is None:
            # The kernel's encoder is made here, not before, to keep the loading of files short.
            encoder = None if self._has_equal_ranks else self.encoding.compiled
            self._recovery = recovered(self._symbols, self.encoding.id_of, encoder)
        merges = list(islice(self._recovery, _SLICE))
        self._recovered_so_far += merges
        if len(merges) < _SLICE:
            self._recovered = [merge for merge in self._recovered_so_far if merge]

    def __contains__(self, token: object) -> bool:
        return token in self._bytes_of or token in self._special_bytes

    def __repr__(self) -> str:
        return f"<RankedVocabulary: {self.n_tokens} tokens>"

    def __reduce__(self) -> tuple[Callable[..., Vocabulary], tuple[Any, ...]]:
        return _from_pickle, self._compared()

    def _compared(self) -> tuple[Any, ...]:
        id_of = self.encoding.id_of
        ids_by_rank = array("I", id_of.values())
        ranks = None
        if self._has_equal_ranks:
            ranks = array("I", map(self.encoding.rank_of.__getitem__, id_of))
        fields = (
            dict(self._bytes_of),
            ids_by_rank,
            ranks,
            dict(self.special_tokens),
            self._symbols,
            self.encoding.looks_up,
        )
        return fields

    def ids(self) -> list[int]:
        return sorted(self._bytes_of.keys() | self._special_bytes.keys())

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> Vocabulary:
        return RankedVocabulary(
            dict(self._bytes_of),
            special_tokens,
            symbols=self._symbols,
            id_of=self.encoding.id_of,
            rank_of=self.encoding.rank_of if self._has_equal_ranks else None,
            whole_pieces=self.encoding.looks_up,
        )

    def as_merges(self) -> Vocabulary:
        """Return a vocabulary of merges, in the order of the ranks, that gives every piece the same ids.

        It has the merges of `merges`. Some vocabularies need further merges, see `late_merges`.

        Raises:
            OptionError: Some tokens have equal ranks.
        """
        if self._has_equal_ranks:
            raise OptionError(
                "Some tokens of this vocabulary have equal ranks, which merges can't express."
            )
        late_merges = self.late_merges()
        if not late_merges:
            return self._version(self._store, self.n_merges, self.special_tokens)
        rank_of_id = {token: n for n, token in enumerate(self.encoding.id_of.values())}
        merges = list(self.merges)
        merges += late_merges
        merges.sort(key=lambda merge: rank_of_id[merge[2]])
        return vocabulary_of(
            self._bytes_of,
            merges,
            self.special_tokens,
            symbols=self._symbols,
            whole_pieces=self.whole_pieces,
        )

    def late_merges(self) -> list[Triple]:
        """Return one merge for each token that encoding produces, but that tokens of lower rank can't build.

        Example: abc has rank 0 and ab has rank 1. No token of lower rank builds abc, so `merges` has no merge for it.
        But encoding does produce abc: it joins a and b first, then ab and c.

        One merge per token is enough. The bytes of a token are joined in the same order wherever they become that
        token, so the last two parts of a token are always the same. `bpe_core.vocabulary.merge_loop` has the proof.
        """
        merges: list[Triple] = []
        for token, data in self.base.items():
            is_reachable = self.encoding.id_of.get(data) == token
            n_symbols = len(self._symbols.parts(data))
            if is_reachable and n_symbols > 1 and self._merges_into(data, token):
                left, right = self._last_two_parts(data)
                id_of = self.encoding.id_of
                merges.append((id_of[left], id_of[right], token))
        return merges

    def _merges_into(self, data: bytes, token: int) -> bool:
        try:
            return self.join(data) == (token,)
        except UnknownTokenError:
            return False

    def _last_two_parts(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the two parts that merging joins last in `data`, which becomes one token."""
        last_two = [(b"", b"")]
        rank_of_token = self.encoding.rank_of.get

        def rank_of(left: bytes, right: bytes) -> int:
            return rank_of_token(left + right, NO_RANK)

        def join(left: bytes, right: bytes, rank: int) -> bytes:
            if left + right == data:
                last_two[0] = left, right
            return left + right

        merge(self._symbols.parts(data), rank_of, join)
        return last_two[0]


def _from_pickle(
    tokens: Mapping[int, bytes],
    ids_by_rank: "array[int]",
    ranks: "array[int] | None",
    special_tokens: Mapping[str, int],
    symbols: Symbols,
    looks_up: bool,
) -> RankedVocabulary:
    id_of = {tokens[token]: token for token in ids_by_rank}
    return RankedVocabulary(
        tokens,
        special_tokens,
        symbols=symbols,
        id_of=id_of,
        rank_of=None if ranks is None else dict(zip(id_of, ranks, strict=True)),
        whole_pieces=looks_up,
    )


def ranks_in_order(id_of: Mapping[bytes, int]) -> Mapping[bytes, int]:
    """Return a rank for each token, in the order of `id_of`. Ids in ascending order serve as ranks."""
    ids = list(id_of.values())
    if ids == sorted(ids):
        return id_of
    return {data: rank for rank, data in enumerate(id_of)}


def recovered(
    symbols: Symbols,
    id_of: Mapping[bytes, int],
    encoder: "kernel.Encoder | None" = None,
) -> Iterator[Triple | None]:
    """Yield the merge that makes each token, in the order of the ranks; None if no merge does.

    The bytes of a token are merged by the tokens of lower rank. If that leaves two tokens, they are the parts. They are
    compatible (see `bpe_core.vocabulary.merge_loop`), so no text ever builds the token from another two. If it leaves
    more, no merge makes the token in the order of a training run; a piece equal to it may still be looked up as a whole.

    Args:
        symbols: How a piece becomes symbols.
        id_of: Bytes -> id, in the order of the ranks. No two tokens have the same rank.
        encoder: The kernel's encoder for these tokens, if there is one already.
    """
    if encoder is None:
        ranks = ranks_in_order(id_of)
        encoder = RankEncoding(symbols, id_of, ranks, looks_up=False).compiled
    if encoder:
        yield from _recovered_by_kernel(id_of, encoder)
        return
    lower_ranks: dict[bytes, int] = {}
    for data, token in id_of.items():
        parts = merge_parts(symbols.parts(data), lower_ranks)
        part_ids = [id_of.get(part) for part in parts]
        match part_ids:
            case [int() as left, int() as right]:
                yield left, right, token
            case _:
                yield None
        lower_ranks[data] = len(lower_ranks)


def _recovered_by_kernel(
    id_of: Mapping[bytes, int], encoder: kernel.Encoder
) -> Iterator[Triple | None]:
    tokens = iter(id_of.items())
    while slice_of_tokens := list(islice(tokens, _SLICE)):
        packed_ids, packed_ends = encoder.parents([data for data, _ in slice_of_tokens])
        ids = array("I", packed_ids)
        start = 0
        for (_, token), end in zip(
            slice_of_tokens, array("Q", packed_ends), strict=True
        ):
            parts = ids[start:end]
            yield (parts[0], parts[1], token) if len(parts) == 2 else None
            start = end
