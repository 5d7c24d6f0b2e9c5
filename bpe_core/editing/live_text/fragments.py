"""The fragments of a long piece: their texts, their tokens if known, and which borders between them are verified."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from copy import copy
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import Final

from bpe_core.common_prefix import common_prefix
from bpe_core.editing.change import Change, Edit, compare
from bpe_core.editing.prefix_sums import PrefixSums
from bpe_core.editing.spans import layout
from bpe_core.surrogates import utf8

SIZE: Final = 256
"""Characters of a fragment, about."""

Ids = tuple[int, ...]
Fragment = tuple[str, Ids | None]
"""(text, its tokens, or None if it is not encoded yet)."""
Row = tuple[int, list[Fragment]]
"""(offset of the first, adjacent fragments)."""
_text: Final[Callable[[Fragment], str]] = itemgetter(0)


def places(start: int, fragments: Sequence[Fragment]) -> list[int]:
    """The offsets of adjacent fragments, of which the first begins at `start`, and the end of the last one."""
    return list(accumulate(map(len, map(_text, fragments)), initial=start))


class Fragments:
    """Adjacent fragments, none empty. Border `i` is the one between the fragments `i` and `i + 1`.

    A border is *verified* if the tokens on both sides of it are known to be compatible.
    """

    __slots__ = (
        "_first_unknown",
        "_first_unverified",
        "_untouched",
        "_verified",
        "ids",
        "lengths",
        "n_unverified",
        "texts",
    )

    def __init__(self, fragments: Sequence[Fragment]) -> None:
        self.texts = [text for text, _ in fragments]
        """The text of each."""
        self.lengths = PrefixSums(list(map(len, self.texts)))
        """How many code points each has."""
        self._untouched = (0, 0)
        self.forget()
        self.ids: list[Ids | None] = [ids for _, ids in fragments]
        """The tokens of each, or None."""

    def copy(self) -> "Fragments":
        """An independent copy."""
        copied = copy(self)
        copied.texts, copied.ids, copied._verified = self.texts[:], self.ids[:], self._verified[:]
        copied.lengths = self.lengths.copy()
        return copied

    def forget(self) -> None:
        """Forget all tokens; no border is verified then."""
        self.ids = [None] * len(self.texts)
        self._verified = [False] * (len(self.texts) - 1)
        self.n_unverified = len(self._verified)
        """How many borders are not verified."""
        self._first_unverified = self._first_unknown = 0  # at or before the first one

    def __len__(self) -> int:
        return len(self.texts)

    def next_unknown(self) -> int | None:
        """The index of the first fragment that is not encoded; None if all are."""
        try:
            self._first_unknown = self.ids.index(None, self._first_unknown)
        except ValueError:
            self._first_unknown = len(self.ids)
            return None
        return self._first_unknown

    def next_unverified(self) -> int:
        """The first border that is not verified; there must be one."""
        self._first_unverified = self._verified.index(False, self._first_unverified)
        return self._first_unverified

    def is_verified(self, border: int) -> bool:
        """Whether the tokens beside a border are known to be compatible."""
        return self._verified[border]

    def verify_known(self, compatible: Callable[[int, int], bool]) -> None:
        """Mark as verified all borders between encoded fragments whose tokens are compatible, and no others."""
        self._verified = [
            left is not None and right is not None and compatible(left[-1], right[0])
            for left, right in pairwise(self.ids)
        ]
        self.n_unverified = self._verified.count(False)

    def verify(self, border: int) -> None:
        """Mark a border as verified."""
        self.n_unverified -= not self._verified[border]
        self._verified[border] = True

    def doubt(self, border: int) -> None:
        """Mark a border as not verified; does nothing if there is no such border."""
        if 0 <= border < len(self._verified) and self._verified[border]:
            self._verified[border] = False
            self.n_unverified += 1
            self._first_unverified = min(self._first_unverified, border)

    def replace(self, first: int, last: int, fragments: Sequence[Fragment]) -> None:
        """Replace the fragments from `first` up to, not including, `last`.

        The tokens of the new ones must come from encoding them together: borders between those with tokens are marked
        as verified. The two borders around them keep their marks.
        """
        verified = [ids is not None for _, ids in fragments[1:]]
        self.n_unverified += verified.count(False) - self._verified[first : last - 1].count(False)
        self._verified[first : last - 1] = verified
        self._first_unverified = min(self._first_unverified, first)
        self._first_unknown = min(self._first_unknown, first)
        self._untouched = (min(self._untouched[0], first), min(self._untouched[1], len(self.texts) - last))
        self.texts[first:last] = [text for text, _ in fragments]
        self.ids[first:last] = [ids for _, ids in fragments]
        self.lengths.replace(first, last, [len(text) for text, _ in fragments])

    def insert(self, index: int, fragment: Fragment) -> None:
        """Insert a fragment before `index`, at least 1; neither of its borders is verified."""
        self.replace(index - 1, index, [*self.between(index - 1, index), fragment])
        self.doubt(index - 1)
        self.doubt(index)

    def shorten(self, index: int, n_characters: int, n_tokens: int) -> None:
        """Remove the last tokens of a fragment, maybe all; what is left must be compatible with the next fragment."""
        text, ids = self.texts[index][:-n_characters], (self.ids[index] or ())[:-n_tokens]
        if ids:
            self.replace(index, index + 1, [(text, ids)])
            self.verify(index)
        elif index:
            self.replace(index - 1, index + 1, self.between(index - 1, index))
            self.verify(index - 1)
        else:
            self.replace(0, 2, self.between(1, 2))

    def between(self, first: int, last: int) -> list[Fragment]:
        """The fragments from `first` up to, not including, `last`."""
        return list(zip(self.texts[first:last], self.ids[first:last], strict=True))

    def track(self) -> None:
        """Begin to record what is replaced, for `n_untouched`."""
        self._untouched = (len(self.texts), len(self.texts))

    def n_untouched(self) -> tuple[int, int]:
        """(at the beginning, at the end): how many fragments were not replaced since `track`."""
        return self._untouched


def unencoded(text: str) -> list[Fragment]:
    """A text as fragments that are not encoded."""
    if len(text) <= 2 * SIZE:
        return [(text, None)] if text else []
    return [(text[i : i + SIZE], None) for i in range(0, len(text), SIZE)]


def cut(text: str, ids: Ids, token_bytes: Callable[[int], bytes]) -> list[Fragment]:
    """A text with its tokens `ids` as fragments, divided where a token and a character both end."""
    n_fragments = round(len(text) / SIZE)
    if n_fragments <= 1:
        return [(text, ids)]
    length = len(text) // n_fragments + 1
    found: list[Fragment] = []
    begin = first = last = 0
    for span in layout(text, ids, token_bytes):
        last += len(span.ids)
        if span.end - begin >= length or span.end == len(text):
            found.append((text[begin : span.end], ids[first:last]))
            begin, first = span.end, last
    return found


def assembled(text: str, start: int, known: Sequence[Row]) -> list[Fragment]:
    """A text that begins at `start` as fragments: the `known` ones that lie in it, and unencoded ones between them."""
    fragments: list[Fragment] = []
    done = 0
    for at, row in known:
        bounds = places(at - start, row)
        first, last = bisect_left(bounds, done), bisect_right(bounds, len(text)) - 1
        if first < last:
            fragments += unencoded(text[done : bounds[first]])
            fragments += row[first:last]
            done = bounds[last]
    return fragments + unencoded(text[done:])


def untouched(edit: Edit, at: int, fragments: list[Fragment]) -> list[Row]:
    """The fragments, of which the first begins at `at`, that an edit leaves alone: those before it and those behind."""
    starts = places(at, fragments)
    before = max(0, bisect_right(starts, edit.start) - 1)
    behind = max(before, min(bisect_left(starts, edit.end), len(fragments)))
    return [(at, fragments[:before]), (starts[behind] + edit.growth, fragments[behind:])]


def compare_fragments(
    edit: Edit,
    begin: int,
    old: list[Fragment],
    new: list[Fragment],
    encode: Callable[[bytes], Ids],
    token_bytes: Callable[[int], bytes],
) -> Change:
    """The change of tokens from the fragments `old` to the fragments `new`, both of which begin at `begin`.

    A fragment without tokens is encoded as if it stood alone.
    """
    starts = places(begin, new)
    head = min(common_prefix(old, new), max(0, bisect_right(starts, edit.start) - 1))
    n_behind = len(new) - bisect_left(starts, edit.stop, head, len(new))
    tail = min(common_prefix(old[head:][::-1], new[head:][::-1]), n_behind)
    old, new, begin = old[head : len(old) - tail], new[head : len(new) - tail], starts[head]
    before, after = (
        list(chain.from_iterable(encode(utf8(text)) if ids is None else ids for text, ids in row)) for row in (old, new)
    )
    edited = slice(edit.start - begin, edit.stop - begin)
    return compare(before, after, token_bytes, "".join(map(_text, new)), edited, begin)
