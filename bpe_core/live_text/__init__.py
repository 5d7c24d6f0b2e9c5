"""Text and its tokens while it is being edited: an edit encodes again only what it touched.

The pieces of the text are kept in blocks with a Fenwick tree over their lengths. So an edit finds its place at once,
splits again between the nearest safe cuts around it (`resplit`), and exchanges the pieces there. Tokens are worked
out when they are looked at; only a piece that is very long keeps its own (`long_piece`).
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Final

from bpe_core.bpe import utf8
from bpe_core.errors import OptionError
from bpe_core.live_text.blocks import Block, BlockList, Item, Window, grouped
from bpe_core.live_text.change import Change, compare
from bpe_core.live_text.edit import Edit, without_halves
from bpe_core.live_text.fragments import Fragment, assembled
from bpe_core.live_text.long_piece import LONG, LongPiece
from bpe_core.live_text.resplit import Pieces
from bpe_core.live_text.seams import Seams
from bpe_core.live_text.tally import Tally
from bpe_core.spans import Span
from bpe_core.tokenizer import Tokenizer

__all__ = ["Change", "LiveText"]

_READ: Final = 1 << 16


class LiveText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points. Special tokens are text like any other. A surrogate is kept as U+FFFD, so that nothing
    shifts. Not for use in several threads.
    """

    def __init__(self, tokenizer: Tokenizer, text: str = "") -> None:
        self._fill(tokenizer, without_halves(text))

    def _fill(self, tokenizer: Tokenizer, text: str) -> None:
        self._pieces = Pieces(tokenizer)
        self._seams = Seams(tokenizer.vocabulary)
        self.n_bytes = len(utf8(text))
        """Bytes of the text in UTF-8."""
        self._blocks = BlockList(list(self._read(text)))
        self._tally = Tally(len(self._blocks.items))

    def _read(self, text: str) -> Iterator[Item]:
        make_long = partial(self._long_piece, [])
        if not self._pieces.local or self._pieces.lossy:
            yield from grouped(self._pieces.split(text), 0, make_long)
            return
        parts = (text[i : i + _READ] for i in range(0, len(text), _READ))
        for pieces in self._pieces.splitter.pieces(parts):
            yield from grouped(pieces, 0, make_long)

    def __repr__(self) -> str:
        return f"<LiveText: {self.n_characters} characters, {self.tokenizer!r}>"

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer in use; `use` sets another."""
        return self._pieces.tokenizer

    @property
    def pieces(self) -> Pieces:
        """What splits the text, and what its pieces become."""
        return self._pieces

    @property
    def seams(self) -> Seams:
        """What tells which tokens can stand side by side, and remembers it."""
        return self._seams

    @property
    def local(self) -> bool:
        """Whether an edit costs the same in a text of any size.

        If not, the pattern could look anywhere (it has a look-behind, say), and each edit splits the whole text again.
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
        """All tokens. Settles the text."""
        items = self._blocks.items
        return list(chain.from_iterable(x.ids() if isinstance(x, LongPiece) else self._pieces.ids_of(x) for x in items))

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters, as a screen draws them; they may reach beyond the range.

        In a very long piece they are provisional until the text is settled, though they seldom change then.
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
        """Where the piece that holds the character at `offset` begins and ends; None at the end of the text."""
        self._check(offset, offset)
        for at, item in self._blocks.within(offset, offset + 1):
            index = bisect_right(item.bounds, offset - at)
            if index < len(item.bounds):
                return at + (item.bounds[index - 1] if index else 0), at + item.bounds[index]
        return None

    def use(self, tokenizer: Tokenizer) -> None:
        """Go on with another tokenizer, or another step of the same one; the pieces stay if it splits alike.

        Nothing is encoded yet, so it can be called for every position of a slider.
        """
        if tokenizer.splitter.source != self._pieces.splitter.source:
            self._fill(tokenizer, self.text)
            return
        self._pieces = Pieces(tokenizer)
        self._seams = Seams(tokenizer.vocabulary)
        for item in self._blocks.items:
            if isinstance(item, LongPiece):
                item.use(self._seams)
        self._tally = Tally(len(self._blocks.items))

    @property
    def settled(self) -> bool:
        """Whether all tokens are known, and their number with them."""
        return self._tally.n_unknown == 0

    def settle(self, seconds: float) -> bool:
        """Work on what is not known yet for so long, or a little longer; whether all is known now."""
        deadline = perf_counter() + seconds
        while not self.settled:
            index = self._tally.next_unknown()
            item = self._blocks.items[index]
            if isinstance(item, Block) or item.settle(deadline - perf_counter()):
                self._tally.exchange(index, index + 1, [self._count(item)])
            if perf_counter() >= deadline:
                break
        return self.settled

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has. Settles it."""
        self.settle(float("inf"))
        return self._tally.sum()

    @property
    def n_tokens_known(self) -> int | None:
        """How many tokens the text has, if that is known by now."""
        return self.n_tokens if self.settled else None

    def splice(self, start: int, end: int, replacement: str) -> Change:
        """Replace the characters from `start` up to, not including, `end`. Raises `OptionError` for no such range."""
        self._check(start, end)
        edit = Edit(start, end, without_halves(replacement))
        window = self._blocks.window(start, end, self._pieces.is_safe_cut) if self._pieces.has_cuts else None
        change = self._splice_inside(window, edit) if window else None
        return change or self._splice_across(edit)

    def _splice_inside(self, window: Window, edit: Edit) -> Change | None:
        """An edit that stays inside of one block; None if the block cannot stay one."""
        text, begin, lo, hi = window.block.text, window.begin, window.start, window.end
        start, end = edit.start - begin, edit.end - begin
        before, removed, after = text[lo:start], text[start:end], text[end:hi]
        if removed == edit.replacement:
            return Change(edit.start, (), ())
        old = window.block.pieces(window.first, window.last)
        new = self._pieces.split(before + edit.replacement + after)
        front, back = edit.alike(begin + lo, begin + hi, list(map(len, old)), list(map(len, new)))
        lo += sum(map(len, old[:front]))
        old, new = old[front : len(old) - back], new[front : len(new) - back]
        if not self._blocks.refill(window, window.first + front, window.last - back, new):
            return None
        self.n_bytes += len(utf8(edit.replacement)) - len(utf8(removed))
        tokens_of = self._pieces.ids
        went, came = list(chain.from_iterable(map(tokens_of, old))), list(chain.from_iterable(map(tokens_of, new)))
        typed = slice(start - lo, start - lo + len(edit.replacement))
        change = compare(went, came, self._seams.token_bytes, "".join(new), typed, begin + lo)
        self._tally.grow(window.item, change.n_tokens)
        return change

    def _splice_across(self, edit: Edit) -> Change:
        """An edit that reaches beyond a block, or into a long piece."""
        start, end, replacement = edit.start, edit.end, edit.replacement
        lo, hi = self.safe_around(start, end)
        if self._pieces.is_whole and self._is_long(lo, hi) and hi + edit.growth > LONG:
            self.n_bytes += len(utf8(replacement)) - len(utf8(self._blocks.between(start, end)))
            return self._splice_long(lo, edit)
        around = self._blocks.between(lo, hi)
        before, removed, after = around[: start - lo], around[start - lo : end - lo], around[end - lo :]
        if removed == replacement:
            return Change(start, (), ())
        self.n_bytes += len(utf8(replacement)) - len(utf8(removed))
        new = self._pieces.split(before + replacement + after)
        old = self._blocks.lengths(lo, hi)
        front, back = edit.alike(lo, hi, old, list(map(len, new)))
        lo, hi, new = lo + sum(old[:front]), hi - sum(old[len(old) - back :]), new[front : len(new) - back]
        if len(new) == 1 and self._pieces.is_long(new[0]) and self._is_long(lo, hi):
            return self._splice_long(lo, edit)
        return self._exchange(lo, hi, new, edit)

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self.n_characters:
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {self.n_characters} characters; offsets count "
                "code points, from 0."
            )

    def safe_around(self, start: int, end: int) -> tuple[int, int]:
        """The nearest bounds around a range beyond which an edit of it cannot change any piece."""
        if self._pieces.is_whole or not self._pieces.local:
            return 0, self.n_characters
        is_safe = self._pieces.is_safe_cut
        return self._blocks.bound_before(start, is_safe), self._blocks.bound_after(end, is_safe)

    def _is_long(self, lo: int, hi: int) -> bool:
        """Whether a single long piece stands between the bounds."""
        at, item = next(self._blocks.within(lo, hi), (0, None))
        return isinstance(item, LongPiece) and at == lo and at + len(item) == hi

    def _splice_long(self, lo: int, edit: Edit) -> Change:
        """An edit inside the long piece that begins at `lo` and stays one."""
        index, _ = self._blocks.find(lo)
        item = self._blocks.items[index]
        assert isinstance(item, LongPiece)
        begin, old, new = item.splice(edit.start - lo, edit.end - lo, edit.replacement)
        self._blocks.resized(index)
        change = edit.change(lo + begin, old, new, self._seams)
        count = self._tally.known(index, index + 1)
        self._tally.exchange(index, index + 1, [None if count is None else count + change.n_tokens])
        return change

    def _exchange(self, lo: int, hi: int, new: list[str], edit: Edit) -> Change:
        """Put the pieces `new` in the place of those between the bounds `lo` and `hi`."""
        was_settled = self.settled
        old = self._fragments(lo, hi)
        long_pieces = [(at, item) for at, item in self._blocks.within(lo, hi) if isinstance(item, LongPiece)]
        kept = [known for at, item in long_pieces for known in edit.kept(at, item.fragments)]
        first, gone, items = self._blocks.exchange(lo, hi, new, partial(self._long_piece, kept))
        if was_settled:
            for item in items:
                if isinstance(item, LongPiece):
                    item.settle(float("inf"))
        change = edit.change(lo, old, self._fragments(lo, lo + sum(map(len, new))), self._seams)
        last = first + len(gone)
        count = self._tally.known(first, last)
        if len(items) == 1 and count is not None:
            self._tally.exchange(first, last, [count + change.n_tokens])
        else:
            self._tally.exchange(first, last, [self._count(item) if was_settled else None for item in items])
        return change

    def _long_piece(self, kept: list[tuple[int, Fragment]], piece: str, start: int) -> LongPiece | None:
        """The long piece that begins at `start`, for which some fragments are known; None if it is a gap."""
        return None if self._pieces.is_gap(piece) else LongPiece(self._seams, assembled(piece, start, kept))

    def _fragments(self, lo: int, hi: int) -> list[Fragment]:
        """The pieces between two bounds with their tokens; of a long piece, its fragments as they are."""
        found: list[Fragment] = []
        for at, item in self._blocks.within(lo, hi):
            if isinstance(item, LongPiece):
                found += item.fragments
            else:
                pieces = item.pieces(bisect_right(item.bounds, lo - at), bisect_right(item.bounds, hi - at))
                found += zip(pieces, map(self._pieces.ids, pieces), strict=True)
        return found

    def _count(self, item: Item) -> int:
        return item.n_tokens if isinstance(item, LongPiece) else self._pieces.count(item)
