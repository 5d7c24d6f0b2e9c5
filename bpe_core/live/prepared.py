"""The parts of a text whose tokenizer changes it before encoding it: normalizers, added spaces, ends of words.

There a token's bytes are not the text's (see `bpe_core.live.alignment`), and a rule may depend on any other character.
So the text is divided where `bpe_core.live.prepared_cuts` proves that it may be, and an edit encodes whole parts anew.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain
from operator import itemgetter
from typing import Final

from bpe_core.common_prefix import common_prefix
from bpe_core.errors import OptionError
from bpe_core.live.alignment import Alignment, Range
from bpe_core.live.change import Change, Edit
from bpe_core.live.prepared_cuts import Cut, PreparedCuts
from bpe_core.live.spans import Span
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8

SIZE: Final = 512
"""Characters after which a part ends at the next cut."""
REST: Final = 1_024
"""Characters of a part within which a cut between two pieces is preferred; and those at the end that are one part."""
LONGEST: Final = 200_000
"""Characters of the longest part that is accepted; as long as it has no cut, each edit encodes all of it again."""
_CACHED: Final = 64
"""Parts of which the tokens and their places are cached."""


class PreparedReader:
    """Divides texts into parts. Raises `UnknownTokenError` for a character that has no token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Final = tokenizer
        self._cuts: Final = PreparedCuts(tokenizer)
        self.align: Final = lru_cache(_CACHED)(self._align)
        """The tokens of a part and their places."""

    def _align(self, text: str, before: Cut | None, behind: Cut | None) -> Alignment:
        return Alignment(self.tokenizer, text, before, behind)

    def read(self, text: str, before: Cut | None = None, behind: Cut | None = None) -> "list[PreparedPart]":
        """A text between cuts of these kinds in parts; None is the beginning or the end of all text.

        OptionError if a part would be over LONGEST.
        """
        parts: list[PreparedPart] = []
        at = 0
        while at < len(text):
            end, cut = self._next_cut(text, at, behind)
            if end - at > LONGEST:
                raise OptionError(
                    f"{end - at:,} characters have no place to cut them; this tokenizer must encode them again at each "
                    f"key, and up to {LONGEST:,} are shown."
                )
            parts.append(PreparedPart(self, text[at:end], before, cut))
            at, before = end, cut
        return parts

    def _next_cut(self, text: str, at: int, behind: Cut | None) -> tuple[int, Cut | None]:
        """(end, kind of cut there) of the part that begins at `at`; a cut between two pieces is preferred."""
        if len(text) - at > REST:
            for end in range(at + SIZE, at + REST):
                if self._cuts.between_pieces(text[end - 1 : end + 1]):
                    return end, Cut.PIECES
            for end in range(at + SIZE, len(text)):
                if kind := self._cuts[text[end - 1 : end + 1]]:
                    return end, kind
        return len(text), behind

    def edited(self, old: "Sequence[PreparedPart]", edit: Edit) -> "tuple[list[PreparedPart], Change]":
        """What an edit makes of adjacent parts, and how their tokens changed; offsets count from the first part.

        The first and the last character of the parts must stay, but where the text ends there.
        """
        text = edit.of("".join([part.text for part in old]))
        new = self.read(text, old[0].before if old else None, old[-1].behind if old else None)
        n_bytes = sum(part.n_bytes for part in new) - sum(part.n_bytes for part in old)
        change = _compare(_Places(old), _Places(new), edit, n_bytes)
        for part in new:
            part.count()
        return new, change


class PreparedPart:
    """The text between two cuts. Of its tokens only their number is kept."""

    __slots__ = ("before", "behind", "n_bytes", "n_characters", "n_tokens", "reader", "text")

    def __init__(self, reader: PreparedReader, text: str, before: Cut | None, behind: Cut | None) -> None:
        self.reader: Final = reader
        self.text: Final = text
        self.before: Final = before
        """The kind of cut at which it begins; None at the beginning of the text."""
        self.behind: Final = behind
        """The kind of cut at which it ends; None at the end of the text."""
        self.n_characters: Final = len(text)
        self.n_bytes: Final = len(utf8(text))
        self.n_tokens: int | None = None
        """How many tokens it has, if that is known."""

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        return self.text[start:end]

    @property
    def alignment(self) -> Alignment:
        """Its tokens and their places."""
        return self.reader.align(self.text, self.before, self.behind)

    def count(self) -> None:
        """Set `n_tokens`."""
        self.n_tokens = self.alignment.n_tokens

    settle = count

    @property
    def ids(self) -> Sequence[int]:
        """Its tokens."""
        return self.alignment.ids

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of it; see `Alignment.spans`."""
        return self.alignment.spans(start, end)

    def n_tokens_between(self, start: int, end: int) -> int:
        """How many tokens meet a range of it."""
        return sum(len(span.ids) for span in self.spans(start, end))


def piece_across(parts: Sequence[tuple[int, PreparedPart]], offset: int) -> list[tuple[int, int, str]]:
    """(start, end, prepared text) of the piece at `offset` in each part that it spans; empty if there is none.

    `parts` are adjacent ones, each with its place; beyond them a piece is not followed.
    """

    def piece(number: int, index: int) -> tuple[int, int, str]:
        at, part = parts[number]
        (start, end), text = part.alignment.piece(index)
        return at + start, at + end, text

    left = right = bisect_right(parts, offset, key=itemgetter(0)) - 1
    at, part = parts[left]
    index = part.alignment.piece_index(offset - at)
    if index is None:
        return []
    found = [piece(left, index)]
    is_first, is_last = index == 0, index == part.alignment.n_pieces - 1
    while is_first and left and parts[left][1].before is Cut.INSIDE:
        left -= 1
        n_pieces = parts[left][1].alignment.n_pieces
        found.insert(0, piece(left, n_pieces - 1))
        is_first = n_pieces == 1
    while is_last and right + 1 < len(parts) and parts[right][1].behind is Cut.INSIDE:
        right += 1
        found.append(piece(right, 0))
        is_last = parts[right][1].alignment.n_pieces == 1
    return found


class _Places:
    """The tokens of adjacent parts and their places, both counted from the first part."""

    def __init__(self, parts: Sequence[PreparedPart]) -> None:
        self.text: Final = "".join([part.text for part in parts])
        self._alignments = [part.alignment for part in parts]
        self.ids: Final = list(chain.from_iterable(alignment.ids for alignment in self._alignments))
        self._starts = list(accumulate((len(part.text) for part in parts), initial=0))
        self._counts = list(accumulate((alignment.n_tokens for alignment in self._alignments), initial=0))

    def of(self, first: int, last: int) -> list[Range]:
        """The characters that each token from index `first` up to, not including, `last` covers, even partially."""
        found: list[Range] = []
        index = bisect_right(self._counts, first) - 1
        while first < last and index < len(self._alignments):
            before, start = self._counts[index], self._starts[index]
            stop = min(last, self._counts[index + 1])
            found += [(start + a, start + b) for a, b in self._alignments[index].places(first - before, stop - before)]
            first, index = stop, index + 1
        return found


def _compare(before: _Places, after: _Places, edit: Edit, n_bytes: int) -> Change:
    """The change of the tokens from some adjacent parts to those that replaced them."""
    old, new = before.ids, after.ids
    n_before = bisect_right(range(len(old)), edit.start, key=lambda token: before.of(token, token + 1)[0][1])
    head = common_prefix(old[:n_before], new)  # in a run of one token the edited place counts
    tail = common_prefix(old[head:][::-1], new[head:][::-1])
    head += common_prefix(old[head : len(old) - tail], new[head : len(new) - tail])
    gone, added = before.of(head, len(old) - tail), after.of(head, len(new) - tail)
    if not gone and not added:
        return Change(edit.start, (), (), edit.start, n_bytes)
    last = after.of(head - 1, head)[0][1] if head else edit.start
    start = added[0][0] if added else last
    start = min(start, *(place[0] for place in gone[:1]), start)
    is_shared = head > 0 and last > start
    return Change(
        start,
        tuple(old[head : len(old) - tail]),
        tuple(new[head : len(new) - tail]),
        max(start, added[-1][1] if added else start),
        n_bytes,
        len(utf8(after.text[start : start + 1])) if is_shared else 0,
        _ripple(gone, added, after.text, edit),
    )


def _ripple(gone: list[Range], added: list[Range], text: str, edit: Edit) -> int:
    """Bytes from the edit to the farthest token border that was removed or added; 0 if there is none."""
    old, new = ({border for place in places for border in place} for places in (gone, added))
    before = {at for at in old if at < edit.start} ^ {at for at in new if at < edit.start}
    behind = {at - edit.end for at in old if at > edit.end} ^ {at - edit.stop for at in new if at > edit.stop}
    return max(
        len(utf8(text[min(before, default=edit.start) : edit.start])),
        len(utf8(text[edit.stop : edit.stop + max(behind, default=0)])),
    )
