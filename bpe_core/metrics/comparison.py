"""Several tokenizers on the same texts: amounts of text and tokens, and where the tokenizers cut differently."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import pairwise
from operator import sub
from typing import Final, NamedTuple

import regex

from bpe_core.metrics import merges_in_common, overlap
from bpe_core.metrics.boundaries import Agreement, EncodedText, compared, encoded, morphological_alignment
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, n_characters, without_surrogates

_WIDE_SPACE: Final = re.compile(r"[^\S\0-\x7f]")
_IS_LETTER: Final = bytes(byte not in b"\t\n\v\f\r " for byte in range(256))
_DIGITS: Final = regex.compile(r"\d++")
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_LONGEST_NUMBER: Final = 40  # digits that are analyzed; a longer run is data rather than a number

_MOST_CUTS: Final = 1 << 17  # different disagreements of a pair; if there are more, those counted once are dropped
_WORST: Final = 100  # lines kept for each tokenizer, of those for which it needs the most more tokens than another
_LONGEST_LINE: Final = 160  # characters of a line that are kept

WITHOUT_SPACES: Final = (
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Javanese", "Balinese"),
    *("Han", "Hiragana", "Katakana", "Bopomofo", "Yi"),
)
"""The scripts that put no spaces between words, by their names in Unicode's property Script."""

_SCRIPTS: Final = (  # that are counted one by one
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Syriac", "Thaana", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Mongolian", "Tagalog", "Hangul", "Cherokee", "Canadian_Aboriginal", "Tifinagh", "Nko", "Coptic", "Gothic"),
    *("Braille", *WITHOUT_SPACES),
)
OTHER: Final = "Other"  # all other scripts
SHARED: Final = "no script"  # a text of nothing but characters that all share: digits, punctuation, white space, emoji

_LISTED: Final = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS)
_RUN: Final = r"(?P<{0}>\p{{Script={0}}}[\p{{Script={0}}}\p{{Common}}\p{{Inherited}}]*+)"
_OTHER_RUN: Final = rf"(?P<{OTHER}>[^\p{{Common}}\p{{Inherited}}{_LISTED}][^{_LISTED}]*+)"
_RUNS: Final = regex.compile("|".join([*map(_RUN.format, _SCRIPTS), _OTHER_RUN]))

_Encoding = Callable[[int], object]  # called before a text is encoded, with the index of the tokenizer


@dataclass(frozen=True, slots=True)
class Amounts:
    """The size of a text, of several together, or of their parts in one script, and what each tokenizer makes of it.

    A token counts for the script of its last byte, a word for that of its first character.
    """

    name: str  # of the text, the folder or the script
    n_bytes: int
    n_characters: int
    n_words: int  # maximal substrings without white space
    n_tokens: tuple[int, ...]
    n_whole_words: tuple[int, ...]  # with no boundary inside; a token may hold the space before its word; () if unknown

    def __add__(self, other: "Amounts") -> "Amounts":
        return Amounts(
            self.name,
            self.n_bytes + other.n_bytes,
            self.n_characters + other.n_characters,
            self.n_words + other.n_words,
            tuple(map(sum, zip(self.n_tokens, other.n_tokens, strict=True))),
            tuple(map(sum, zip(self.n_whole_words, other.n_whole_words, strict=True))),
        )


class ComparedText(NamedTuple):
    amounts: Amounts
    path: str = ""  # of the file; empty if none holds it
    folder: str = ""  # what it is counted with in `Comparison.folders`
    line: int = 1  # the number of its first line in the file


class TextPlace(NamedTuple):
    """A place in one of the texts: its index, the line as the file counts, from 1, and the characters before it."""

    text: int
    line: int
    column: int


@dataclass(slots=True)
class FrequentDisagreement:
    stretch: str  # with U+FFFD for the bytes of incomplete characters
    first: tuple[int, ...]  # the ids that the first tokenizer makes of it, and the other
    other: tuple[int, ...]
    place: TextPlace  # where it begins first
    n_times: int = 1


class TokenizerPair:
    """The agreement of the first tokenizer and one of the others, over all texts added."""

    def __init__(self, first: Tokenizer, other: Tokenizer) -> None:
        self._tokenizers = first, other
        self.agreement = Agreement()
        self._found: dict[str, FrequentDisagreement] = {}  # by the substring and how both cut it

    def add(self, text: int, line: int, first: EncodedText, other: EncodedText) -> None:
        """Add a text as both encode it; `text` is its index, `line` the number of its first line."""
        shared, differences = compared(first, other)
        self.agreement += shared
        data, at, column = first.data, 0, 0
        for found in differences:
            if known := self._found.get(found[0]):
                known.n_times += 1
                continue
            start, end = found.span()
            before, newline, rest = data[at:start].rpartition(b"\n")
            if newline:
                line, column = line + before.count(b"\n") + 1, 0
            column, at = column + n_characters(rest), start
            ours, theirs = tuple(first.tokens(start, end)), tuple(other.tokens(start, end))
            stretch = data[start:end].decode(errors="replace")
            self._found[found[0]] = FrequentDisagreement(stretch, ours, theirs, TextPlace(text, line, column))
        if len(self._found) > _MOST_CUTS:
            self._found = {cut: one for cut, one in self._found.items() if one.n_times > 1}

    @cached_property
    def vocabularies(self) -> tuple[int, list[int], list[int], int]:
        """What `overlap` and `merges_in_common` say of the two."""
        return (*overlap(*self._tokenizers), merges_in_common(*self._tokenizers))

    def examples(self, n: int) -> list[FrequentDisagreement]:
        return nlargest(n, self._found.values(), key=lambda one: one.n_times)


@dataclass(slots=True)
class WorstLine:
    """A line that a tokenizer needs more tokens for than another."""

    line: str  # its first 160 characters
    n_tokens: tuple[int, ...]  # by each tokenizer; a token counts for the line of its last byte
    place: TextPlace  # where it occurs first
    n_times: int = 1

    def excess(self, index: int) -> int:
        """Tokens by the tokenizer `index` - the fewest tokens by another."""
        return self.n_tokens[index] - min(n for i, n in enumerate(self.n_tokens) if i != index)


class Comparison:
    """Compares tokenizers on texts, which are added one by one; with a single tokenizer, it measures that one."""

    def __init__(
        self, tokenizers: Sequence[Tokenizer], morphemes: Sequence[Sequence[str]] = (), n_sample: int = 100_000
    ) -> None:
        self.tokenizers: Final = tuple(tokenizers)
        self.morphemes: Final = morphemes  # of words, to see how far token boundaries follow them
        self.n_sample: Final = n_sample
        self.texts: Final[list[ComparedText]] = []
        none = (0,) * len(self.tokenizers)
        self.total = Amounts("all", 0, 0, 0, none, none)
        self._scripts: Final[dict[str, Amounts]] = {}
        self.token_counts: Final = [Counter[int]() for _ in self.tokenizers]  # id -> occurrences in all texts
        # Digits in each token of a number -> how many numbers are cut so: 123|4 counts for (3, 1).
        self.number_splits: Final = [Counter[tuple[int, ...]]() for _ in self.tokenizers]
        self.pairs: Final = [TokenizerPair(self.tokenizers[0], other) for other in self.tokenizers[1:]]
        self._lines: Final = [dict[tuple[str, tuple[int, ...]], WorstLine]() for _ in self.tokenizers]
        # New lines are kept if their excess is greater. It only grows: what is kept was counted from its first place.
        self._least = [0] * len(self.tokenizers)
        self.sample = ""  # the first `n_sample` characters of all texts

    def add(
        self, name: str, text: str, *, path: str = "", folder: str = "", line: int = 1, encoding: _Encoding = bool
    ) -> None:
        """Encode one more text, called `name`, with each tokenizer; O(n log n) for n characters, all in memory.

        The other arguments are those of `ComparedText`. What `encoding` raises, or encoding does, leaves all as it was.
        """
        amounts = self._encode(name, without_surrogates(text), line, encoding)
        self.texts.append(ComparedText(amounts, path, folder, line))

    def _encode(self, name: str, text: str, line: int, encoding: _Encoding) -> Amounts:
        data, offsets, (starts, inside) = text.encode(), byte_offsets(text), _words(text)
        runs = [(run.start(), min(run.end(), run.start() + _LONGEST_NUMBER)) for run in _DIGITS.finditer(text)]
        found: list[EncodedText] = []
        for index, tokenizer in enumerate(self.tokenizers):
            encoding(index)
            found.append(encoded(tokenizer, text))
        # Of each tokenizer a number for each byte: 2 where a word begins, 1 where one is cut.
        words = [(starts << 1 | int.from_bytes(one.cuts) & inside).to_bytes(len(one.cuts)) for one in found]
        for counts, splits, one in zip(self.token_counts, self.number_splits, found, strict=True):
            counts.update(one.ids)
            splits.update(_digit_lengths(offsets[a : b + 1], one.cuts) for a, b in runs)
        for pair, other in zip(self.pairs, found[1:], strict=True):
            pair.add(len(self.texts), line, found[0], other)
        if self.pairs:
            self._add_lines(line, data, found)
        self.sample += text[: self.n_sample - len(self.sample)]

        def amounts(part: str, start: int, end: int) -> Amounts:
            """Those of some characters; a word that begins there counts, wherever it ends."""
            first, last = offsets[start], offsets[end]
            stop = words[0].find(2, last) if words[0].find(2, first, last) >= 0 else first
            marks = [each[first:stop].translate(None, b"\0") for each in words]
            n_whole = tuple(each.count(2) - each.count(b"\2\1") for each in marks)
            n_tokens = tuple(len(one.tokens(first, last)) for one in found)
            return Amounts(part, last - first, end - start, marks[0].count(2), n_tokens, n_whole)

        for script, start, end in script_runs(text):
            _add_to(self._scripts, amounts(script, start, end))
        whole = amounts(name, 0, len(text))
        self.total += whole
        return whole

    def _add_lines(self, first: int, data: bytes, found: Sequence[EncodedText]) -> None:
        """Add the lines of a text, `data` in UTF-8, of which the first has the number `first`."""
        spans = [line.span() for line in _LINE.finditer(data)]
        upto = ([0, *(bisect_right(one.ends, end) for _, end in spans)] for one in found)
        for line, n_tokens in enumerate(zip(*(map(sub, more[1:], more) for more in upto), strict=True)):
            if (fewest := min(n_tokens)) == max(n_tokens):
                continue
            start, end = spans[line]
            for index, n in enumerate(n_tokens):
                if n > fewest and n - fewest >= self._least[index]:
                    some = data[start : min(end, start + 4 * _LONGEST_LINE)]  # 4 bytes a character at most
                    shown = some.decode(errors="ignore")[:_LONGEST_LINE].removesuffix("\n").removesuffix("\r")
                    kept = self._lines[index]
                    if old := kept.get((shown, n_tokens)):
                        old.n_times += 1
                    elif n - fewest > self._least[index]:
                        place = TextPlace(len(self.texts), first + line, 0)
                        kept[shown, n_tokens] = WorstLine(shown, n_tokens, place)
            for index, kept in enumerate(self._lines):
                if len(kept) >= 4 * _WORST:
                    worst = self.worst_lines(index)
                    self._least[index] = worst[-1].excess(index)
                    self._lines[index] = {(one.line, one.n_tokens): one for one in worst}

    def worst_lines(self, index: int) -> list[WorstLine]:
        """The `_WORST` different lines with the greatest excess for the tokenizer `index`, if there are several: by
        falling excess, those of equal excess as they came."""
        return nsmallest(_WORST, self._lines[index].values(), key=lambda one: -one.excess(index))

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
        return [morphological_alignment(tokenizer, self.morphemes) for tokenizer in self.tokenizers]

    def token_lengths(self, index: int) -> Counter[int]:
        """Length of a token in bytes -> how many tokens of the texts, repetitions included, have that length."""
        lengths: Counter[int] = Counter()
        for token, count in self.token_counts[index].items():
            lengths[len(self.tokenizers[index].token_bytes(token))] += count
        return lengths


class TokenCounts(Comparison):
    """A comparison that counts tokens alone, in a tenth of the time: of texts, and without whole words."""

    def _encode(self, name: str, text: str, line: int, encoding: _Encoding) -> Amounts:
        n_tokens = []
        for index, tokenizer in enumerate(self.tokenizers):
            encoding(index)
            n_tokens.append(len(tokenizer.encode_to_array(text)))
        return Amounts(name, len(text.encode()), len(text), _words(text)[0].bit_count(), tuple(n_tokens), ())


def _words(text: str) -> tuple[int, int]:
    """Big-endian numbers of a byte for each of the text in UTF-8, and one more: 1 where a word begins; further in."""
    spaced = _WIDE_SPACE.sub(lambda space: " " * len(space[0].encode()), f"{text} ")
    letters = int.from_bytes(spaced.encode().translate(_IS_LETTER))
    inside = letters & letters >> 8
    return letters ^ inside, inside


def _add_to(found: dict[str, Amounts], more: Amounts) -> None:
    found[more.name] = found[more.name] + more if more.name in found else more


def _digit_lengths(number: Sequence[int], is_end: bytearray) -> tuple[int, ...]:
    """How many digits each token of a number has, given where each digit begins in bytes, and where the last ends."""
    n_digits = len(number) - 1
    cuts = [n for n in range(1, n_digits) if is_end.find(1, number[n], number[n + 1]) >= 0]
    return tuple(b - a for a, b in pairwise([0, *cuts, n_digits]))


def script_runs(text: str) -> Iterator[tuple[str, int, int]]:
    """(script, start, end) of each maximal run of one script, in code points; the runs partition the text. O(n).

    `script` is a name in Unicode's property Script, `OTHER` or `SHARED`. Characters that all scripts share belong to
    the run before them, at the beginning of the text to the run after them.
    """
    start, script, end = 0, SHARED, 0
    for found in _RUNS.finditer(text):
        if found.lastgroup != script and script != SHARED:
            yield script, start, end
            start = end
        script, end = found.lastgroup or OTHER, found.end()
    if text:
        yield script, start, len(text)


def sections(text: str) -> list[tuple[str, str, int]]:
    """(title, text, line) of the parts of a text that begin with a line "# Title"; what comes before is ignored.
    The text is what follows that line, without newlines at either end; `line` is the number of its first, from 1."""
    found: list[tuple[str, str, int]] = []
    before, *parts = regex.split(r"(?m)^# (.*)$", text)
    line = 1 + before.count("\n")
    for title, part in zip(parts[::2], parts[1::2], strict=True):
        if title.strip():
            found.append((title.strip(), part.strip("\n"), line + len(part) - len(part.lstrip("\n"))))
        line += part.count("\n")
    return found
