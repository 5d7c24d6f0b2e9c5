"""What an edit did to the tokens: the least run of them that went and the run that came, and how far it reached."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, zip_longest
from typing import NamedTuple

from bpe_core.surrogates import utf8


class Change(NamedTuple):
    """The tokens before and after an edit, without those that both ends have in common."""

    start: int
    """Code point in which the first token that changed begins; the same in the old text and in the new one."""
    removed: tuple[int, ...]
    """Tokens that are gone."""
    inserted: tuple[int, ...]
    """Tokens that stand in their place."""
    removed_bytes: tuple[bytes, ...] = ()
    """The bytes of each token that is gone."""
    inserted_bytes: tuple[bytes, ...] = ()
    """The bytes of each token that came."""
    head: int = 0
    """How many bytes of the code point at `start` belong to the token before; 0 if a token begins where it does."""
    ripple: int = 0
    """Bytes from the edited text to the farthest token border that came or went; 0 if none did outside of it."""

    @property
    def n_tokens(self) -> int:
        """By how many tokens the text grew; negative if it shrank."""
        return len(self.inserted) - len(self.removed)

    def without_gaps(self) -> "Change":
        """Without the negative numbers that stand for what a lossy pattern drops."""
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
    """The change between two encodings of a stretch of text.

    `text` is the stretch after the edit, `edited` the part of it that was typed, `start` the code point at which it
    begins. A negative number among the tokens stands for so many bytes that a lossy pattern drops; `token_bytes` gives
    as many.
    """
    head = n_alike(old, new)
    tail = n_alike(old[head:][::-1], new[head:][::-1])
    stop = len(new) - tail
    before, removed, inserted, behind = new[:head], old[head : len(old) - tail], new[head:stop], new[stop:]
    gone, came = tuple(map(token_bytes, removed)), tuple(map(token_bytes, inserted))
    n_bytes = _n_bytes(text)
    if head <= tail or head < len(came):
        n_before = sum(map(len, map(token_bytes, before)))
    else:
        n_before = n_bytes - sum(map(len, chain(came, map(token_bytes, behind))))
    if tail < head or tail < len(came):
        n_behind = sum(map(len, map(token_bytes, behind)))
    else:
        n_behind = n_bytes - n_before - sum(map(len, came))
    ripple = 0
    if (room := _n_bytes(text[: edited.start]) - n_before) > 0:
        ripple = _reach(chain(gone, map(token_bytes, behind)), chain(came, map(token_bytes, behind)), room)
    if (room := _n_bytes(text[edited.stop :]) - n_behind) > 0:
        before.reverse()
        one, other = chain(reversed(gone), map(token_bytes, before)), chain(reversed(came), map(token_bytes, before))
        ripple = max(ripple, _reach(one, other, room))
    characters = torn = 0
    if n_before:
        characters = n_before if text.isascii() else len(utf8(text)[:n_before].decode(errors="ignore"))
        torn = n_before - _n_bytes(text[:characters])
    return Change(start + characters, tuple(removed), tuple(inserted), gone, came, torn, ripple)


def n_alike(one: Sequence[object], other: Sequence[object]) -> int:
    """With how many equal items both begin."""
    n, step, most = 0, 1, min(len(one), len(other))
    while step:
        if n + step <= most and one[n : n + step] == other[n : n + step]:
            n += step
            step *= 2
        else:
            step //= 2
    return n


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(utf8(text))


def _reach(gone: Iterable[bytes], came: Iterable[bytes], room: int) -> int:
    """How far before `room` bytes the first border lies that only one of two rows of tokens has; 0 if none does."""
    at = 0
    for one, other in zip_longest(map(len, gone), map(len, came), fillvalue=room + 1):
        at += min(one, other)
        if one != other or at >= room:
            return max(0, room - at)
    return 0
