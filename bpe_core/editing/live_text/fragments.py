"""A very long text in fragments, with their tokens where they are known, and which borders are known to be right."""

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
"""Text, and its tokens if somebody has asked for them."""
Row = tuple[int, list[Fragment]]
"""Where the first of some neighboring fragments begins, and they."""
_text: Final[Callable[[Fragment], str]] = itemgetter(0)


def places(start: int, fragments: Sequence[Fragment]) -> list[int]:
    """Where each of neighboring fragments begins, the first at `start`, and where the last one ends."""
    return list(accumulate(map(len, map(_text, fragments)), initial=start))


class Fragments:
    """Fragments in a row, none empty. The border number `i` is the one behind fragment `i`; the last one has none.

    A border is verified if the tokens to both sides of it are known to be compatible.
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
        """One that can be changed while this stays as it is."""
        copied = copy(self)
        copied.texts, copied.ids, copied._verified = self.texts[:], self.ids[:], self._verified[:]
        copied.lengths = self.lengths.copy()
        return copied

    def forget(self) -> None:
        """Forget all tokens, and doubt all borders."""
        self.ids = [None] * len(self.texts)
        self._verified = [False] * (len(self.texts) - 1)
        self.n_unverified = len(self._verified)
        """How many borders are not verified."""
        self._first_unverified = self._first_unknown = 0  # at or before the first one

    def __len__(self) -> int:
        return len(self.texts)

    def next_unknown(self) -> int | None:
        """A fragment whose tokens are not known; None if they all are."""
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
        """Verify all borders that can be verified without a change."""
        self._verified = [
            left is not None and right is not None and compatible(left[-1], right[0])
            for left, right in pairwise(self.ids)
        ]
        self.n_unverified = self._verified.count(False)

    def verify(self, border: int) -> None:
        """Take note that the tokens beside a border are compatible."""
        self.n_unverified -= not self._verified[border]
        self._verified[border] = True

    def doubt(self, border: int) -> None:
        """Take note that they may not be; does nothing for a border that is none."""
        if 0 <= border < len(self._verified) and self._verified[border]:
            self._verified[border] = False
            self.n_unverified += 1
            self._first_unverified = min(self._first_unverified, border)

    def replace(self, first: int, last: int, fragments: Sequence[Fragment]) -> None:
        """Put fragments in the place of `first` up to, not including, `last`.

        The new ones are of one encoding: the borders between those with tokens are verified. The borders around stay
        as they are.
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
        """Put a fragment behind another; neither of its borders is verified."""
        self.replace(index - 1, index, [*self.between(index - 1, index), fragment])
        self.doubt(index - 1)
        self.doubt(index)

    def shorten(self, index: int, n_characters: int, n_tokens: int) -> None:
        """Take some tokens from the end of a fragment, maybe all. What is left is compatible with what is behind."""
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
        """Some of the fragments."""
        return list(zip(self.texts[first:last], self.ids[first:last], strict=True))

    def track(self) -> None:
        """Begin to take note of what is replaced."""
        self._untouched = (len(self.texts), len(self.texts))

    def n_untouched(self) -> tuple[int, int]:
        """How many fragments at both ends were never replaced since then."""
        return self._untouched


def unencoded(text: str) -> list[Fragment]:
    """A text as fragments that nobody has encoded yet."""
    if len(text) <= 2 * SIZE:
        return [(text, None)] if text else []
    return [(text[i : i + SIZE], None) for i in range(0, len(text), SIZE)]


def cut(text: str, ids: Ids, token_bytes: Callable[[int], bytes]) -> list[Fragment]:
    """Encoded text as fragments, parted where a token and a character both end."""
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
    """A text that begins at `start` as fragments: the known ones that lie in it, each at its place, and new ones."""
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
    """The fragments, of which the first begins at `at`, that an edit leaves alone: at most two rows of them."""
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
    """The change of tokens from one row of fragments to another, both of which begin at `begin`.

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
