"""A vocabulary that was learned with removals: its ids are those of the tokens that live."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, Self

from bpe_core.errors import OptionError
from bpe_core.picky.encoder import PickyEncoder
from bpe_core.picky.history import History, Row
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.layout import check_special_tokens, moved_up
from bpe_core.vocabulary.store import Store
from bpe_core.vocabulary.symbols import ByteSymbols, MarkedSymbols, Symbols, bytes_among


class Removed(NamedTuple):
    """A token that was removed."""

    step: int
    """By which step, from 1."""
    token: int
    """The id that it had until then."""
    bytes: bytes


class Change(NamedTuple):
    """A merge, or what a removal did, at all places of a piece. A token removed since has a negative number."""

    step: int
    old: tuple[int, ...]
    """Two neighbors; or one token, which was removed."""
    new: tuple[int, ...]
    """What they were replaced by."""
    times: int
    """At how many places."""
    parts: tuple[int, ...]
    """The tokens of the whole piece after it."""


class PickyVocabulary(Vocabulary):
    """The tokens that live after some steps of Picky BPE. See `bpe_core.picky`.

    A step is a merge and the removals after it. In `merges`, `parents` and `children` a token that was removed since
    has a negative number, that of the step that first made it; `token_bytes` and `step_of` know these, too, but they
    are no ids of the vocabulary.
    """

    __slots__ = ("_history", "_merged", "_names")

    encoder: PickyEncoder

    def __init__(
        self,
        base: Mapping[int, bytes],
        rows: Iterable[Row] = (),
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        *,
        end_of_word: int | None = None,
    ) -> None:
        """`base` are the single bytes, and the marker `end_of_word` if there is one; `rows` are the steps.

        Raises `OptionError` if a step makes no sense, or for a special token as `Vocabulary` does.
        """
        single = {token: data for token, data in base.items() if token != end_of_word}
        ids = bytes_among(single)
        if len(ids) != len(single):
            raise OptionError("Picky BPE begins with single bytes; this vocabulary has other tokens, or a byte twice.")
        symbols = ByteSymbols(ids) if end_of_word is None else MarkedSymbols(ids, end_of_word)
        history = History(base)
        history.extend(rows)
        self._set_steps(history, len(history.rows), symbols, special_tokens)
        check_special_tokens(self._specials, self._bytes_of)

    def _set_steps(self, history: History, n_steps: int, symbols: Symbols, special_tokens: Mapping[str, int]) -> None:
        self._history, self._n_merges = history, n_steps
        self._names = history.names(n_steps)
        self._merged: Store | None = None
        bytes_of = dict(zip(self._names, history.bytes_of, strict=False))
        self._set(PickyEncoder(history, n_steps, symbols, self._names), bytes_of, special_tokens)

    @classmethod
    def marked(
        cls, base: Mapping[int, bytes], merges: Iterable[Row], special_tokens: Mapping[str, int], end_of_word: int
    ) -> Self:
        """A vocabulary whose pieces all end with the marker `end_of_word`, the id of a token of `base`."""
        return cls(base, merges, special_tokens, end_of_word=end_of_word)

    @property
    def history(self) -> list[Row]:
        """The steps in force, each with the ids of that step."""
        return self._history.rows[: self._n_merges]

    @property
    def removed(self) -> list[Removed]:
        """Every removal until now, in order; a token that was learned again can be in it several times."""
        bytes_of = self._history.bytes_of
        return [
            Removed(step, token, bytes_of[number])
            for step, (row, numbers) in enumerate(zip(self.history, self._history.numbered, strict=False), 1)
            for token, number in zip(row[3:], numbers[3:], strict=True)
        ]

    def bytes_around(self, step: int) -> Callable[[int], bytes]:
        """What gives the bytes of the ids in use right before a step, or the last one, and right after it.

        A step uses no id twice.
        """
        step = min(step, self.n_merges)
        before, after = self.at(max(0, step - 1)), self.at(step)
        return lambda token: (after if token in after else before).token_bytes(token)

    def removal_of(self, step: int) -> int:
        """The step that removed the token which `step` made or made anew; 0 if it lives."""
        token = self._history.rows[step - 1][2]
        rows = islice(self._history.rows, step, self.n_merges)
        return next((later for later, row in enumerate(rows, step + 1) if token in row[3:]), 0)

    @property
    def only_merges(self) -> bool:
        """False: tokens are split again, too."""
        return False

    @property
    def _store(self) -> Store:
        """The merges in force, as they are told of."""
        if self._merged is None:
            store = Store(self._history.base, self.encoder.symbols, {})
            names = self._names
            numbered = self._history.numbered[: self._n_merges]
            store.extend((names[left], names[right], names[token]) for left, right, token, *_ in numbered)
            self._merged = store
        return self._merged

    @property
    def n_vocab(self) -> int:
        """How many ids there are: tokens that live, and special tokens."""
        return self._history.sizes[self._n_merges] + self._n_apart

    @property
    def sizes(self) -> list[int]:
        """`n_vocab` after each step, from 0 on."""
        return [size + self._n_apart for size in self._history.sizes[: self._n_merges + 1]]

    def __contains__(self, token: object) -> bool:
        return (isinstance(token, int) and token >= 0 and token in self._bytes_of) or token in self._texts

    def __repr__(self) -> str:
        return f"<PickyVocabulary: {self.n_vocab} tokens, {self.n_merges} steps>"

    def ids(self) -> list[int]:
        """Every id there is, ascending."""
        return sorted({*(name for name in self._names if name >= 0), *self._texts})

    def compatible(self, left: int, right: int) -> bool:
        """False: that two tokens stay as they are does not say so of three, since a merge may be undone between."""
        return False

    def trace(self, piece: bytes) -> Iterator[Change]:
        """What becomes of a piece, one change after the other."""
        for event, times, after in self.encoder.trace(piece):
            old, new = (tuple(self._names[number] for number in side) for side in self._history.events[event])
            yield Change(self._history.step_of_event(event), old, new, times, after)

    def next_step(self, left: int, right: int) -> int | None:
        """The first step behind those in force that merges two tokens that live; None if there is none."""
        pair = self._names.index(left), self._names.index(right)
        steps = map(self._history.step_of_event, self._history.events_of.get(pair, ()))
        return next((step for step in steps if step > self._n_merges), None)

    def at(self, step: int) -> Vocabulary:
        """The version after `step` steps; special tokens keep their ids. O(step).

        Raises `OptionError` for a step below 0 or above `n_merges`.
        """
        if not 0 <= step <= self.n_merges:
            raise OptionError(f"There is no step {step}; this vocabulary has the steps 0 to {self.n_merges}.")
        return self._with_steps(self._history, step, self._specials)

    def extended(self, rows: Iterable[Row]) -> Vocabulary:
        """The version with `rows` of a `history` added. Special tokens whose ids these take move up behind them."""
        rows = list(rows)
        history = self._history.at_tip(self._n_merges)
        history.extend(rows)
        made = [(left, right, token) for left, right, token, *_ in rows]
        return self._with_steps(history, len(history.rows), moved_up(self._specials, made))

    def _with_steps(self, history: History, n_steps: int, special_tokens: Mapping[str, int]) -> "PickyVocabulary":
        version = object.__new__(PickyVocabulary)
        version._set_steps(history, n_steps, self.encoder.symbols, special_tokens)
        return version

    def _check(self, token: int) -> None:
        if token not in self._bytes_of:
            super()._check(token)
