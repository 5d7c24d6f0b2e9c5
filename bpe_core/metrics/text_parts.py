"""Long texts in parts, cut where every tokenizer cuts, so that a comparison need not hold a whole text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from bpe_core.live.change import Cut
from bpe_core.live.prepared import PreparedCuts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import SplitStep

PART: Final = 1 << 18  # characters of a part, about; a shorter text is one part
WIDE_SPACE: Final = re.compile(r"[^\S\0-\x7f]")  # white space beyond ASCII
ASCII_SPACE: Final = "\t\n\v\f\r "
_SPACES: Final = frozenset(
    {*ASCII_SPACE, *WIDE_SPACE.findall("".join(map(chr, range(0x80, 0x3100))))}
)

CutKind = Callable[[str], Cut]
"""Two adjacent characters -> whether a tokenizer may cut a text between them, and how."""


class TextPart(NamedTuple):
    """A part of a text, and how each tokenizer cuts at its ends; None where the text itself begins or ends."""

    text: str
    before: Sequence[Cut | None]
    behind: Sequence[Cut | None]

    @property
    def is_last(self) -> bool:
        return None in self.behind


class TextDivider:
    """Divides texts where all of some tokenizers may cut, next to white space, so that no word is cut.

    A stretch without such a place is held whole. That is all of a text if the pattern of a tokenizer has no safe
    cuts (such as "none"), or drops some of the text.
    """

    def __init__(self, tokenizers: Sequence[Tokenizer]) -> None:
        self._kinds: Final = [_cut_kind(tokenizer) for tokenizer in tokenizers]
        self._ends: Final = (None,) * len(tokenizers)
        self.size = PART
        self.cut_at: Final = cache(self._cut_at)

    def parts(self, blocks: Iterable[str]) -> Iterator[TextPart]:
        """Yield the parts of a text that comes in blocks; one at least."""
        before: Sequence[Cut | None] = self._ends
        held = list[str]()
        n_held, enough = 0, self.size
        for block in blocks:
            held.append(block)
            n_held += len(block)
            if n_held < enough:
                continue
            text = "".join(held)
            end = self._last_cut(text)
            if end:
                behind = self.cut_at(text[end - 1 : end + 1])
                yield TextPart(text[:end], before, behind)
                before = behind
            held = [text[end:]]
            n_held = len(held[0])
            enough = self.size if end else 2 * n_held
        yield TextPart("".join(held), before, self._ends)

    def _last_cut(self, text: str) -> int:
        """The last place where the text may be cut; 0 if there is none."""
        for place in range(len(text) - 1, 0, -1):
            is_by_space = text[place - 1] in _SPACES or text[place] in _SPACES
            if is_by_space and self.cut_at(text[place - 1 : place + 1]):
                return place
        return 0

    def _cut_at(self, pair: str) -> tuple[Cut, ...]:
        """How each tokenizer cuts between two characters; () if one of them may not."""
        kinds = tuple(kind(pair) for kind in self._kinds)
        return () if Cut.NONE in kinds else kinds


def _cut_kind(tokenizer: Tokenizer) -> CutKind:
    splitter = tokenizer.splitter
    preparation = tokenizer.preparation
    steps = preparation.steps if preparation else ()
    drops_text = splitter.lossy or any(
        isinstance(step, SplitStep) and step.splitter.lossy for step in steps
    )
    if drops_text:
        return lambda pair: Cut.NONE
    if not tokenizer.by_piece:
        cuts = PreparedCuts(tokenizer)
        return lambda pair: cuts.kind(pair, True)
    if not splitter.blockwise:
        return lambda pair: Cut.NONE
    return lambda pair: Cut.PIECES if splitter.is_safe_cut(pair) else Cut.NONE
