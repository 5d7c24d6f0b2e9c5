"""Compare tokenizers on the same texts: count text and tokens by text, folder and script.

The module `disagreements` finds where the tokenizers cut a text differently.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self

import regex

from bpe_core.cached import cached_property
from bpe_core.metrics.boundaries import (
    Agreement,
    EncodedText,
    encode_part,
    encode_with_ends,
)
from bpe_core.metrics.disagreements import (
    LineCounter,
    Position,
    TextPlace,
    TokenizerPair,
    WorstLine,
    WorstLines,
    sums,
)
from bpe_core.metrics.morphemes import morphological_alignment
from bpe_core.metrics.scripts import SHARED, script_runs
from bpe_core.metrics.text_parts import ASCII_SPACE, WIDE_SPACE, TextDivider, TextPart
from bpe_core.metrics.token_use import GroupedCounts, TokenUse
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, without_surrogates

_BLOCK: Final = 1 << 16
"""Maximum number of characters or tokens processed in one call. Ctrl+C takes effect between calls."""
_IN_WORD: Final = bytes(byte not in ASCII_SPACE.encode() for byte in range(256))
"""A table for each byte: 0 if it is white space, else 1, because it is part of a word."""
_DIGITS: Final = regex.compile(r"\d++")
_LONGEST_NUMBER: Final = 40
"""Only so many digits of a number are counted, since a longer run is probably data."""
_WORD_START: Final = 2
_CUT_IN_WORD: Final = 1

OnEncoding = Callable[[int], object]
"""Called before a text is encoded, with the index of the tokenizer."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """The size of one or more texts, or of their parts in one script, and their tokens.

    A token belongs to the script of its last byte, a word to the script of its first character.
    """

    name: str  # the name of the text, the folder or the script
    n_bytes: int  # in UTF-8
    n_characters: int  # in code points
    n_words: int  # words are the longest stretches without white space
    n_tokens: tuple[int, ...]  # by tokenizer
    n_whole_words: tuple[int, ...]
    """By tokenizer, the number of words without a boundary inside. The token of such a word may also
    hold the space before the word. () if words are not examined."""
    token_use: tuple[TokenUse, ...] = ()
    """By tokenizer; () if it is not known."""

    def __add__(self, other: "Amounts") -> "Amounts":
        """Add the amounts of other texts. The sum keeps the name of the left operand.

        Its `token_use` is (), because it doesn't follow from that of both.
        """
        return Amounts(
            self.name,
            self.n_bytes + other.n_bytes,
            self.n_characters + other.n_characters,
            self.n_words + other.n_words,
            sums(self.n_tokens, other.n_tokens),
            sums(self.n_whole_words, other.n_whole_words),
        )


class ComparedText(NamedTuple):
    """One of the texts of a comparison."""

    amounts: Amounts
    path: str = ""  # the file that holds it; empty for a text that is in no file
    folder: str = ""  # the name under which `Comparison.folders` counts it
    line: int = 1  # the number of its first line in the file


class Comparison:
    """Compares tokenizers on texts that are added one by one, or measures a single tokenizer.

    Lists have one item per tokenizer, except `texts`, and `pairs`, which has one item for each
    tokenizer after the first.
    """

    def __init__(
        self,
        tokenizers: Sequence[Tokenizer],
        morphemes: Sequence[Sequence[str]] = (),
        n_sample: int = 100_000,
    ) -> None:
        """Start a comparison without texts.

        Args:
            tokenizers: The tokenizers. All others are compared with the first one.
            morphemes: Words divided into morphemes, to measure how well token boundaries match these.
            n_sample: Number of characters to keep, for measuring the effect of edits.
        """
        self.tokenizers: Final = tuple(tokenizers)
        self.morphemes: Final = morphemes
        self.n_sample: Final = n_sample
        self.texts: Final[list[ComparedText]] = []
        self.total = self._no_amounts("all")
        """The sum of all texts, without their use of tokens; see `all_texts`."""
        self.token_counts: list[Counter[int]] = self._no_counts()
        """Occurrences of each token id in all texts."""
        self.number_splits: list[Counter[tuple[int, ...]]] = self._no_counts()
        """Digits in each token of a number, such as (3, 1) for 123|4 -> how many numbers are cut this way."""
        first = self.tokenizers[0]
        self.pairs = [TokenizerPair(first, other) for other in self.tokenizers[1:]]
        self.sample = ""
        """The first `n_sample` characters of all texts."""
        self._worst_lines = [WorstLines(i) for i in range(len(self.tokenizers))]
        self._scripts: dict[str, Amounts] = {}
        self._script_counts: dict[str, list[Counter[int]]] = {}
        self._folders: dict[str, Amounts] = {}
        self._folder_counts = GroupedCounts(len(self.tokenizers))
        self._divider = TextDivider(self.tokenizers)
        self._before: Comparison | None = None
        """A copy from before the text that is being added part by part; None between texts."""

    def add(
        self,
        name: str,
        text: str | Iterable[str],
        *,
        path: str = "",
        folder: str = "",
        line: int = 1,
        encoding: OnEncoding | None = None,
    ) -> None:
        """Encode a text with each tokenizer, and add it to all counts.

        Takes O(n log n) time for n characters. If a tokenizer or `encoding` fails, the comparison
        stays unchanged.

        Args:
            name: The name of the text.
            text: The text, or its blocks. Of a text in blocks, only a part is in memory at a time; see
                `TextDivider`.
            path: The file of the text.
            folder: The name of the folder to which `folders` adds the text.
            line: The number of its first line in the file.
            encoding: Called before each part is encoded. Its exceptions are passed on.

        Raises:
            UnknownTokenError: A character has no token.
            PatternError: A pattern takes too long.
        """
        if isinstance(text, str):
            text = _blocks_of(text)
        blocks = map(without_surrogates, text)
        progress = _Progress(self._no_amounts(name), Position(line), self._no_counts())
        try:
            for part in self._divider.parts(blocks):
                # If the first part is also the last, it is encoded before anything is counted.
                if not part.is_last and self._before is None:
                    self._before = self._copy()
                self._add_part(part, progress, encoding)
        except BaseException:
            if self._before is not None:
                vars(self).update(vars(self._before))  # undo the parts that were added
            raise
        finally:
            self._before = None
        amounts = self._add_counts_of_text(progress, folder)
        self.texts.append(ComparedText(amounts, path, folder, line))

    def _no_amounts(self, name: str) -> Amounts:
        zeros = (0,) * len(self.tokenizers)
        return Amounts(name, 0, 0, 0, zeros, zeros)

    def _no_counts(self) -> list[Counter[Any]]:
        return [Counter() for _ in self.tokenizers]

    @property
    def is_within_a_text(self) -> bool:
        """Whether some parts of a text are added and others are still missing."""
        return self._before is not None

    def _add_part(
        self, part: TextPart, progress: "_Progress", encoding: OnEncoding | None
    ) -> None:
        """Encode the next part of a text, and count it."""
        encoded = []
        for index, tokenizer in enumerate(self.tokenizers):
            if encoding:
                encoding(index)
            before = part.before[index]
            behind = part.behind[index]
            encoded.append(encode_with_ends(tokenizer, part.text, before, behind))
        encoded_part = _EncodedPart(part.text, encoded)
        for index, encoded_text in enumerate(encoded):
            progress.number_splits[index].update(
                _digits_per_token(digit_starts, encoded_text.cuts)
                for digit_starts in encoded_part.numbers
            )
        self._add_differences(encoded_part, progress, is_last=part.is_last)
        self.sample += part.text[: self.n_sample - len(self.sample)]
        for script, start, end in script_runs(part.text, progress.script):
            progress.script = script
            counts = progress.script_counts.setdefault(script, self._no_counts())
            amounts = encoded_part.count(script, start, end, counts)
            progress.amounts += amounts
            _add_to(progress.scripts, amounts)
        progress.position.move_past(encoded_part.data)

    def _add_differences(
        self, part: "_EncodedPart", progress: "_Progress", *, is_last: bool
    ) -> None:
        if not self.pairs:
            return
        text = len(self.texts)
        position = progress.position
        place = TextPlace(text, position.line, position.column)
        first, *others = part.encoded
        for pair, other in zip(self.pairs, others, strict=True):
            pair.add(place, first, other, is_last=is_last)
        for line in progress.line_counter.lines(
            part.data, part.encoded, position.line, is_last=is_last
        ):
            for worst_lines in self._worst_lines:
                worst_lines.add(line, text)

    def _add_counts_of_text(self, progress: "_Progress", folder: str) -> Amounts:
        """Add the counts of a text after its last part. Return its amounts with its use of tokens."""
        self.total += progress.amounts
        _add_to(self._folders, replace(progress.amounts, name=folder))
        _add_counts(self.number_splits, progress.number_splits)
        token_counts = self._no_counts()
        scripts = list(progress.scripts)
        for script, amounts in progress.scripts.items():
            name = script
            if script == SHARED and len(scripts) > 1:
                # The characters before the first script belong to that script.
                name = scripts[1]
            _add_to(self._scripts, replace(amounts, name=name))
            counts = progress.script_counts[script]
            known_counts = self._script_counts.setdefault(name, self._no_counts())
            _add_counts(known_counts, counts)
            _add_counts(token_counts, counts)
        _add_counts(self.token_counts, token_counts)
        _add_counts(self._folder_counts.of(folder), token_counts)
        return self._with_token_use(progress.amounts, token_counts)

    def _with_token_use(
        self, amounts: Amounts, token_counts: Sequence[Counter[int]]
    ) -> Amounts:
        token_use = [
            TokenUse.of(counts.values(), tokenizer.n_tokens)
            for counts, tokenizer in zip(token_counts, self.tokenizers, strict=True)
        ]
        return replace(amounts, token_use=tuple(token_use))

    def _copy(self) -> Self:
        """Return a comparison with the same counts, which a text can be added to separately."""
        other = copy(self)
        other.pairs = [pair.copied() for pair in self.pairs]
        other._worst_lines = [lines.copied() for lines in self._worst_lines]
        return other

    def worst_lines(self, index: int) -> list[WorstLine]:
        """Return the lines for which the tokenizer at `index` needs the most extra tokens.

        Return at most 100 different lines, the highest excess first, then in the order of the texts.
        For a single tokenizer, return none.
        """
        return self._worst_lines[index].worst()

    def all_texts(self) -> Amounts:
        """Return the amounts of all texts, with their use of tokens."""
        return self._with_token_use(self.total, self.token_counts)

    def scripts(self) -> list[Amounts]:
        """Return the amounts of each script, the largest number of bytes first."""
        scripts = sorted(self._scripts.values(), key=lambda script: -script.n_bytes)
        return [
            self._with_token_use(script, self._script_counts[script.name])
            for script in scripts
        ]

    def folders(self) -> list[Amounts]:
        """Return the amounts of each folder, in the order of their first texts."""
        return [
            self._with_token_use(folder, self._folder_counts.of(folder.name))
            for folder in self._folders.values()
        ]

    @cached_property
    def morpheme_agreements(self) -> list[Agreement]:
        """The agreement of morpheme boundaries and token boundaries, for each tokenizer."""
        return [
            morphological_alignment(tokenizer, self.morphemes)
            for tokenizer in self.tokenizers
        ]

    def token_lengths(self, index: int) -> Counter[int]:
        """Return how many tokens of each length in bytes the tokenizer at `index` makes of the texts.

        A token that occurs several times counts each time.
        """
        lengths = Counter[int]()
        for token, count in self.token_counts[index].items():
            lengths[len(self.tokenizers[index].token_bytes(token))] += count
        return lengths


@dataclass(slots=True)
class _Progress:
    """The progress in a text that comes in parts."""

    amounts: Amounts
    position: Position
    number_splits: list[Counter[tuple[int, ...]]]
    script: str = SHARED  # the script of the last character
    scripts: dict[str, Amounts] = field(default_factory=dict)
    """Those of the characters before the first script are under `SHARED`."""
    script_counts: dict[str, list[Counter[int]]] = field(default_factory=dict)
    """Occurrences of each token id, by script and tokenizer."""
    line_counter: LineCounter = field(default_factory=LineCounter)


class TokenCounts(Comparison):
    """A comparison that counts only the tokens of each text, in a tenth of the time."""

    def _no_amounts(self, name: str) -> Amounts:
        return replace(super()._no_amounts(name), n_whole_words=())

    def _add_part(
        self, part: TextPart, progress: _Progress, encoding: OnEncoding | None
    ) -> None:
        text = part.text
        n_tokens = []
        for index, tokenizer in enumerate(self.tokenizers):
            if encoding:
                encoding(index)
            before = part.before[index]
            behind = part.behind[index]
            n_tokens.append(len(encode_part(tokenizer, text, before, behind)))
        progress.amounts += Amounts(
            progress.amounts.name,
            n_bytes=len(text.encode()),
            n_characters=len(text),
            n_words=_words(text).starts.bit_count(),
            n_tokens=tuple(n_tokens),
            n_whole_words=(),
        )

    def _add_counts_of_text(self, progress: _Progress, folder: str) -> Amounts:
        return progress.amounts


class _EncodedPart:
    """A part of a text as each tokenizer encodes it, and the words and numbers in it."""

    def __init__(self, text: str, encoded: Sequence[EncodedText]) -> None:
        self.data: Final = text.encode()
        self.encoded: Final = encoded
        offsets = byte_offsets(text)
        self._offsets: Final = offsets
        words = _words(text)
        # For each tokenizer a byte per offset: `_WORD_START`, `_CUT_IN_WORD` or 0. One more
        # word start at the end makes sure that the search for the next word finds one.
        self._word_marks: Final[list[bytes]] = []
        for encoded_text in encoded:
            cuts = encoded_text.cuts
            cuts_in_words = int.from_bytes(cuts) & words.inside
            marks = _WORD_START * words.starts | _CUT_IN_WORD * cuts_in_words
            self._word_marks.append(marks.to_bytes(len(cuts)) + bytes((_WORD_START,)))
        numbers: list[Sequence[int]] = []
        for run in _DIGITS.finditer(text):
            start, end = run.span()
            end = min(end, start + _LONGEST_NUMBER)
            numbers.append(offsets[start : end + 1])
        self.numbers: Final = numbers
        """For each number, the offsets at which its digits begin and the offset at which the last one ends."""

    def count(
        self, name: str, start: int, end: int, counts: Sequence[Counter[int]]
    ) -> Amounts:
        """Return the amounts of a range of characters, and add its tokens to `counts`, which are given by tokenizer.

        A word counts if it begins in the range.
        """
        first = self._offsets[start]
        last = self._offsets[end]
        word_starts = self._word_marks[0]  # words start at the same places in all
        n_words = word_starts.count(_WORD_START, first, last)
        words_end = word_starts.find(_WORD_START, last) if n_words else first
        n_whole_words = []
        for word_marks in self._word_marks:
            # A word that is cut has a cut as the first mark after its start.
            marks = word_marks[first:words_end].translate(None, b"\0")
            n_cut_words = marks.count(bytes((_WORD_START, _CUT_IN_WORD)))
            n_whole_words.append(n_words - n_cut_words)
        n_tokens = []
        for encoded, token_counts in zip(self.encoded, counts, strict=True):
            ids = encoded.tokens(first, last)
            n_tokens.append(len(ids))
            for block in range(0, len(ids), _BLOCK):
                token_counts.update(ids[block : block + _BLOCK])
        return Amounts(
            name,
            n_bytes=last - first,
            n_characters=end - start,
            n_words=n_words,
            n_tokens=tuple(n_tokens),
            n_whole_words=tuple(n_whole_words),
        )


class _Words(NamedTuple):
    """The words of a text as large numbers, with a byte for each byte of the text and one more.

    The first byte is the most significant one. Each byte is 0 or 1. So an operator on two of these
    numbers treats all bytes at once.
    """

    starts: int  # 1 where a word begins
    inside: int  # 1 where a word goes on


def _words(text: str) -> _Words:
    """Find the words of a text.

    For "a bc", the starts are 0x01_00_01_00_00 and the inside is 0x00_00_00_01_00.
    """
    blocks = []
    for start in range(0, len(text), _BLOCK):
        only_ascii_space = WIDE_SPACE.sub(_spaces, text[start : start + _BLOCK])
        blocks.append(only_ascii_space.encode().translate(_IN_WORD))
    in_words = int.from_bytes(b"".join(blocks) + b"\0")
    # A word goes on at a byte if that byte and the one before it are in a word.
    inside = in_words & in_words >> 8
    return _Words(starts=in_words ^ inside, inside=inside)


def _spaces(wide_space: re.Match[str]) -> str:
    """Return as many spaces as the matched white space has bytes."""
    return " " * len(wide_space[0].encode())


def _blocks_of(text: str) -> Iterator[str]:
    text = without_surrogates(text)
    for start in range(0, len(text), _BLOCK):
        yield text[start : start + _BLOCK]


def _add_counts(sums: Sequence[Counter[Any]], added: Sequence[Counter[Any]]) -> None:
    for sum_, counts in zip(sums, added, strict=True):
        sum_.update(counts)


def _add_to(by_name: dict[str, Amounts], added: Amounts) -> None:
    known = by_name.get(added.name)
    by_name[added.name] = known + added if known else added


def _digits_per_token(digit_starts: Sequence[int], cuts: bytearray) -> tuple[int, ...]:
    """Return how many digits each token of a number has: (3, 1) for 123|4.

    Args:
        digit_starts: The offsets at which the digits begin, and at which the last digit ends.
        cuts: For each offset of the text, 1 if a token ends there. A cut inside a digit counts as
            one before it.
    """
    n_digits = len(digit_starts) - 1
    ends = [0]
    for n in range(1, n_digits):
        if cuts.find(1, digit_starts[n], digit_starts[n + 1]) >= 0:
            ends.append(n)
    ends.append(n_digits)
    return tuple(end - start for start, end in pairwise(ends))
