"""Several tokenizers on the same texts: amounts of text and tokens, and where the tokenizers cut differently.

The first tokenizer is the reference that each of the others is compared with.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from bpe_core.metrics.boundaries import Agreement, EncodedText, agreement, disagreements, encoded, inner
from bpe_core.metrics.morphology import morphological_alignment
from bpe_core.metrics.text_parts import TextParts
from bpe_core.metrics.worst_lines import WorstLines
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import n_characters

_MOST_CUTS: Final = 1 << 17
"""Different disagreements counted per pair of tokenizers. When there are more, those counted once are dropped, so that
the counts of rare ones may be too low."""
_WORST: Final = 100
"""Lines kept for each tokenizer, of those for which it needs the most more tokens than another."""
_SAMPLE: Final = 100_000
"""Characters of the texts, from their beginning, that are kept for metrics which need a text."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """The size of a text, of several together, or of their parts in one script, and what each tokenizer makes of it.

    A token counts for the script of its last byte, a word for that of its first character.
    """

    name: str
    """Of the text, the folder or the script."""
    n_bytes: int
    n_characters: int
    n_words: int
    """Maximal substrings without white space."""
    n_tokens: tuple[int, ...]
    """By each tokenizer."""
    n_whole_words: tuple[int, ...]
    """Words with no token boundary inside, by each tokenizer; a token may also hold the white space before its word."""

    def __add__(self, other: "Amounts") -> "Amounts":
        """Both together, under the name of the first."""
        return Amounts(
            self.name,
            self.n_bytes + other.n_bytes,
            self.n_characters + other.n_characters,
            self.n_words + other.n_words,
            tuple(map(sum, zip(self.n_tokens, other.n_tokens, strict=True))),
            tuple(map(sum, zip(self.n_whole_words, other.n_whole_words, strict=True))),
        )


class ComparedText(NamedTuple):
    """One text, and where it comes from."""

    amounts: Amounts
    path: str = ""
    """The file that holds it; empty if none does."""
    folder: str = ""
    """What it is counted with in `Comparison.folders`."""
    line: int = 1
    """The number of its first line in the file, from 1."""


class TextPlace(NamedTuple):
    """A place in one of the texts."""

    text: int
    """The index of the text."""
    line: int
    """From 1, as the file counts."""
    column: int
    """Characters before it in the line."""


class FrequentDisagreement(NamedTuple):
    """A disagreement, how often it occurs, and where it occurs first."""

    stretch: str
    """The substring that is cut differently; U+FFFD stands for the bytes of incomplete characters."""
    first: tuple[int, ...]
    """The ids that the first tokenizer makes of it."""
    other: tuple[int, ...]
    """The ids that the other makes of it."""
    n_times: int
    """How often it occurs."""
    place: TextPlace
    """Where it begins at its first occurrence."""


@dataclass(slots=True)
class TokenizerPair:
    """The agreement of the first tokenizer and one of the others, over all texts added."""

    agreement: Agreement = field(default_factory=Agreement)
    """The agreement of their boundaries."""
    counts: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=Counter)
    """(ids by the first tokenizer, ids by the other) of a substring that they cut differently -> its occurrences."""
    places: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[str, TextPlace]] = field(default_factory=dict)
    """The same -> (substring, place of the first occurrence)."""

    def add(self, text: int, line: int, data: bytes, first: EncodedText, other: EncodedText) -> None:
        """Add the text with the index `text`, whose first line has the number `line`, as both tokenizers encode it;
        `data` is the text in UTF-8."""
        self.agreement += agreement(inner(first.ends, len(data)), inner(other.ends, len(data)))
        at = column = 0
        for found in disagreements(first, other):
            cut = found.first, found.second
            self.counts[cut] += 1
            if cut not in self.places:
                before, newline, rest = data[at : found.start].rpartition(b"\n")
                if newline:
                    line, column = line + before.count(b"\n") + 1, 0
                column, at = column + n_characters(rest), found.start
                stretch = data[found.start : found.end].decode(errors="replace")
                self.places[cut] = stretch, TextPlace(text, line, column)
        if len(self.counts) > _MOST_CUTS:
            self.counts = Counter({cut: count for cut, count in self.counts.items() if count > 1})
            self.places = {cut: self.places[cut] for cut in self.counts}

    def examples(self, n: int) -> list[FrequentDisagreement]:
        """The `n` most frequent disagreements, the most frequent first."""
        return [
            FrequentDisagreement(self.places[cut][0], *cut, n_times, self.places[cut][1])
            for cut, n_times in self.counts.most_common(n)
        ]


class Comparison:
    """Compares tokenizers on texts, which are added one by one; with a single tokenizer, it measures that one."""

    def __init__(self, tokenizers: Sequence[Tokenizer], morphemes: Sequence[Sequence[str]] = ()) -> None:
        self.tokenizers: Final = tuple(tokenizers)
        """The tokenizers, one or more; the first is the reference."""
        self.morphemes: Final = morphemes
        """Words as their morphemes, to see how far token boundaries follow them; perhaps none."""
        self.texts: Final[list[ComparedText]] = []
        """The texts, in the order in which they were added."""
        none = (0,) * len(self.tokenizers)
        self.total = Amounts("all", 0, 0, 0, none, none)
        """The amounts of all texts together."""
        self._scripts: Final[dict[str, Amounts]] = {}
        self.token_counts: Final = [Counter[int]() for _ in self.tokenizers]
        """For each tokenizer: id -> occurrences in all texts."""
        self.number_splits: Final = [Counter[tuple[int, ...]]() for _ in self.tokenizers]
        """For each tokenizer: digits in each token of a number, from left to right -> how many numbers are cut so;
        123|4 counts for (3, 1)."""
        self.pairs: Final = [TokenizerPair() for _ in self.tokenizers[1:]]
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
        found: list[EncodedText] = []
        whole: list[list[bool]] = []
        for index, tokenizer in enumerate(self.tokenizers):
            encoding(index)
            one = encoded(tokenizer, parts.text)
            is_end = bytearray(parts.n_bytes + 1)
            for end in one.ends:
                is_end[end] = 1
            found.append(one)
            whole.append([is_end.find(1, start + 1, end) < 0 for start, end in parts.words])
            self.token_counts[index].update(one.ids)
            self.number_splits[index].update(_digit_lengths(number, is_end) for number in parts.numbers)
        number = len(self.texts)
        for pair, other in zip(self.pairs, found[1:], strict=True):
            pair.add(number, line, parts.data, found[0], other)
        if self.worst_lines is not None:
            self.worst_lines.add(number, line, parts, found)
        if len(self.sample) < _SAMPLE:
            self.sample += parts.text[: _SAMPLE - len(self.sample)]
        n_tokens, n_whole = tuple(len(one.ids) for one in found), tuple(map(sum, whole))
        amounts = Amounts(name, parts.n_bytes, len(parts.text), len(parts.words), n_tokens, n_whole)
        self.texts.append(ComparedText(amounts, path, folder, line))
        self.total += amounts
        for script in _by_script(parts, found, whole):
            _add_to(self._scripts, script)

    def scripts(self) -> list[Amounts]:
        """The amounts of each script, by falling bytes."""
        return sorted(self._scripts.values(), key=lambda script: -script.n_bytes)

    def folders(self) -> list[Amounts]:
        """The amounts of each folder, in the order of their first texts."""
        found: dict[str, Amounts] = {}
        for text in self.texts:
            _add_to(found, replace(text.amounts, name=text.folder))
        return list(found.values())

    @cached_property
    def morpheme_agreements(self) -> list[Agreement]:
        """For each tokenizer, the agreement of its boundaries in `morphemes` with theirs."""
        return [morphological_alignment(tokenizer, self.morphemes) for tokenizer in self.tokenizers]

    def token_lengths(self, index: int) -> Counter[int]:
        """Length of a token in bytes -> how many tokens of the texts, repetitions included, have that length."""
        lengths: Counter[int] = Counter()
        for token, count in self.token_counts[index].items():
            lengths[len(self.tokenizers[index].token_bytes(token))] += count
        return lengths


def _add_to(found: dict[str, Amounts], more: Amounts) -> None:
    found[more.name] = found[more.name] + more if more.name in found else more


def _digit_lengths(number: tuple[int, ...], is_end: bytearray) -> tuple[int, ...]:
    """How many digits of a number, one of `TextParts.numbers`, each of its tokens has."""
    n_digits = len(number) - 1
    cuts = [n for n in range(1, n_digits) if is_end.find(1, number[n], number[n + 1]) >= 0]
    return tuple(b - a for a, b in pairwise([0, *cuts, n_digits]))


def _by_script(parts: TextParts, found: Sequence[EncodedText], whole: Sequence[Sequence[bool]]) -> Iterator[Amounts]:
    """The amounts of each script that occurs in a text, once."""
    sizes: dict[str, list[int]] = {}
    n = len(found)
    for run in parts.scripts:
        sums = sizes.setdefault(run.script, [0] * (3 + 2 * n))
        sums[0] += run.end - run.start
        sums[1] += run.n_characters
        sums[2] += run.end_word - run.first_word
        for index, one in enumerate(found, 3):
            sums[index] += len(one.tokens(run.start, run.end))
            sums[index + n] += sum(whole[index - 3][run.first_word : run.end_word])
    for script, sums in sizes.items():
        yield Amounts(script, sums[0], sums[1], sums[2], tuple(sums[3 : 3 + n]), tuple(sums[3 + n :]))


class TextSection(NamedTuple):
    """A part of a text that begins with a line "# Title"."""

    title: str
    text: str
    """Without that line, and without newlines at either end."""
    line: int
    """The number of its first line in the whole text, from 1."""


def sections(text: str) -> list[TextSection]:
    """The sections of a text; what comes before the first is ignored.

    For parallel texts in one file, a section for each language.

    >>> sections("a tale\\n\\n# English\\n\\nOnce\\n\\n# Deutsch\\nEinst\\n")
    [TextSection(title='English', text='Once', line=5), TextSection(title='Deutsch', text='Einst', line=8)]
    """
    found: list[TextSection] = []
    title, first, lines = "", 0, list[str]()
    for number, line in enumerate([*text.split("\n"), "# "], 1):
        if not line.startswith("# "):
            lines.append(line)
            continue
        if title:
            whole = "\n".join(lines)
            n_blank = len(whole) - len(whole.lstrip("\n"))
            found.append(TextSection(title, whole.strip("\n"), first + n_blank))
        title, first, lines = line[2:].strip(), number + 1, list[str]()
    return found
