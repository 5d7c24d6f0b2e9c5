"""Two tokenizers side by side: the same texts through both in several ways, and every difference looked into."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.attack.agreement.characters import Disagreement, without

Way = tuple[Callable[[str], Any], Callable[[str], Any]]
"""A text in, something to compare out: here, and there."""

_SELDOM = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """A tokenizer as bpescope reads it, and as the library does."""

    name: str
    """What it is called in the report."""
    ways: dict[str, Way]
    """Name -> what both do with a text."""
    seldom: frozenset[str] = frozenset()
    """Those of the ways that are dear: every fifth text goes through them."""
    disagreements: Callable[[], list[Disagreement]] = list
    """Tells which characters the two libraries know differently, as far as this tokenizer looks at them.

    It takes its time the first time, and is only asked when a text differs, or for the report.
    """
    decodings: dict[
        str, tuple[Callable[[list[int]], Any], Callable[[list[int]], Any]]
    ] = field(default_factory=dict)
    """Name -> what both do with ids."""
    ids: Sequence[int] = ()
    """All ids that there are."""


@dataclass(slots=True)
class Outcome:
    """What came of a comparison."""

    subject: str
    """Whose."""
    texts: str
    """What was compared, in words."""
    n: int = 0
    """How many texts, or rows of ids."""
    n_bytes: int = 0
    """Of all texts in UTF-8; 0 for ids."""
    n_checks: int = 0
    """How many pairs of results were held side by side."""
    explained: int = 0
    """Texts that differ, hold a disputed character, and do not differ without it."""
    characters: Counter[str] = field(default_factory=Counter)
    """The disputed characters of those -> how many texts have them."""
    unexplained: list[tuple[str, str]] = field(default_factory=list)
    """The others: the way in which they differ, and the text."""

    @property
    def n_unexplained(self) -> int:
        return len(self.unexplained)

    def __str__(self) -> str:
        lines = [
            f"{self.subject}, {self.texts}: {self.n:,} ({self.n_bytes:,} bytes, {self.n_checks:,} results), "
            f"{self.explained:,} differ by Unicode's version, {self.n_unexplained:,} unexplained"
        ]
        shortest = sorted(self.unexplained, key=lambda row: len(row[1]))[:5]
        return "\n".join(
            [*lines, *(f"    {way}: {text[:300]!a}" for way, text in shortest)]
        )


def compare(subject: Subject, what: str, texts: Iterable[str]) -> Outcome:
    """Each text in each way."""
    outcome = Outcome(subject.name, what)
    often = {
        name: way for name, way in subject.ways.items() if name not in subject.seldom
    }
    for text in texts:
        ways = subject.ways if outcome.n % _SELDOM == 0 else often
        outcome.n += 1
        outcome.n_bytes += len(text.encode(errors="replace"))
        outcome.n_checks += len(ways)
        way = _differs(ways, text)
        if way is not None:
            _look_into(subject, outcome, way, text)
    return outcome


def _differs(ways: dict[str, Way], text: str) -> str | None:
    """The first way in which the two differ."""
    return next(
        (way for way, (ours, theirs) in ways.items() if ours(text) != theirs(text)),
        None,
    )


def _look_into(subject: Subject, outcome: Outcome, way: str, text: str) -> None:
    disputed = (
        frozenset()
        .union(*(each.characters for each in subject.disagreements()))
        .intersection(text)
    )
    rest = _differs(subject.ways, without(text, disputed)) if disputed else way
    if rest is None:
        outcome.explained += 1
        outcome.characters.update(disputed)
    else:
        outcome.unexplained.append((rest, text))


def compare_decoding(subject: Subject, n: int, seed: int = 0) -> Outcome:
    """Rows of any ids, in any order, as no text would give them."""
    outcome = Outcome(subject.name, "rows of random ids")
    rng = random.Random(seed)
    for _ in range(n if subject.decodings else 0):
        ids = rng.choices(subject.ids, k=rng.choice((0, 1, 2, 3, 10, 40)))
        outcome.n += 1
        outcome.n_checks += len(subject.decodings)
        for way, (ours, theirs) in subject.decodings.items():
            if ours(ids) != theirs(ids):
                outcome.unexplained.append((way, " ".join(map(str, ids))))
                break
    return outcome
