"""The pitfalls of a text that is being edited: invisible characters, unevenly grouped digits, look-alikes, and more.

A text is searched block by block, and an edit discards the results of the blocks around it only, so that the pitfalls
of a text of any size can be kept up to date while it is edited.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, islice
from time import perf_counter
from typing import Final, NamedTuple

from bpe_core.explain.unstable import Unstable
from bpe_core.live.live_text import LiveText
from bpe_core.visible import character_name, counted, letter_script, visible

KINDS: Final = (
    *(
        "special token",
        "look-alike",
        "invisible",
        "trailing space",
        "partial token",
        "newlines",
    ),
    *("curly quote", "letters", "decimal", "number", "indentation", "script"),
)
"""Kinds of pitfalls, the most surprising first."""
_ONCE: Final = (
    "letters",
    "indentation",
)  # what holds for each long word, or indented line, is said of the first only

_BLOCK: Final = 1 << 14  # characters that are searched at a time
_MARGIN: Final = 64  # characters around a block that are read with it, for what begins in it and ends behind
_MOST_OF_A_KIND: Final = 64  # pitfalls of one kind that are kept of one block
_SAMPLE_LENGTH: Final = (
    200  # characters of a script in a block after which no more are counted
)
_FEWEST_CHARACTERS: Final = (
    4  # of a script, for its tokens per character to be reported
)
_NEAR: Final = 30  # characters between two decimals up to which a reader compares them

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u180e\u2000-\u200c\u200e\u200f\u2028-\u202f"
    "\u205f-\u2064\u2066-\u206f\u3164\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d+"  # between emoji it has a task
)
_DIGITS: Final = re.compile(r"(?<![0-9])[0-9]{2,40}(?![0-9])")
_CURLY: Final = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{1,30}’(?:s|t|re|ve|m|ll|d)\b", re.IGNORECASE
)
_LOOKALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν",
    "ABESIJKMHOPCTXaesijopcyxhdqwABEZHIKMNOPTYXoav",
)
"""Code points of Cyrillic and Greek letters -> those of the Latin letters that they look like; for `str.translate`."""
_LOOKS_ALIKE: Final = "".join(map(chr, _LOOKALIKES))
_MIXED: Final = re.compile(rf"[A-Za-z][{_LOOKS_ALIKE}]|[{_LOOKS_ALIKE}][A-Za-z]")
_HALF_WORD: Final = re.compile(r"\w{0,30}")
_LETTER_IN: Final = re.compile(  # a letter named by itself, and a word in which it occurs, as one asks for them
    r"(?<![\w'’])['\"‘“]?([b-hj-np-z])(?:['’]?s)?['\"’”]?\s[^\n]{0,12}?\bin\b[^\n]{0,12}?\b(?=[a-z]*\1)([a-z]{5,24})\b",
    re.IGNORECASE,
)
_DECIMAL: Final = re.compile(r"(?<![\d.])(\d{1,8})\.(\d{1,8})(?!\.?\d)", re.ASCII)
_INDENTATION: Final = re.compile(r"^ {4,40}(?=\S)", re.MULTILINE)
_SPECIAL: Final = re.compile(
    r"<\|[A-Za-z0-9_]{2,30}\|>|</?s>|\[(?:CLS|SEP|PAD|MASK|UNK|/?INST)\]"
)
_NEWLINE: Final = re.compile(r"\r\n|\n|\r")
_NEWLINES: Final = {"\r\n": "CR LF", "\n": "LF", "\r": "CR"}
_FOREIGN: Final = re.compile(r"[^\W\d_\x00-\u024f\u1e00-\u1eff\uff21-\uff5a]+")


class Pitfall(NamedTuple):
    """A range of a text, in code points, that is tokenized in a way its reader would not expect."""

    kind: str  # one of `KINDS`
    start: int
    end: int
    reason: str  # what is unexpected, in one sentence that is safe to show


def _detectors(
    live: LiveText,
) -> dict[str, Callable[[str, int], Iterator[tuple[int, int, str]]]]:
    """Kind -> (part of a text, its offset) -> (start and end in the part, reason) of each pitfall; without the kinds
    that need more than a part of the text."""
    tokenizer = live.tokenizer
    specials = tokenizer.special_tokens
    known = re.compile(
        "|".join(
            [*map(re.escape, sorted(specials, key=len, reverse=True)), _SPECIAL.pattern]
        )
    )

    def ids(start: int, end: int) -> list[int]:
        return [token for span in live.spans(start, end) for token in span.ids]

    def counts(text: str, start: int, at: int, end: int, other: str) -> tuple[int, int]:
        # Of what stands there, and of another in its place.
        n_tokens, before, after = (
            len(ids(start + at, start + end)),
            text[max(0, at - 30) : at],
            text[end : end + 30],
        )
        now, then = (
            len(tokenizer.encode_ordinary(before + one + after))
            for one in (text[at:end], other)
        )
        return n_tokens, n_tokens + then - now

    def special(text: str, start: int) -> Iterator[tuple[int, int, str]]:
        for found in known.finditer(text):
            token = specials.get(found[0])
            if token is None:
                yield (
                    *found.span(),
                    f"{visible(found[0])} looks like a special token; here it is text.",
                )
            elif ids(start + found.start(), start + found.end()) != [token]:
                yield (
                    *found.span(),
                    f"{visible(found[0])} is text here, not the special token {token:,}.",
                )

    def lookalike(text: str, offset: int) -> Iterator[tuple[int, int, str]]:
        end = 0
        for found in _MIXED.finditer(text):
            if found.start() < end:
                continue
            before, after = (
                text[max(0, found.start() - 30) : found.start()],
                text[found.end() : found.end() + 30],
            )
            start = found.start() - len(_HALF_WORD.findall(before[::-1])[0])
            end = found.end() + len(_HALF_WORD.findall(after)[0])
            word = text[start:end]
            latin = word.translate(_LOOKALIKES)
            odd = next(
                one for one, other in zip(word, latin, strict=True) if one != other
            )
            n_tokens, without = counts(text, offset, start, end, latin)
            tokens = f"{counted(n_tokens, 'token')}, {without} without"
            yield (
                start,
                end,
                f"{visible(word)} has {odd} from {letter_script(odd).capitalize()}: {tokens}.",
            )

    def invisible(text: str, _: int) -> Iterator[tuple[int, int, str]]:
        for found in _INVISIBLE.finditer(text):
            character = found[0][0]
            more = f" and {len(found[0]) - 1} more" if len(found[0]) > 1 else ""
            effect = (
                "looks like a plain space" if character.isspace() else "cannot be seen"
            )
            yield (
                *found.span(),
                f"U+{ord(character):04X} ({character_name(character)}){more} {effect}.",
            )

    def curly(text: str, start: int) -> Iterator[tuple[int, int, str]]:
        for found in _CURLY.finditer(text):
            curled, straight = counts(
                text, start, *found.span(), found[0].replace("’", "'")
            )
            if curled > straight:
                yield (
                    *found.span(),
                    f"{found[0]}: {curled} tokens, {straight} with a straight quote.",
                )

    def number(text: str, start: int) -> Iterator[tuple[int, int, str]]:
        for found in _DIGITS.finditer(text):
            begin, end = start + found.start(), start + found.end()
            groups = [
                min(span.end, end) - max(span.start, begin)
                for span in live.spans(begin, end)
            ]
            if len(groups) > 1 and (len(set(groups[1:])) > 1 or groups[0] > groups[1]):
                ends = accumulate(groups)
                split = "·".join(
                    found[0][end - size : end]
                    for size, end in zip(groups, ends, strict=True)
                )
                yield *found.span(), f"{split}: the digits are grouped unevenly."

    def letters(text: str, start: int) -> Iterator[tuple[int, int, str]]:
        for found in _LETTER_IN.finditer(text):
            letter, word = found.groups()
            times = word.lower().count(letter.lower())
            its = f"{times} {letter}" if times > 1 else letter
            n_parts = len(ids(start + found.start(2), start + found.end(2)))
            if n_parts < len(word):
                reason = f"{word} is {counted(n_parts, 'token')}, not {len(word)} letters: no model sees its {its}."
                yield *found.span(2), reason

    def decimal(text: str, start: int) -> Iterator[tuple[int, int, str]]:
        before: re.Match[str] | None = None
        for found in _DECIMAL.finditer(text):
            if (
                before
                and found[1] == before[1]
                and found.start() - before.end() <= _NEAR
            ):
                less, more = sorted(
                    (before, found), key=lambda one: one[2].ljust(8, "0")
                )
                tokens = [
                    ids(start + one.start(2), start + one.end(2))
                    for one in (less, more)
                ]
                shown = [[*map(tokenizer.token_bytes, one)] for one in tokens]
                if int(less[2]) > int(more[2]) and shown == [
                    [one[2].encode()] for one in (less, more)
                ]:
                    said = f"the tokens after the dot say {less[2]} and {more[2]}"
                    yield (
                        *found.span(),
                        f"{less[0]} is less than {more[0]}, but {said}.",
                    )
            before = found

    def indentation(text: str, start: int) -> Iterator[tuple[int, int, str]]:
        for found in _INDENTATION.finditer(text):
            end, n_spaces = start + found.end(), len(found[0])
            n_alone = sum(
                span.end <= end for span in live.spans(start + found.start(), end)
            )
            if n_alone >= max(3, n_spaces // 2):
                yield (
                    *found.span(),
                    f"{n_spaces} spaces of indentation take {n_alone} tokens.",
                )

    return {
        **{
            "special token": special,
            "look-alike": lookalike,
            "invisible": invisible,
            "curly quote": curly,
        },
        **{
            "letters": letters,
            "decimal": decimal,
            "number": number,
            "indentation": indentation,
        },
    }


@dataclass(slots=True)
class _Sample:
    """Counts of one kind of line end, or of characters of one script and their tokens."""

    first: int  # offset of the first occurrence
    n: int = 0
    n_tokens: int = 0


@dataclass(slots=True)
class _Block:
    """The results for `length` characters of the text, from whose first offsets count."""

    length: int
    known: bool = False
    found: list[Pitfall] = field(default_factory=list)
    once: dict[str, Pitfall] = field(
        default_factory=dict
    )  # the first of each kind of `_ONCE`
    samples: dict[str, _Sample] = field(default_factory=dict)  # by line end or script


class Pitfalls:
    """The pitfalls of a text, as far as it has been searched; all offsets are in code points.

    Iterating yields those known, in the order of the text, without `of_the_whole` and `at_end`.
    """

    def __init__(self, live: LiveText) -> None:
        self._live = live
        self._blocks = _blocks(live.n_characters)
        self._detectors = _detectors(live)

    def splice(self, start: int, end: int, n_inserted: int) -> None:
        """Discard what an edit may have changed: `n_inserted` code points have replaced those from `start` to `end`."""
        starts = [0, *accumulate(block.length for block in self._blocks)]
        low, high = start - _MARGIN, end + _MARGIN
        touched = [
            i
            for i in range(len(self._blocks))
            if starts[i] <= high and starts[i + 1] >= low
        ]
        first, last = (touched[0], touched[-1] + 1) if touched else (0, 0)
        self._blocks[first:last] = _blocks(
            starts[last] - starts[first] + n_inserted - (end - start)
        )

    def search(self, seconds: float) -> bool:
        """Search further blocks for about `seconds`, one at least if any is left; whether that was all."""
        deadline = perf_counter() + seconds
        for block, start in self._placed():
            if not block.known:
                self._search_block(block, start)
                if perf_counter() >= deadline:
                    break
        return all(block.known for block in self._blocks)

    def _search_block(self, block: _Block, start: int) -> None:
        before = min(start, _MARGIN)
        end = min(start + block.length + _MARGIN, self._live.n_characters)
        text = self._live.between(start - before, end)
        for kind, detect in self._detectors.items():
            found = (
                Pitfall(kind, a - before, b - before, reason)
                for a, b, reason in detect(text, start - before)
            )
            of_block = (one for one in found if 0 <= one.start < block.length)
            if kind in _ONCE:
                block.once.update((kind, first) for first in islice(of_block, 1))
            else:
                block.found += islice(of_block, _MOST_OF_A_KIND)
        block.found.sort(key=lambda pitfall: pitfall.start)
        for match in _NEWLINE.finditer(text, before, before + block.length):
            # A newline after a return was counted with it, be it in the block before.
            if not (
                match[0] == "\n" and text[match.start() - 1 : match.start()] == "\r"
            ):
                block.samples.setdefault(
                    match[0], _Sample(match.start() - before)
                ).n += 1
        for match in _FOREIGN.finditer(text[before : before + block.length]):
            script = (
                letter_script(match[0][0]).capitalize().replace("Cjk", "CJK") or "Other"
            )
            sample = block.samples.setdefault(script, _Sample(match.start()))
            if sample.n < _SAMPLE_LENGTH:
                stop = min(match.end(), match.start() + _SAMPLE_LENGTH)
                sample.n += stop - match.start()
                sample.n_tokens += sum(
                    len(span.ids)
                    for span in self._live.spans(start + match.start(), start + stop)
                )
        block.known = True

    def at_end(self, end: Unstable | None) -> list[Pitfall]:
        """The pitfall of how the text ends, a trailing space or an incomplete token; `end` is what `unstable` gave."""
        n = self._live.n_characters
        last = self._live.between(max(0, n - 1), n)
        words = (
            one
            for one in (end.completions() if end else ())
            if one.rest.decode(errors="replace")[:1].isalpha()
        )
        if (
            last
            and last in " \t\xa0\u3000"
            and (any(words) if end else self._live.spans(n - 1, n))
        ):
            return [
                Pitfall(
                    "trailing space",
                    n - 1,
                    n,
                    "The text ends with the space of the next word.",
                )
            ]
        if end is None or len(end.ids) < 2 or last.isspace():
            return []
        if (whole := next(end.completions(), None)) is None or len(whole.ids) > 1:
            return []
        token = visible(self._live.tokenizer.decode(whole.ids))
        return [
            Pitfall(
                "partial token",
                end.start,
                n,
                f"The end is {len(end.ids)} tokens; {token} would be 1.",
            )
        ]

    def __iter__(self) -> Iterator[Pitfall]:
        return (
            _moved(pitfall, start)
            for block, start in self._placed()
            for pitfall in block.found
        )

    def _placed(self) -> Iterator[tuple[_Block, int]]:
        start = 0
        for block in self._blocks:
            yield block, start
            start += block.length

    def of_the_whole(self) -> list[Pitfall]:
        """Pitfalls of which all of the text has one, at the first place: mixed line ends (of the rarest), scripts with
        many tokens per character, and those of the kinds that are said once."""
        sums, once = dict[str, _Sample](), dict[str, Pitfall]()
        for block, start in self._placed():
            once = {
                kind: _moved(pitfall, start) for kind, pitfall in block.once.items()
            } | once
            for key, sample in block.samples.items():
                total = sums.setdefault(key, _Sample(start + sample.first))
                total.n += sample.n
                total.n_tokens += sample.n_tokens
        found = [*once.values()]
        newlines = sorted(sums.keys() & _NEWLINES)
        if len(newlines) > 1:
            rarest = min(newlines, key=lambda kind: sums[kind].n)
            counts = ", ".join(
                f"{sums[kind].n:,} {_NEWLINES[kind]}" for kind in newlines
            )
            first = sums[rarest].first
            found.append(
                Pitfall(
                    "newlines",
                    first,
                    first + len(rarest),
                    f"Line ends are mixed: {counts}.",
                )
            )
        for script, sample in sums.items():
            if (
                sample.n >= _FEWEST_CHARACTERS and sample.n_tokens > sample.n
            ):  # line ends have no tokens here
                reason = f"{script} takes {sample.n_tokens / sample.n:.1f} tokens a character."
                found.append(Pitfall("script", sample.first, sample.first + 1, reason))
        return sorted(found, key=lambda pitfall: pitfall.start)


def _moved(pitfall: Pitfall, by: int) -> Pitfall:
    return Pitfall(pitfall.kind, pitfall.start + by, pitfall.end + by, pitfall.reason)


def _blocks(length: int) -> list[_Block]:
    n_blocks = -(-length // _BLOCK)
    return [
        _Block(length * (i + 1) // n_blocks - length * i // n_blocks)
        for i in range(n_blocks)
    ]
