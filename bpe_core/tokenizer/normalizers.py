"""Normalizers: what some tokenizers do to a text before the split; decoding does not undo it.

Each also gives the ranges of the text that it rewrites, so that tokens can be mapped back to the original text.
Unicode's tables are those of this Python's `unicodedata`; libraries with other versions may differ in new characters.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Final, Literal

import regex

from bpe_core.errors import OptionError
from bpe_core.patterns.char_sets import matches
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.syntax import Alternation, Chain, Chars, Node, NotPlain, Repeat, parse

Rewrite = tuple[int, int, str]
"""(start, end, replacement): text[start:end] is replaced; in code points. What lies between two rewrites is kept."""

WHITE_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""The characters with Unicode's property White_Space; `str.strip` and `str.isspace` know four more."""

_BESIDE_ASCII: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""The ranges that are normalized: non-ASCII characters, with the ASCII one before them, which a mark may combine with.
No form combines an ASCII character with anything before it."""

_MARK: Final = r"[\p{M}\uff9e\uff9f]"
"""A combining mark, or a character that is decomposed into some."""
_LONG_RUN: Final = 64
_MARKS: Final = regex.compile(rf"{_MARK}{{{_LONG_RUN},}}")
_STEP: Final = _LONG_RUN // 4
_FOUR_MARKS: Final = regex.compile(rf"{_MARK}{{4}}")
"""What a run of `_LONG_RUN` marks contains if only every `_STEP`th character is kept: a quick test for such a run."""

_DECOMPOSED_AT_ONCE: Final = 256

_MOST_TIMES: Final = 32
"""A normalized text may be so many times longer than the text; no normalization form makes it more than 18 times."""
_MOST_MORE: Final = 256
"""Characters that may be added to that, for short texts."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One elementary step of a normalizer."""

    apply: Callable[[str], str]
    """Text -> rewritten text."""
    rewrites: Callable[[str], Iterable[Rewrite]]
    """Text -> the ranges that `apply` rewrites, ascending."""
    keeps_all: bool = False
    """Whether every character becomes one or more; if a text keeps its length, then each has become exactly one."""
    length: Callable[[str], int] = len
    """Text -> an upper bound of the length of `apply(text)`, in code points, cheaper than making it."""
    is_apart: Callable[[str], bool] = lambda character: False
    """Character -> whether a text can be cut between it and another such character and the two parts be rewritten by
    themselves, with the same result. False where that is not known."""
    only_at: str = ""
    """"start" or "end" if it rewrites only that end of the whole text; "" otherwise."""

    def within(self, text: str, most: int) -> str:
        """`apply(text)`. Raises `OptionError` beforehand if `length(text)` is greater than `most`."""
        if (n_characters := self.length(text)) > most:
            raise OptionError(
                f"The normalizers of this tokenizer make {n_characters:,} characters or more of a text that may "
                f"become {most:,} at most; take another tokenizer."
            )
        return self.apply(text)

    def part(self, starts: bool, ends: bool) -> "Rule":
        """The rule for a part that `starts` or `ends` the text, or not; one that does nothing if not at `only_at`."""
        left_out = (self.only_at == "start" and not starts) or (self.only_at == "end" and not ends)
        return _NOTHING if left_out else self


_NOTHING: Final = Rule(lambda text: text, lambda text: (), is_apart=lambda character: True)


@dataclass(frozen=True, slots=True)
class Normalizer:
    """A sequence of rules that rewrites a text; called with the text, it returns the result."""

    rules: tuple[Rule, ...]
    """The rules, in the order in which they are applied."""

    def __call__(self, text: str) -> str:
        """The normalized text. Raises `OptionError` if a rule would make it longer than `longest(len(text))`."""
        most = longest(len(text))
        for rule in self.rules:
            text = rule.within(text, most)
        return text


def longest(n_characters: int) -> int:
    """The length in code points that normalizing a text of `n_characters` may not exceed."""
    return _MOST_TIMES * n_characters + _MOST_MORE


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> Normalizer:
    """One of Unicode's normalization forms."""

    def apply(text: str) -> str:
        if _FOUR_MARKS.search(text[::_STEP]) and _MARKS.search(text):
            text = _ordered(text, "NFD" if form in ("NFC", "NFD") else "NFKD")
        return text if unicodedata.is_normalized(form, text) else unicodedata.normalize(form, text)

    def rewrites(text: str) -> Iterator[Rewrite]:
        for found in _BESIDE_ASCII.finditer(text):
            segments = list(_segments(found[0], apply))
            if "".join(map(apply, segments)) != apply(found[0]):
                segments = [found[0]]
            start = found.start()
            for segment in segments:
                if (new := apply(segment)) != segment:
                    yield start, start + len(segment), new
                start += len(segment)

    return Normalizer((Rule(apply, rewrites, is_apart=_starts_afresh),))


def _starts_afresh(character: str) -> bool:
    """Whether no normalization form composes or reorders the character with what is before it.

    True unless its decomposition begins with a mark or with a vowel or final consonant of Hangul: the second
    characters of all compositions are of these kinds.
    """
    first = unicodedata.normalize("NFKD", character)[0]
    is_jamo = "\u1160" <= first <= "\u11ff" or "\ud7b0" <= first <= "\ud7ff"
    return not (is_jamo or unicodedata.category(first)[0] == "M" or unicodedata.combining(first))


def _ordered(text: str, form: Literal["NFD", "NFKD"]) -> str:
    """The text in the decomposed normalization form, in O(n log n).

    `unicodedata.normalize` takes time quadratic in the length of a run of combining marks.
    """
    parts = (text[i : i + _DECOMPOSED_AT_ONCE] for i in range(0, len(text), _DECOMPOSED_AT_ONCE))
    decomposed = "".join(unicodedata.normalize(form, part) for part in parts)
    return str(_MARKS.sub(lambda found: _sorted_marks(found[0]), decomposed))


def _sorted_marks(text: str) -> str:
    """The canonical ordering: each run of combining characters sorted by combining class, stably."""
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if combines else run) for combines, run in runs)


def _segments(text: str, apply: Callable[[str], str]) -> Iterator[str]:
    """Substrings that together are `text`, cut where the next character seems to be normalized independently.

    Only the neighboring segment is compared; the caller verifies the result.
    """
    start = 0
    for at in range(1, len(text)):
        alone = apply(text[at])
        if not unicodedata.combining(alone[0]) and apply(text[start : at + 1]) == apply(text[start:at]) + alone:
            yield text[start:at]
            start = at
    yield text[start:]


def _each(change: Callable[[str], str]) -> Callable[[str], Iterator[Rewrite]]:
    """`Rule.rewrites` for a rule that changes every character by itself."""
    return lambda text: ((place, place + 1, new) for place, old in enumerate(text) if (new := change(old)) != old)


def _lower(text: str) -> str:
    return "".join(map(str.lower, text))


def _without_accents(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character)[0] != "M")


lowercase: Final = Normalizer((Rule(_lower, _each(str.lower), keeps_all=True, is_apart=bool),))
"""Lowercase, each character by itself: a final sigma does not get its own form."""

without_accents: Final = Normalizer((Rule(_without_accents, _each(_without_accents), is_apart=bool),))
"""Remove combining marks. Precomposed characters keep theirs, unless the text was decomposed before."""


def stripped(left: bool, right: bool, characters: str = WHITE_SPACE) -> Normalizer:
    """Remove white space, or the given characters, at the left end, the right end, or both."""

    def is_apart(character: str) -> bool:
        return character not in characters

    def from_left(text: str) -> list[Rewrite]:
        return [(0, len(text) - len(text.lstrip(characters)), "")]

    def from_right(text: str) -> list[Rewrite]:
        return [(len(text.rstrip(characters)), len(text), "")]

    rules = (
        Rule(lambda text: text.lstrip(characters), from_left, is_apart=is_apart, only_at="start"),
        Rule(lambda text: text.rstrip(characters), from_right, is_apart=is_apart, only_at="end"),
    )
    return Normalizer(tuple(rule for rule, is_wanted in zip(rules, (left, right), strict=True) if is_wanted))


def prepended(prefix: str) -> Normalizer:
    """Put `prefix` before a text that is not empty."""

    def apply(text: str) -> str:
        return prefix + text if text else text

    def length(text: str) -> int:
        return len(prefix) + len(text)

    def rewrites(text: str) -> list[Rewrite]:
        return [(0, 0, prefix)] * bool(text)

    return Normalizer((Rule(apply, rewrites, length=length, is_apart=bool, only_at="start"),))


def replaced(old: str, new: str) -> Normalizer:
    """Replace every occurrence of the text `old` by `new`."""

    def rewrites(text: str) -> Iterator[Rewrite]:
        return ((found.start(), found.end(), new) for found in re.finditer(re.escape(old), text))

    def length(text: str) -> int:
        return len(text) + text.count(old) * max(0, len(new) - len(old))

    def is_apart(character: str) -> bool:
        return len(old) == 1 or (bool(old) and character not in old)

    keeps_all = len(old) == 1 <= len(new)
    return Normalizer((Rule(lambda text: text.replace(old, new), rewrites, keeps_all, length, is_apart),))


def replaced_matches(expression: Expression, new: str) -> Normalizer:
    """Replace every match of `expression` by the text `new`. Its rules raise `PatternError` on timeout."""

    def rewrites(text: str) -> list[Rewrite]:
        return [(start, end, new) for start, end in expression.spans(text)]

    def apply(text: str) -> str:
        parts: list[str] = []
        done = 0
        for start, end in expression.spans(text):
            parts += text[done:start], new
            done = end
        return "".join((*parts, text[done:]))

    def length(text: str) -> int:
        return len(text) + len(new) * len(expression.spans(text)) if len(new) > 1 else len(text)

    return Normalizer((Rule(apply, rewrites, length=length, is_apart=_in_no_match(expression)),))


def _in_no_match(expression: Expression) -> Callable[[str], bool]:
    """Character -> whether it can be in no match; always False if the expression is not plain."""
    try:
        sets = _sets(parse(expression.source))
    except (NotPlain, RecursionError):
        sets = None
    if sets is None or expression.matches(""):
        return lambda character: False
    return lambda character: not any(matches(source, character) for source in sets)


def _sets(node: Node) -> frozenset[str] | None:
    """The expressions of the sets of characters in a match; None for a tree with look-ahead, atomic groups or ends."""
    match node:
        case Chars(source):
            return frozenset((source,))
        case Repeat(item):
            return _sets(item)
        case Chain(items) | Alternation(items):
            parts = list(map(_sets, items))
            return None if None in parts else frozenset().union(*filter(None, parts))
    return None


def one_after_another(normalizers: Iterable[Normalizer]) -> Normalizer:
    """The normalizer that applies all of them in turn."""
    return Normalizer(tuple(chain.from_iterable(normalizer.rules for normalizer in normalizers)))


class Layer:
    """The ranges that one rule rewrote, ascending, with their offsets before (old) and after (new) the rule.

    A range of the normalized text is mapped back through the layers of all rules, the last first; any part of a
    rewritten range to all of it.
    """

    __slots__ = ("_new_ends", "_new_starts", "_old_ends", "_old_starts")

    def __init__(self) -> None:
        self._new_starts: Final[list[int]] = []
        self._new_ends: Final[list[int]] = []
        self._old_starts: Final[list[int]] = []
        self._old_ends: Final[list[int]] = []

    def rewrite(self, rule: Rule, text: str, new_start: int, old_start: int, most: int) -> str:
        """Apply `rule` to the next part of the text and return the result; `text` begins at `old_start` in the text
        before the rule, the result at `new_start` in the text after it.

        Raises `OptionError` if the result is longer than `most`.
        """
        new = rule.within(text, most)
        if new == text or (rule.keeps_all and len(new) == len(text)):
            return new
        rewrites = list(rule.rewrites(text))
        parts: list[str] = []
        done = 0
        for start, end, came in rewrites:
            parts += text[done:start], came
            done = end
        if "".join((*parts, text[done:])) != new:  # nothing is known of this rule but what came of it
            rewrites = [(0, len(text), new)]
        shift = new_start - old_start
        for start, end, came in rewrites:
            begin = old_start + start
            if (end - start, len(came)) not in ((0, 0), (1, 1)):
                self._old_starts.append(begin)
                self._old_ends.append(old_start + end)
                self._new_starts.append(begin + shift)
                self._new_ends.append(begin + shift + len(came))
            shift += len(came) - (end - start)
        return new

    def before(self, start: int, end: int) -> tuple[int, int]:
        """The range before the rule that became the range from `start` to `end`; O(log n) for n rewritten ranges.

        An empty range is mapped to an empty one, or to a whole rewritten range if it lies strictly inside it.
        """
        first = bisect_right(self._new_starts, start) - 1
        if start == end:
            inside = first >= 0 and self._new_starts[first] < start < self._new_ends[first]
            place = self._place(first, start)
            return (self._old_starts[first], self._old_ends[first]) if inside else (place, place)
        last = bisect_right(self._new_starts, end - 1) - 1
        if last >= 0 and end - 1 < self._new_ends[last]:
            return self._place(first, start), self._old_ends[last]
        return self._place(first, start), self._place(last, end - 1) + 1

    def _place(self, index: int, at: int) -> int:
        """The old offset of the character at `at`; `index` is the last rewritten range with a start of at most `at`."""
        if index < 0:
            return at
        if at < self._new_ends[index]:
            return self._old_starts[index]
        return at - self._new_ends[index] + self._old_ends[index]

    def __bool__(self) -> bool:
        return bool(self._new_starts)


class SourceMap:
    """A map from a normalized text to its original; the text is added part by part."""

    __slots__ = ("_layers", "_lengths", "_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._layers = [Layer() for _ in rules]
        self._lengths = [0] * (len(rules) + 1)

    @property
    def n_characters(self) -> int:
        """The length of the normalized text so far, in code points."""
        return self._lengths[-1]

    def add(self, text: str, starts: bool = True, ends: bool = True) -> str:
        """Normalize the next part of the text and return the result; `starts` and `ends` say whether it is at the start
        or the end of the text that the rules regard as a whole.

        Raises `OptionError` if it would be longer than `normalizers.longest` allows.
        """
        most = longest(len(text))
        for index, (rule, layer) in enumerate(zip(self._rules, self._layers, strict=True)):
            part = rule.part(starts, ends)
            new = layer.rewrite(part, text, self._lengths[index + 1], self._lengths[index], most)
            self._lengths[index] += len(text)
            text = new
        self._lengths[-1] += len(text)
        return text

    def keep(self, text: str) -> None:
        """Add a part of the text that is not normalized, such as an added token."""
        self._lengths = [length + len(text) for length in self._lengths]

    def before(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original text that became this range of the normalized text; O(log n) per rule."""
        for layer in reversed(self._layers):
            if layer:
                start, end = layer.before(start, end)
        return start, end
