"""What some tokenizers do to a text before they split it; it does not come back when the ids are decoded.

Each also tells which ranges of a text it rewrites, so that one can find the place of a token in the text as it was.
Unicode's tables are those of this Python's `unicodedata`; libraries with other versions may differ in new characters.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Final, Literal

import regex

from bpe_core.errors import OptionError
from bpe_core.patterns.char_sets import matches
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.syntax import Chain, Chars, Choice, Node, NotPlain, Repeat, parse

Rewrite = tuple[int, int, str]
"""Where a range of a text begins and ends, and what comes in its place; what lies between two is kept."""

WHITE_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""The characters of Unicode's White_Space; `str.strip` and `str.isspace` know four more."""

_BESIDE_ASCII: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""No normalization form joins an ASCII character to anything before it."""

_MARK: Final = r"[\p{M}\uff9e\uff9f]"
"""A combining mark, or what may be decomposed into some."""
_LONG_RUN: Final = 64
_MARKS: Final = regex.compile(rf"{_MARK}{{{_LONG_RUN},}}")
_STEP: Final = _LONG_RUN // 4
_FOUR_MARKS: Final = regex.compile(rf"{_MARK}{{4}}")
"""What a long run leaves of it where only one character in `_STEP` is looked at."""

_DECOMPOSED_AT_ONCE: Final = 256

_MOST_TIMES: Final = 32
"""How many characters may come of one, over all: no form makes more than 18 of any."""
_MOST_MORE: Final = 256
"""And how many more, of a short text."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is done to a text."""

    apply: Callable[[str], str]
    """The text when it is done."""
    rewrites: Callable[[str], Iterable[Rewrite]]
    """The ranges that it rewrites, in order."""
    keeps_all: bool = False
    """Whether each character becomes at least one, so that in a text that does not grow each becomes just one."""
    length: Callable[[str], int] = len
    """How long the text will be, where that may be much longer than it is."""
    is_apart: Callable[[str], bool] = lambda character: False
    """Whether a character becomes what it becomes alone, beside others that stand apart or at the ends of a part of the
    text, and whether nothing that stands farther away becomes other for it; false where nothing is known of that."""
    only_at: str = ""
    """"start" or "end" if it only does something there, so that it is left out in parts that are not there."""

    def within(self, text: str, most: int) -> str:
        """The text when it is done. Raises `OptionError` if it would be longer than `most`, before it is made."""
        if (n_characters := self.length(text)) > most:
            raise OptionError(
                f"The normalizers of this tokenizer make {n_characters:,} characters or more of a text that may "
                f"become {most:,} at most; take another tokenizer."
            )
        return self.apply(text)

    def part(self, starts: bool, ends: bool) -> "Rule":
        """The rule for a part of a text: whether that is one that starts it, and one that ends it."""
        left_out = (self.only_at == "start" and not starts) or (self.only_at == "end" and not ends)
        return _NOTHING if left_out else self


_NOTHING: Final = Rule(lambda text: text, lambda text: (), is_apart=lambda character: True)


@dataclass(frozen=True, slots=True)
class Normalizer:
    """What is done to a text, rule by rule."""

    rules: tuple[Rule, ...]
    """One after another."""

    def __call__(self, text: str) -> str:
        """The text when all is done. Raises `OptionError` where it would become very much longer."""
        most = longest(len(text))
        for rule in self.rules:
            text = rule.within(text, most)
        return text


def longest(n_characters: int) -> int:
    """How long a text of so many characters may become."""
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
    """Whether no normalization form joins or reorders it with what is before: it begins with neither mark nor jamo.

    The second characters of all compositions are marks, and the vowels and final consonants of Hangul.
    """
    first = unicodedata.normalize("NFKD", character)[0]
    is_jamo = "\u1160" <= first <= "\u11ff" or "\ud7b0" <= first <= "\ud7ff"
    return not (is_jamo or unicodedata.category(first)[0] == "M" or unicodedata.combining(first))


def _ordered(text: str, form: Literal["NFD", "NFKD"]) -> str:
    """A text decomposed, and the marks of each character in their order.

    `unicodedata` does that, too, but in a time that grows with the square of how many marks there are in a row.
    """
    parts = (text[i : i + _DECOMPOSED_AT_ONCE] for i in range(0, len(text), _DECOMPOSED_AT_ONCE))
    decomposed = "".join(unicodedata.normalize(form, part) for part in parts)
    return str(_MARKS.sub(lambda found: _sorted_marks(found[0]), decomposed))


def _sorted_marks(text: str) -> str:
    """What stands between two characters that are no combining ones is put in order; equal ones keep theirs."""
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if combines else run) for combines, run in runs)


def _segments(text: str, apply: Callable[[str], str]) -> Iterator[str]:
    """Stretches of a text, each of which is normalized as if it stood alone, by all that is seen of its neighbor."""
    start = 0
    for at in range(1, len(text)):
        alone = apply(text[at])
        if not unicodedata.combining(alone[0]) and apply(text[start : at + 1]) == apply(text[start:at]) + alone:
            yield text[start:at]
            start = at
    yield text[start:]


def _each(change: Callable[[str], str]) -> Callable[[str], Iterator[Rewrite]]:
    """What is rewritten where every character is changed by itself."""
    return lambda text: ((place, place + 1, new) for place, old in enumerate(text) if (new := change(old)) != old)


def _lower(text: str) -> str:
    return "".join(map(str.lower, text))


def _without_accents(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character)[0] != "M")


lowercase: Final = Normalizer((Rule(_lower, _each(str.lower), keeps_all=True, is_apart=bool),))
"""Each character by itself: a sigma that ends a word does not get its own form."""

without_accents: Final = Normalizer((Rule(_without_accents, _each(_without_accents), is_apart=bool),))
"""Without combining marks; those that are part of a character stay unless it was decomposed before."""


def stripped(left: bool, right: bool, characters: str = WHITE_SPACE) -> Normalizer:
    """Without white space, or other characters, at the ends."""

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
    """With something before it, unless it is empty."""

    def apply(text: str) -> str:
        return prefix + text if text else text

    def length(text: str) -> int:
        return len(prefix) + len(text)

    def rewrites(text: str) -> list[Rewrite]:
        return [(0, 0, prefix)] * bool(text)

    return Normalizer((Rule(apply, rewrites, length=length, is_apart=bool, only_at="start"),))


def replaced(old: str, new: str) -> Normalizer:
    """Every occurrence of a text replaced."""

    def rewrites(text: str) -> Iterator[Rewrite]:
        return ((found.start(), found.end(), new) for found in re.finditer(re.escape(old), text))

    def length(text: str) -> int:
        return len(text) + text.count(old) * max(0, len(new) - len(old))

    def is_apart(character: str) -> bool:
        return len(old) == 1 or (bool(old) and character not in old)

    keeps_all = len(old) == 1 <= len(new)
    return Normalizer((Rule(lambda text: text.replace(old, new), rewrites, keeps_all, length, is_apart),))


def replaced_matches(expression: Expression, new: str) -> Normalizer:
    """Every match of a regular expression replaced by a text. Raises `PatternError` where that takes too long."""

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
    """Whether a character can have no part in a match; never known of an expression that is not plain."""
    try:
        sets = _sets(parse(expression.source))
    except (NotPlain, RecursionError):
        sets = None
    if sets is None or expression.matches(""):
        return lambda character: False
    return lambda character: not any(matches(source, character) for source in sets)


def _sets(node: Node) -> frozenset[str] | None:
    """The sets of characters that a match is made of; None if it may look at more than that."""
    match node:
        case Chars(source):
            return frozenset((source,))
        case Repeat(item):
            return _sets(item)
        case Chain(items) | Choice(items):
            parts = list(map(_sets, items))
            return None if None in parts else frozenset().union(*filter(None, parts))
    return None


def one_after_another(normalizers: Iterable[Normalizer]) -> Normalizer:
    """All of them in turn."""
    return Normalizer(tuple(chain.from_iterable(normalizer.rules for normalizer in normalizers)))
