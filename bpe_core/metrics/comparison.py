"""Several tokenizers over the same texts: what each pays for each text, and where they part.

The first tokenizer is the one that the others are compared with.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bpe_core.metrics.boundaries import Agreement, Encoded, agreement, disagreements, encoded, inner
from bpe_core.metrics.measures import Measures
from bpe_core.tokenizer import Tokenizer

_KINDS: Final = 1 << 17
"""Different disagreements remembered of a pair of tokenizers; when there are more, those that occurred once are let go,
so that rare ones may be counted too low, and frequent ones are not."""

Kind = tuple[tuple[int, ...], tuple[int, ...]]
"""A stretch of text as two tokenizers see it: the ids of the first, the ids of the other."""


class ComparedText(NamedTuple):
    """One text, and how many tokens each of the tokenizers makes of it."""

    name: str
    n_bytes: int
    n_characters: int
    n_words: int
    n_tokens: tuple[int, ...]


class Example(NamedTuple):
    """A kind of disagreement, and where it was met first."""

    stretch: str
    """The text in question; U+FFFD stands for bytes that are only a part of a character."""
    first: tuple[int, ...]
    """Its tokens by the first tokenizer."""
    other: tuple[int, ...]
    """Its tokens by the other."""
    n_times: int
    """How often it occurs."""
    name: str
    """The text it was met in first."""
    line: int
    """The line it begins in there, the first being 1."""


@dataclass(slots=True)
class Pair:
    """How the first tokenizer and another agree."""

    agreement: Agreement = field(default_factory=Agreement)
    """Their boundaries."""
    counts: Counter[Kind] = field(default_factory=Counter)
    """Kinds of disagreement -> how often each occurs."""
    places: dict[Kind, tuple[str, str, int]] = field(default_factory=dict)
    """Kind -> the stretch of text, the name of the text it was met in first, and the line."""

    def add(self, name: str, first: Encoded, other: Encoded) -> None:
        """Count one text more."""
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
        """The `n` most frequent disagreements, each with its first place."""
        return [
            Example(stretch, *kind, count, name, line)
            for kind, count in self.counts.most_common(n)
            for stretch, name, line in [self.places[kind]]
        ]


class Comparison:
    """The texts that were added, the sums of all of them for each tokenizer, and how each agrees with the first."""

    def __init__(self, tokenizers: Sequence[Tokenizer]) -> None:
        self.tokenizers: Final = tuple(tokenizers)
        """Two or more; one alone is measured."""
        self.texts: Final[list[ComparedText]] = []
        """In the order they were added."""
        self.totals: Final = [Measures() for _ in self.tokenizers]
        """For each tokenizer, the measures of all texts together."""
        self.pairs: Final = [Pair() for _ in self.tokenizers[1:]]
        """For each tokenizer but the first, how it agrees with the first."""

    def add(self, name: str, text: str) -> None:
        """Encode one text more with each of them; linear in it, and it is held as a whole."""
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
        """(script, bytes, tokens of each tokenizer), the most written one first."""
        amounts = self.totals[0].scripts
        for script in sorted(amounts, key=lambda script: -amounts[script].n_bytes):
            yield script, amounts[script].n_bytes, tuple(total.scripts[script].n_tokens for total in self.totals)


def sections(text: str) -> list[tuple[str, str]]:
    """(title, text) of each part of a text that begins with a line "# Title"; what stands before the first is left out.

    So the same tale in several languages, one below the other, becomes texts that can be compared.
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
