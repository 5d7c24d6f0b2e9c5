"""The pitfalls of a text that is being edited: invisible characters, unevenly grouped digits, look-alikes, and more.

A text is searched block by block. An edit discards only the results of the blocks around it, so the pitfalls of a text
of any size can be kept up to date while it is edited.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, islice
from time import perf_counter
from typing import Final, NamedTuple

from bpe_core.explain.detectors import Detectors
from bpe_core.explain.unstable import Unstable
from bpe_core.live.live_text import LiveText
from bpe_core.visible import letter_script, visible

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
"""Kinds of pitfalls, the most surprising first."""
_ONCE: Final = ("letters", "indentation")
"""Kinds that are reported once per text: nearly every long word or indented line has such a pitfall."""

_BLOCK: Final = 1 << 14
"""Number of characters that are searched at a time."""
_MARGIN: Final = 64
"""Characters around a block that are searched, too: a pitfall may begin in the block and end after it."""
_MOST_OF_A_KIND: Final = 64
"""Maximum number of pitfalls of one kind that are kept per block."""
_SAMPLE_LENGTH: Final = 200
"""Maximum number of characters of a script that are counted in a block."""
_FEWEST_CHARACTERS: Final = 4
"""Minimum number of characters of a script for reporting its tokens per character."""

_NEWLINE: Final = re.compile(r"\r\n|\n|\r")
_NEWLINES: Final = {"\r\n": "CR LF", "\n": "LF", "\r": "CR"}
_FOREIGN: Final = re.compile(r"[^\W\d_\x00-\u024f\u1e00-\u1eff\uff21-\uff5a]+")


class Pitfall(NamedTuple):
    """A range of a text that is tokenized in a way its reader would not expect."""

    kind: str  # one of `KINDS`
    start: int  # code points
    end: int
    reason: str  # one sentence that is safe to show

    def moved(self, by: int) -> "Pitfall":
        """Return the same pitfall, moved `by` code points toward the end."""
        return self._replace(start=self.start + by, end=self.end + by)


@dataclass(slots=True)
class _Sample:
    """Counts of one kind of line end, or of characters of one script and their tokens."""

    first: int  # offset of the first occurrence
    n: int = 0
    n_tokens: int = 0


@dataclass(slots=True)
class _Block:
    """The results for a part of the text. Offsets count from its beginning."""

    length: int
    is_known: bool = False
    pitfalls: list[Pitfall] = field(default_factory=list)
    once: dict[str, Pitfall] = field(default_factory=dict)
    """The first pitfall of each kind in `_ONCE`."""
    samples: dict[str, _Sample] = field(default_factory=dict)  # by line end or script


class Pitfalls:
    """The known pitfalls of a text. All offsets are in code points.

    Iterating yields the pitfalls in the order of the text, except `of_the_whole` and `at_end`.
    """

    def __init__(self, live: LiveText) -> None:
        self._live = live
        self._blocks = _blocks(live.n_characters)
        self._detectors = Detectors(live).by_kind

    def splice(self, start: int, end: int, n_inserted: int) -> None:
        """Discard what an edit may have changed.

        `n_inserted` code points replaced the text from `start` to `end`.
        """
        starts = [0, *accumulate(block.length for block in self._blocks)]
        touched = [
            i
            for i in range(len(self._blocks))
            if starts[i] <= end + _MARGIN and starts[i + 1] >= start - _MARGIN
        ]
        first = touched[0] if touched else 0
        after = touched[-1] + 1 if touched else 0
        length = starts[after] - starts[first] + n_inserted - (end - start)
        self._blocks[first:after] = _blocks(length)

    def search(self, seconds: float) -> bool:
        """Search more blocks for about `seconds`, at least one. Return whether all blocks are searched now."""
        deadline = perf_counter() + seconds
        for block, start in self._placed():
            if not block.is_known:
                self._search_block(block, start)
                if perf_counter() >= deadline:
                    break
        return all(block.is_known for block in self._blocks)

    def _search_block(self, block: _Block, start: int) -> None:
        n_before = min(start, _MARGIN)
        end = min(start + block.length + _MARGIN, self._live.n_characters)
        text = self._live.between(start - n_before, end)
        for kind, detect in self._detectors.items():
            pitfalls = (
                Pitfall(kind, *detected).moved(-n_before)
                for detected in detect(text, start - n_before)
                if n_before <= detected.start < n_before + block.length
            )
            if kind not in _ONCE:
                block.pitfalls += islice(pitfalls, _MOST_OF_A_KIND)
                continue
            first = next(pitfalls, None)
            if first is not None:
                block.once[kind] = first
        block.pitfalls.sort(key=lambda pitfall: pitfall.start)
        self._count_newlines(block, text, n_before)
        own_text = text[n_before : n_before + block.length]
        self._count_scripts(block, own_text, start)
        block.is_known = True

    def _count_newlines(self, block: _Block, text: str, n_before: int) -> None:
        for match in _NEWLINE.finditer(text, n_before, n_before + block.length):
            start = match.start()
            # A line feed at the start of the block was counted with the return before it.
            if match[0] != "\n" or text[start - 1 : start] != "\r":
                sample = _Sample(start - n_before)
                block.samples.setdefault(match[0], sample).n += 1

    def _count_scripts(self, block: _Block, text: str, offset: int) -> None:
        for match in _FOREIGN.finditer(text):
            script = letter_script(match[0][0]).capitalize().replace("Cjk", "CJK")
            sample = block.samples.setdefault(script or "Other", _Sample(match.start()))
            if sample.n < _SAMPLE_LENGTH:
                end = min(match.end(), match.start() + _SAMPLE_LENGTH)
                spans = self._live.spans(offset + match.start(), offset + end)
                sample.n += end - match.start()
                sample.n_tokens += sum(len(span.ids) for span in spans)

    def at_end(self, end: Unstable | None) -> list[Pitfall]:
        """Return the pitfall at the end of the text, if any: a trailing space or an incomplete token.

        `end` is the result of `unstable`.
        """
        n = self._live.n_characters
        last = self._live.between(max(0, n - 1), n)
        if last and last in " \t\xa0\u3000" and self._continues_as_word(end):
            reason = "The text ends in a space that belongs to the next word."
            return [Pitfall("trailing space", n - 1, n, reason)]
        if end is None or len(end.ids) < 2 or last.isspace():
            return []
        completion = next(end.completions(), None)
        if completion is None or len(completion.ids) > 1:
            return []
        token = visible(self._live.tokenizer.decode(completion.ids))
        reason = f"The end is {len(end.ids)} tokens; {token} would be 1."
        return [Pitfall("partial token", end.start, n, reason)]

    def _continues_as_word(self, end: Unstable | None) -> bool:
        """Whether tokens begin with the last character, a space, and letters; if unknown, whether it has a token."""
        if end is None:
            n = self._live.n_characters
            return bool(self._live.spans(n - 1, n))
        return any(
            completion.rest.decode(errors="replace")[:1].isalpha()
            for completion in end.completions()
        )

    def __iter__(self) -> Iterator[Pitfall]:
        for block, start in self._placed():
            for pitfall in block.pitfalls:
                yield pitfall.moved(start)

    def _placed(self) -> Iterator[tuple[_Block, int]]:
        """Yield each block and its start."""
        start = 0
        for block in self._blocks:
            yield block, start
            start += block.length

    def of_the_whole(self) -> list[Pitfall]:
        """Return pitfalls that are reported once per text, at the first place.

        These are mixed line ends (the first of the rarest kind), scripts with many tokens per character, and the kinds
        in `_ONCE`.
        """
        totals: dict[str, _Sample] = {}
        once: dict[str, Pitfall] = {}
        for block, start in self._placed():
            for kind, pitfall in block.once.items():
                once.setdefault(kind, pitfall.moved(start))
            for key, sample in block.samples.items():
                total = totals.setdefault(key, _Sample(start + sample.first))
                total.n += sample.n
                total.n_tokens += sample.n_tokens
        pitfalls = list(once.values())
        newlines = sorted(totals.keys() & _NEWLINES)
        if len(newlines) > 1:
            counts = [f"{totals[each].n:,} {_NEWLINES[each]}" for each in newlines]
            reason = f"Line ends are mixed: {', '.join(counts)}."
            rarest = min(newlines, key=lambda newline: totals[newline].n)
            start = totals[rarest].first
            end = start + len(rarest)
            pitfalls.append(Pitfall("newlines", start, end, reason))
        for script, total in totals.items():
            # Line ends have no tokens here.
            if total.n >= _FEWEST_CHARACTERS and total.n_tokens > total.n:
                n_per_character = total.n_tokens / total.n
                reason = f"{script} takes {n_per_character:.1f} tokens per character."
                pitfalls.append(Pitfall("script", total.first, total.first + 1, reason))
        return sorted(pitfalls, key=lambda pitfall: pitfall.start)


def _blocks(length: int) -> list[_Block]:
    """Return blocks of about equal lengths, `_BLOCK` at most."""
    n_blocks = -(-length // _BLOCK)
    return [
        _Block(length * (i + 1) // n_blocks - length * i // n_blocks)
        for i in range(n_blocks)
    ]
