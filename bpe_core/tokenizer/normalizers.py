"""Normalizers, which change a text before the split in some tokenizers. Decoding does not undo the change.

Each rule also gives the ranges of the text that it rewrites, so that tokens can be mapped back to the original text.
Unicode's tables are those of this Python's `unicodedata`; libraries with other versions may differ for new characters.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Final, Literal, NamedTuple

import regex

from bpe_core.cached import cached_property
from bpe_core.errors import OptionError
from bpe_core.patterns.automaton import automaton_of
from bpe_core.patterns.expression import Expression


class Rewrite(NamedTuple):
    """A range of a text, in code points, and the text that replaces it. Text between two rewrites is kept."""

    start: int
    end: int
    replacement: str


_WHITE_SPACE_CODES: Final = (
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
)
WHITE_SPACE: Final = "".join(map(chr, _WHITE_SPACE_CODES))
"""The characters with Unicode's property White_Space. `str.strip` and `str.isspace` know four more."""

_NEAR_NON_ASCII: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""The ranges to normalize: non-ASCII characters, with the ASCII character before them, which a mark may combine with. No
form combines an ASCII character with anything before it."""

_MARK: Final = r"[\p{M}\uff9e\uff9f]"  # a combining mark, or a character that is decomposed into some
_LONG_RUN: Final = 64
_LONG_RUN_OF_MARKS: Final = regex.compile(rf"{_MARK}{{{_LONG_RUN},}}")
_DECOMPOSED_AT_ONCE: Final = 256  # characters


class Rule:
    """One elementary step of a normalizer. This class itself rewrites nothing; all others are frozen dataclasses."""

    only_at = ""
    """"start" or "end" if it rewrites only that end of the whole text; otherwise ""."""

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        """Return the ranges of the text that it rewrites, ascending."""
        return ()

    def is_apart(self, character: str) -> bool:
        """Whether a text can be cut between two such characters and its parts be rewritten separately.

        False if it is not known.
        """
        return True

    def __call__(self, text: str, most: float = math.inf) -> str:
        """Return the rewritten text. Raises `OptionError` if it would be longer than `most`, before it is made."""
        parts: list[str] = []
        done = 0
        length = len(text)
        for start, end, replacement in self.rewrites(text):
            parts.append(text[done:start])
            parts.append(replacement)
            length += len(replacement) - (end - start)
            done = end
        _check_length(length, most)
        parts.append(text[done:])
        return "".join(parts)

    def part(self, starts: bool, ends: bool) -> "Rule":
        """Return the rule for a part of a text, which starts or ends the text or not: one that may do nothing."""
        if self.only_at == "start" and not starts:
            return Rule()
        if self.only_at == "end" and not ends:
            return Rule()
        return self


def _check_length(length: int, most: float) -> None:
    if length > most:
        raise OptionError(
            f"The normalizers of this tokenizer make a text of {length:,} characters or more, and at most {most:,} are "
            "allowed here; use another tokenizer."
        )


def longest(n_characters: int) -> int:
    """Return the length in code points that normalizing a text of `n_characters` may not exceed."""
    # No normalization form makes a text more than 18 times as long.
    return 32 * n_characters + 256


class Normalizer(tuple[Rule, ...]):
    """Rules that rewrite a text, one after the other."""

    __slots__ = ()

    def __call__(self, text: str) -> str:
        """Return the normalized text. Raises `OptionError` if it would be longer than `longest(len(text))`."""
        most = longest(len(text))
        for rule in self:
            text = rule(text, most)
        return text


@dataclass(frozen=True)
class NormalForm(Rule):
    """One of Unicode's normalization forms."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]

    def __call__(self, text: str, most: float = math.inf) -> str:
        if not text.isascii() and _LONG_RUN_OF_MARKS.search(text):
            text = _decomposed(text, "NFD" if self.form in ("NFC", "NFD") else "NFKD")
        if unicodedata.is_normalized(self.form, text):
            return text
        return unicodedata.normalize(self.form, text)

    def rewrites(self, text: str) -> Iterator[Rewrite]:
        for found in _NEAR_NON_ASCII.finditer(text):
            part = found[0]
            offset = found.start()
            starts = (at for at in range(1, len(part)) if self.is_apart(part[at]))
            for start, end in pairwise((0, *starts, len(part))):
                normalized = self(part[start:end])
                if normalized != part[start:end]:
                    yield Rewrite(offset + start, offset + end, normalized)

    def is_apart(self, character: str) -> bool:
        # No form composes or reorders the character with the text before it unless its decomposition begins with a mark
        # or with a vowel or final consonant of Hangul: these are the second characters of all compositions.
        first = unicodedata.normalize("NFKD", character)[0]
        is_jamo = "\u1160" <= first <= "\u11ff" or "\ud7b0" <= first <= "\ud7ff"
        is_mark = unicodedata.category(first)[0] == "M" or unicodedata.combining(first)
        return not is_jamo and not is_mark


def _decomposed(text: str, form: Literal["NFD", "NFKD"]) -> str:
    """Return the text in a decomposed form, in O(n log n).

    `unicodedata.normalize` takes time quadratic in the length of a run of combining marks.
    """
    parts: list[str] = []
    for start in range(0, len(text), _DECOMPOSED_AT_ONCE):
        part = text[start : start + _DECOMPOSED_AT_ONCE]
        parts.append(unicodedata.normalize(form, part))
    return str(_LONG_RUN_OF_MARKS.sub(lambda run: _in_order(run[0]), "".join(parts)))


def _in_order(text: str) -> str:
    """Apply the canonical ordering: sort each run of combining characters by combining class, stably."""
    ordered: list[str] = []
    for is_mark, group in groupby(text, key=_combines):
        run = list(group)
        if is_mark:
            run.sort(key=unicodedata.combining)
        ordered += run
    return "".join(ordered)


def _combines(character: str) -> bool:
    return unicodedata.combining(character) > 0


@dataclass(frozen=True)
class EachCharacter(Rule):
    """Changes each character, independently of the others."""

    change: Callable[[str], str]

    def __call__(self, text: str, most: float = math.inf) -> str:
        return "".join(map(self.change, text))

    def rewrites(self, text: str) -> Iterator[Rewrite]:
        for place, character in enumerate(text):
            changed = self.change(character)
            if changed != character:
                yield Rewrite(place, place + 1, changed)


def _without_mark(character: str) -> str:
    return "" if unicodedata.category(character)[0] == "M" else character


LOWERCASE: Final = EachCharacter(str.lower)
"""A final sigma does not get its own form."""

WITHOUT_ACCENTS: Final = EachCharacter(_without_mark)
"""Removes combining marks. Precomposed characters keep their marks, unless the text was decomposed before."""


@dataclass(frozen=True)
class Stripped(Rule):
    """Removes characters at one end of the text."""

    only_at: Literal["start", "end"]
    characters: str = WHITE_SPACE

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        if self.only_at == "start":
            n_stripped = len(text) - len(text.lstrip(self.characters))
            return [Rewrite(0, n_stripped, "")]
        return [Rewrite(len(text.rstrip(self.characters)), len(text), "")]

    def is_apart(self, character: str) -> bool:
        return character not in self.characters


@dataclass(frozen=True)
class Prepended(Rule):
    """Inserts a prefix before a text that is not empty."""

    prefix: str
    only_at = "start"

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        return [Rewrite(0, 0, self.prefix)] if text else []


@dataclass(frozen=True)
class Replaced(Rule):
    """Replaces every occurrence of a text."""

    old: str
    new: str

    def __call__(self, text: str, most: float = math.inf) -> str:
        growth = text.count(self.old) * (len(self.new) - len(self.old))
        _check_length(len(text) + growth, most)
        return text.replace(self.old, self.new)

    def rewrites(self, text: str) -> Iterator[Rewrite]:
        for found in re.finditer(re.escape(self.old), text):
            yield Rewrite(found.start(), found.end(), self.new)

    def is_apart(self, character: str) -> bool:
        return len(self.old) == 1 or (bool(self.old) and character not in self.old)


@dataclass(frozen=True)
class ReplacedMatches(Rule):
    """Replaces every match of an expression by the text `new`.

    Raises `PatternError` as `Expression` does, when it is made and when it is called.
    """

    source: str
    new: str

    def __post_init__(self) -> None:
        self.rewrites("")  # compiles the expression, which may be refused

    def rewrites(self, text: str) -> Iterable[Rewrite]:
        spans = self._expression.spans(text)
        return [Rewrite(start, end, self.new) for start, end in spans]

    def is_apart(self, character: str) -> bool:
        if self._sets is None:
            return False
        return not any(chars.fullmatch(character) for chars in self._sets)

    @cached_property
    def _expression(self) -> Expression:
        return Expression(self.source, "pattern of a normalizer")

    @cached_property
    def _sets(self) -> list[Any] | None:
        """The sets of characters that a match, or a look-ahead in it, reads; None if they are not known."""
        automaton = automaton_of(self.source)
        if automaton is None or automaton.matches_empty:
            return None
        return [regex.compile(source) for source in frozenset(automaton.sources)]


class SourceMap:
    """Maps a normalized text to its original. The text is added part by part.

    Every character of a replacement is mapped to the whole range that was replaced.
    """

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []
        """The range of the original that each character comes from."""
        self._n_original = 0  # characters of the original

    def add(self, text: str, rules: Iterable[Rule]) -> str:
        """Apply rules to the next part of the text and return the result.

        Raises:
            OptionError: The result would be longer than `longest` allows.
        """
        most = longest(len(text))
        part_start = len(self._ranges)
        original_end = self._n_original + len(text)
        self._ranges += pairwise(range(self._n_original, original_end + 1))
        self._n_original = original_end
        for rule in rules:
            changed = rule(text, most)
            if changed != text:
                self._rewrite(part_start, rule.rewrites(text))
            text = changed
        return text

    def _rewrite(self, part_start: int, rewrites: Iterable[Rewrite]) -> None:
        """Update the ranges from `part_start` on."""
        ranges: list[tuple[int, int]] = []
        done = part_start
        for start, end, replacement in rewrites:
            ranges += self._ranges[done : part_start + start]
            source = self.before(part_start + start, part_start + end)
            ranges += [source] * len(replacement)
            done = part_start + end
        self._ranges[part_start:done] = ranges

    def before(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the original that became this range of the normalized text.

        An empty range is mapped to an empty one, or to a whole replaced range if it is strictly inside its replacement.
        """
        ranges = self._ranges
        if start < end:
            return ranges[start][0], ranges[end - 1][1]
        if 0 < start < len(ranges) and ranges[start - 1] == ranges[start]:
            return ranges[start]
        place = ranges[start][0] if start < len(ranges) else self._n_original
        return place, place
