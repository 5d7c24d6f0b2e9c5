"""An edit of a text, and the change of its tokens: those removed, those inserted, and how far from the edit."""

from collections.abc import Callable
from itertools import accumulate, compress
from typing import NamedTuple

from bpe_core.utf8 import utf8


class Edit(NamedTuple):
    """The replacement of a range of characters by other text."""

    start: int
    """Code point where the range begins."""
    end: int
    """Code point behind the range, in the text before the edit."""
    replacement: str
    """The text in its place."""

    @property
    def stop(self) -> int:
        """Code point behind the replacement, in the text after the edit."""
        return self.start + len(self.replacement)

    @property
    def growth(self) -> int:
        """By how many code points the text grew."""
        return self.stop - self.end


class Change(NamedTuple):
    """The tokens that an edit replaced, and those in their place, without equal tokens at both ends."""

    start: int
    """Code point in which the first token that changed begins; the same in the old text and in the new one."""
    removed: tuple[int, ...]
    """Tokens that are gone."""
    inserted: tuple[int, ...]
    """Tokens in their place."""
    removed_bytes: tuple[bytes, ...] = ()
    """The bytes of each token that is gone."""
    inserted_bytes: tuple[bytes, ...] = ()
    """The bytes of each token in their place."""
    head: int = 0
    """How many bytes of the code point at `start` belong to the token before; 0 if a token begins where it does."""
    ripple: int = 0
    """Bytes from the edited text to the farthest token border that was added or removed; 0 if there is none."""

    @property
    def n_tokens(self) -> int:
        """By how many tokens the text grew; negative if it shrank."""
        return len(self.inserted) - len(self.removed)

    def without_gaps(self) -> "Change":
        """This change without negative tokens (see `compare`)."""
        removed, inserted = [t >= 0 for t in self.removed], [t >= 0 for t in self.inserted]
        return self._replace(
            removed=tuple(compress(self.removed, removed)),
            inserted=tuple(compress(self.inserted, inserted)),
            removed_bytes=tuple(compress(self.removed_bytes, removed)),
            inserted_bytes=tuple(compress(self.inserted_bytes, inserted)),
        )

    @property
    def n_bytes(self) -> int:
        """By how many bytes the text grew; negative if it shrank."""
        return sum(map(len, self.inserted_bytes)) - sum(map(len, self.removed_bytes))


def compare(
    old: list[int], new: list[int], token_bytes: Callable[[int], bytes], text: str, edited: slice, start: int
) -> Change:
    """The change from the tokens `old` of a part of a text to its tokens `new` after an edit.

    `text` is the part after the edit, `edited` the slice of it that was inserted, `start` the code point of the whole
    text at which the part begins. A token -n stands for n bytes that a lossy pattern drops, and `token_bytes(-n)` must
    return n bytes. Linear in the tokens and in `text`.
    """
    head, tail, most = 0, 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    removed, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    gone, came = tuple(map(token_bytes, removed)), tuple(map(token_bytes, inserted))
    at = sum(map(len, map(token_bytes, new[:head])))
    characters, torn, left, right = at, 0, edited.start, edited.stop
    if not text.isascii():
        left, right = len(utf8(text[:left])), len(utf8(text[:right]))
        characters = len(utf8(text)[:at].decode(errors="ignore"))
        torn = at - len(utf8(text[:characters]))
    ends, new_ends = list(accumulate(map(len, gone), initial=at)), list(accumulate(map(len, came), initial=at))
    grown = new_ends[-1] - ends[-1]
    if left < at or right > new_ends[-1]:  # in a repetition, tokens differ elsewhere than the texts do
        ends = [0, *accumulate(map(len, map(token_bytes, old)))]
        new_ends = [0, *accumulate(map(len, map(token_bytes, new)))]
    first = min({*ends} ^ {*new_ends}, default=left)
    last = max({end + grown for end in ends} ^ {*new_ends}, default=right)
    ripple = max(0, left - first, last - right)
    return Change(start + characters, tuple(removed), tuple(inserted), gone, came, torn, ripple)
