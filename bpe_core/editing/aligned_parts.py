"""The parts in which `AlignedText` keeps its text: dividing a text at cuts, and the tokens of adjacent parts.

`places`, as everywhere in this package, are `Range`s of code points.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

from bpe_core.common_prefix import common_prefix
from bpe_core.editing.alignment import Alignment, Range
from bpe_core.editing.change import Change, Edit
from bpe_core.editing.prepared_cuts import Cut, PreparedCuts
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8

PART_SIZE: Final = 512
"""Characters of a part, about."""
LONGEST_PART: Final = 1024
"""Characters from which on a part is divided, where it can be cut."""
SHORTEST_PART: Final = 64
"""Characters below which a part is joined to the next one when it is edited."""
LONGEST_AT_ONCE: Final = 2_048
"""Characters of a part that is encoded fast enough for a screen to wait for it; a longer part has no earlier cut."""
LONGEST_ENCODED: Final = 200_000
"""Characters of the longest part that is accepted; as long as it has no cut, each edit encodes all of it again."""


class Part:
    """The text between two cuts; its tokens are computed when they are first asked for."""

    __slots__ = ("_alignment", "_behind", "cut", "text")

    def __init__(self, text: str, cut: Cut | None) -> None:
        self.text: Final = text
        """Never empty."""
        self.cut: Final = cut
        """The kind of cut at which the part begins; None at the beginning of the text."""
        self._behind: Cut | None = None
        self._alignment: Alignment | None = None

    def align(self, tokenizer: Tokenizer, behind: Cut | None) -> Alignment:
        """The tokens of the part and their places, cached; `behind` is the cut at its end, None for the last part."""
        if self._alignment is None or self._behind != behind:
            self._alignment, self._behind = Alignment(tokenizer, self.text, self.cut, behind), behind
        return self._alignment


def parts_of(text: str, cuts: PreparedCuts, cut: Cut | None = None) -> Iterator[Part]:
    """Divide a text that begins at a `cut` of this kind; OptionError if a part would be over LONGEST_ENCODED."""
    at = 0
    while at < len(text):
        end, behind = _next_cut(text, at, cuts)
        if end - at > LONGEST_ENCODED:
            raise OptionError(
                f"{end - at:,} characters have no place to cut them; this tokenizer must encode them again at each "
                f"key, and up to {LONGEST_ENCODED:,} are shown."
            )
        yield Part(text[at:end], cut)
        at, cut = end, behind


def _next_cut(text: str, at: int, cuts: PreparedCuts) -> tuple[int, Cut]:
    """(end, kind of cut there) of the part that begins at `at`; a cut between two pieces is preferred to one inside."""
    if len(text) - at <= LONGEST_PART:
        return len(text), Cut.NONE
    for end in range(at + PART_SIZE, at + LONGEST_PART):
        if cuts.between_pieces(text[end - 1 : end + 1]):
            return end, Cut.PIECES
    for end in range(at + PART_SIZE, len(text)):
        if kind := cuts[text[end - 1 : end + 1]]:
            return end, kind
    return len(text), Cut.NONE


class Parts:
    """Adjacent parts as one text with its tokens; offsets count from the beginning of the first part."""

    def __init__(self, tokenizer: Tokenizer, parts: Sequence[Part], behind: Cut | None) -> None:
        """`behind` is the kind of cut at which the last part ends. Raises `UnknownTokenError`."""
        cuts = [*(part.cut for part in parts[1:]), behind]
        self.alignments: Final = [part.align(tokenizer, cut) for part, cut in zip(parts, cuts, strict=False)]
        """The tokens and places of each part."""
        self.text: Final = "".join(part.text for part in parts)
        """The text of all parts."""
        self.ids: Final = list(chain.from_iterable(alignment.ids for alignment in self.alignments))
        """The tokens of all parts."""
        self._starts = list(accumulate((len(part.text) for part in parts), initial=0))
        self._counts = list(accumulate((alignment.n_tokens for alignment in self.alignments), initial=0))

    def places(self, first: int, last: int) -> list[Range]:
        """The characters that each token from index `first` up to, not including, `last` covers, even partially."""
        found: list[Range] = []
        index = bisect_right(self._counts, first) - 1
        while first < last and index < len(self.alignments):
            before, start = self._counts[index], self._starts[index]
            stop = min(last, self._counts[index + 1])
            found += [(start + a, start + b) for a, b in self.alignments[index].places(first - before, stop - before)]
            first, index = stop, index + 1
        return found


def compare_parts(before: Parts, after: Parts, edit: Edit) -> Change:
    """The change of the tokens from some adjacent parts to those that replaced them. `edit` counts from their start."""
    old, new = before.ids, after.ids
    n_before = bisect_right(range(len(old)), edit.start, key=lambda token: before.places(token, token + 1)[0][1])
    head = common_prefix(old[:n_before], new)  # in a run of one token the edited place counts
    tail = common_prefix(old[head:][::-1], new[head:][::-1])
    head += common_prefix(old[head : len(old) - tail], new[head : len(new) - tail])
    went, came = before.places(head, len(old) - tail), after.places(head, len(new) - tail)
    if not went and not came:
        return Change(edit.start, (), ())
    known = after.places(head - 1, head) if head else []
    begin = came[0][0] if came else known[0][1] if known else edit.start
    start = min(place[0] for place in ((begin, begin), *went[:1]))
    shared = bool(known) and known[0][1] > start
    return Change(
        start,
        tuple(old[head : len(old) - tail]),
        tuple(new[head : len(new) - tail]),
        tuple(_own_bytes(before.text, went, start + shared)),
        tuple(_own_bytes(after.text, came, start + shared)),
        len(utf8(after.text[start : start + 1])) if shared else 0,
        _ripple(went, came, after.text, edit),
    )


def _own_bytes(text: str, places: list[Range], done: int) -> list[bytes]:
    """The bytes of the text under each of the `places`; a character that several cover counts for the first only."""
    found: list[bytes] = []
    for start, end in places:
        found.append(utf8(text[max(start, done) : max(end, done)]))
        done = max(end, done)
    return found


def _ripple(went: list[Range], came: list[Range], text: str, edit: Edit) -> int:
    """Bytes from the edit to the farthest token border that was removed (in `went`) or added (in `came`); 0 if none."""
    old, new = ({border for place in places for border in place} for places in (went, came))
    before = {at for at in old if at < edit.start} ^ {at for at in new if at < edit.start}
    behind = {at - edit.end for at in old if at > edit.end} ^ {at - edit.stop for at in new if at > edit.stop}
    return max(
        len(utf8(text[min(before, default=edit.start) : edit.start])),
        len(utf8(text[edit.stop : edit.stop + max(behind, default=0)])),
    )
