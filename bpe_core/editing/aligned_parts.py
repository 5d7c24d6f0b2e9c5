"""The parts of a text that is followed by `AlignedText`: where they end, and the tokens of some of them in a row."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

from bpe_core.common_prefix import common_prefix
from bpe_core.editing.alignment import Alignment, Place
from bpe_core.editing.change import Change, Edit
from bpe_core.editing.prepared_cuts import Cut, PreparedCuts
from bpe_core.errors import OptionError
from bpe_core.surrogates import utf8
from bpe_core.tokenizer import Tokenizer

SIZE: Final = 512
"""Characters of a part, about."""
MOST: Final = 1024
"""A part of more characters is parted, where it can be."""
LEAST: Final = 64
"""A part of fewer characters is joined to the next one when an edit comes by."""
LONGEST: Final = 2_048
"""Characters without a cut that a screen can wait for."""
LARGEST: Final = 200_000
"""Characters without a cut that are encoded again at each edit, beside the screen."""


class Part:
    """A part of a text, between two cuts; its tokens are worked out when somebody looks."""

    __slots__ = ("_alignment", "_behind", "cut", "text")

    def __init__(self, text: str, cut: Cut | None) -> None:
        self.text: Final = text
        """Never empty."""
        self.cut: Final = cut
        """The kind of cut at which it begins; None for the first part."""
        self._behind: Cut | None = None
        self._alignment: Alignment | None = None

    @property
    def is_aligned(self) -> bool:
        """Whether its tokens are known."""
        return self._alignment is not None

    def align(self, tokenizer: Tokenizer, behind: Cut | None) -> Alignment:
        """Its tokens, and their places; `behind` is the kind of cut at which it ends, None at the end of the text."""
        if self._alignment is None or self._behind != behind:
            self._alignment, self._behind = Alignment(tokenizer, self.text, self.cut, behind), behind
        return self._alignment


def parts_of(text: str, cuts: PreparedCuts, cut: Cut | None = None) -> Iterator[Part]:
    """A text as parts, the first of which begins at this kind of cut. Raises `OptionError` where one would be huge."""
    at = 0
    while at < len(text):
        end, behind = _next_cut(text, at, cuts)
        if end - at > LARGEST:
            raise OptionError(
                f"{end - at:,} characters have no place to cut them; this tokenizer must encode them again at each "
                f"key, and up to {LARGEST:,} are shown."
            )
        yield Part(text[at:end], cut)
        at, cut = end, behind


def _next_cut(text: str, at: int, cuts: PreparedCuts) -> tuple[int, Cut]:
    """Where the part that begins at `at` ends, and the kind of cut there; better between two pieces than inside one."""
    if len(text) - at <= MOST:
        return len(text), Cut.NONE
    for end in range(at + SIZE, at + MOST):
        if cuts.between_pieces(text[end - 1 : end + 1]):
            return end, Cut.PIECES
    for end in range(at + SIZE, len(text)):
        if kind := cuts[text[end - 1 : end + 1]]:
            return end, kind
    return len(text), Cut.NONE


class Parts:
    """Some parts in a row as one text with its tokens; places count from the beginning of the first."""

    def __init__(self, tokenizer: Tokenizer, parts: Sequence[Part], behind: Cut | None) -> None:
        """`behind` is the kind of cut at which the last one ends. Raises what working out their tokens raises."""
        cuts = [*(part.cut for part in parts[1:]), behind]
        self.alignments: Final = [part.align(tokenizer, cut) for part, cut in zip(parts, cuts, strict=False)]
        """Of each part."""
        self.text: Final = "".join(part.text for part in parts)
        """All of it."""
        self.ids: Final = list(chain.from_iterable(alignment.ids for alignment in self.alignments))
        """All tokens."""
        self._starts = list(accumulate((len(part.text) for part in parts), initial=0))
        self._counts = list(accumulate((alignment.n_tokens for alignment in self.alignments), initial=0))

    def places(self, first: int, last: int) -> list[Place]:
        """For each of some tokens in a row, the characters of which it holds at least a part."""
        found: list[Place] = []
        index = bisect_right(self._counts, first) - 1
        while first < last and index < len(self.alignments):
            before, start = self._counts[index], self._starts[index]
            stop = min(last, self._counts[index + 1])
            found += [(start + a, start + b) for a, b in self.alignments[index].places(first - before, stop - before)]
            first, index = stop, index + 1
        return found


def compare_parts(before: Parts, after: Parts, edit: Edit) -> Change:
    """What an edit did to the tokens, from some parts in a row to those that came in their place."""
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


def _own_bytes(text: str, places: list[Place], done: int) -> list[bytes]:
    """The bytes of the text that each token stands for; of characters that tokens share, the first has them."""
    found: list[bytes] = []
    for start, end in places:
        found.append(utf8(text[max(start, done) : max(end, done)]))
        done = max(end, done)
    return found


def _ripple(went: list[Place], came: list[Place], text: str, edit: Edit) -> int:
    """Bytes from the edited text to the farthest border that only one of two rows of tokens has; 0 if none does."""
    old, new = ({border for place in places for border in place} for places in (went, came))
    before = {at for at in old if at < edit.start} ^ {at for at in new if at < edit.start}
    behind = {at - edit.end for at in old if at > edit.end} ^ {at - edit.stop for at in new if at > edit.stop}
    return max(
        len(utf8(text[min(before, default=edit.start) : edit.start])),
        len(utf8(text[edit.stop : edit.stop + max(behind, default=0)])),
    )
