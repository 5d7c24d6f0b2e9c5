"""Detectors of pitfalls: each finds the pitfalls of one kind in a part of a text."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Final, NamedTuple

from bpe_core.live.live_text import LiveText
from bpe_core.visible import character_name, counted, letter_script, visible

_NEAR: Final = 30
"""Maximum number of characters between two decimals that a reader would compare."""
_CONTEXT: Final = 30
"""Number of characters before and after a word that are encoded with it."""

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u180e\u2000-\u200c\u200e\u200f\u2028-\u202f"
    "\u205f-\u2064\u2066-\u206f\u3164\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
    # A zero-width joiner between emoji is intended.
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d+"
)
_DIGITS: Final = re.compile(r"(?<![0-9])[0-9]{2,40}(?![0-9])")
_CURLY: Final = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{1,30}’(?:s|t|re|ve|m|ll|d)\b", re.IGNORECASE
)
_LOOKALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν",
    "ABESIJKMHOPCTXaesijopcyxhdqwABEZHIKMNOPTYXoav",
)
"""Cyrillic and Greek letters -> the Latin letters that they look like, for `str.translate`."""
_LOOKALIKE_LETTERS: Final = "".join(map(chr, _LOOKALIKES))
_MIXED: Final = re.compile(
    rf"[A-Za-z][{_LOOKALIKE_LETTERS}]|[{_LOOKALIKE_LETTERS}][A-Za-z]"
)
_HALF_WORD: Final = re.compile(r"\w{0,30}")
"""Matches the rest of a word at the start of any text; it may be empty."""
_LETTER_IN: Final = re.compile(
    r"(?<![\w'’])['\"‘“]?([b-hj-np-z])(?:['’]?s)?['\"’”]?\s[^\n]{0,12}?\bin\b[^\n]{0,12}?\b(?=[a-z]*\1)([a-z]{5,24})\b",
    re.IGNORECASE,
)
"""Matches a question for a letter in a word, such as "how many r's are in strawberry"."""
_DECIMAL: Final = re.compile(r"(?<![\d.])(\d{1,8})\.(\d{1,8})(?!\.?\d)", re.ASCII)
_INDENTATION: Final = re.compile(r"^ {4,40}(?=\S)", re.MULTILINE)
_SPECIAL: Final = re.compile(
    r"<\|[A-Za-z0-9_]{2,30}\|>|</?s>|\[(?:CLS|SEP|PAD|MASK|UNK|/?INST)\]"
)


class Detected(NamedTuple):
    """A pitfall in a part of a text."""

    start: int  # code points of the part
    end: int
    reason: str


def _detected(match: re.Match[str], reason: str, group: int = 0) -> Detected:
    return Detected(match.start(group), match.end(group), reason)


Detector = Callable[[str, int], Iterator[Detected]]
"""Takes a part of a text and its offset in the text."""


class Detectors:
    """Finds the pitfalls that depend on only a part of a text."""

    def __init__(self, live: LiveText) -> None:
        self._live = live
        self._tokenizer = live.tokenizer
        self._special_tokens = live.tokenizer.special_tokens
        longest_first = sorted(self._special_tokens, key=len, reverse=True)
        sources = [*map(re.escape, longest_first), _SPECIAL.pattern]
        self._special_pattern = re.compile("|".join(sources))
        self.by_kind: Final[Mapping[str, Detector]] = {
            "special token": self._special_token,
            "look-alike": self._lookalike,
            "invisible": self._invisible,
            "curly quote": self._curly_quote,
            "letters": self._letters,
            "decimal": self._decimal,
            "number": self._number,
            "indentation": self._indentation,
        }

    def _ids(self, start: int, end: int) -> list[int]:
        return [token for span in self._live.spans(start, end) for token in span.ids]

    def _count(
        self, text: str, offset: int, start: int, end: int, replacement: str
    ) -> tuple[int, int]:
        """Count the tokens of text[start:end], and the tokens with a replacement in its place."""
        before = text[max(0, start - _CONTEXT) : start]
        after = text[end : end + _CONTEXT]
        encode = self._tokenizer.encode_ordinary
        n_present = len(encode(before + text[start:end] + after))
        n_replaced = len(encode(before + replacement + after))
        n_tokens = len(self._ids(offset + start, offset + end))
        return n_tokens, n_tokens + n_replaced - n_present

    def _special_token(self, text: str, offset: int) -> Iterator[Detected]:
        for match in self._special_pattern.finditer(text):
            token = self._special_tokens.get(match[0])
            shown = visible(match[0])
            if token is None:
                reason = (
                    f"{shown} looks like a special token, but is ordinary text here."
                )
                yield _detected(match, reason)
            elif self._ids(offset + match.start(), offset + match.end()) != [token]:
                reason = f"{shown} is text here, not the special token {token:,}."
                yield _detected(match, reason)

    def _lookalike(self, text: str, offset: int) -> Iterator[Detected]:
        end = 0
        for match in _MIXED.finditer(text):
            if match.start() < end:
                continue  # it is in the same word as the match before
            before = text[max(0, match.start() - _CONTEXT) : match.start()]
            after = text[match.end() : match.end() + _CONTEXT]
            start = match.start() - len(_HALF_WORD.findall(before[::-1])[0])
            end = match.end() + len(_HALF_WORD.findall(after)[0])
            word = text[start:end]
            odd = next(letter for letter in word if letter in _LOOKALIKE_LETTERS)
            latin = word.translate(_LOOKALIKES)
            n_tokens, n_without = self._count(text, offset, start, end, latin)
            reason = (
                f"{visible(word)} has {odd} from {letter_script(odd).capitalize()}: "
                f"{counted(n_tokens, 'token')}, {n_without} without."
            )
            yield Detected(start, end, reason)

    def _invisible(self, text: str, _offset: int) -> Iterator[Detected]:
        for match in _INVISIBLE.finditer(text):
            character = match[0][0]
            n_others = len(match[0]) - 1
            subject = f"U+{ord(character):04X} ({character_name(character)})"
            is_space = character.isspace()
            if n_others:
                subject += f" and {n_others} more"
                effect = "look like plain spaces" if is_space else "are invisible"
            else:
                effect = "looks like a plain space" if is_space else "is invisible"
            yield _detected(match, f"{subject} {effect}.")

    def _curly_quote(self, text: str, offset: int) -> Iterator[Detected]:
        for match in _CURLY.finditer(text):
            straight = match[0].replace("’", "'")
            n_tokens, n_straight = self._count(
                text, offset, match.start(), match.end(), straight
            )
            if n_tokens > n_straight:
                reason = f"{match[0]}: {n_tokens} tokens, {n_straight} with a straight quote."
                yield _detected(match, reason)

    def _number(self, text: str, offset: int) -> Iterator[Detected]:
        for match in _DIGITS.finditer(text):
            start = offset + match.start()
            end = offset + match.end()
            groups = [
                min(span.end, end) - max(span.start, start)
                for span in self._live.spans(start, end)
            ]
            if len(groups) < 2:
                continue
            if groups[0] > groups[1] or len(set(groups[1:])) > 1:
                ends = accumulate(groups)
                split = "·".join(
                    match[0][end - size : end]
                    for size, end in zip(groups, ends, strict=True)
                )
                yield _detected(match, f"{split}: the digits are grouped unevenly.")

    def _letters(self, text: str, offset: int) -> Iterator[Detected]:
        for match in _LETTER_IN.finditer(text):
            letter, word = match.groups()
            n_letters = word.lower().count(letter.lower())
            letters = f"{n_letters} {letter}'s" if n_letters > 1 else letter
            n_tokens = len(self._ids(offset + match.start(2), offset + match.end(2)))
            if n_tokens < len(word):
                size = counted(n_tokens, "token")
                reason = f"{word} is {size}: a model does not see its {letters}."
                yield _detected(match, reason, group=2)

    def _decimal(self, text: str, offset: int) -> Iterator[Detected]:
        before: re.Match[str] | None = None
        for match in _DECIMAL.finditer(text):
            if (
                before
                and match[1] == before[1]
                and match.start() - before.end() <= _NEAR
            ):
                less, more = sorted(
                    (before, match), key=lambda number: number[2].ljust(8, "0")
                )
                if (
                    int(less[2]) > int(more[2])
                    and self._is_token(less, offset)
                    and self._is_token(more, offset)
                ):
                    reason = (
                        f"{less[0]} is less than {more[0]}, "
                        f"but the tokens after the dot are {less[2]} and {more[2]}."
                    )
                    yield _detected(match, reason)
            before = match

    def _is_token(self, decimal: re.Match[str], offset: int) -> bool:
        """Whether the digits after the decimal point are one token."""
        ids = self._ids(offset + decimal.start(2), offset + decimal.end(2))
        return list(map(self._tokenizer.token_bytes, ids)) == [decimal[2].encode()]

    def _indentation(self, text: str, offset: int) -> Iterator[Detected]:
        for match in _INDENTATION.finditer(text):
            n_spaces = len(match[0])
            end = offset + match.end()
            spans = self._live.spans(offset + match.start(), end)
            # The last space often belongs to the word after it.
            n_tokens = sum(span.end <= end for span in spans)
            if n_tokens >= max(3, n_spaces // 2):
                reason = f"{n_spaces} spaces of indentation take {n_tokens} tokens."
                yield _detected(match, reason)
