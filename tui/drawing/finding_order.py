"""FindingOrder: a growing list of findings as it is asked for: sorted by a column, one kind only, holding a text.

The findings stay as they came; adding some takes time for these alone. Sorting and filtering make lists of their
indices, in slices short enough to let a key through in between. Knows no widget.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from math import inf
from operator import itemgetter
from typing import Any, Final

from bpe_core.auditing.findings import KINDS, Finding

_KIND_ORDER: Final = {kind: place for place, kind in enumerate(KINDS)}
_SLICE: Final = 2048
"""Findings that are looked at in one go, in a few milliseconds."""

Keyed = tuple[Any, int]
"""What a finding is sorted by, and its index."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which findings are to be shown, and in which order."""

    column: str = "severity"
    """"severity" (the worst first), "id", "token", "kind", "count" or "reason"."""
    reverse: bool = False
    """The other way round."""
    kind: str = ""
    """The only kind wanted; "" for all."""
    search: str = ""
    """What the token's text or id holds. Case does not matter, and a space finds the ␣ of a label."""


class FindingOrder:
    """Findings and the order they are shown in."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._texts: list[str] = []
        self._counts: Counter[str] = Counter()
        self._largest_id = 0
        self._largest_count: int | None = None
        self._sorting = "severity", False
        self._sorted: list[int] = []
        """All that was sorted the last time, in that order."""

    @property
    def findings(self) -> Sequence[Finding]:
        """All findings, in the order they came."""
        return self._findings

    @property
    def kinds(self) -> dict[str, int]:
        """How many findings there are of each kind, in the order of `KINDS`."""
        return {kind: self._counts[kind] for kind in sorted(self._counts, key=_kind_place)}

    @property
    def largest(self) -> tuple[int, int | None]:
        """The largest id, and the largest count if any finding knows how often its token occurs."""
        return self._largest_id, self._largest_count

    def add(self, findings: Iterable[Finding]) -> None:
        """More findings."""
        for finding in findings:
            self._findings.append(finding)
            self._texts.append(f"{finding.id} {finding.label.casefold()}")
            self._counts[finding.kind] += 1
            self._largest_id = max(self._largest_id, finding.id)
            if (count := finding.count) is not None:
                self._largest_count = max(self._largest_count or 0, count)

    def rows(self, wanted: Wanted) -> Generator[None, None, list[int]]:
        """The indices of the findings wanted, in order: what this generator returns; it pauses after every slice.

        Findings that are equal keep the order they had, those that are new coming last.
        """
        rows = yield from self._sort(wanted.column, wanted.reverse)
        if wanted.kind:
            findings = self._findings
            rows = yield from _those(rows, lambda row: findings[row].kind == wanted.kind)
        if needle := wanted.search.casefold().replace(" ", "␣"):
            texts = self._texts
            rows = yield from _those(rows, lambda row: needle in texts[row])
        return rows

    def _sort(self, column: str, reverse: bool) -> Generator[None, None, list[int]]:
        """All of them, sorted: slice by slice, and the sorted slices merged."""
        before, sorting = self._sorted, (column, reverse)
        n = len(self._findings)
        is_same = sorting == self._sorting
        if is_same and len(before) == n:
            return before
        key, first = _key_of(column, reverse), itemgetter(0)
        runs: list[list[Keyed]] = []
        rows = [*before, *range(len(before), n)]
        for start in range(0, n, _SLICE):
            run = [(key(self._findings[row]), row) for row in rows[start : start + _SLICE]]
            run.sort(key=first, reverse=reverse)
            runs.append(run)
            yield
        merged = (row for _, row in merge(*runs, key=first, reverse=reverse))
        done: list[int] = []
        while slice_ := list(islice(merged, _SLICE)):
            done += slice_
            yield
        self._sorting, self._sorted = sorting, done
        return done


def _those(rows: Sequence[int], wanted: Callable[[int], bool]) -> Generator[None, None, list[int]]:
    """Those that are wanted, in the same order."""
    found: list[int] = []
    for start in range(0, len(rows), _SLICE):
        found += filter(wanted, rows[start : start + _SLICE])
        yield
    return found


def _kind_place(kind: str) -> int:
    return _KIND_ORDER.get(kind, len(_KIND_ORDER))


def _key_of(column: str, reverse: bool) -> Callable[[Finding], Any]:
    """What a column sorts by; a count that is not known comes last either way."""
    unknown = -inf if reverse else inf
    keys: dict[str, Callable[[Finding], Any]] = {
        "severity": lambda finding: -finding.severity,
        "id": lambda finding: finding.id,
        "token": lambda finding: finding.token.lower(),
        "kind": lambda finding: _kind_place(finding.kind),
        "count": lambda finding: unknown if (count := finding.count) is None else count,
        "reason": lambda finding: finding.reason,
    }
    return keys[column]
