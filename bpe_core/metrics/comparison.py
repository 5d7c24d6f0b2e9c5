"""Several tokenizers on the same texts: token counts, measures, and where they cut differently.

The first tokenizer is the reference that each of the others is compared with.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bpe_core.metrics.boundaries import Agreement, Encoded, agreement, disagreements, encoded, inner
from bpe_core.metrics.measures import Measures
from bpe_core.tokenizer import Tokenizer

_KINDS: Final = 1 << 17
"""Different disagreements counted per pair of tokenizers. When there are more, those counted once are dropped, so that
the counts of rare ones may be too low."""

Kind = tuple[tuple[int, ...], tuple[int, ...]]
"""(ids by the first tokenizer, ids by the other) of a substring that they cut differently."""


class ComparedText(NamedTuple):
    """The size of one text, and how many tokens each of the tokenizers makes of it."""

    name: str
    n_bytes: int
    n_characters: int
    n_words: int
    n_tokens: tuple[int, ...]


class Example(NamedTuple):
    """A disagreement, how often it occurs, and where it occurs first."""

    stretch: str
    """The substring that is cut differently; U+FFFD stands for the bytes of incomplete characters."""
    first: tuple[int, ...]
    """The ids that the first tokenizer makes of it."""
    other: tuple[int, ...]
    """The ids that the other makes of it."""
    n_times: int
    """How often it occurs."""
    name: str
    """The name of the text with the first occurrence."""
    line: int
    """The line in which that begins, from 1."""


@dataclass(slots=True)
class Pair:
    """The agreement of the first tokenizer and one of the others, over all texts added."""

    agreement: Agreement = field(default_factory=Agreement)
    """The agreement of their boundaries."""
    counts: Counter[Kind] = field(default_factory=Counter)
    """Disagreement -> how often it occurs."""
    places: dict[Kind, tuple[str, str, int]] = field(default_factory=dict)
    """Disagreement -> (substring, name of the text with the first occurrence, line from 1)."""

    def add(self, name: str, first: Encoded, other: Encoded) -> None:
        """Add one text, called `name`, as both tokenizers encode it."""
        data = first.text.encode()
        self.agreement += agreement(inner(first.ends, len(data)), inner(other.ends, len(data)))
        line = at = 0
        for found in disagreements(first, other):
            kind = found.first, found.second
            self.counts[kind] += 1
            if kind not in self.places:
                line, at = line + data.count(b"\n", at, found.start), found.start
                self.places[kind] = data[found.start : found.end].decode(errors="replace"), name, line + 1
        if len(self.counts) > _KINDS:
            self.counts = Counter({kind: count for kind, count in self.counts.items() if count > 1})
            self.places = {kind: self.places[kind] for kind in self.counts}

    def examples(self, n: int) -> list[Example]:
        """The `n` most frequent disagreements, the most frequent first."""
        return [
            Example(stretch, *kind, count, name, line)
            for kind, count in self.counts.most_common(n)
            for stretch, name, line in [self.places[kind]]
        ]


class Comparison:
    """Compares tokenizers on texts, which are added one by one."""

    def __init__(self, tokenizers: Sequence[Tokenizer]) -> None:
        self.tokenizers: Final = tuple(tokenizers)
        """The tokenizers, one or more; the first is the reference."""
        self.texts: Final[list[ComparedText]] = []
        """The texts, in the order in which they were added."""
        self.totals: Final = [Measures() for _ in self.tokenizers]
        """For each tokenizer, the measures of all texts together."""
        self.pairs: Final = [Pair() for _ in self.tokenizers[1:]]
        """For each tokenizer but the first, how it agrees with the first."""

    def add(self, name: str, text: str) -> None:
        """Add one text, called `name`: encode it with each tokenizer, O(n log n) for n characters, all in memory."""
        found = [encoded(tokenizer, text) for tokenizer in self.tokenizers]
        measures = list(map(Measures.of_encoded, found))
        for total, one in zip(self.totals, measures, strict=True):
            total.add(one)
        for pair, other in zip(self.pairs, found[1:], strict=True):
            pair.add(name, found[0], other)
        one = measures[0]
        self.texts.append(
            ComparedText(name, one.n_bytes, one.n_characters, one.n_words, tuple(m.n_tokens for m in measures))
        )

    def scripts(self) -> Iterator[tuple[str, int, tuple[int, ...]]]:
        """(script, its bytes in all texts, its tokens by each tokenizer), by falling bytes."""
        amounts = self.totals[0].scripts
        for script in sorted(amounts, key=lambda script: -amounts[script].n_bytes):
            yield script, amounts[script].n_bytes, tuple(total.scripts[script].n_tokens for total in self.totals)


def sections(text: str) -> list[tuple[str, str]]:
    """(title, text) of each section of a text that begins with a line "# Title"; text before the first is ignored.

    For parallel texts in one file, a section for each language.
    """
    found: list[tuple[str, str]] = []
    title, lines = "", list[str]()
    for line in text.splitlines(keepends=True):
        if line.startswith("# "):
            if title:
                found.append((title, "".join(lines).strip("\n")))
            title, lines = line[2:].strip(), list[str]()
        else:
            lines.append(line)
    if title:
        found.append((title, "".join(lines).strip("\n")))
    return found
