"""TokenRows: a row for each token of a vocabulary and for each hole among its ids; sorted, filtered and searched.

What takes time grows with the vocabulary and is done by generators that pause every few milliseconds, so that 200,000
rows hold up no key. Orders are lists of row numbers; no row is ever moved. Knows no widget.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from bpe_core.auditing.findings import KINDS, Severity
from bpe_core.auditing.summary import Fingerprint, KnownVocabulary
from bpe_core.visible import token_label
from tui.drawing.sorting import SLICE, Steps, sorted_in_steps
from tui.drawing.token_search import Search

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.vocabulary import Vocabulary

ALL: Final = ""
"""The choice of all rows."""
SPECIAL: Final = "special"
HOLE: Final = "hole"
"""Choices that need no audit: special tokens, and ids that no token has."""

_PLACES: Final = {kind: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are to be shown, and in which order."""

    column: str = "score"
    """"score" (the most suspicious first), "id", "token", "kinds", or a name of `TokenRows.measures`."""
    reverse: bool = False
    """The other way round; rows without a value come last either way."""
    kind: str = ALL
    """The only kind wanted: one of `KINDS`, `SPECIAL`, `HOLE`, or `ALL` tokens."""
    severity: int = 0
    """The least severity wanted; 0 for all rows, those without a finding too."""
    search: str = ""
    """What was typed, see `Search`."""


@dataclass(frozen=True, slots=True)
class Hole:
    """Ids `first` to `last`, both included, that no token has although greater ids are in use."""

    first: int
    last: int

    @property
    def sentence(self) -> str:
        """The hole in words."""
        if self.first == self.last:
            return "No token has this id."
        return f"No token has the {self.last - self.first + 1:,} ids from {self.first:,} to {self.last:,}."


class TokenRows:
    """The rows of one vocabulary, the tokens first, by id, then the holes; and what an audit says of them."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        """Row -> id; a hole has its first id."""
        self.tokens: list[bytes] = []
        """Row -> bytes; a hole has none."""
        self.holes: list[Hole] = []
        """The holes, the first of which is row `n_tokens`."""
        self.n_tokens = 0
        self.largest_id = 0
        self.specials: frozenset[int] = frozenset()
        """Ids of special tokens."""
        self.known: KnownVocabulary | None = None
        """The well-known vocabulary that it is, if it is one."""
        self._texts: list[str] = []
        self._by_token: list[int] = []
        self.forget()

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, vocabulary: "Vocabulary") -> Generator[None, None, "TokenRows"]:
        """Read all tokens of a vocabulary into these rows, which are empty before and returned; O(n log n)."""
        bytes_of = vocabulary.bytes_of
        specials = {token: vocabulary.token_bytes(token) for token in vocabulary.special_tokens.values()}
        ids = vocabulary.ids()
        yield
        before, fingerprint = -1, Fingerprint()
        for start in range(0, len(ids), SLICE):
            some = ids[start : start + SLICE]
            tokens = [specials[token] if token in specials else bytes_of[token] for token in some]
            self.tokens += tokens
            self._texts += [token_label.__wrapped__(data).casefold() for data in tokens]
            self.holes += [
                Hole(last + 1, token - 1)
                for last, token in zip([before, *some], some, strict=False)
                if token > last + 1
            ]
            before = some[-1]
            fingerprint.add((token, data) for token, data in zip(some, tokens, strict=True) if token not in specials)
            yield
        self.specials, self.n_tokens, self.largest_id = frozenset(specials), len(ids), before
        self.known = fingerprint.known
        self.ids = [*ids, *(hole.first for hole in self.holes)]
        self.tokens += [b""] * len(self.holes)
        self._texts += [""] * len(self.holes)
        self._by_token = yield from sorted_in_steps(range(self.n_tokens), self._texts.__getitem__)
        return self

    def row_of(self, token: int) -> int | None:
        """The row of an id; None if no token has it."""
        row = bisect_left(self.ids, token, hi=self.n_tokens)
        return row if row < self.n_tokens and self.ids[row] == token else None

    def hole(self, row: int) -> Hole | None:
        """The hole of a row; None for a token's."""
        return self.holes[row - self.n_tokens] if row >= self.n_tokens else None

    # What an audit says

    def forget(self) -> None:
        """Forget what an audit said of the tokens."""
        self.verdicts: Mapping[int, Verdict] = {}
        """Id -> verdict, of tokens with a finding."""
        self.measures: Mapping[str, Mapping[int, float]] = {}
        """Name of a measure -> id -> number; one that was not measured is not there."""
        self.severities: Mapping[Severity, int] = {}
        """Severity -> how many tokens there are of it."""
        self.greatest: Mapping[str, float] = {}
        """Name of a measure -> its greatest number."""
        self._n_of_kind: Mapping[str, int] = {}
        self._values: dict[str, dict[int, float]] = {}
        self._sorted: dict[tuple[str, bool], list[int]] = {}

    def judge(
        self, verdicts: Sequence["Verdict"], measures: Mapping[str, Mapping[int, float]]
    ) -> Generator[None, None, "TokenRows"]:
        """Take what an audit says in the place of what was said before, all at once at the end; returns these rows."""
        by_id: dict[int, Verdict] = {}
        n_of_kind: Counter[str] = Counter()
        severities: Counter[Severity] = Counter()
        for start in range(0, len(verdicts), SLICE):
            some = verdicts[start : start + SLICE]
            by_id.update((verdict.id, verdict) for verdict in some)
            severities.update(verdict.severity or Severity.NOTE for verdict in some)
            n_of_kind.update(chain.from_iterable(verdict.kinds for verdict in some))
            yield
        self.forget()
        self.verdicts, self.measures, self.severities = by_id, measures, severities
        self.greatest = {name: max(column.values()) for name, column in measures.items() if column}
        self._n_of_kind = {kind: n_of_kind[kind] for kind in sorted(n_of_kind, key=_place)}
        return self

    @property
    def choices(self) -> dict[str, int]:
        """What `Wanted.kind` can be, with the number of rows."""
        own = {SPECIAL: len(self.specials), HOLE: len(self.holes)}
        return {ALL: self.n_tokens, **self._n_of_kind, **{name: n for name, n in own.items() if n}}

    # Rows in order

    def rows(self, wanted: Wanted) -> Steps:
        """The rows wanted, in order; those that are exactly what is sought come first."""
        rows = yield from self._in_order(wanted.column, wanted.reverse)
        if wanted.kind != HOLE and not wanted.search:
            rows = rows[: self.n_tokens]
        if test := self._test(wanted.kind, wanted.severity):
            rows = yield from _those(rows, test)
        if wanted.search:
            rows = yield from self._found(rows, Search.read(wanted.search))
        return rows

    def _test(self, kind: str, severity: int) -> Callable[[int], bool] | None:
        """A function that tells whether a row has the wanted kind and severity; None if all rows are wanted."""
        if kind == SPECIAL:
            return lambda row: self.ids[row] in self.specials and row < self.n_tokens
        if kind == HOLE:
            return self.n_tokens.__le__
        if kind == ALL and not severity:
            return None
        ids, get = self.ids, self.verdicts.get
        return lambda row: (
            (verdict := get(ids[row])) is not None
            and (verdict.severity or 0) >= severity
            and (not kind or kind in verdict.kinds)
        )

    def _found(self, rows: Sequence[int], search: Search) -> Steps:
        """Those of `rows` that are meant by a search."""
        texts, tokens, text, data = self._texts, self.tokens, search.text, search.bytes
        found: list[int] = []
        for start in range(0, len(rows), SLICE):
            some = rows[start : start + SLICE]
            if data:
                found += [row for row in some if data in tokens[row] or text in texts[row]]
            elif text:
                found += [row for row in some if text in texts[row]]
            yield
        meant = self._row_at(search.id)
        first = [meant] if meant is not None and meant in rows else []
        first += [row for row in found if tokens[row] == data or texts[row] in (text, "␣" + text)]
        return list(dict.fromkeys([*first, *found])) if first else found

    def _row_at(self, token: int | None) -> int | None:
        """The row of an id, or of the hole it lies in."""
        if token is None:
            return None
        in_hole = bisect_right(self.ids, token, lo=self.n_tokens) - 1
        if in_hole >= self.n_tokens and token <= self.holes[in_hole - self.n_tokens].last:
            return in_hole
        return self.row_of(token)

    def _in_order(self, column: str, reverse: bool) -> Steps:
        """All rows, sorted by a column, those that have nothing in it last."""
        if column in ("id", "token"):
            rows = range(self.n_tokens) if column == "id" else self._by_token
            return [*(reversed(rows) if reverse else rows), *range(self.n_tokens, len(self))]
        if (known := self._sorted.get((column, reverse))) is None:
            values = yield from self._read_column(column)
            known = yield from sorted_in_steps(list(values), values.__getitem__, reverse=reverse != (column == "score"))
            known = known + (yield from _those(range(len(self)), lambda row: row not in values))
            self._sorted[column, reverse] = known
        return known

    def _read_column(self, column: str) -> Generator[None, None, dict[int, float]]:
        """Row -> what a column sorts by, of those rows that have something in it."""
        if column not in self._values:
            read = _READ.get(column)
            source: Mapping[int, Any] = self.verdicts if read else self.measures.get(column, {})
            values: dict[int, float] = {}
            left = iter(source.items())
            while some := list(islice(left, SLICE)):
                found = ((self.row_of(token), read(value) if read else value) for token, value in some)
                values.update((row, value) for row, value in found if row is not None)
                yield
            self._values[column] = values
        return self._values[column]


def _place(kind: str) -> int:
    return _PLACES.get(kind, len(_PLACES))


_READ: Final[Mapping[str, Callable[[Any], float]]] = {
    "score": lambda verdict: verdict.score,
    "kinds": lambda verdict: _place(verdict.kinds[0]) if verdict.kinds else len(_PLACES),
}
"""What a column of verdicts sorts by."""


def _those(rows: Sequence[int], test: Callable[[int], bool]) -> Steps:
    """The rows that pass a test, in the same order."""
    found: list[int] = []
    for start in range(0, len(rows), SLICE):
        found += filter(test, rows[start : start + SLICE])
        yield
    return found
