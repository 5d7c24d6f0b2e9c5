"""Pieces of a text that is being edited: where they end, what their tokens are, and how far an edit is felt.

A split pattern is proved to look across no *safe cut* (see `bpe_core.patterns.cuts`), and whether two characters are
one depends on nothing but the two. So an edit leaves alone whatever lies beyond the nearest safe cuts around it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from bpe_core.bpe import utf8
from bpe_core.errors import OptionError
from bpe_core.live_text.blocks import Block
from bpe_core.live_text.long_piece import LONG
from bpe_core.patterns import Splitter
from bpe_core.spans import Span, layout
from bpe_core.tokenizer import Tokenizer

_REMEMBERED: Final = 1 << 16


class Pieces:
    """The pieces that the tokenizer's pattern makes, and their tokens.

    Where the pattern drops text, what it drops is a piece, too, so that the pieces cover the text; it is called a gap.
    """

    __slots__ = ("_layouts", "has_cuts", "ids", "is_safe_cut", "is_whole", "local", "lossy", "splitter", "tokenizer")

    def __init__(self, tokenizer: Tokenizer) -> None:
        if not tokenizer.by_piece:
            raise OptionError(
                f"{tokenizer!r} changes a text before it encodes it, so an edit can be felt anywhere: take "
                "bpe_core.aligned_text.AlignedText for it."
            )
        self.tokenizer: Final = tokenizer
        """Where the tokens come from."""
        self.splitter: Final = tokenizer.splitter
        """Where the pieces come from."""
        self.lossy: Final = self.splitter.lossy
        """Whether there can be gaps."""
        self.is_whole: Final = not self.splitter.source
        """Whether any text is one single piece."""
        self.local: Final = self.is_whole or self.splitter.blockwise
        """Whether safe cuts bound what an edit can change; if not, the whole text is split again."""
        self.has_cuts: Final = self.local and not self.is_whole
        """Whether there can be safe cuts in a text."""
        self.ids: Final = self._ids_or_gap if self.lossy else tokenizer.encode_piece
        """piece -> its tokens; for a gap the negative number of its bytes."""
        self.is_safe_cut: Final[Callable[[str], bool]] = _SafeCuts(self.splitter).__getitem__
        """Whether a text may be cut between two characters, whatever else it holds."""
        self._layouts: dict[str, tuple[Span, ...]] = {}

    def split(self, text: str) -> list[str]:
        """The pieces of `text`, gaps included: joined they are `text`."""
        pieces = self.splitter.split(text)
        if not self.lossy:
            return pieces
        found: list[str] = []
        end = 0
        for piece in pieces:
            start = text.index(piece, end)
            found += text[end:start], piece
            end = start + len(piece)
        return list(filter(None, (*found, text[end:])))

    def is_gap(self, piece: str) -> bool:
        """Whether the pattern drops this."""
        return self.lossy and not self.splitter.split(piece)

    def is_long(self, piece: str) -> bool:
        """Whether the piece is worth being kept as a `LongPiece`."""
        return len(piece) > LONG and not self.is_gap(piece)

    def _ids_or_gap(self, piece: str) -> tuple[int, ...]:
        return (-len(utf8(piece)),) if self.is_gap(piece) else self.tokenizer.encode_piece(piece)

    def ids_of(self, block: Block) -> Iterator[int]:
        """The tokens of a block."""
        ids = chain.from_iterable(map(self.ids, block.pieces()))
        return (token for token in ids if token >= 0) if self.lossy else ids

    def count(self, block: Block) -> int:
        """How many tokens a block has."""
        if self.lossy:
            return sum(1 for _ in self.ids_of(block))
        return sum(map(len, map(self.ids, block.pieces())))

    def spans(self, block: Block, start: int, end: int) -> Iterator[Span]:
        """The spans of those pieces of a block that meet a range of it."""
        first = bisect_right(block.bounds, start)
        left = block.bounds[first - 1] if first else 0
        for right in block.bounds[first:]:
            if left >= end:
                break
            for span in self.layout(block.text[left:right]):
                yield Span(left + span.start, left + span.end, span.ids)
            left = right

    def layout(self, piece: str) -> tuple[Span, ...]:
        """The spans of a piece, counted from its beginning; none for a gap."""
        spans = self._layouts.get(piece)
        if spans is None:
            spans = () if self.is_gap(piece) else layout(piece, self.ids(piece), self.tokenizer.token_bytes)
            if len(self._layouts) >= _REMEMBERED:
                self._layouts.clear()
            self._layouts[piece] = spans
        return spans


class _SafeCuts(dict[str, bool]):
    """Two characters -> whether a text may be cut between them, worked out when first asked for."""

    __slots__ = ("_cut",)

    def __init__(self, splitter: Splitter) -> None:
        self._cut = splitter.cut

    def __missing__(self, pair: str) -> bool:
        if len(self) >= _REMEMBERED:
            self.clear()
        safe = self[pair] = self._cut(pair, 1) == 1
        return safe
