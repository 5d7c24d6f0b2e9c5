"""Normalizers: what some tokenizers do to a text before the split; decoding does not undo it.

Each also gives the ranges of the text that it rewrites, so that tokens can be mapped back to the original text.
Unicode's tables are those of this Python's `unicodedata`; libraries with other versions may differ in new characters.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import groupby, pairwise
from typing import Any, Final, Literal, ParamSpec

import regex

from bpe_core.errors import OptionError
from bpe_core.patterns.automaton import automaton_of
from bpe_core.patterns.expression import Expression

Rewrite = tuple[int, int, str]
"""(start, end, replacement): text[start:end] is replaced; in code points. What lies between two rewrites is kept."""

WHITE_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""The characters with Unicode's property White_Space; `str.strip` and `str.isspace` know four more."""

_BESIDE_ASCII: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""The ranges that are normalized: non-ASCII characters, with the ASCII one before them, which a mark may combine with.
No form combines an ASCII character with anything before it."""

_MARK: Final = r"[\p{M}\uff9e\uff9f]"  # a combining mark, or a character that is decomposed into some
_LONG_RUN: Final = 64
_MARKS: Final = regex.compile(rf"{_MARK}{{{_LONG_RUN},}}")
_DECOMPOSED_AT_ONCE: Final = 256  # characters


@dataclass(frozen=True, slots=True)
class Rule:
    """One elementary step of a normalizer. Two are equal, and one is pickled, by what it was made of."""

    rewrites: Callable[[str], Iterable[Rewrite]] = field(compare=False)
    """Text -> the ranges that it rewrites, ascending."""
    apply: Callable[[str, float], str] | None = field(default=None, compare=False)
    """(text, most characters) -> rewritten text, as calling the rule gives it, where that is faster than the rewrites
    or does more."""
    is_apart: Callable[[str], bool] = field(default=lambda character: False, compare=False)
    """Character -> whether a text can be cut between it and another such character and the two parts be rewritten by
    themselves, with the same result. False where that is not known."""
    only_at: str = ""
    """"start" or "end" if it rewrites only that end of the whole text; "" otherwise."""
    origin: tuple[Any, ...] = ()  # name of the function in this module that made it, its arguments, index in the result

    def __reduce__(self) -> tuple[Callable[..., "Rule"], tuple[Any, ...]]:
        return _made_again, self.origin

    def __call__(self, text: str, most: float = math.inf) -> str:
        """The rewritten text. Raises `OptionError` if it would be longer than `most`, before it is made."""
        return self.apply(text, most) if self.apply else _rewritten(text, self.rewrites(text), most)

    def part(self, starts: bool, ends: bool) -> "Rule":
        """The rule for a part that `starts` or `ends` the text, or not; one that does nothing if not at `only_at`."""
        is_elsewhere = (self.only_at == "start" and not starts) or (self.only_at == "end" and not ends)
        return _NOTHING if is_elsewhere else self


_NOTHING: Final = Rule(lambda text: (), is_apart=lambda character: True)


def _rewritten(text: str, rewrites: Iterable[Rewrite], most: float = math.inf) -> str:
    parts: list[str] = []
    done, length = 0, len(text)
    for start, end, new in rewrites:
        parts += text[done:start], new
        length += len(new) - (end - start)
        done = end
    _check_length(length, most)
    return "".join((*parts, text[done:]))


def _check_length(length: int, most: float) -> None:
    if length > most:
        raise OptionError(
            f"The normalizers of this tokenizer make {length:,} characters or more of a text that may become {most:,} "
            "at most; take another tokenizer."
        )


def longest(n_characters: int) -> int:
    """The length in code points that normalizing a text of `n_characters` may not exceed."""
    return 32 * n_characters + 256  # no normalization form makes it more than 18 times as long


class Normalizer(tuple[Rule, ...]):
    """Rules that rewrite a text, one after another; called with the text, it returns the result."""

    __slots__ = ()

    def __call__(self, text: str) -> str:
        """The normalized text. Raises `OptionError` if a rule would make it longer than `longest(len(text))`."""
        most = longest(len(text))
        for rule in self:
            text = rule(text, most)
        return text


Parameters = ParamSpec("Parameters")


def _remembered(make: Callable[Parameters, Normalizer]) -> Callable[Parameters, Normalizer]:
    """`make`, its rules with their `origin`."""

    @wraps(make)
    def made(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Normalizer:
        origin = make.__name__, args, tuple(kwargs.items())
        return Normalizer(replace(rule, origin=(*origin, n)) for n, rule in enumerate(make(*args, **kwargs)))

    return made


def _made_again(name: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...], n: int) -> Rule:
    rules: Normalizer = globals()[name](*args, **dict(kwargs))
    return rules[n]


@_remembered
def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> Normalizer:
    """One of Unicode's normalization forms."""

    def apply(text: str, most: float = math.inf) -> str:
        if not text.isascii() and _MARKS.search(text):
            text = _ordered(text, "NFD" if form in ("NFC", "NFD") else "NFKD")
        return text if unicodedata.is_normalized(form, text) else unicodedata.normalize(form, text)

    def rewrites(text: str) -> Iterator[Rewrite]:
        for found in _BESIDE_ASCII.finditer(text):
            part, shift = found[0], found.start()
            starts = (at for at in range(1, len(part)) if _starts_afresh(part[at]))
            for start, end in pairwise((0, *starts, len(part))):
                if (new := apply(part[start:end])) != part[start:end]:
                    yield shift + start, shift + end, new

    return Normalizer((Rule(rewrites, apply, _starts_afresh),))


def _starts_afresh(character: str) -> bool:
    """Whether no normalization form composes or reorders the character with what is before it. True unless its
    decomposition begins with a mark or with a vowel or final consonant of Hangul: the second characters of all
    compositions are of these kinds."""
    first = unicodedata.normalize("NFKD", character)[0]
    is_jamo = "\u1160" <= first <= "\u11ff" or "\ud7b0" <= first <= "\ud7ff"
    return not (is_jamo or unicodedata.category(first)[0] == "M" or unicodedata.combining(first))


def _ordered(text: str, form: Literal["NFD", "NFKD"]) -> str:
    """The text in the decomposed normalization form, in O(n log n). `unicodedata.normalize` takes time quadratic in the
    length of a run of combining marks."""
    parts = (text[i : i + _DECOMPOSED_AT_ONCE] for i in range(0, len(text), _DECOMPOSED_AT_ONCE))
    decomposed = "".join(unicodedata.normalize(form, part) for part in parts)
    return str(_MARKS.sub(lambda found: _sorted_marks(found[0]), decomposed))


def _sorted_marks(text: str) -> str:
    """The canonical ordering: each run of combining characters sorted by combining class, stably."""
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if combines else run) for combines, run in runs)


def _each(change: Callable[[str], str]) -> Callable[[str], Iterator[Rewrite]]:
    """`Rule.rewrites` for a rule that changes every character by itself."""
    return lambda text: ((place, place + 1, new) for place, old in enumerate(text) if (new := change(old)) != old)


def _without_accents(text: str, most: float = math.inf) -> str:
    return "".join(character for character in text if unicodedata.category(character)[0] != "M")


def _lowered(text: str, most: float = math.inf) -> str:
    return "".join(map(str.lower, text))


@_remembered
def _changed(change: Callable[[str], str], apply: Callable[[str, float], str]) -> Normalizer:
    return Normalizer((Rule(_each(change), apply, bool),))


lowercase: Final = _changed(str.lower, _lowered)
"""Lowercase, each character by itself: a final sigma does not get its own form."""

without_accents: Final = _changed(_without_accents, _without_accents)
"""Remove combining marks. Precomposed characters keep theirs, unless the text was decomposed before."""


@_remembered
def stripped(left: bool, right: bool, characters: str = WHITE_SPACE) -> Normalizer:
    """Remove white space, or the given characters, at the left end, the right end, or both."""

    def is_apart(character: str) -> bool:
        return character not in characters

    lefts = Rule(lambda text: [(0, len(text) - len(text.lstrip(characters)), "")], None, is_apart, only_at="start")
    rights = Rule(lambda text: [(len(text.rstrip(characters)), len(text), "")], None, is_apart, only_at="end")
    return Normalizer((lefts,) * left + (rights,) * right)


@_remembered
def prepended(prefix: str) -> Normalizer:
    """Put `prefix` before a text that is not empty."""
    return Normalizer((Rule(lambda text: [(0, 0, prefix)] * bool(text), is_apart=bool, only_at="start"),))


@_remembered
def replaced(old: str, new: str) -> Normalizer:
    """Replace every occurrence of the text `old` by `new`."""

    def rewrites(text: str) -> Iterator[Rewrite]:
        return ((found.start(), found.end(), new) for found in re.finditer(re.escape(old), text))

    def is_apart(character: str) -> bool:
        return len(old) == 1 or (bool(old) and character not in old)

    def apply(text: str, most: float) -> str:
        _check_length(len(text) + text.count(old) * (len(new) - len(old)), most)
        return text.replace(old, new)

    return Normalizer((Rule(rewrites, apply, is_apart),))


@_remembered
def replaced_matches(source: str, new: str) -> Normalizer:
    """Replace every match of an expression by the text `new`. `PatternError` as `Expression`, also of its rules."""
    expression = Expression(source, "pattern of a normalizer")
    is_apart = _in_no_match(expression)
    return Normalizer((Rule(lambda text: [(*span, new) for span in expression.spans(text)], None, is_apart),))


def _in_no_match(expression: Expression) -> Callable[[str], bool]:
    """Character -> whether no match, and no look-ahead of one, reads it; always False if that is not known."""
    if (automaton := automaton_of(expression.source)) is None or automaton.matches_empty:
        return lambda character: False
    sets = [regex.compile(source) for source in frozenset(automaton.sources)]
    return lambda character: not any(one.fullmatch(character) for one in sets)


class SourceMap:
    """A map from a normalized text to its original; the text is added part by part. What a rule puts in the place of a
    range comes from all of that range."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._places: list[tuple[int, int]] = []  # the range of the original that each character comes from
        self._length = 0  # of the original

    @property
    def n_characters(self) -> int:
        """The length of the normalized text so far, in code points."""
        return len(self._places)

    def add(self, text: str, starts: bool = True, ends: bool = True) -> str:
        """Normalize the next part of the text and return the result; `starts` and `ends` say whether it is at the start
        or the end of the text that the rules regard as a whole. Raises `OptionError` if it would be longer than
        `normalizers.longest` allows."""
        most, begin = longest(len(text)), self.n_characters
        self.keep(text)
        for rule in self._rules:
            part = rule.part(starts, ends)
            new = part(text, most)
            if new != text:
                self._rewrite(begin, part.rewrites(text), text, new)
            text = new
        return text

    def keep(self, text: str) -> None:
        """Add a part of the text that is not normalized, such as an added token."""
        self._places += pairwise(range(self._length, self._length + len(text) + 1))
        self._length += len(text)

    def _rewrite(self, begin: int, rewrites: Iterable[Rewrite], old: str, new: str) -> None:
        rewrites = list(rewrites)
        if _rewritten(old, rewrites) != new:  # nothing is known of this rule but what came of it
            rewrites = [(0, len(old), new)]
        places: list[tuple[int, int]] = []
        done = begin
        for start, end, put in rewrites:
            places += self._places[done : begin + start]
            places += [self.before(begin + start, begin + end)] * len(put)
            done = begin + end
        self._places[begin:] = places + self._places[done:]

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
