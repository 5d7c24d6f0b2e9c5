"""An edit of a text, and the change of its tokens: those removed, those inserted, and how far from the edit."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, tee, zip_longest
from typing import NamedTuple

from bpe_core.surrogates import utf8


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
    head = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        head += 1
    tail = 0
    for one, other in zip(reversed(old[head:]), reversed(new[head:]), strict=False):
        if one != other:
            break
        tail += 1
    removed, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    gone, came = tuple(map(token_bytes, removed)), tuple(map(token_bytes, inserted))
    n_bytes = len(text) if text.isascii() else len(utf8(text))
    n_came = sum(map(len, came))
    if head <= tail:  # only the end with fewer tokens is measured
        n_before = sum(map(len, map(token_bytes, new[:head])))
        n_behind = n_bytes - n_before - n_came
    else:
        n_behind = sum(map(len, map(token_bytes, new[len(new) - tail :])))
        n_before = n_bytes - n_behind - n_came
    left = right = 0
    if (room := _n_bytes(text[: edited.start]) - n_before) > 0:
        left = _unlike_border(gone, came, map(token_bytes, new[len(new) - tail :]), room)
    if (room := _n_bytes(text[edited.stop :]) - n_behind) > 0:
        right = _unlike_border(gone[::-1], came[::-1], map(token_bytes, reversed(new[:head])), room)
    characters = n_before if text.isascii() else len(utf8(text)[:n_before].decode(errors="ignore"))
    torn = n_before - _n_bytes(text[:characters])
    return Change(start + characters, tuple(removed), tuple(inserted), gone, came, torn, max(left, right))


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(utf8(text))


def _unlike_border(gone: Sequence[bytes], came: Sequence[bytes], shared: Iterable[bytes], room: int) -> int:
    """How many bytes before offset `room` the first border lies that only one of two token lists has; 0 if none.

    The lists are `gone` and `came`, each with `shared` behind it.
    """
    at = 0
    for one, other in zip(gone, came, strict=False):
        if len(one) != len(other) or at + len(one) >= room:
            return max(0, room - at - min(len(one), len(other)))
        at += len(one)
    n = min(len(gone), len(came))
    if len(gone) == len(came):  # what follows is the same
        return 0
    ends, other_ends = tee(map(len, shared))
    for a, b in zip_longest(chain(map(len, gone[n:]), ends), chain(map(len, came[n:]), other_ends), fillvalue=room + 1):
        at += min(a, b)
        if a != b or at >= room:
            return max(0, room - at)
    return 0
