"""Several tokenizers on the same texts: amounts of text and tokens, and where the tokenizers cut differently."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest
from itertools import chain, dropwhile, groupby, pairwise
from operator import add, sub
from typing import Final, NamedTuple

import regex

from bpe_core.cached import cached_property
from bpe_core.metrics import merges_in_common, overlap
from bpe_core.metrics.boundaries import (
    Agreement,
    EncodedText,
    compared,
    encoded,
    morphological_alignment,
)
from bpe_core.metrics.text_parts import ASCII_SPACE, WIDE_SPACE, TextDivider, TextPart
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, n_characters, without_surrogates

_BLOCK: Final = 1 << 16  # characters of a text that are handed on at a time
_IS_LETTER: Final = bytes(byte not in ASCII_SPACE.encode() for byte in range(256))
_DIGITS: Final = regex.compile(r"\d++")
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_LONGEST_NUMBER: Final = (
    40  # digits that are analyzed; a longer run is data rather than a number
)

_MOST_CUTS: Final = (
    1 << 17
)  # different disagreements of a pair; if there are more, those counted once are dropped
_WORST: Final = 100  # lines kept for each tokenizer, of those for which it needs the most more tokens than another
_LONGEST_LINE: Final = 160  # characters of a line that are kept

WITHOUT_SPACES: Final = (
    *("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Javanese", "Balinese"),
    *("Han", "Hiragana", "Katakana", "Bopomofo", "Yi"),
)
"""The scripts that put no spaces between words, by their names in Unicode's property Script."""

_SCRIPTS: Final = (  # that are counted one by one
    *(
        "Latin",
        "Greek",
        "Cyrillic",
        "Armenian",
        "Georgian",
        "Hebrew",
        "Arabic",
        "Syriac",
        "Thaana",
        "Ethiopic",
    ),
    *(
        "Devanagari",
        "Bengali",
        "Gurmukhi",
        "Gujarati",
        "Oriya",
        "Tamil",
        "Telugu",
        "Kannada",
        "Malayalam",
        "Sinhala",
    ),
    *(
        "Mongolian",
        "Tagalog",
        "Hangul",
        "Cherokee",
        "Canadian_Aboriginal",
        "Tifinagh",
        "Nko",
        "Coptic",
        "Gothic",
    ),
    *("Braille", *WITHOUT_SPACES),
)
OTHER: Final = "Other"  # all other scripts
SHARED: Final = "no script"  # a text of nothing but characters that all share: digits, punctuation, white space, emoji

_LISTED: Final = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS)
_RUN: Final = (
    r"(?P<{0}>\p{{Script={0}}}[\p{{Script={0}}}\p{{Common}}\p{{Inherited}}]*+)"
)
_OTHER_RUN: Final = (
    rf"(?P<{OTHER}>[^\p{{Common}}\p{{Inherited}}{_LISTED}][^{_LISTED}]*+)"
)
_RUNS: Final = regex.compile("|".join([*map(_RUN.format, _SCRIPTS), _OTHER_RUN]))

_Encoding = Callable[
    [int], object
]  # called before a text is encoded, with the index of the tokenizer


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
    n_whole_words: tuple[
        int, ...
    ]  # with no boundary inside; a token may hold the space before its word; () if unknown

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


class FrequentDisagreement(NamedTuple):
    stretch: str  # with U+FFFD for the bytes of incomplete characters
    first: tuple[
        int, ...
    ]  # the ids that the first tokenizer makes of it, and the other
    other: tuple[int, ...]
    place: TextPlace  # where it begins first
    n_times: int = 1


class PairState(NamedTuple):
    agreement: Agreement
    found: dict[str, FrequentDisagreement]
    n_times: dict[str, int]


class TokenizerPair:
    """The agreement of the first tokenizer and one of the others, over all texts added."""

    def __init__(self, first: Tokenizer, other: Tokenizer) -> None:
        self._tokenizers = first, other
        self.agreement = Agreement()
        # By the substring and how both cut it:
        self._found: dict[str, FrequentDisagreement] = {}
        self._n_times: dict[str, int] = {}

    def add(
        self,
        place: TextPlace,
        first: EncodedText,
        other: EncodedText,
        *,
        is_last: bool = True,
    ) -> None:
        """Add a text, or a part of one, as both encode it; `place` is where it begins. At the end of a part that is not
        the last, both have a boundary."""
        shared, differences = compared(first, other)
        self.agreement += shared
        if not is_last:
            self.agreement += Agreement(1, 1, 1)
        data, done, line, column = first.data, 0, place.line, place.column
        for found in differences:
            cut = found[0]
            if cut in self._found:
                self._n_times[cut] += 1
                continue
            start, end = found.span()
            before, newline, rest = data[done:start].rpartition(b"\n")
            if newline:
                line, column = line + before.count(b"\n") + 1, 0
            column, done = column + n_characters(rest), start
            ours, theirs = (
                tuple(first.tokens(start, end)),
                tuple(other.tokens(start, end)),
            )
            stretch = data[start:end].decode(errors="replace")
            self._found[cut] = FrequentDisagreement(
                stretch, ours, theirs, TextPlace(place.text, line, column)
            )
            self._n_times[cut] = 1
        if len(self._found) > _MOST_CUTS:
            self._n_times = {cut: n for cut, n in self._n_times.items() if n > 1}
            self._found = {cut: self._found[cut] for cut in self._n_times}

    def state(self) -> PairState:
        """What `restore` needs to make all as it is now."""
        return PairState(self.agreement, dict(self._found), dict(self._n_times))

    def restore(self, state: PairState) -> None:
        self.agreement, self._found, self._n_times = state

    @cached_property
    def vocabularies(self) -> tuple[int, list[int], list[int], int]:
        """What `overlap` and `merges_in_common` say of the two."""
        return (*overlap(*self._tokenizers), merges_in_common(*self._tokenizers))

    def examples(self, n: int) -> list[FrequentDisagreement]:
        most_frequent = nlargest(n, self._n_times, key=self._n_times.__getitem__)
        return [
            self._found[cut]._replace(n_times=self._n_times[cut])
            for cut in most_frequent
        ]


@dataclass(slots=True)
class WorstLine:
    """A line that a tokenizer needs more tokens for than another."""

    line: str  # its first 160 characters
    n_tokens: tuple[
        int, ...
    ]  # by each tokenizer; a token counts for the line of its last byte
    place: TextPlace  # where it occurs first
    n_times: int = 1

    def excess(self, index: int) -> int:
        """Tokens by the tokenizer `index` - the fewest tokens by another."""
        return self.n_tokens[index] - min(
            n for i, n in enumerate(self.n_tokens) if i != index
        )


class Comparison:
    """Compares tokenizers on texts, which are added one by one; with a single tokenizer, it measures that one."""

    def __init__(
        self,
        tokenizers: Sequence[Tokenizer],
        morphemes: Sequence[Sequence[str]] = (),
        n_sample: int = 100_000,
    ) -> None:
        self.tokenizers: Final = tuple(tokenizers)
        self.morphemes: Final = (
            morphemes  # of words, to see how far token boundaries follow them
        )
        self.n_sample: Final = n_sample
        self.texts: Final[list[ComparedText]] = []
        none = (0,) * len(self.tokenizers)
        self.total = Amounts("all", 0, 0, 0, none, none)
        self._scripts: Final[dict[str, Amounts]] = {}
        self.token_counts: Final = [
            Counter[int]() for _ in self.tokenizers
        ]  # id -> occurrences in all texts
        # Digits in each token of a number -> how many numbers are cut so: 123|4 counts for (3, 1).
        self.number_splits: Final = [
            Counter[tuple[int, ...]]() for _ in self.tokenizers
        ]
        self.pairs: Final = [
            TokenizerPair(self.tokenizers[0], other) for other in self.tokenizers[1:]
        ]
        self._lines: Final = [
            dict[tuple[str, tuple[int, ...]], WorstLine]() for _ in self.tokenizers
        ]
        # New lines are kept if their excess is greater. It only grows: what is kept was counted from its first place.
        self._least = [0] * len(self.tokenizers)
        self.sample = ""  # the first `n_sample` characters of all texts
        self._divider = TextDivider(self.tokenizers)
        self._before: _State | None = (
            None  # all as it was before a text that is added part by part
        )

    def add(
        self,
        name: str,
        text: str | Iterable[str],
        *,
        path: str = "",
        folder: str = "",
        line: int = 1,
        encoding: _Encoding = bool,
    ) -> None:
        """Encode one more text, called `name`, with each tokenizer. A long one may come in blocks; then only a part of
        it is held at a time, see `TextDivider`. O(n log n) for n characters.

        The other arguments are those of `ComparedText`. What `encoding` raises, or encoding does, leaves all as it was.
        """
        blocks = (
            _blocks_of(text) if isinstance(text, str) else map(without_surrogates, text)
        )
        here = _Reached(line)
        amounts = None
        try:
            for part in self._divider.parts(blocks):
                if not part.is_last and self._before is None:
                    self._before = self._state()
                more = self._encode(name, part, here, encoding)
                amounts = amounts + more if amounts else more
        except BaseException:
            if self._before is not None:
                self._restore(self._before)
            raise
        finally:
            self._before = None
        assert amounts is not None
        self._finish(amounts, here)
        self.texts.append(ComparedText(amounts, path, folder, line))

    @property
    def is_within_a_text(self) -> bool:
        """Whether a part of a text counts that is not added as a whole yet."""
        return self._before is not None

    def _encode(
        self, name: str, part: TextPart, here: "_Reached", encoding: _Encoding
    ) -> Amounts:
        """Add the next part of a text, which is reached at `here`, and move that behind it."""
        text = part.text
        data, offsets, (starts, inside) = (
            text.encode(),
            byte_offsets(text),
            _words(text),
        )
        runs = [
            (run.start(), min(run.end(), run.start() + _LONGEST_NUMBER))
            for run in _DIGITS.finditer(text)
        ]
        found: list[EncodedText] = []
        for index, tokenizer in enumerate(self.tokenizers):
            encoding(index)
            found.append(
                encoded(tokenizer, text, part.before[index], part.behind[index])
            )
        # Of each tokenizer a number for each byte: 2 where a word begins, 1 where one is cut.
        words = [
            (starts << 1 | int.from_bytes(one.cuts) & inside).to_bytes(len(one.cuts))
            for one in found
        ]
        for counts, splits, one in zip(
            self.token_counts, self.number_splits, found, strict=True
        ):
            for first in range(0, len(one.ids), _BLOCK):  # Ctrl+C ends it in between
                counts.update(one.ids[first : first + _BLOCK])
            splits.update(_digit_lengths(offsets[a : b + 1], one.cuts) for a, b in runs)
        place = TextPlace(len(self.texts), here.line, here.column)
        for pair, other in zip(self.pairs, found[1:], strict=True):
            pair.add(place, found[0], other, is_last=part.is_last)
        if self.pairs:
            self._add_lines(here, data, found, is_last=part.is_last)
        self.sample += text[: self.n_sample - len(self.sample)]

        def amounts(part: str, start: int, end: int) -> Amounts:
            """Those of some characters; a word that begins there counts, wherever it ends."""
            first, last = offsets[start], offsets[end]
            stop = (
                words[0].find(2, last) if words[0].find(2, first, last) >= 0 else first
            )
            marks = [each[first:stop].translate(None, b"\0") for each in words]
            n_whole = tuple(each.count(2) - each.count(b"\2\1") for each in marks)
            n_tokens = tuple(len(one.tokens(first, last)) for one in found)
            return Amounts(
                part, last - first, end - start, marks[0].count(2), n_tokens, n_whole
            )

        for script, start, end in script_runs(text, here.script):
            self._add_script(here, amounts(script, start, end))
        here.move_behind(text)
        return amounts(name, 0, len(text))

    def _add_script(self, here: "_Reached", run: Amounts) -> None:
        """Add a run of characters. What comes before the first script of a text belongs to that."""
        if run.name == SHARED:
            here.of_no_script = here.of_no_script + run if here.of_no_script else run
            return
        if here.of_no_script:
            run += here.of_no_script
            here.of_no_script = None
        here.script = run.name
        _add_to(self._scripts, run)

    def _finish(self, amounts: Amounts, here: "_Reached") -> None:
        if here.of_no_script:
            _add_to(self._scripts, here.of_no_script)
        self.total += amounts

    def _add_lines(
        self,
        here: "_Reached",
        data: bytes,
        found: Sequence[EncodedText],
        *,
        is_last: bool,
    ) -> None:
        """Add the lines of a part of a text, `data` in UTF-8. A line may reach over several parts."""
        spans = [line.span() for line in _LINE.finditer(data)]
        upto = (
            [0, *(bisect_right(one.ends, end) for _, end in spans)] for one in found
        )
        n_ends_inside = (
            len(spans) if is_last or data.endswith(b"\n") else len(spans) - 1
        )
        for number, n_tokens in enumerate(
            zip(*(map(sub, more[1:], more) for more in upto), strict=True)
        ):
            start, end = spans[number]
            begun = b""
            if number == 0 and here.open_line:
                begun = here.open_line.begin
                n_tokens = tuple(map(add, here.open_line.n_tokens, n_tokens))
                here.open_line = None
            is_open = number == n_ends_inside
            if is_open or min(n_tokens) != max(n_tokens):
                begin = (
                    begun + data[start : min(end, start + 4 * _LONGEST_LINE)]
                )  # 4 bytes a character at most
                line = _Line(begin[: 4 * _LONGEST_LINE], n_tokens, here.line + number)
                if is_open:
                    here.open_line = line
                else:
                    self._add_line(line)

    def _add_line(self, line: "_Line") -> None:
        n_tokens, fewest = line.n_tokens, min(line.n_tokens)
        shown = (
            line.begin.decode(errors="ignore")[:_LONGEST_LINE]
            .removesuffix("\n")
            .removesuffix("\r")
        )
        for index, n in enumerate(n_tokens):
            kept = self._lines[index]
            if n == fewest or n - fewest < self._least[index]:
                continue
            if old := kept.get((shown, n_tokens)):
                old.n_times += 1
            elif n - fewest > self._least[index]:
                kept[shown, n_tokens] = WorstLine(
                    shown, n_tokens, TextPlace(len(self.texts), line.number, 0)
                )
            if len(kept) >= 4 * _WORST:
                worst = self.worst_lines(index)
                self._least[index] = worst[-1].excess(index)
                self._lines[index] = {(one.line, one.n_tokens): one for one in worst}

    def _state(self) -> "_State":
        """What `_restore` needs to make all as it is now."""
        return _State(
            [Counter(counts) for counts in self.token_counts],
            [Counter(splits) for splits in self.number_splits],
            [pair.state() for pair in self.pairs],
            [{key: replace(one) for key, one in kept.items()} for kept in self._lines],
            list(self._least),
            dict(self._scripts),
            self.sample,
        )

    def _restore(self, state: "_State") -> None:
        self.token_counts[:] = state.token_counts
        self.number_splits[:] = state.number_splits
        for pair, pair_state in zip(self.pairs, state.pairs, strict=True):
            pair.restore(pair_state)
        self._lines[:] = state.lines
        self._least = state.least
        self._scripts.clear()
        self._scripts.update(state.scripts)
        self.sample = state.sample

    def worst_lines(self, index: int) -> list[WorstLine]:
        """The `_WORST` different lines with the greatest excess for the tokenizer `index`, if there are several: by
        falling excess, those of equal excess as they came."""
        return nsmallest(
            _WORST, self._lines[index].values(), key=lambda one: -one.excess(index)
        )

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
        return [
            morphological_alignment(tokenizer, self.morphemes)
            for tokenizer in self.tokenizers
        ]

    def token_lengths(self, index: int) -> Counter[int]:
        """Length of a token in bytes -> how many tokens of the texts, repetitions included, have that length."""
        lengths: Counter[int] = Counter()
        for token, count in self.token_counts[index].items():
            lengths[len(self.tokenizers[index].token_bytes(token))] += count
        return lengths


class _Line(NamedTuple):
    begin: bytes  # its first bytes, at least those of `_LONGEST_LINE` characters
    n_tokens: tuple[int, ...]
    number: int


@dataclass(slots=True)
class _Reached:
    """How far a text is read that comes in parts."""

    line: int
    column: int = 0
    script: str = SHARED  # of the characters before
    of_no_script: Amounts | None = None  # what comes before the first script
    open_line: _Line | None = None  # where a line goes on in the next part

    def move_behind(self, text: str) -> None:
        before, newline, rest = text.rpartition("\n")
        if newline:
            self.line += before.count("\n") + 1
            self.column = 0
        self.column += len(rest)


class _State(NamedTuple):
    """What a comparison knows of the texts added so far."""

    token_counts: list[Counter[int]]
    number_splits: list[Counter[tuple[int, ...]]]
    pairs: list[PairState]
    lines: list[dict[tuple[str, tuple[int, ...]], WorstLine]]
    least: list[int]
    scripts: dict[str, Amounts]
    sample: str


class TokenCounts(Comparison):
    """A comparison that counts tokens alone, in a tenth of the time: of texts, and without whole words."""

    def _encode(
        self, name: str, part: TextPart, here: "_Reached", encoding: _Encoding
    ) -> Amounts:
        text = part.text
        n_tokens = []
        for index, tokenizer in enumerate(self.tokenizers):
            encoding(index)
            before, behind = part.before[index], part.behind[index]
            if tokenizer.by_piece or (before is None and behind is None):
                n_tokens.append(len(tokenizer.encode_to_array(text)))
            else:
                n_tokens.append(len(encoded(tokenizer, text, before, behind).ids))
        return Amounts(
            name,
            len(text.encode()),
            len(text),
            _words(text)[0].bit_count(),
            tuple(n_tokens),
            (),
        )

    def _finish(self, amounts: Amounts, here: "_Reached") -> None:
        """Keep nothing but the amounts of the text."""


def _blocks_of(text: str) -> Iterator[str]:
    text = without_surrogates(text)
    return (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))


def _words(text: str) -> tuple[int, int]:
    """Big-endian numbers of a byte for each of the text in UTF-8, and one more: 1 where a word begins; further in."""
    blocks = []
    for start in range(0, len(text), _BLOCK):  # Ctrl+C takes effect between blocks
        spaced = WIDE_SPACE.sub(_spaces, text[start : start + _BLOCK])
        blocks.append(spaced.encode().translate(_IS_LETTER))
    letters = int.from_bytes(b"".join([*blocks, b"\0"]))
    inside = letters & letters >> 8
    return letters ^ inside, inside


def _spaces(wide_space: re.Match[str]) -> str:
    return " " * len(wide_space[0].encode())


def _add_to(found: dict[str, Amounts], more: Amounts) -> None:
    found[more.name] = found[more.name] + more if more.name in found else more


def _digit_lengths(number: Sequence[int], is_end: bytearray) -> tuple[int, ...]:
    """How many digits each token of a number has, given where each digit begins in bytes, and where the last ends."""
    n_digits = len(number) - 1
    cuts = [
        n for n in range(1, n_digits) if is_end.find(1, number[n], number[n + 1]) >= 0
    ]
    return tuple(b - a for a, b in pairwise([0, *cuts, n_digits]))


def script_runs(text: str, script: str = SHARED) -> Iterator[tuple[str, int, int]]:
    """(script, start, end) of each maximal run of one script, in code points; the runs partition the text. O(n).

    `script` is a name in Unicode's property Script, `OTHER` or `SHARED`. Characters that all scripts share belong to
    the run before them, at the beginning of the text to the run after them. Of the next part of a text `script` is that
    of the run before.
    """
    start = 0
    for found in _RUNS.finditer(text):
        if found.lastgroup != script and script != SHARED:
            if found.start() > start:
                yield script, start, found.start()
            start = found.start()
        script = found.lastgroup or OTHER
    if text:
        yield script, start, len(text)


class TextSection(NamedTuple):
    """A part of a text below a line "# Title"."""

    title: str
    line: int  # the number of its first line, from 1
    blocks: Iterator[
        str
    ]  # its text without newlines at either end, to be read before the next section


def sections(blocks: Iterable[str]) -> Iterator[TextSection]:
    """Yield the parts of a text, which comes in blocks, that begin with a line "# Title"; what comes before the first,
    and what has an empty title, is left out."""
    for _, lines in groupby(_numbered_lines(blocks), key=_SectionNumber()):
        section = _section(lines)
        if section:
            yield section


def _section(lines: "Iterator[_NumberedLine]") -> TextSection | None:
    """The section of these lines; None if they begin with no title."""
    first = next(lines)
    title = first.text.removeprefix("# ").strip()
    if not (first.is_title and title):
        return None
    rest = dropwhile(lambda line: line.text == "\n", lines)
    following = next(rest, None)
    if following is None:
        return TextSection(title, first.number + 1, iter(()))
    return TextSection(
        title, following.number, _without_last_newlines(chain([following], rest))
    )


class _NumberedLine(NamedTuple):
    """A line with its newline, or one of the parts of a long line."""

    text: str
    number: int  # from 1
    is_title: bool


class _SectionNumber:
    """Says of each of a text's lines how many titles there were until it."""

    def __init__(self) -> None:
        self._n_titles = 0

    def __call__(self, line: _NumberedLine) -> int:
        self._n_titles += line.is_title
        return self._n_titles


def _numbered_lines(blocks: Iterable[str]) -> Iterator[_NumberedLine]:
    """The lines of a text, those that are longer than a block in parts; a title is whole."""
    number, rest, is_inside = (
        1,
        "",
        False,
    )  # whether the beginning of a line was yielded already
    for block in blocks:
        lines = (rest + block).split("\n")
        rest = lines.pop()
        for line in lines:
            yield _NumberedLine(
                f"{line}\n", number, line.startswith("# ") and not is_inside
            )
            number, is_inside = number + 1, False
        is_title_maybe = not is_inside and (rest.startswith("# ") or len(rest) < 2)
        if rest and not is_title_maybe:
            yield _NumberedLine(rest, number, False)
            rest, is_inside = "", True
    if rest:
        yield _NumberedLine(rest, number, rest.startswith("# ") and not is_inside)


def _without_last_newlines(lines: Iterable[_NumberedLine]) -> Iterator[str]:
    n_newlines = 0
    for line in lines:
        text = line.text.rstrip("\n")
        if text:
            yield "\n" * n_newlines + text
            n_newlines = 0
        n_newlines += len(line.text) - len(text)
