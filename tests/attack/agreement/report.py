"""What was found, as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from tests.attack.agreement.characters import Disagreement, in_short, ranges
from tests.attack.agreement.comparing import Outcome
from tests.attack.agreement.training import Training

SHOWN = 5
"""How many of the texts are shown that differ for no known reason."""


def outcome_table(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A row for each comparison, as soon as it is done; behind the table, what is not explained."""
    head = ("tokenizer", "texts", "how many", "bytes", "results compared", "differ by Unicode's version", "unexplained")
    kept: list[Outcome] = []

    def rows() -> Iterator[list[str]]:
        for each in outcomes:
            kept.append(each)
            numbers = (each.n, each.n_bytes, each.n_checks, each.explained, len(each.unexplained))
            yield [each.subject, each.texts, *(f"{number:,}" for number in numbers)]

    yield from markdown(head, rows())
    yield ""
    for each in kept:
        yield from _unexplained(each)


def _unexplained(outcome: Outcome) -> Iterator[str]:
    for way, text in sorted(outcome.unexplained, key=lambda row: len(row[1]))[:SHOWN]:
        yield f"- **{outcome.subject}**, {way}: `{ascii(text)[:300]}`"


def disputed_table(whose: str, found: Iterable[Disagreement]) -> Iterator[str]:
    """What each set of a pattern differs by, and once for all sets the characters themselves."""
    by_source = {each.what: each for each in found}
    if not by_source:
        return
    yield f"What {whose} and bpescope know differently, character by character:\n"
    rows = (
        [f"`{what}`".replace("|", "\\|"), "", f"{len(each.ours):,}", f"{len(each.theirs):,}"]
        for what, each in by_source.items()
    )
    yield from markdown(("set or table", "", "only here, or otherwise", "only there"), rows)
    every = frozenset[str]().union(*(each.characters for each in by_source.values()))
    yield f"\nThese are {len(every):,} characters in {len(ranges(every)):,} ranges: {in_short(every)}.\n"


def occurred(outcomes: Iterable[Outcome]) -> str:
    """The characters that texts with explained differences had."""
    seen = frozenset(character for each in outcomes for character in each.characters)
    return f"Of them, {len(seen):,} stand in the texts that differ." if seen else "No text differs because of them."


def training_table(trainings: Iterable[Training], kept: list[Training]) -> Iterator[str]:
    """A row for each training; `kept` gets them all."""

    def rows() -> Iterator[list[str]]:
        for each in trainings:
            kept.append(each)
            size, alike = f"{each.vocab_size:,}", f"{each.n_merges:,} of {each.n_there:,}"
            yield [each.corpus.name, f"{each.peer}, ties {each.ties}", f"{each.corpus.n_bytes:,}", size, alike]

    yield from markdown(("corpus", "trainer", "bytes", "vocabulary", "merges that are the same"), rows())
    yield ""


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, each as soon as its row is there; all columns but the first two are numbers."""
    for line in chain([head, ["---", "---", *["---:"] * (len(head) - 2)]], rows):
        yield f"| {' | '.join(line)} |"
