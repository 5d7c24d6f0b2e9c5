"""The kinds of pitfalls, and detectors for those that can be recognized from a few characters of context."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from bpe_core.live.live_text import LiveText
from bpe_core.plurals import counted
from bpe_core.scripts import letter_script
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.visible import character_name, visible

KINDS: Final = (
    "special token",
    "look-alike",
    "invisible",
    "trailing space",
    "partial token",
    "newlines",
    "curly quote",
    "letters",
    "decimal",
    "number",
    "indentation",
    "script",
)
"""Kinds of pitfalls, the most surprising first; the order in which `Pitfalls.worst` prefers them."""


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A range of a text, in code points, that is tokenized in a way its reader would not expect."""

    kind: str
    """One of `KINDS`."""
    start: int
    """Offset of its first code point."""
    end: int
    """Offset of the code point after its last one."""
    reason: str
    """What is unexpected, in one sentence that is safe to show."""


Detector = Callable[[str, int], Iterator[Pitfall]]
"""(part of a text, offset of that part in the text) -> pitfalls, with offsets that count from the start of the part."""

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u180e\u2000-\u200c\u200e\u200f\u2028-\u202f"
    "\u205f-\u2064\u2066-\u206f\u3164\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d+"  # between emoji it has a task
)
_DIGITS: Final = re.compile(r"(?<![0-9])[0-9]{2,40}(?![0-9])")
_CURLY: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]{1,30}’(?:s|t|re|ve|m|ll|d)\b", re.IGNORECASE)
_LOOKALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν", "ABESIJKMHOPCTXaesijopcyxhdqwABEZHIKMNOPTYXoav"
)
"""Code points of Cyrillic and Greek letters -> those of the Latin letters that they look like; for `str.translate`."""
_LOOKS_ALIKE: Final = "".join(map(chr, _LOOKALIKES))
_MIXED: Final = re.compile(rf"[A-Za-z][{_LOOKS_ALIKE}]|[{_LOOKS_ALIKE}][A-Za-z]")
_HALF_WORD: Final = re.compile(r"\w{0,30}")
_LETTER_IN: Final = re.compile(
    r"(?<![\w'’])['\"‘“]?([b-hj-np-z])(?:['’]?s)?['\"’”]?\s[^\n]{0,12}?\bin\b[^\n]{0,12}?\b(?=[a-z]*\1)([a-z]{5,24})\b",
    re.IGNORECASE,
)
"""A letter named by itself, and a word in which it occurs, as one asks for them."""
_DECIMAL: Final = re.compile(r"(?<![\d.])(\d{1,8})\.(\d{1,8})(?!\.?\d)", re.ASCII)
_NEAR: Final = 30
"""Characters between two decimals up to which a reader compares them."""
_INDENTATION: Final = re.compile(r"^ {4,40}(?=\S)", re.MULTILINE)
_SPECIAL: Final = re.compile(r"<\|[A-Za-z0-9_]{2,30}\|>|</?s>|\[(?:CLS|SEP|PAD|MASK|UNK|/?INST)\]")


def detectors(live: LiveText) -> Iterator[Detector]:
    """The detectors for a text, one for each of eight of the `KINDS`; the others need more than a part of the text."""
    tokenizer = live.tokenizer
    specials = tokenizer.special_tokens
    known = re.compile("|".join([*map(re.escape, sorted(specials, key=len, reverse=True)), _SPECIAL.pattern]))

    def n_tokens(text: str) -> int:
        return len(tokenizer.encode_ordinary(" " + text))

    def special(text: str, _: int) -> Iterator[Pitfall]:
        for found in known.finditer(text):
            token = specials.get(found[0])
            if token is not None and isinstance(tokenizer, SpecialsAllowed):
                continue
            what = "looks like a special token; here it is text"
            if token is not None:
                what = f"is text here, not the special token {token:,}"
            yield _pitfall("special token", found, f"{visible(found[0])} {what}.")

    def lookalike(text: str, _: int) -> Iterator[Pitfall]:
        end = 0
        for found in _MIXED.finditer(text):
            if found.start() < end:
                continue
            start = found.start() - _end_of(_HALF_WORD.match(text[max(0, found.start() - 30) : found.start()][::-1]))
            end = found.end() + _end_of(_HALF_WORD.match(text[found.end() : found.end() + 30]))
            word = text[start:end]
            latin = word.translate(_LOOKALIKES)
            odd = next(one for one, other in zip(word, latin, strict=True) if one != other)
            script = letter_script(odd).capitalize()
            tokens = f"{n_tokens(word)} tokens, {n_tokens(latin)} without"
            yield Pitfall("look-alike", start, end, f"{visible(word)} has {odd} from {script}: {tokens}.")

    def invisible(text: str, _: int) -> Iterator[Pitfall]:
        for found in _INVISIBLE.finditer(text):
            character = found[0][0]
            what = f"U+{ord(character):04X} {character_name(character)}"
            more = f" and {len(found[0]) - 1} more" if len(found[0]) > 1 else ""
            effect = "looks like a plain space" if character.isspace() else "is not seen"
            yield _pitfall("invisible", found, f"{what}{more} {effect}.")

    def curly(text: str, _: int) -> Iterator[Pitfall]:
        for found in _CURLY.finditer(text):
            curled, straight = n_tokens(found[0]), n_tokens(found[0].replace("’", "'"))
            if curled > straight:
                reason = f"{found[0]}: {curled} tokens, {straight} with a straight quote."
                yield _pitfall("curly quote", found, reason)

    def number(text: str, start: int) -> Iterator[Pitfall]:
        for found in _DIGITS.finditer(text):
            groups = _groups(live, start + found.start(), start + found.end())
            if len(groups) > 1 and (len(set(groups[1:])) > 1 or groups[0] > groups[1]):
                split = "·".join(
                    found[0][end - size : end] for size, end in zip(groups, accumulate(groups), strict=True)
                )
                yield _pitfall("number", found, f"{split}: the digits are grouped unevenly.")

    def letters(text: str, start: int) -> Iterator[Pitfall]:
        for found in _LETTER_IN.finditer(text):
            letter, word = found.groups()
            times = word.lower().count(letter.lower())
            its = f"{times} {letter}" if times > 1 else letter
            n_parts = sum(len(span.ids) for span in live.spans(start + found.start(2), start + found.end(2)))
            if n_parts < len(word):
                reason = f"{word} is {counted(n_parts, 'token')}, not {len(word)} letters: no model sees its {its}."
                yield Pitfall("letters", found.start(2), found.end(2), reason)

    def decimal(text: str, _: int) -> Iterator[Pitfall]:
        before: re.Match[str] | None = None
        for found in _DECIMAL.finditer(text):
            if before and found[1] == before[1] and found.start() - before.end() <= _NEAR:
                less, more = sorted((before, found), key=lambda one: one[2].ljust(8, "0"))
                if int(less[2]) > int(more[2]):
                    reason = (
                        f"{less[0]} is less than {more[0]}, but the tokens after the dot say {less[2]} and {more[2]}."
                    )
                    yield _pitfall("decimal", found, reason)
            before = found

    def indentation(text: str, start: int) -> Iterator[Pitfall]:
        for found in _INDENTATION.finditer(text):
            n_spaces = len(found[0])
            spans = live.spans(start + found.start(), start + found.end())
            n_alone = sum(span.end <= start + found.end() for span in spans)
            if n_alone >= max(3, n_spaces // 2):
                yield _pitfall("indentation", found, f"{n_spaces} spaces of indentation take {n_alone} tokens.")

    yield from (special, lookalike, invisible, curly, letters, decimal, number, indentation)


def _end_of(found: re.Match[str] | None) -> int:
    return found.end() if found else 0


def _pitfall(kind: str, found: re.Match[str], reason: str) -> Pitfall:
    return Pitfall(kind, found.start(), found.end(), reason)


def _groups(live: LiveText, start: int, end: int) -> list[int]:
    """How many characters of a range each of its tokens covers."""
    return [min(span.end, end) - max(span.start, start) for span in live.spans(start, end)]
