"""Normalizers: what some tokenizers do to a text before the split; decoding does not undo it.

Each also gives the ranges of the text that it rewrites, so that tokens can be mapped back to the original text.
Unicode's tables are those of this Python's `unicodedata`; libraries with other versions may differ in new characters.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, Final, Literal

import regex

from bpe_core.errors import OptionError
from bpe_core.patterns.automaton import automaton_of
from bpe_core.patterns.expression import Expression

Rewrite = tuple[int, int, str]
"""(start, end, replacement): text[start:end] is replaced; in code points. What lies between two rewrites is kept."""

WHITE_SPACE: Final = "".join(
    map(
        chr,
        (
            *range(9, 14),
            0x20,
            0x85,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
        ),
    )
)
"""The characters with Unicode's property White_Space; `str.strip` and `str.isspace` know four more."""

_BESIDE_ASCII: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""The ranges that are normalized: non-ASCII characters, with the ASCII one before them, which a mark may combine with.
No form combines an ASCII character with anything before it."""

_MARK: Final = r"[\p{M}\uff9e\uff9f]"  # a combining mark, or a character that is decomposed into some
_LONG_RUN: Final = 64
_MARKS: Final = regex.compile(rf"{_MARK}{{{_LONG_RUN},}}")
_DECOMPOSED_AT_ONCE: Final = 256  # characters


class Rule:
    """One elementary step of a normalizer; this class itself rewrites nothing. All others are frozen dataclasses."""

    only_at = ""
    """"start" or "end" if it rewrites only that end of the whole text; "" otherwise."""

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        """The ranges of the text that it rewrites, ascending."""
        return ()

    def is_apart(self, character: str) -> bool:
        """Whether a text can be cut between this and another such character and the two parts be rewritten by
        themselves, with the same result. False where that is not known."""
        return True

    def __call__(self, text: str, most: float = math.inf) -> str:
        """The rewritten text. Raises `OptionError` if it would be longer than `most`, before it is made."""
        parts: list[str] = []
        done, length = 0, len(text)
        for start, end, new in self.rewrites(text):
            parts += text[done:start], new
            length += len(new) - (end - start)
            done = end
        _check_length(length, most)
        return "".join((*parts, text[done:]))

    def part(self, starts: bool, ends: bool) -> "Rule":
        """The rule for a part that `starts` or `ends` the text, or not; one that does nothing if not at `only_at`."""
        is_elsewhere = (self.only_at == "start" and not starts) or (
            self.only_at == "end" and not ends
        )
        return Rule() if is_elsewhere else self


def _check_length(length: int, most: float) -> None:
    if length > most:
        raise OptionError(
            f"The normalizers of this tokenizer make {length:,} characters or more of a text that may become {most:,} "
            "at most; take another tokenizer."
        )


def longest(n_characters: int) -> int:
    """The length in code points that normalizing a text of `n_characters` may not exceed."""
    return (
        32 * n_characters + 256
    )  # no normalization form makes it more than 18 times as long


class Normalizer(tuple[Rule, ...]):
    """Rules that rewrite a text, one after another; called with the text, it returns the result."""

    __slots__ = ()

    def __call__(self, text: str) -> str:
        """The normalized text. Raises `OptionError` if a rule would make it longer than `longest(len(text))`."""
        most = longest(len(text))
        for rule in self:
            text = rule(text, most)
        return text


@dataclass(frozen=True)
class NormalForm(Rule):
    form: Literal["NFC", "NFD", "NFKC", "NFKD"]

    def __call__(self, text: str, most: float = math.inf) -> str:
        if not text.isascii() and _MARKS.search(text):
            text = _ordered(text, "NFD" if self.form in ("NFC", "NFD") else "NFKD")
        return (
            text
            if unicodedata.is_normalized(self.form, text)
            else unicodedata.normalize(self.form, text)
        )

    def rewrites(self, text: str) -> Iterator[Rewrite]:
        for found in _BESIDE_ASCII.finditer(text):
            part, shift = found[0], found.start()
            starts = (at for at in range(1, len(part)) if self.is_apart(part[at]))
            for start, end in pairwise((0, *starts, len(part))):
                if (new := self(part[start:end])) != part[start:end]:
                    yield shift + start, shift + end, new

    def is_apart(self, character: str) -> bool:
        # No form composes or reorders the character with what is before it unless its decomposition begins with a mark
        # or with a vowel or final consonant of Hangul: the second characters of all compositions are of these kinds.
        first = unicodedata.normalize("NFKD", character)[0]
        is_jamo = "\u1160" <= first <= "\u11ff" or "\ud7b0" <= first <= "\ud7ff"
        return not (
            is_jamo
            or unicodedata.category(first)[0] == "M"
            or unicodedata.combining(first)
        )


def _ordered(text: str, form: Literal["NFD", "NFKD"]) -> str:
    """The text in the decomposed normalization form, in O(n log n). `unicodedata.normalize` takes time quadratic in the
    length of a run of combining marks."""
    parts = (
        text[i : i + _DECOMPOSED_AT_ONCE]
        for i in range(0, len(text), _DECOMPOSED_AT_ONCE)
    )
    decomposed = "".join(unicodedata.normalize(form, part) for part in parts)
    return str(_MARKS.sub(lambda found: _sorted_marks(found[0]), decomposed))


def _sorted_marks(text: str) -> str:
    """The canonical ordering: each run of combining characters sorted by combining class, stably."""
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if combines else run)
        for combines, run in runs
    )


@dataclass(frozen=True)
class EachCharacter(Rule):
    change: Callable[[str], str]

    def __call__(self, text: str, most: float = math.inf) -> str:
        return "".join(map(self.change, text))

    def rewrites(self, text: str) -> Iterator[Rewrite]:
        return (
            (at, at + 1, new)
            for at, old in enumerate(text)
            if (new := self.change(old)) != old
        )


def _without_mark(character: str) -> str:
    return "" if unicodedata.category(character)[0] == "M" else character


LOWERCASE: Final = EachCharacter(str.lower)
"""A final sigma does not get its own form."""

WITHOUT_ACCENTS: Final = EachCharacter(_without_mark)
"""Removes combining marks. Precomposed characters keep theirs, unless the text was decomposed before."""


@dataclass(frozen=True)
class Stripped(Rule):
    only_at: Literal["start", "end"]
    characters: str = WHITE_SPACE

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        if self.only_at == "start":
            return [(0, len(text) - len(text.lstrip(self.characters)), "")]
        return [(len(text.rstrip(self.characters)), len(text), "")]

    def is_apart(self, character: str) -> bool:
        return character not in self.characters


@dataclass(frozen=True)
class Prepended(Rule):
    prefix: str
    only_at = "start"

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        return [(0, 0, self.prefix)] * bool(text)


@dataclass(frozen=True)
class Replaced(Rule):
    old: str
    new: str

    def __call__(self, text: str, most: float = math.inf) -> str:
        _check_length(
            len(text) + text.count(self.old) * (len(self.new) - len(self.old)), most
        )
        return text.replace(self.old, self.new)

    def rewrites(self, text: str) -> Iterator[Rewrite]:
        return (
            (*found.span(), self.new)
            for found in re.finditer(re.escape(self.old), text)
        )

    def is_apart(self, character: str) -> bool:
        return len(self.old) == 1 or (bool(self.old) and character not in self.old)


@dataclass(frozen=True)
class ReplacedMatches(Rule):
    """Replaces every match of an expression by the text `new`. `PatternError` as `Expression`, also when called."""

    source: str
    new: str

    def __post_init__(self) -> None:
        self.rewrites("")  # compiles the expression, which may be refused

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        return [(*span, self.new) for span in self._expression.spans(text)]

    def is_apart(self, character: str) -> bool:
        return self._sets is not None and not any(
            one.fullmatch(character) for one in self._sets
        )

    @cached_property
    def _expression(self) -> Expression:
        return Expression(self.source, "pattern of a normalizer")

    @cached_property
    def _sets(self) -> list[Any] | None:
        """Of the characters that a match, or a look-ahead of one, reads; None if they are not known."""
        automaton = automaton_of(self.source)
        if automaton is None or automaton.matches_empty:
            return None
        return [regex.compile(source) for source in frozenset(automaton.sources)]


class SourceMap:
    """A map from a normalized text to its original; the text is added part by part. What a rule puts in the place of a
    range comes from all of that range."""

    def __init__(self) -> None:
        self._places: list[
            tuple[int, int]
        ] = []  # the range of the original that each character comes from
        self._length = 0  # of the original

    def add(self, text: str, rules: Iterable[Rule]) -> str:
        """Apply the rules to the next part of the text and return the result. Raises `OptionError` if it would be
        longer than `normalizers.longest` allows."""
        most, begin = longest(len(text)), len(self._places)
        self._places += pairwise(range(self._length, self._length + len(text) + 1))
        self._length += len(text)
        for rule in rules:
            new = rule(text, most)
            places, done = list[tuple[int, int]](), begin
            for start, end, put in rule.rewrites(text) if new != text else ():
                places += self._places[done : begin + start]
                places += [self.before(begin + start, begin + end)] * len(put)
                done = begin + end
            self._places[begin:done] = places
            text = new
        return text

    def before(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original text that became this range of the normalized text. An empty range is mapped to an
        empty one, or to a whole rewritten range if it lies strictly inside it."""
        places = self._places
        if start < end:
            return places[start][0], places[end - 1][1]
        if 0 < start < len(places) and places[start - 1] == places[start]:
            return places[start]
        place = places[start][0] if start < len(places) else self._length
        return place, place
