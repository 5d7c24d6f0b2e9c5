"""The pitfalls of a text that is being edited: invisible characters, unevenly grouped digits, look-alikes, and more.

A text is searched block by block, and an edit discards the results of the blocks around it only, so that the pitfalls
of a text of any size can be kept up to date while it is edited.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from time import perf_counter
from typing import Final

from bpe_core.explain.pitfall_detectors import KINDS, Detector, Pitfall, detectors
from bpe_core.explain.unstable import Unstable
from bpe_core.live.live_text import LiveText
from bpe_core.scripts import letter_script
from bpe_core.visible import visible

_NEWLINE: Final = re.compile(r"\r\n|\n|\r")
_NEWLINES: Final = {"\r\n": "CR LF", "\n": "LF", "\r": "CR"}
_FOREIGN: Final = re.compile(r"[^\W\d_\x00-\u024f\u1e00-\u1eff\uff21-\uff5a]+")

_BLOCK: Final = 1 << 14
"""Characters that are searched at a time."""
_MARGIN: Final = 64
"""Characters around a block that are read with it, for what begins in it and ends behind."""
_MOST_OF_A_KIND: Final = 64
"""Pitfalls of one kind that are kept of one block; further ones are ignored."""
_SAMPLE_LENGTH: Final = 200
"""Characters of a script in a block after which no more are counted."""
_FEWEST_CHARACTERS: Final = 4
"""Characters of a script that a text must have for its tokens per character to be reported."""


@dataclass(slots=True)
class _Sample:
    """Counts of one kind of line end, or of one script, in a block."""

    first: int
    """Offset of the first occurrence in the block."""
    n: int = 0
    """Line ends, or characters counted."""
    n_tokens: int = 0
    """Tokens of the characters counted; 0 for line ends."""


@dataclass(slots=True)
class _Block:
    """The results for `length` consecutive characters of the text; offsets count from the first of them."""

    length: int
    known: bool = False
    found: list[Pitfall] = field(default_factory=list)
    worst: int = 0
    """Index in `found` of the most surprising pitfall."""
    newlines: dict[str, _Sample] = field(default_factory=dict)
    """By kind of line end."""
    scripts: dict[str, _Sample] = field(default_factory=dict)
    """By script."""


class Pitfalls:
    """The pitfalls of a text, as far as it has been searched; all offsets are in code points.

    Iterating yields those known, in the order of the text, without `of_the_whole` and `at_end`; `len` counts them.
    """

    def __init__(self, live: LiveText) -> None:
        self.reset(live)

    def reset(self, live: LiveText) -> None:
        """Discard all results: the text or its tokenizer is another one now."""
        self._live = live
        self._blocks = _blocks(live.n_characters)
        self._first_unknown = 0
        self._detectors: tuple[Detector, ...] = tuple(detectors(live))

    def splice(self, start: int, end: int, n_inserted: int) -> None:
        """Discard what an edit may have changed: `n_inserted` code points have replaced those from `start` to `end`."""
        starts = [0, *accumulate(block.length for block in self._blocks)]
        low, high = start - _MARGIN, end + _MARGIN
        touched = [i for i in range(len(self._blocks)) if starts[i] <= high and starts[i + 1] >= low]
        first, last = (touched[0], touched[-1] + 1) if touched else (0, 0)
        length = starts[last] - starts[first] + n_inserted - (end - start)
        self._blocks[first:last] = _blocks(length)
        self._first_unknown = min(self._first_unknown, first)

    @property
    def is_complete(self) -> bool:
        """Whether all of the text has been searched."""
        return self._first_unknown >= len(self._blocks)

    def search(self, seconds: float) -> bool:
        """Search further blocks for about `seconds`, one at least if any is left; returns `is_complete`."""
        deadline: float | None = None
        start = sum(block.length for block in self._blocks[: self._first_unknown])
        for block in self._blocks[self._first_unknown :]:
            if not block.known:
                if deadline is not None and perf_counter() >= deadline:
                    break
                deadline = deadline or perf_counter() + seconds
                self._search_block(block, start)
            start += block.length
            self._first_unknown += 1
        return self.is_complete

    def _search_block(self, block: _Block, start: int) -> None:
        before = min(start, _MARGIN)
        end = min(start + block.length + _MARGIN, self._live.n_characters)
        text = self._live.between(start - before, end)
        for detect in self._detectors:
            n_found = 0
            for pitfall in detect(text, start - before):
                if before <= pitfall.start < before + block.length and n_found < _MOST_OF_A_KIND:
                    n_found += 1
                    block.found.append(_moved(pitfall, -before))
        block.found.sort(key=lambda pitfall: pitfall.start)
        block.worst = min(range(len(block.found)), key=lambda i: (KINDS.index(block.found[i].kind), i), default=0)
        for match in _NEWLINE.finditer(text, before, before + block.length):
            # A newline after a return was counted with it, be it in the block before.
            if not (match[0] == "\n" and text[match.start() - 1 : match.start()] == "\r"):
                block.newlines.setdefault(match[0], _Sample(match.start() - before)).n += 1
        block.scripts = _scripts(self._live, text[before : before + block.length], start)
        block.known = True

    def at_end(self, end: Unstable | None) -> list[Pitfall]:
        """The pitfall of how the text ends, a trailing space or an incomplete token; `end` is what `unstable` gave."""
        n = self._live.n_characters
        last = self._live.between(max(0, n - 1), n)
        if last and last in " \t\xa0\u3000":
            reason = "The text ends with the space of the next word."
            return [Pitfall("trailing space", n - 1, n, reason)]
        if end is None or len(end.ids) < 2 or last.isspace():
            return []
        whole = next(end.completions(), None)
        if whole is None or len(whole.ids) > 1:
            return []
        token = visible(self._live.tokenizer.decode([whole.token]))
        reason = f"The end is {len(end.ids)} tokens; {token} would be 1."
        return [Pitfall("partial token", end.start, n, reason)]

    def __len__(self) -> int:
        """How many pitfalls are known, without `of_the_whole` and `at_end`."""
        return sum(len(block.found) for block in self._blocks)

    def __iter__(self) -> Iterator[Pitfall]:
        """The pitfalls counted by `len`, in the order of the text."""
        for block, start in self._placed():
            for pitfall in block.found:
                yield _moved(pitfall, start)

    def worst(self) -> Pitfall | None:
        """The first known pitfall of the most surprising kind; None if there is none."""
        first: Pitfall | None = None
        for block, start in self._placed():
            if block.found:
                worst = block.found[block.worst]
                if first is None or KINDS.index(worst.kind) < KINDS.index(first.kind):
                    first = _moved(worst, start)
        return first

    def after(self, offset: int) -> Pitfall | None:
        """The first known pitfall with `start > offset`; None if there is none."""
        for block, start in self._placed():
            if start + block.length > offset:
                for pitfall in block.found:
                    if start + pitfall.start > offset:
                        return _moved(pitfall, start)
        return None

    def before(self, offset: int) -> Pitfall | None:
        """The last known pitfall with `start < offset`; None if there is none."""
        for block, start in reversed(list(self._placed())):
            if start < offset:
                for pitfall in reversed(block.found):
                    if start + pitfall.start < offset:
                        return _moved(pitfall, start)
        return None

    def n_before(self, offset: int) -> int:
        """How many known pitfalls have `start < offset`."""
        placed = ((block, offset - start) for block, start in self._placed() if start < offset)
        return sum(bisect_left(block.found, within, key=lambda pitfall: pitfall.start) for block, within in placed)

    def _placed(self) -> Iterator[tuple[_Block, int]]:
        start = 0
        for block in self._blocks:
            yield block, start
            start += block.length

    def of_the_whole(self) -> list[Pitfall]:
        """Pitfalls that need counts over all of the text: mixed line ends, and scripts with many tokens per character.

        Each is placed at the first occurrence of the rarest line end, or of the script.
        """
        newlines: dict[str, _Sample] = {}
        scripts: dict[str, _Sample] = {}
        for block, start in self._placed():
            for sums, samples in ((newlines, block.newlines), (scripts, block.scripts)):
                for key, sample in samples.items():
                    total = sums.setdefault(key, _Sample(start + sample.first))
                    total.n += sample.n
                    total.n_tokens += sample.n_tokens
        found = []
        if len(newlines) > 1:
            rarest = min(newlines, key=lambda kind: (newlines[kind].n, kind))
            counts = ", ".join(f"{newlines[kind].n:,} {_NEWLINES[kind]}" for kind in sorted(newlines))
            first = newlines[rarest].first
            found.append(Pitfall("newlines", first, first + len(rarest), f"Line ends are mixed: {counts}."))
        for script, sample in scripts.items():
            if sample.n >= _FEWEST_CHARACTERS and sample.n_tokens > sample.n:
                reason = f"{script} takes {sample.n_tokens / sample.n:.1f} tokens a character."
                found.append(Pitfall("script", sample.first, sample.first + 1, reason))
        return sorted(found, key=lambda pitfall: pitfall.start)


def _moved(pitfall: Pitfall, by: int) -> Pitfall:
    return Pitfall(pitfall.kind, pitfall.start + by, pitfall.end + by, pitfall.reason)


def _blocks(length: int) -> list[_Block]:
    n_blocks = -(-length // _BLOCK)
    return [_Block(length * (i + 1) // n_blocks - length * i // n_blocks) for i in range(n_blocks)]


def _scripts(live: LiveText, text: str, start: int) -> dict[str, _Sample]:
    """Script -> a sample of its characters in `text`, which begins at `start`, and of their tokens."""
    found: dict[str, _Sample] = {}
    for match in _FOREIGN.finditer(text):
        script = letter_script(match[0][0]).capitalize() or "Other"
        sample = found.setdefault(script, _Sample(match.start()))
        if sample.n < _SAMPLE_LENGTH:
            stop = min(match.end(), match.start() + _SAMPLE_LENGTH)
            spans = live.spans(start + match.start(), start + stop)
            sample.n += stop - match.start()
            sample.n_tokens += sum(len(span.ids) for span in spans)
    return found
