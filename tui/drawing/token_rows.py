"""TokenRows: a row for each token of a vocabulary and for each hole among its ids, and what an audit says of them.

What takes time is done by generators that pause every few milliseconds, so that 200,000 rows hold up no key.
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
from bpe_core.visible import code, token_label, visible
from bpe_core.weighted import Measure

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.vocabulary import Vocabulary

SPECIAL: Final = "special"
HOLE: Final = "hole"  # kinds of rows that need no audit: special tokens, and ids that no token has

_TOGETHER: Final = 4096  # tokens that are read between two pauses
_PLACES: Final = {kind: place for place, kind in enumerate(KINDS)}

MARKS: Final = {Severity.PROBLEM: "▲", Severity.WARNING: "●", Severity.NOTE: "○"}
INKS: Final = {
    Severity.PROBLEM: "warning",
    Severity.WARNING: "accent",
    Severity.NOTE: "muted",
}


def number(measure: str, value: Measure) -> str:
    """What was measured, as it is shown.

    >>> number("count", 12345), number("largest_share", 0.625), number("indicator", 0.123456)
    ('12,345', '62 %', '0.123')
    """
    if measure == "largest_share":
        return f"{100 * float(value):.0f} %"
    if measure == "indicator":
        return f"{float(value):.3g}"
    return f"{float(value):,.0f}"


class Hole(NamedTuple):
    """Ids `first` to `last`, both included, that no token has although greater ids are in use."""

    first: int
    last: int

    @property
    def sentence(self) -> str:
        if self.first == self.last:
            return "No token has this id."
        return f"No token has the {self.last - self.first + 1:,} ids from {self.first:,} to {self.last:,}."


class TokenRows:
    """The rows of one vocabulary, the tokens first, by id, then the holes; and what an audit says of them."""

    def __init__(self) -> None:
        # By row: id, bytes, and the token as it is shown, `casefold`ed; a hole has its first id, no bytes, and None.
        self.ids: list[int] = []
        self.tokens: list[bytes] = []
        self.labels: list[str | None] = []
        self.holes: list[Hole] = []  # the holes, the first of which is row `n_tokens`
        self.n_tokens = 0
        self.largest_id = 0
        self.specials: frozenset[int] = frozenset()  # ids of special tokens
        self.verdicts: Mapping[
            int, Verdict
        ] = {}  # id -> verdict, of tokens with a finding
        self.measures: Mapping[
            str, Mapping[int, Measure]
        ] = {}  # name of a measure, if it was measured -> id -> number
        self.greatest: Mapping[
            str, Measure
        ] = {}  # name of a measure -> its greatest number
        self._n_of_kind: Mapping[str, int] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, vocabulary: "Vocabulary") -> Generator[None, None, "TokenRows"]:
        """Read all tokens of a vocabulary into these rows, which are empty before and returned."""
        bytes_of = vocabulary.bytes_of
        specials = {
            token: vocabulary.token_bytes(token)
            for token in vocabulary.special_tokens.values()
        }
        ids = vocabulary.ids()
        yield
        before = -1
        for start in range(0, len(ids), _TOGETHER):
            some = ids[start : start + _TOGETHER]
            tokens = [
                specials[token] if token in specials else bytes_of[token]
                for token in some
            ]
            self.tokens += tokens
            self.labels += [token_label.__wrapped__(data).casefold() for data in tokens]
            self.holes += [
                Hole(last + 1, token - 1)
                for last, token in zip([before, *some], some, strict=False)
                if token > last + 1
            ]
            before = some[-1]
            yield
        self.specials, self.n_tokens, self.largest_id = (
            frozenset(specials),
            len(ids),
            before,
        )
        self.ids = [*ids, *(hole.first for hole in self.holes)]
        self.tokens += [b""] * len(self.holes)
        self.labels += [None] * len(self.holes)
        return self

    def row_of(self, token: int) -> int | None:
        row = bisect_left(self.ids, token, hi=self.n_tokens)
        return row if row < self.n_tokens and self.ids[row] == token else None

    def hole(self, row: int) -> Hole | None:
        return self.holes[row - self.n_tokens] if row >= self.n_tokens else None

    def judge(
        self,
        verdicts: Sequence["Verdict"],
        measures: Mapping[str, Mapping[int, Measure]],
    ) -> Generator[None, None, "TokenRows"]:
        """Take what an audit says in the place of what was said before, all at once at the end; returns these rows."""
        by_id: dict[int, Verdict] = {}
        n_of_kind: Counter[str] = Counter()
        for start in range(0, len(verdicts), _TOGETHER):
            some = verdicts[start : start + _TOGETHER]
            by_id.update((verdict.id, verdict) for verdict in some)
            n_of_kind.update(chain.from_iterable(verdict.kinds for verdict in some))
            yield
        self.verdicts, self.measures = by_id, measures
        self.greatest = {
            name: max(column.values()) for name, column in measures.items() if column
        }
        self._n_of_kind = {
            kind: n_of_kind[kind] for kind in sorted(n_of_kind, key=place_of_kind)
        }
        return self

    def verdict(self, row: int) -> "Verdict | None":
        return self.verdicts.get(self.ids[row])

    @property
    def n_of_kind(self) -> dict[str, int]:
        """Kind of rows -> how many there are; "" stands for all tokens."""
        own = {SPECIAL: len(self.specials), HOLE: len(self.holes)}
        return {
            "": self.n_tokens,
            **self._n_of_kind,
            **{name: n for name, n in own.items() if n},
        }


def place_of_kind(kind: str = "") -> int:
    """The place of a kind of finding among the others; one that is not known comes last."""
    return _PLACES.get(kind, len(_PLACES))


def exported(rows: TokenRows, order: Sequence[int], suffix: str) -> Iterator[bytes]:
    """The rows in `order`, without holes, as the parts of a file in UTF-8; `suffix` is one of `FORMS`.

    What is not known of a token has no place in JSON, and an empty one in the tables.
    """
    from bpe_core.auditing.verdicts import Verdict

    def verdict(row: int) -> Verdict:
        token = rows.ids[row]
        measured = {
            name: column[token]
            for name, column in rows.measures.items()
            if token in column
        }
        return rows.verdicts.get(token) or Verdict(
            token, rows.tokens[row], 0.0, None, (), "", {}, measured
        )

    tokens = (verdict(row) for row in order if rows.hole(row) is None)
    return map(str.encode, FORMS[suffix](tokens, list(rows.measures)))


def _csv(verdicts: "Iterable[Verdict]", measures: Sequence[str]) -> Iterator[str]:
    """A row each; bytes in hex."""
    written = io.StringIO()
    table = csv.writer(
        written
    )  # lines end as RFC 4180 says, so that a carriage return in a token is quoted
    table.writerow(
        ("id", "token", "bytes", "score", "severity", "kinds", "reason", *measures)
    )
    for one in verdicts:
        text = one.token.decode("utf-8", "backslashreplace"), one.token.hex()
        severity = one.severity.word if one.severity else ""
        measured = (one.evidence.get(name, "") for name in measures)
        table.writerow(
            (
                one.id,
                *text,
                one.score,
                severity,
                " ".join(one.kinds),
                one.reason,
                *measured,
            )
        )
    yield written.getvalue()


def _markdown(verdicts: "Iterable[Verdict]", measures: Sequence[str]) -> Iterator[str]:
    """A table for people: no bytes, numbers as they are on the screen."""
    names = ("id", "token", "score", "kinds", *measures, "reason")
    yield f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n"
    for one in verdicts:
        known = ((name, one.evidence.get(name, "")) for name in measures)
        numbers = (n if isinstance(n, str) else number(name, n) for name, n in known)
        reason = visible(one.reason).replace("|", "\\|")
        row = (
            f"{one.id}",
            code(token_label(one.token)),
            f"{one.score:.2f}",
            ", ".join(one.kinds),
            *numbers,
            reason,
        )
        yield f"| {' | '.join(row)} |\n"


def _jsonl(verdicts: "Iterable[Verdict]", _: Sequence[str]) -> Iterator[str]:
    return (json.dumps(verdict.to_json()) + "\n" for verdict in verdicts)


FORMS: Final = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".md": _markdown,
}  # suffix of a file -> how rows are written there
