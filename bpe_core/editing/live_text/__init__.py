"""Text and its tokens while it is being edited: an edit encodes again only what it touched.

The text is kept in blocks with a Fenwick tree over their lengths. So an edit finds its place at once, splits again
between the nearest safe cuts around it, and exchanges the pieces there; where no cut is near, `resplit` goes on until
it meets pieces that were there before. Pieces and tokens are computed when they are asked for; only a very long piece
keeps its tokens (`long_piece`). A text is *settled* when no item is open and the tokens of all are known.
"""

from bisect import bisect_right
from itertools import chain
from time import perf_counter
from typing import Final

from bpe_core.editing.change import Change, Edit
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import SIZE, Block
from bpe_core.editing.live_text.long_piece import LongPiece
from bpe_core.editing.live_text.pieces import Pieces
from bpe_core.editing.live_text.resplit import resplit
from bpe_core.editing.live_text.splicing import exchanged, splice
from bpe_core.editing.spans import Span
from bpe_core.editing.tally import Tally
from bpe_core.errors import OptionError
from bpe_core.plurals import counted
from bpe_core.surrogates import utf8, without_surrogates
from bpe_core.tokenizer import Tokenizer

__all__ = ["Change", "LiveText"]


class LiveText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points. Special tokens are text like any other. A pair of surrogates is kept as the
    character it stands for, a lone one as U+FFFD, as encoding reads them. Not thread-safe.
    """

    def __init__(self, tokenizer: Tokenizer, text: str = "") -> None:
        self._fill(tokenizer, without_surrogates(text))

    def _fill(self, tokenizer: Tokenizer, text: str) -> None:
        pieces = Pieces(tokenizer)
        self._blocks = BlockList(pieces, text)  # first: it raises where the pattern is too slow
        self._pieces = pieces
        self.n_bytes = len(utf8(text))
        """Bytes of the text in UTF-8."""
        self._tally = Tally(len(self._blocks.items))

    def __repr__(self) -> str:
        return f"<LiveText: {self.n_characters} characters, {self.tokenizer!r}>"

    def _repr_html_(self) -> str:
        """HTML of the tokens of its first characters, for notebooks."""
        from bpe_core.pictures.html import fragment
        from bpe_core.pictures.picture import FIRST_CHARACTERS, Picture

        return fragment([Picture.of_followed(self, most=FIRST_CHARACTERS)])

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer in use; `use` sets another."""
        return self._pieces.tokenizer

    @property
    def pieces(self) -> Pieces:
        """What splits the text and encodes its pieces."""
        return self._pieces

    @property
    def local(self) -> bool:
        """Whether an edit splits and encodes only what is near it.

        If not, the pattern may depend on distant characters (by a look-behind, say), and each edit splits all the text.
        """
        return self._pieces.local

    @property
    def text(self) -> str:
        """The text."""
        return self.between(0, self.n_characters)

    @property
    def n_characters(self) -> int:
        """Code points of the text."""
        return len(self._blocks)

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        self._check(start, end)
        return self._blocks.between(start, end)

    @property
    def ids(self) -> list[int]:
        """All tokens; settles the text."""
        self.settle(float("inf"))
        items = self._blocks.items
        return list(chain.from_iterable(x.ids() if isinstance(x, LongPiece) else self._pieces.ids_of(x) for x in items))

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range.

        Those of a very long piece are provisional until the text is settled, though they seldom change.
        """
        self._check(start, end)
        found: list[Span] = []
        for at, item in self._blocks.within(start, end):
            part = max(0, start - at), end - at
            spans = item.spans(*part) if isinstance(item, LongPiece) else self._pieces.spans(item, *part)
            found += [Span(at + span.start, at + span.end, span.ids) for span in spans]
        return [span for span in found if span.start < end and start < span.end]

    def span_at(self, offset: int) -> Span | None:
        """The span that holds the character at `offset`; None at the end of the text and in what a pattern drops."""
        spans = self.spans(offset, min(offset + 1, self.n_characters))
        return spans[0] if spans else None

    def piece_at(self, offset: int) -> tuple[int, int] | None:
        """(start, end) of the piece that holds the character at `offset`; None at the end of the text."""
        self._check(offset, offset)
        if offset == self.n_characters:
            return None
        item, at = self._blocks.find(offset)
        ends = self._pieces.ends(self._blocks.items[item])
        index = bisect_right(ends, offset - at)
        return at + (ends[index - 1] if index else 0), at + ends[index]

    def prepared_piece(self, offset: int) -> str:
        """The text of that piece; "" at the end of the text."""
        piece = self.piece_at(offset)
        return self.between(*piece) if piece else ""

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range; None if a block inside of it is not encoded yet. Encodes only its ends."""
        self._check(start, end)
        if start == end:
            return 0
        first, at = self._blocks.find(start)
        last, last_at = self._blocks.find(end - 1)
        parts = (
            [(first, start - at, end - at)] if first == last else [(first, start - at, None), (last, 0, end - last_at)]
        )
        n_tokens = self._tally.known(first + 1, last)
        for index, begin, stop in parts:
            item = self._blocks.items[index]
            stop = min(len(item), len(item) if stop is None else stop)
            if isinstance(item, LongPiece):
                count = item.n_tokens_between(begin, stop)
            else:
                count = sum(
                    len(span.ids)
                    for span in self._pieces.spans(item, begin, stop)
                    if span.start < stop and begin < span.end
                )
            n_tokens = None if n_tokens is None or count is None else n_tokens + count
        return n_tokens

    def use(self, tokenizer: Tokenizer) -> None:
        """Set another tokenizer, or another step of the same one; the pieces stay if it splits alike.

        Nothing is encoded before tokens are asked for, so this can be called for every position of a slider.
        """
        if not tokenizer.splitter.is_like(self._pieces.splitter):
            self._fill(tokenizer, self.text)
            return
        self._pieces = Pieces(tokenizer)
        self._blocks.use(self._pieces)
        self._tally = Tally(len(self._blocks.items))

    @property
    def settled(self) -> bool:
        """Whether all tokens are known, and their number with them."""
        return not self._tally.n_unknown and not self._blocks.open

    def settle(self, seconds: float) -> bool:
        """Compute tokens that are not known yet for about `seconds`, at least one step; whether all are known now."""
        deadline = perf_counter() + seconds
        while not self.settled:
            if self._blocks.open:
                self._go_on_splitting()
            else:
                index = self._tally.next_unknown()
                item = self._blocks.items[index]
                if isinstance(item, Block) or item.settle(deadline - perf_counter()):
                    self._tally.exchange(index, index + 1, [self._pieces.count(item)])
            if perf_counter() >= deadline:
                break
        return self.settled

    def _go_on_splitting(self) -> None:
        """Split some more of the first open item (see `resplit`), which moves to the right or ends."""
        at = self._blocks.start(self._blocks.items.index(self._blocks.open[0]))
        edit = Edit(at, at, "")
        exchange = exchanged(self._blocks, resplit(self._blocks, self._pieces, edit, at), edit)
        self._blocks.make(exchange)
        self._tally.exchange(exchange.first, exchange.last, [None] * len(exchange.items))

    takes_long: Final = False
    """Whether a screen should not wait for its tokens. Never; see `AlignedText`."""

    def is_costly(self, start: int, end: int) -> bool:
        """Whether an edit of a range takes long. Never; see `AlignedText`."""
        return False

    def split_all(self) -> None:
        """Split all text now, rather than when pieces are asked for. PatternError where the pattern is too slow."""
        for item in self._blocks.items:
            self._pieces.ends(item)

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has; settles it."""
        self.settle(float("inf"))
        return self._tally.n_tokens

    @property
    def n_tokens_known(self) -> int | None:
        """How many tokens the text has, if that is known by now."""
        return self.n_tokens if self.settled else None

    def splice(self, start: int, end: int, replacement: str) -> Change:
        """Replace the characters from `start` up to, not including, `end`. Raises `OptionError` for no such range.

        If it raises (as `PatternError` within a `patience`), nothing has changed. If the text is not settled
        afterwards, the returned change is provisional: `settle` may change more tokens.
        """
        self._check(start, end)
        edit = Edit(start, end, without_surrogates(replacement))
        removed = self._blocks.between(start, end) if start < end else ""
        if removed == edit.replacement:
            return Change(start, (), ())
        change, exchange, counts = splice(self._blocks, self._pieces, self._tally, edit)
        self._blocks.make(exchange)
        self._tally.exchange(exchange.first, exchange.last, counts)
        self.n_bytes += len(utf8(edit.replacement)) - len(utf8(removed))
        return change

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {counted(self.n_characters, 'character')}; "
                "offsets count code points, from 0."
            )

    def safe_around(self, start: int, end: int) -> tuple[int, int]:
        """(start, end) of the nearest safe cuts around a range: an edit of it changes no piece outside of them."""
        n = self.n_characters
        if not self._pieces.has_cuts:
            return 0, n
        lo, hi, size = -1, -1, SIZE
        while lo < 0 or hi < 0:
            before, behind = self.between(max(0, start - size), start), self.between(end, min(n, end + size))
            cut = self._pieces.last_cut(before)
            lo = start - len(before) + cut if cut or len(before) == start else -1
            cut = self._pieces.splitter.cut(behind, 1) if behind else 0
            hi = end + cut if cut < len(behind) or end + cut == n else -1
            size *= 8
        return lo, hi
