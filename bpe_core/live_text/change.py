"""What an edit did to the tokens: the least run of them that went and the run that came, and how far it reached."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bpe_core.bpe import utf8


@dataclass(frozen=True, slots=True)
class Change:
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

    @property
    def n_bytes(self) -> int:
        """By how many bytes the text grew; negative if it shrank."""
        return sum(map(len, self.inserted_bytes)) - sum(map(len, self.removed_bytes))


def compare(
    old: Sequence[int], new: Sequence[int], token_bytes: Callable[[int], bytes], text: str, edited: slice, start: int
) -> Change:
    """The change between two encodings of a stretch of text.

    `text` is the stretch after the edit, `edited` the part of it that was typed, `start` the code point at which it
    begins. A negative number among the tokens stands for so many bytes that a lossy pattern drops; `token_bytes` gives
    as many.
    """
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    n_before = sum(map(len, map(token_bytes, new[:head])))
    n_behind = sum(map(len, map(token_bytes, new[len(new) - tail :])))
    removed, inserted = tuple(old[head : len(old) - tail]), tuple(new[head : len(new) - tail])
    removed_bytes, inserted_bytes = tuple(map(token_bytes, removed)), tuple(map(token_bytes, inserted))
    ripple = 0
    if (room := len(utf8(text[: edited.start])) - n_before) > 0:
        ripple = _reach(old[head:], new[head:], token_bytes, room)
    if (room := len(utf8(text[edited.stop :])) - n_behind) > 0:
        ripple = max(ripple, _reach(old[-1 - tail :: -1], new[-1 - tail :: -1], token_bytes, room))
    characters = len(utf8(text)[:n_before].decode(errors="ignore")) if n_before else 0
    if min(removed, default=0) < 0 or min(inserted, default=0) < 0:
        removed, inserted = (tuple(token for token in tokens if token >= 0) for tokens in (removed, inserted))
        removed_bytes, inserted_bytes = tuple(map(token_bytes, removed)), tuple(map(token_bytes, inserted))
    torn = n_before - len(utf8(text[:characters])) if n_before else 0
    return Change(start + characters, removed, inserted, removed_bytes, inserted_bytes, torn, ripple)


def _reach(old: Sequence[int], new: Sequence[int], token_bytes: Callable[[int], bytes], room: int) -> int:
    """How far before `room` bytes the first border lies that only one of two rows of tokens has; 0 if none does."""
    at = 0
    went, came = (map(len, map(token_bytes, tokens)) for tokens in (old, new))
    for one, other in zip_longest(went, came, fillvalue=room + 1):
        at += min(one, other)
        if one != other or at >= room:
            return max(0, room - at)
    return 0
