"""Several tokenizers on the same texts: token counts, measures, and where they cut differently.

The first tokenizer is the reference that each of the others is compared with.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bpe_core.metrics.boundaries import Agreement, Encoded, agreement, disagreements, encoded, inner
from bpe_core.metrics.measures import Measures
from bpe_core.metrics.text_parts import TextParts
from bpe_core.metrics.worst_lines import WorstLines
from bpe_core.tokenizer import Tokenizer

_KINDS: Final = 1 << 17
"""Different disagreements counted per pair of tokenizers. When there are more, those counted once are dropped, so that
the counts of rare ones may be too low."""
_WORST: Final = 100
"""Lines kept for each tokenizer, of those for which it needs the most more tokens than another."""
_SAMPLE: Final = 100_000
"""Characters of the texts, from their beginning, that are kept for metrics which need a text."""
_INSIDE: Final = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 with which no character begins."""

Kind = tuple[tuple[int, ...], tuple[int, ...]]
"""(ids by the first tokenizer, ids by the other) of a substring that they cut differently."""


class Amounts(NamedTuple):
    """The size of a text, or of several together, and what each of the tokenizers makes of it."""

    name: str
    """Of the text, the folder or the script."""
    n_bytes: int
    n_characters: int
    n_words: int
    n_tokens: tuple[int, ...]
    """By each tokenizer."""
    n_whole_words: tuple[int, ...]
    """Words with no token boundary inside, by each tokenizer."""


class ComparedText(NamedTuple):
    """One text, and where it comes from."""

    amounts: Amounts
    path: str = ""
    """The file that holds it; empty if none does."""
    folder: str = ""
    """What it is counted with in `Comparison.folders`."""
    line: int = 1
    """The number of its first line in the file, from 1."""


class Place(NamedTuple):
    """A place in one of the texts."""

    text: int
    """The index of the text."""
    line: int
    """From 1, as the file counts."""
    column: int
    """Characters before it in the line."""


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
    place: Place
    """Where it begins at its first occurrence."""


@dataclass(slots=True)
class Pair:
    """The agreement of the first tokenizer and one of the others, over all texts added."""

    agreement: Agreement = field(default_factory=Agreement)
    """The agreement of their boundaries."""
    counts: Counter[Kind] = field(default_factory=Counter)
    """Disagreement -> how often it occurs."""
    places: dict[Kind, tuple[str, Place]] = field(default_factory=dict)
    """Disagreement -> (substring, place of the first occurrence)."""

    def add(self, text: int, line: int, data: bytes, first: Encoded, other: Encoded) -> None:
        """Add the text with the index `text`, whose first line has the number `line`, as both tokenizers encode it;
        `data` is the text in UTF-8."""
        self.agreement += agreement(inner(first.ends, len(data)), inner(other.ends, len(data)))
        at = column = 0
        for found in disagreements(first, other):
            kind = found.first, found.second
            self.counts[kind] += 1
            if kind not in self.places:
                before, newline, rest = data[at : found.start].rpartition(b"\n")
                if newline:
                    line, column = line + before.count(b"\n") + 1, 0
                column, at = column + len(rest.translate(None, _INSIDE)), found.start
                stretch = data[found.start : found.end].decode(errors="replace")
                self.places[kind] = stretch, Place(text, line, column)
        if len(self.counts) > _KINDS:
            self.counts = Counter({kind: count for kind, count in self.counts.items() if count > 1})
            self.places = {kind: self.places[kind] for kind in self.counts}

    def examples(self, n: int) -> list[Example]:
        """The `n` most frequent disagreements, the most frequent first."""
        return [Example(self.places[kind][0], *kind, n, self.places[kind][1]) for kind, n in self.counts.most_common(n)]


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
        self.worst_lines: Final = WorstLines(len(self.tokenizers), _WORST) if len(self.tokenizers) > 1 else None
        """The lines for which each needs the most more tokens than another; None for a single tokenizer."""
        self.sample = ""
        """The first 100,000 characters of the texts, one after the other."""

    def add(
        self,
        name: str,
        text: str,
        *,
        path: str = "",
        folder: str = "",
        line: int = 1,
        encoding: Callable[[int], None] = lambda index: None,
    ) -> None:
        """Add one text, called `name`: encode it with each tokenizer, O(n log n) for n characters, all in memory.

        The other arguments are those of `ComparedText`; `encoding` is called before each tokenizer, with its index.
        """
        parts = TextParts.of(text)
        found = []
        for index, tokenizer in enumerate(self.tokenizers):
            encoding(index)
            found.append(encoded(tokenizer, parts.text))
        measures = [Measures.of_encoded(parts, one) for one in found]
        for total, one in zip(self.totals, measures, strict=True):
            total.add(one)
        number = len(self.texts)
        for pair, other in zip(self.pairs, found[1:], strict=True):
            pair.add(number, line, parts.data, found[0], other)
        if self.worst_lines is not None:
            self.worst_lines.add(number, line, parts, found)
        if len(self.sample) < _SAMPLE:
            self.sample += parts.text[: _SAMPLE - len(self.sample)]
        n_tokens, n_whole = tuple(one.n_tokens for one in measures), tuple(one.n_whole_words for one in measures)
        amounts = Amounts(name, parts.n_bytes, len(parts.text), len(parts.words), n_tokens, n_whole)
        self.texts.append(ComparedText(amounts, path, folder, line))

    @property
    def total(self) -> Amounts:
        """The amounts of all texts together, called "all"."""
        one = self.totals[0]
        n_tokens = tuple(total.n_tokens for total in self.totals)
        n_whole = tuple(total.n_whole_words for total in self.totals)
        return Amounts("all", one.n_bytes, one.n_characters, one.n_words, n_tokens, n_whole)

    def scripts(self) -> Iterator[Amounts]:
        """The amounts of each script, by falling bytes."""
        found = self.totals[0].scripts
        for script in sorted(found, key=lambda script: -found[script].n_bytes):
            all_of_it = [total.scripts[script] for total in self.totals]
            n_tokens = tuple(one.n_tokens for one in all_of_it)
            n_whole = tuple(one.n_whole_words for one in all_of_it)
            one = all_of_it[0]
            yield Amounts(script, one.n_bytes, one.n_characters, one.n_words, n_tokens, n_whole)

    def folders(self) -> list[Amounts]:
        """The amounts of each folder, in the order of their first texts."""
        return added_up((text.folder, text.amounts) for text in self.texts)


def added_up(parts: Iterator[tuple[str, Amounts]]) -> list[Amounts]:
    """(name, amounts) added up by name; the names in the order in which they occur first."""
    found: dict[str, Amounts] = {}
    for name, more in parts:
        if one := found.get(name):
            n_tokens = tuple(map(sum, zip(one.n_tokens, more.n_tokens, strict=True)))
            n_whole = tuple(map(sum, zip(one.n_whole_words, more.n_whole_words, strict=True)))
            sizes = one.n_bytes + more.n_bytes, one.n_characters + more.n_characters, one.n_words + more.n_words
            found[name] = Amounts(name, *sizes, n_tokens, n_whole)
        else:
            found[name] = more._replace(name=name)
    return list(found.values())


class Section(NamedTuple):
    """A part of a text that begins with a line "# Title"."""

    title: str
    text: str
    """Without that line, and without newlines at either end."""
    line: int
    """The number of its first line in the whole text, from 1."""


def sections(text: str) -> list[Section]:
    """The sections of a text; what comes before the first is ignored.

    For parallel texts in one file, a section for each language.

    >>> sections("a tale\\n\\n# English\\n\\nOnce\\n\\n# Deutsch\\nEinst\\n")
    [Section(title='English', text='Once', line=5), Section(title='Deutsch', text='Einst', line=8)]
    """
    found: list[Section] = []
    title, first, lines = "", 0, list[str]()
    for number, line in enumerate([*text.splitlines(keepends=True), "# "], 1):
        if not line.startswith("# "):
            lines.append(line)
            continue
        if title:
            whole = "".join(lines)
            n_blank = len(whole) - len(whole.lstrip("\n"))
            found.append(Section(title, whole.strip("\n"), first + n_blank))
        title, first, lines = line[2:].strip(), number + 1, list[str]()
    return found
