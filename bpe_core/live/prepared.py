"""The parts of a text whose tokenizer changes it before encoding it: normalizers, added spaces, ends of words.

There a token's bytes are not the text's (see `bpe_core.live.alignment`), and a rule may depend on any other character.
So the text is divided where `bpe_core.live.prepared_cuts` proves that it may be, and an edit encodes whole parts anew.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.live.alignment import Alignment, Range
from bpe_core.live.change import Change, Edit, Part, same_ends
from bpe_core.live.prepared_cuts import Cut, PreparedCuts
from bpe_core.live.spans import Span
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8

SIZE: Final = 512  # characters after which a part ends at the next cut
REST: Final = 1_024
"""Characters of a part within which a cut between two pieces is preferred; and those at the end that are one part."""
LONGEST: Final = 200_000
"""Characters of the longest part that is accepted; as long as it has no cut, each edit encodes all of it again."""
_CACHED: Final = 64  # parts of which the tokens and their places are cached


class PreparedReader:
    """Divides texts into parts. Raises `UnknownTokenError` for a character that has no token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Final = tokenizer
        self._cuts: Final = PreparedCuts(tokenizer)
        self.align: Final = lru_cache(_CACHED)(partial(Alignment, tokenizer))  # the tokens of a part and their places

    def read(self, text: str, before: Cut | None = None, behind: Cut | None = None) -> "list[Part]":
        """A text between cuts of these kinds in parts; None is the beginning or the end of all text. OptionError if a
        part would be over LONGEST."""
        parts: list[Part] = []
        at = 0
        while at < len(text):
            end, cut = self._next_cut(text, at, behind)
            if end - at > LONGEST:
                raise OptionError(
                    f"{end - at:,} characters have no place to cut them; this tokenizer must encode them again at each "
                    f"key, and up to {LONGEST:,} are shown."
                )
            parts.append(Part(self, text[at:end], before, cut))
            at, before = end, cut
        return parts

    def _next_cut(self, text: str, at: int, behind: Cut | None) -> tuple[int, Cut | None]:
        """(end, kind of cut there) of the part that begins at `at`; a cut between two pieces is preferred."""
        if len(text) - at > REST:
            for end in range(at + SIZE, at + REST):
                if self._cuts.between_pieces(text[end - 1 : end + 1]):
                    return end, Cut.PIECES
            for end in range(at + SIZE, len(text)):
                if kind := self._cuts.kind(text[end - 1 : end + 1]):
                    return end, kind
        return len(text), behind

    def edited(self, old: "Sequence[Part]", edit: Edit) -> "tuple[list[Part], Change]":
        """What an edit makes of adjacent parts, and how their tokens changed; offsets count from the first part. The
        first and the last character of the parts must stay, but where the text ends there."""
        text = edit.of("".join([part.text for part in old]))
        new = self.read(text, old[0].before if old else None, old[-1].behind if old else None)
        n_bytes = sum(part.n_bytes for part in new) - sum(part.n_bytes for part in old)
        change = _compare([*map(self.alignment, old)], [*map(self.alignment, new)], text, edit, n_bytes)
        for part in new:
            part.settle()
        return new, change

    def alignment(self, part: Part) -> Alignment:
        """Its tokens and their places."""
        return self.align(part.text, part.before, part.behind)

    def tokens(self, part: Part) -> Sequence[int]:
        return self.alignment(part).ids

    def spans_of(self, part: Part, start: int, end: int) -> list[Span]:
        return self.alignment(part).spans(start, end)

    def piece_at(self, parts: Sequence[Part], index: int, offset: int) -> tuple[int, int, str] | None:
        """(start, end, prepared text) of the piece at `offset` of a part; None if there is none. `parts` are adjacent
        ones, which the piece may span; beyond them it is not followed."""
        first, last = index, index + 1
        while first and parts[first].before is Cut.INSIDE:
            first -= 1
        while last < len(parts) and parts[last].before is Cut.INSIDE:
            last += 1
        start = -sum([part.n_characters for part in parts[first:index]])
        text = "".join([part.text for part in parts[first:last]])
        found = self.align(text, parts[first].before, parts[last - 1].behind).piece_at(offset - start)
        return found and (start + found[0], start + found[1], found[2])


def _places(parts: Sequence[Alignment], first: int, last: int) -> list[Range]:
    """The characters that each token from index `first` up to, not including, `last` covers, even partially; both are
    counted from the first of adjacent parts."""
    found: list[Range] = []
    start = before = 0
    for part in parts:
        found += [(start + a, start + b) for a, b in part.places(first - before, last - before)]
        start, before = start + len(part.text), before + len(part.ids)
    return found


def _compare(before: Sequence[Alignment], after: Sequence[Alignment], text: str, edit: Edit, n_bytes: int) -> Change:
    """The change of the tokens from some adjacent parts to those of `text`, which the edit made of them."""
    old, new = (tuple(chain.from_iterable(part.ids for part in parts)) for parts in (before, after))
    head, tail = same_ends(old, new)
    gone, added = _places(before, head, len(old) - tail), _places(after, head, len(new) - tail)
    if not gone and not added:
        return Change(edit.start, (), (), edit.start, n_bytes)
    last = _places(after, head - 1, head)[0][1] if head else edit.start
    start = min([place[0] for place in (*added[:1], *gone[:1])] if added else [last, gone[0][0]])
    was, now = ({border for place in places for border in place} for places in (gone, added))
    left = {edit.start - at for at in was if at < edit.start} ^ {edit.start - at for at in now if at < edit.start}
    right = {at - edit.end for at in was if at > edit.end} ^ {at - edit.stop for at in now if at > edit.stop}
    return Change(
        start,
        old[head : len(old) - tail],
        new[head : len(new) - tail],
        max(start, added[-1][1] if added else start),
        n_bytes,
        len(utf8(text[start : start + 1])) if head and last > start else 0,
        max(
            len(utf8(text[edit.start - max(left, default=0) : edit.start])),
            len(utf8(text[edit.stop : edit.stop + max(right, default=0)])),
        ),
    )
