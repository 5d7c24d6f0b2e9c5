"""TokenRows: the tokens of a vocabulary and the gaps between its ids, with the findings of an audit.

Slow work is done by generators that pause every few milliseconds, so that 200,000 rows never block the keyboard.
"""

import csv
import io
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from bpe_core.auditing.findings import KINDS, Severity
from bpe_core.auditing.verdicts import by_family
from bpe_core.visible import code, token_label, visible
from bpe_core.weighted import Measure

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.vocabulary import Vocabulary

SPECIAL: Final = "special"
HOLE: Final = "hole"
"""`SPECIAL` and `HOLE` are kinds of rows known without an audit: special tokens, and unused ids."""

_TOGETHER: Final = 4096
"""Tokens that are read between two pauses."""
_PLACES: Final = {kind: place for place, kind in enumerate(KINDS)}

MARKS: Final = {Severity.PROBLEM: "▲", Severity.WARNING: "●", Severity.NOTE: "○"}
INKS: Final = {
    Severity.PROBLEM: "warning",
    Severity.WARNING: "accent",
    Severity.NOTE: "muted",
}


def number(measure: str, value: Measure) -> str:
    """Format the value of a measure.

    >>> number("count", 12345), number("largest_share", 0.625), number("indicator", 0.123456)
    ('12,345', '62 %', '0.123')
    """
    if measure == "largest_share":
        return f"{100 * float(value):.0f} %"
    if measure == "elsewhere":
        return f"{float(value):.1f}"
    if measure == "indicator":
        return f"{float(value):.3g}"
    return f"{float(value):,.0f}"


class Hole(NamedTuple):
    """Unused ids from `first` to `last`, both included, below larger ids that are in use."""

    first: int
    last: int

    @property
    def sentence(self) -> str:
        if self.first == self.last:
            return "No token has this id."
        n_ids = self.last - self.first + 1
        return f"No token has the {n_ids:,} ids from {self.first:,} to {self.last:,}."


class TokenRows:
    """The rows of one vocabulary: the tokens by id, then the holes; with the findings of an audit."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        """The id of each row; for a hole, its first id."""
        self.tokens: list[bytes] = []
        """The bytes of each row; empty for a hole."""
        self.labels: list[str | None] = []
        """The label of each row in lower case (`casefold`), for searching; None for a hole."""
        self.holes: list[Hole] = []
        """The holes; they begin at row `n_tokens`."""
        self.n_tokens = 0
        self.largest_id = 0
        self.specials: frozenset[int] = frozenset()
        """The ids of special tokens."""
        self.verdicts: Mapping[int, Verdict] = {}
        """The verdicts by id, for tokens with a finding."""
        self.measures: Mapping[str, Mapping[int, Measure]] = {}
        """For the name of each measure taken, its values by id."""
        self.greatest: Mapping[str, Measure] = {}
        """The largest value of each measure."""
        self.place_of: Mapping[int, int] = {}
        """Id -> place in the list of tokens with a finding. The tokens of a family follow each other."""
        self.members: Mapping[int, Sequence[int]] = {}
        """For the first token of each family of several, the ids of the others."""
        self._n_of_kind: Mapping[str, int] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, vocabulary: "Vocabulary") -> Generator[None, None, "TokenRows"]:
        """Read all tokens of a vocabulary into these rows, which must be empty, and return them."""
        bytes_of = vocabulary.bytes_of
        specials = {
            token: vocabulary.token_bytes(token)
            for token in vocabulary.special_tokens.values()
        }
        ids = vocabulary.ids()
        yield
        previous = -1
        for start in range(0, len(ids), _TOGETHER):
            batch = ids[start : start + _TOGETHER]
            for token in batch:
                data = specials[token] if token in specials else bytes_of[token]
                self.tokens.append(data)
                # Skip the cache: each label is needed once.
                self.labels.append(token_label.__wrapped__(data).casefold())
                if token > previous + 1:
                    self.holes.append(Hole(previous + 1, token - 1))
                previous = token
            yield
        self.specials = frozenset(specials)
        self.n_tokens = len(ids)
        self.largest_id = previous
        self.ids = [*ids, *(hole.first for hole in self.holes)]
        self.tokens += [b""] * len(self.holes)
        self.labels += [None] * len(self.holes)
        return self

    def row_of(self, token: int) -> int | None:
        row = bisect_left(self.ids, token, hi=self.n_tokens)
        if row < self.n_tokens and self.ids[row] == token:
            return row
        return None

    def hole(self, row: int) -> Hole | None:
        if row < self.n_tokens:
            return None
        return self.holes[row - self.n_tokens]

    def judge(
        self,
        verdicts: Sequence["Verdict"],
        measures: Mapping[str, Mapping[int, Measure]],
    ) -> Generator[None, None, "TokenRows"]:
        """Replace the findings with an audit, all at once at the end, and return these rows."""
        by_id: dict[int, Verdict] = {}
        n_of_kind: Counter[str] = Counter()
        for start in range(0, len(verdicts), _TOGETHER):
            batch = verdicts[start : start + _TOGETHER]
            by_id.update((verdict.id, verdict) for verdict in batch)
            n_of_kind.update(chain.from_iterable(verdict.kinds for verdict in batch))
            yield
        families = by_family(verdicts)
        yield
        self.place_of = {
            verdict.id: place
            for place, verdict in enumerate(chain.from_iterable(families))
        }
        self.members = {
            first.id: [other.id for other in others]
            for first, *others in families
            if others
        }
        self.verdicts = by_id
        self.measures = measures
        self.greatest = {
            name: max(column.values()) for name, column in measures.items() if column
        }
        self._n_of_kind = {
            kind: n_of_kind[kind] for kind in sorted(n_of_kind, key=place_of_kind)
        }
        return self

    def verdict(self, row: int) -> "Verdict | None":
        return self.verdicts.get(self.ids[row])

    def first_of_family(self, row: int) -> int:
        """Return the id of the first token of a token's family, or its own id."""
        verdict = self.verdict(row)
        if verdict is None or verdict.family is None:
            return self.ids[row]
        return verdict.family

    @property
    def n_of_kind(self) -> dict[str, int]:
        """The number of rows of each kind; the kind "" means all tokens."""
        numbers = {"": self.n_tokens}
        numbers.update(self._n_of_kind)
        if self.specials:
            numbers[SPECIAL] = len(self.specials)
        if self.holes:
            numbers[HOLE] = len(self.holes)
        return numbers


def place_of_kind(kind: str = "") -> int:
    """Return the rank of a kind of finding; unknown kinds come last."""
    return _PLACES.get(kind, len(_PLACES))


def exported(rows: TokenRows, order: Sequence[int], suffix: str) -> Iterator[bytes]:
    """Yield the parts of a file with the tokens in `order`, in UTF-8; `suffix` is one of `FORMS`.

    Unknown values are left out in JSON and empty in tables.
    """
    from bpe_core.auditing.verdicts import Verdict

    def verdict_or_no_finding(row: int) -> Verdict:
        token = rows.ids[row]
        verdict = rows.verdicts.get(token)
        if verdict is not None:
            return verdict
        measured = {
            name: column[token]
            for name, column in rows.measures.items()
            if token in column
        }
        return Verdict(
            id=token,
            token=rows.tokens[row],
            score=0.0,
            severity=None,
            kinds=(),
            reason="",
            shares={},
            evidence=measured,
        )

    tokens = (verdict_or_no_finding(row) for row in order if rows.hole(row) is None)
    for part in FORMS[suffix](tokens, list(rows.measures)):
        yield part.encode()


def _csv(verdicts: "Iterable[Verdict]", measures: Sequence[str]) -> Iterator[str]:
    """One row per token; bytes in hexadecimal."""
    written = io.StringIO()
    # Lines end in CR LF (RFC 4180), which also quotes a carriage return in a token.
    table = csv.writer(written)
    table.writerow(
        ("id", "token", "bytes", "score", "severity", "kinds", "reason", *measures)
    )
    for verdict in verdicts:
        row: list[object] = [
            verdict.id,
            verdict.token.decode("utf-8", "backslashreplace"),
            verdict.token.hex(),
            verdict.score,
            verdict.severity.word if verdict.severity else "",
            " ".join(verdict.kinds),
            verdict.reason,
        ]
        row += [verdict.evidence.get(name, "") for name in measures]
        table.writerow(row)
    yield written.getvalue()


def _markdown(verdicts: "Iterable[Verdict]", measures: Sequence[str]) -> Iterator[str]:
    """A table for people: without bytes, with numbers formatted as on the screen."""
    names = ("id", "token", "score", "kinds", *measures, "reason")
    yield f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n"
    for verdict in verdicts:
        row = [
            str(verdict.id),
            code(token_label(verdict.token)),
            f"{verdict.score:.2f}",
            ", ".join(verdict.kinds),
        ]
        for name in measures:
            value = verdict.evidence.get(name, "")
            row.append(value if isinstance(value, str) else number(name, value))
        row.append(visible(verdict.reason).replace("|", "\\|"))
        yield f"| {' | '.join(row)} |\n"


def _jsonl(verdicts: "Iterable[Verdict]", _: Sequence[str]) -> Iterator[str]:
    return (json.dumps(verdict.to_json()) + "\n" for verdict in verdicts)


FORMS: Final = {".jsonl": _jsonl, ".csv": _csv, ".md": _markdown}
"""The functions that write rows, by the suffix of the file."""
