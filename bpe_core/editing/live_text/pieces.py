"""Splitting and encoding the pieces of a live text, and finding how far an edit can change its pieces.

A split pattern is proved to look across no *safe cut* (see `bpe_core.patterns.cuts`), and whether two characters are
one depends on nothing but the two. So an edit leaves alone whatever lies beyond the nearest safe cuts around it.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from bpe_core.editing.live_text.blocks import LONG, Block, Gap, slices
from bpe_core.editing.spans import Span, layout
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8

_NEAR: Final = 256
"""Characters before and behind an edit within which safe cuts count as near."""
_STEPS: Final = 64
"""Characters over which match attempts of the pattern are followed, at most."""
_KEPT: Final = 4
"""Characters that a part must have to be the first of a run: more than the scanner looks ahead or back."""
_PARTS: Final = 256
"""Parts of which the tokens are cached: more than a screen shows."""


class Pieces:
    """Splits text with the pattern of a tokenizer, and encodes the pieces.

    Text that the pattern drops is a piece, too, a `Gap`, so that the pieces cover the text.
    """

    __slots__ = (
        "_part_ids",
        "_scanner",
        "compatible",
        "has_cuts",
        "ids",
        "is_safe_cut",
        "is_whole",
        "local",
        "longest",
        "lossy",
        "splitter",
        "token_bytes",
        "tokenizer",
    )

    def __init__(self, tokenizer: Tokenizer) -> None:
        if not tokenizer.by_piece:
            raise OptionError(
                f"{tokenizer!r} changes a text before it encodes it, so an edit can be felt anywhere: take "
                "bpe_core.editing.aligned_text.AlignedText for it."
            )
        self.tokenizer: Final = tokenizer
        """The tokenizer that encodes the pieces."""
        self.splitter: Final = tokenizer.splitter
        """The splitter of its pattern."""
        self.lossy: Final = self.splitter.lossy
        """Whether there can be gaps."""
        self.is_whole: Final = not self.splitter.source
        """Whether any text is one single piece."""
        self.local: Final = self.is_whole or self.splitter.blockwise
        """Whether safe cuts bound what an edit can change; if not, the whole text is split again."""
        self.has_cuts: Final = self.local and not self.is_whole
        """Whether there can be safe cuts in a text."""
        self.is_safe_cut: Final = self.splitter.is_safe_cut if self.has_cuts else lambda pair: False
        """Whether a text may be cut between two characters, whatever else it holds."""
        self.ids: Final = self._ids_or_gap if self.lossy else tokenizer.encode_piece
        """piece -> its tokens; for a gap the negative number of its bytes."""
        self.token_bytes: Final = self._bytes_or_gap if self.lossy else tokenizer.vocabulary.token_bytes
        """token -> its bytes; for a negative number, which stands for so many that the pattern drops, as many."""
        self.longest: Final = LONG
        """Characters above which a piece is kept in parts, whose tokens must depend on their neighbors alone."""
        self._scanner: Final = None if self.lossy else self.splitter.scanner
        self.compatible: Final = tokenizer.vocabulary.compatible
        """Whether two tokens can be neighbors in a piece."""
        self._part_ids: Final = lru_cache(_PARTS)(self.join)

    def split(self, text: str) -> list[str]:
        """The pieces of `text`, each `Gap` included: joined they are `text`."""
        if not self.lossy:
            return self.splitter.split(text)
        found: list[str] = []
        end = 0
        for start, stop in self.splitter.places(text):
            found += Gap(text[end:start]), text[start:stop]
            end = stop
        return list(filter(None, (*found, Gap(text[end:]))))

    def ends(self, block: Block) -> "array[int]":
        """Where each piece of a block ends, from its beginning."""
        return block.know(self.split(block.text)) if block.ends is None else block.ends

    def around(self, text: str, start: int, end: int, is_first: bool, is_last: bool) -> tuple[int, int] | None:
        """The nearest safe cuts around a range of a text; None if they are not near or may lie outside of the text.

        Nothing outside of them is changed by an edit of the range. `is_first` and `is_last` say whether nothing comes
        before and behind the text; if something does, it must be safe to cut there.
        """
        if not self.has_cuts or (not start and not is_first) or (end >= len(text) and not is_last):
            return None
        hi = self.splitter.cut(text, end + 1)
        lo = max(start - 1, 0)
        while lo and not self.is_safe_cut(text[lo - 1 : lo + 1]):
            lo -= 1
            if start - lo > _NEAR:
                return None
        return (lo, hi) if hi - end <= _NEAR else None

    def last_cut(self, text: str) -> int:
        """The last safe cut in a text; 0 if there is none."""
        cuts = range(len(text) - 1, 0, -1) if self.has_cuts else ()
        return next((at for at in cuts if self.is_safe_cut(text[at - 1 : at + 1])), 0)

    def fixed_bound(self, bounds: Iterable[int], between: Callable[[int, int], str], end: int) -> int:
        """Of bounds up to `end`, the last one first, the first that stays one whatever the text is behind `end`.

        Those before it stay, too. `between` gives the text of a range; 0 if there is no such bound.
        """
        is_over = False
        for bound in bounds:
            # What the pattern leaves over ends where an attempt succeeds: so one bound more must be let go.
            if is_over or not bound or (bound < end and self.is_safe_cut(between(bound - 1, bound + 1))):
                return bound
            is_over = self.splitter.attempts_end_in(between(bound - 1, min(end, bound + _STEPS)))
        return 0

    def part(self, text: str, is_last: bool, is_open: bool = False) -> Block:
        """A part of a long piece."""
        run = self._scanner.run(utf8(text)) if self._scanner and len(text) >= _KEPT else 0
        ends = array("I", (len(text),) if is_last else ())
        return Block(text, False, ends, is_part=True, is_open=is_open, run=run)

    def parts(self, text: str) -> Iterator[Block]:
        """A long piece in parts of which no tokens are known."""
        done = 0
        for part in slices(text):
            done += len(part)
            yield self.part(part, done == len(text))

    def join(self, text: str) -> tuple[int, ...]:
        """The tokens of a part of a piece, or of a piece that is too long to be looked up whole."""
        return self.tokenizer.vocabulary.join(utf8(text))

    def _bytes_or_gap(self, token: int) -> bytes:
        return self.tokenizer.token_bytes(token) if token >= 0 else bytes(-token)

    def _ids_or_gap(self, piece: str) -> tuple[int, ...]:
        return (-len(utf8(piece)),) if isinstance(piece, Gap) else self.tokenizer.encode_piece(piece)

    def encoded(self, text: str) -> list[int]:
        """The tokens of a text between two safe cuts, and a negative number for each gap."""
        if self.lossy:
            ids = self.ids
            return [token for piece in self.split(text) for token in ids(piece)]
        found = self.tokenizer.vocabulary.encoder.text(text, self._scanner) if self._scanner else None
        return self.tokenizer.encode_ordinary(text) if found is None else found

    def pieces(self, block: Block) -> list[str]:
        """The pieces of a block."""
        if block.ends is None:
            pieces = self.split(block.text)
            block.know(pieces)
            return pieces
        text, gaps, bounds = block.text, block.gaps, zip((0, *block.ends), block.ends, strict=False)
        return [Gap(text[start:end]) if end in gaps else text[start:end] for start, end in bounds]

    def ids_of(self, block: Block) -> Sequence[int]:
        """The tokens of a block or part, and a negative number for each gap."""
        if block.is_part:
            return self._part_ids(block.text)
        if block.is_apart:
            return self.encoded(block.text)
        return list(chain.from_iterable(map(self.ids, self.pieces(block))))

    def count(self, block: Block) -> int:
        """How many tokens a block has."""
        ids = self.ids_of(block)
        return sum(1 for token in ids if token >= 0) if self.lossy else len(ids)

    def spans(self, block: Block, start: int, end: int) -> Iterator[Span]:
        """The spans of those pieces of a block that meet a range of it; of a part, all."""
        if block.is_part:
            yield from layout(block.text, self.ids_of(block), self.token_bytes)
            return
        ends = self.ends(block)
        first = bisect_right(ends, start)
        left = ends[first - 1] if first else 0
        for right in ends[first:]:
            if left >= end:
                break
            for span in self.layout(block.piece(left, right)):
                yield Span(left + span.start, left + span.end, span.ids)
            left = right

    def layout(self, piece: str) -> tuple[Span, ...]:
        """The spans of a piece, counted from its beginning; none for a gap."""
        if isinstance(piece, Gap):
            return ()
        return layout(piece, self.ids(piece), self.tokenizer.token_bytes)
