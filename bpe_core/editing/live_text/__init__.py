"""Text and its tokens while it is being edited: an edit encodes again only what it touched.

The text is kept in blocks with prefix sums of their lengths. So an edit finds its place at once, splits again
between the nearest safe cuts around it, and exchanges the pieces there; where no cut is near, `resplit` goes on until
it meets pieces that were there before. A very long piece is kept in several blocks, see `parts`. Pieces and tokens are
computed when they are asked for; what is kept is where they are known. A text is *settled* when that is everywhere.
"""

from time import perf_counter
from typing import Final

from bpe_core.editing.change import Change, Edit
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import SIZE
from bpe_core.editing.live_text.parts import count_between
from bpe_core.editing.live_text.pieces import Pieces
from bpe_core.editing.live_text.splicing import settling, splice
from bpe_core.editing.spans import Span
from bpe_core.errors import OptionError
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8, without_surrogates

__all__ = ["Change", "LiveText"]


class LiveText:
    """A text that can be edited, and its tokens: at any moment those that `tokenizer.encode_ordinary` would give.

    Offsets are code points. Special tokens are text like any other. A pair of surrogates is kept as the
    character it stands for, a lone one as U+FFFD, as encoding reads them. Not thread-safe.
    """

    def __init__(self, tokenizer: Tokenizer, text: str = "") -> None:
        self._fill(tokenizer, without_surrogates(text))

    def _fill(self, tokenizer: Tokenizer, text: str) -> None:
        self._blocks = BlockList(Pieces(tokenizer), text)
        self.n_bytes = len(utf8(text))
        """Bytes of the text in UTF-8."""

    def __repr__(self) -> str:
        return f"<LiveText: {self.n_characters} characters, {self.tokenizer!r}>"

    def _repr_html_(self) -> str:
        """HTML of the tokens of its first characters, for notebooks."""
        from bpe_core.pictures.drawing import fragment
        from bpe_core.pictures.lanes import FIRST_CHARACTERS, Lanes

        title = self.tokenizer.name or self.tokenizer.pattern
        if self.n_characters > FIRST_CHARACTERS:
            title += f", the first {FIRST_CHARACTERS:,} of {self.n_characters:,} characters"
        return fragment([Lanes.of([(title, self)], 0, min(self.n_characters, FIRST_CHARACTERS))])

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer in use; `use` sets another."""
        return self.pieces.tokenizer

    @property
    def pieces(self) -> Pieces:
        """What splits the text and encodes its pieces."""
        return self._blocks.pieces

    @property
    def local(self) -> bool:
        """Whether an edit splits and encodes only what is near it.

        If not, the pattern may depend on distant characters (by a look-behind, say), and each edit splits all the text.
        """
        return self.pieces.local

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
        return [token for item in self._blocks.items for token in self.pieces.ids_of(item) if token >= 0]

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of characters; they may reach beyond the range.

        Those of a very long piece are provisional until the text is settled, though they seldom change.
        """
        self._check(start, end)
        count_between(self._blocks, start, end)
        found: list[Span] = []
        for at, item in self._blocks.within(start, end):
            spans = self.pieces.spans(item, max(0, start - at), end - at)
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
        return next(self._blocks.bounds_before(offset)), self._blocks.next_bound(offset)

    def prepared_piece(self, offset: int) -> str:
        """The text of that piece; "" at the end of the text."""
        piece = self.piece_at(offset)
        return self.between(*piece) if piece else ""

    def n_tokens_between(self, start: int, end: int) -> int | None:
        """How many tokens meet a range; None if a block inside of it is not encoded yet. Encodes only its ends."""
        self._check(start, end)
        if start == end:
            return 0
        blocks = self._blocks
        (first, at), (last, last_at) = blocks.find(start), blocks.find(end - 1)
        borders = [last + 1] if blocks.begins_inside(last + 1) else []
        for index in (first, last, *borders):  # whose tokens may be others until they are known
            if blocks.items[index].is_part and blocks.tally.known(index, index + 1) is None:
                return None
        n_tokens = blocks.tally.known(first + 1, last)
        if n_tokens is not None:
            for index, begin in {first: at, last: last_at}.items():
                for span in self.pieces.spans(blocks.items[index], max(0, start - begin), end - begin):
                    n_tokens += len(span.ids) if begin + span.start < end and start < begin + span.end else 0
        return n_tokens

    def use(self, tokenizer: Tokenizer) -> None:
        """Set another tokenizer, or another step of the same one; the pieces stay if it splits alike.

        Nothing is encoded before tokens are asked for, so this can be called for every position of a slider.
        """
        if not tokenizer.splitter.is_like(self.tokenizer.splitter):
            self._fill(tokenizer, self.text)
            return
        self._blocks.use(Pieces(tokenizer))

    @property
    def settled(self) -> bool:
        """Whether all tokens are known, and their number with them."""
        return not self._blocks.tally.n_unknown

    def settle(self, seconds: float) -> bool:
        """Compute tokens that are not known yet for about `seconds`, at least one step; whether all are known now."""
        deadline = perf_counter() + seconds
        for _ in settling(self._blocks):
            if perf_counter() >= deadline:
                break
        return self.settled

    takes_long: Final = False
    """Whether a screen should not wait for its tokens. Never; see `AlignedText`."""

    def is_costly(self, start: int, end: int) -> bool:
        """Whether an edit of a range takes long. Never; see `AlignedText`."""
        return False

    def split_all(self) -> None:
        """Split all text now, rather than when pieces are asked for. PatternError where the pattern is too slow."""
        for item in self._blocks.items:
            self.pieces.ends(item)

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has; settles it."""
        self.settle(float("inf"))
        return self._blocks.tally.n_tokens

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
        self._blocks, change = splice(self._blocks, edit)
        self.n_bytes += len(utf8(edit.replacement)) - len(utf8(removed))
        return change

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= len(self._blocks):
            raise OptionError(
                f"There is no range from {start} to {end} in a text of {counted(self.n_characters, 'character')}; "
                "offsets count code points, from 0."
            )

    def safe_around(self, start: int, end: int) -> tuple[int, int]:
        """(start, end) of the nearest safe cuts around a range: an edit of it changes no piece outside of them."""
        n = self.n_characters
        if not self.pieces.has_cuts:
            return 0, n
        lo, hi, size = -1, -1, SIZE
        while lo < 0 or hi < 0:
            before, behind = self.between(max(0, start - size), start), self.between(end, min(n, end + size))
            cut = self.pieces.last_cut(before)
            lo = start - len(before) + cut if cut or len(before) == start else -1
            cut = self.pieces.splitter.cut(behind, 1) if behind else 0
            hi = end + cut if cut < len(behind) or end + cut == n else -1
            size *= 8
        return lo, hi
