"""Divide long texts where every tokenizer cuts, so that no whole text is held in memory."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from bpe_core.live.change import Cut
from bpe_core.live.prepared import PreparedCuts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import SplitStep

PART: Final = 1 << 18
"""Approximate number of characters of a part. A shorter text is one part."""
ASCII_SPACE: Final = "\t\n\v\f\r "
WIDE_SPACE: Final = re.compile(r"[^\S\0-\x7f]")
"""Matches white space beyond ASCII."""
_HIGHEST_SPACE: Final = "\u3000"
"""The white space with the highest code point."""
_SPACES: Final = frozenset(
    character
    for character in map(chr, range(ord(_HIGHEST_SPACE) + 1))
    if character in ASCII_SPACE or WIDE_SPACE.match(character)
)

CutKind = Callable[[str], Cut]
"""Two adjacent characters -> whether a tokenizer may cut a text between them, and how."""


class TextPart(NamedTuple):
    """A part of a text, and the kind of cut of each tokenizer at both ends."""

    text: str
    before: Sequence[Cut | None]
    """The kind of cut before it, by tokenizer; None at the beginning of the text."""
    behind: Sequence[Cut | None]
    """The kind of cut after it, by tokenizer; None at the end of the text."""

    @property
    def is_last(self) -> bool:
        return None in self.behind


class TextDivider:
    """Divides texts at white space where all of the given tokenizers may cut.

    A stretch without such a place is one part. That is the whole text if the pattern of a tokenizer
    has no safe cuts (such as "none"), or drops some of the text.
    """

    def __init__(self, tokenizers: Sequence[Tokenizer]) -> None:
        self._kinds: Final = [_cut_kind(tokenizer) for tokenizer in tokenizers]
        self._text_end: Final = (None,) * len(tokenizers)
        self.size = PART
        """Approximate number of characters of a part."""
        self.cut_at: Final = cache(self._cut_at)

    def parts(self, blocks: Iterable[str]) -> Iterator[TextPart]:
        """Yield the parts of a text that comes in blocks. There is at least one part."""
        before: Sequence[Cut | None] = self._text_end
        held = list[str]()
        n_held = 0
        n_to_cut = self.size
        for block in blocks:
            held.append(block)
            n_held += len(block)
            if n_held < n_to_cut:
                continue
            text = "".join(held)
            end = self._last_cut(text)
            if end:
                behind = self.cut_at(text[end - 1 : end + 1])
                yield TextPart(text[:end], before, behind)
                before = behind
            held = [text[end:]]
            n_held = len(held[0])
            # A text without a cut is searched again only when it is twice as long.
            n_to_cut = self.size if end else 2 * n_held
        yield TextPart("".join(held), before, self._text_end)

    def _last_cut(self, text: str) -> int:
        """Return the last place where the text may be cut; 0 for none."""
        for place in range(len(text) - 1, 0, -1):
            is_at_space = text[place - 1] in _SPACES or text[place] in _SPACES
            if is_at_space and self.cut_at(text[place - 1 : place + 1]):
                return place
        return 0

    def _cut_at(self, pair: str) -> tuple[Cut, ...]:
        """Return how each tokenizer cuts between two characters; () if a tokenizer may not cut there."""
        kinds = tuple(kind(pair) for kind in self._kinds)
        return () if Cut.NONE in kinds else kinds


def _cut_kind(tokenizer: Tokenizer) -> CutKind:
    """Return a function that decides whether and how a tokenizer may cut between two characters."""

    def never(pair: str) -> Cut:
        return Cut.NONE

    def between_pieces(pair: str) -> Cut:
        return Cut.PIECES if splitter.is_safe_cut(pair) else Cut.NONE

    splitter = tokenizer.splitter
    if drops_text(tokenizer):
        return never
    if not tokenizer.by_piece:
        cuts = PreparedCuts(tokenizer)
        return lambda pair: cuts.kind(pair, True)
    return between_pieces if splitter.blockwise else never


def drops_text(tokenizer: Tokenizer) -> bool:
    """Whether a split drops some of the text."""
    if tokenizer.preparation is None:
        return tokenizer.splitter.lossy
    return tokenizer.splitter.lossy or any(
        isinstance(step, SplitStep) and step.splitter.lossy
        for step in tokenizer.preparation.steps
    )
