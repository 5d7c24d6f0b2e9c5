"""A vocabulary given by the ranks of its tokens: it encodes by them, and recovers its merges when they are needed."""

from collections.abc import Mapping
from itertools import islice
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import Final

from bpe_core.vocabulary import Vocabulary, check_special_tokens
from bpe_core.vocabulary.encoder import RankEncoder
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import ByteSymbols, Symbols, bytes_among

_SLICE: Final = 500  # tokens whose merges are recovered between two checks of the time


class RankedVocabulary(Vocabulary):
    """A vocabulary whose file has a rank for each token but no merges, as those of tiktoken and SentencePiece.

    Two neighbors join if their joined bytes are a token, the lowest rank first. With `whole_pieces`, a piece that is
    a token becomes it without merging. `tokens` maps ids to bytes; it is kept, and must not change afterwards. `id_of`
    maps bytes to ids in the order of the ranks, for those tokens that text can become, by default all; `rank_of` is
    given only if some tokens have equal ranks.

    `merges`, `n_merges`, `parents` and whatever else needs the merges recovers all of them first, which takes seconds
    for a large vocabulary where there is no kernel; `recover` does so in slices of time. `at` an earlier step gives a
    vocabulary of merges.
    """

    __slots__ = ("_found", "_lock", "_merged", "_recovered", "_recovery")

    encoder: RankEncoder

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
        symbols = symbols or ByteSymbols(bytes_among(tokens))
        in_order = RankEncoder.in_order(symbols, id_of, whole_pieces=whole_pieces)
        by_rank = RankEncoder(symbols, id_of, rank_of, whole_pieces=whole_pieces) if rank_of else in_order
        self._set(by_rank, tokens, special_tokens)
        check_special_tokens(self.special_tokens, self._bytes_of)
        self._recovery = in_order.recovered()
        self._found: list[Triple | None] = []  # what `_recovery` has yielded so far
        self._recovered: list[Triple] | None = None
        self._merged: Store | None = None
        self._lock = Lock()  # the app asks from several threads

    @property
    def _store(self) -> Store:
        if self._merged is None:
            self.recover()
            assert self._recovered is not None
            made = {token for _, _, token in self._recovered}
            base = dict(sorted((token, data) for token, data in self._bytes_of.items() if token not in made))
            looked_up = {
                data: token
                for token, data in base.items()
                if self.encoder.whole_pieces and len(data) > 1 and self.encoder.id_of.get(data) == token
            }
            store = Store(base, self.encoder.symbols, looked_up)
            store.extend_known(list(self._recovered), self._bytes_of)
            self._merged = store
        return self._merged

    @property
    def n_merges(self) -> int:
        self.recover()
        return len(self._recovered or ())

    @property
    def n_vocab(self) -> int:
        return len(self._bytes_of) + self._n_apart

    @property
    def knows_merges(self) -> bool:
        return self._recovered is not None

    def recover(self, seconds: float = float("inf")) -> bool:
        deadline = perf_counter() + seconds
        with self._lock:
            while self._recovered is None:
                found = list(islice(self._recovery, _SLICE))
                self._found += found
                if len(found) < _SLICE:
                    self._recovered = [merge for merge in self._found if merge]
                if perf_counter() >= deadline:
                    break
            return self.knows_merges

    @property
    def recovered_share(self) -> float:
        return 1.0 if self.knows_merges else len(self._found) / max(1, len(self.encoder.id_of))

    def __contains__(self, token: object) -> bool:
        return token in self._bytes_of or token in self._texts

    def __repr__(self) -> str:
        return f"<RankedVocabulary: {self.n_vocab} tokens>"

    def ids(self) -> list[int]:
        return sorted({*self._bytes_of, *self._texts})

    def at(self, step: int) -> Vocabulary:
        """The vocabulary of the first `step` recovered merges; this one itself for the last step."""
        return self if step == self.n_merges else super().at(step)
