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
    begins. A negative number among the tokens stands for so many bytes that a lossy pattern drops.
    """
    head = _in_common(old, new)
    tail = _in_common(old[head:][::-1], new[head:][::-1])
    bytes_of = {token: token_bytes(token) for token in {*old, *new} if token >= 0}
    lengths = {token: len(bytes_of[token]) if token >= 0 else -token for token in {*old, *new}}
    old_lengths, new_lengths = [lengths[token] for token in old], [lengths[token] for token in new]
    before = sum(new_lengths[:head])
    characters = len(utf8(text)[:before].decode(errors="ignore"))
    removed = tuple(token for token in old[head : len(old) - tail] if token >= 0)
    inserted = tuple(token for token in new[head : len(new) - tail] if token >= 0)
    return Change(
        start=start + characters,
        removed=removed,
        inserted=inserted,
        removed_bytes=tuple(bytes_of[token] for token in removed),
        inserted_bytes=tuple(bytes_of[token] for token in inserted),
        head=before - len(utf8(text[:characters])),
        ripple=max(
            _reach(old_lengths, new_lengths, len(utf8(text[: edited.start]))),
            _reach(old_lengths[::-1], new_lengths[::-1], len(utf8(text[edited.stop :]))),
        ),
    )


def _in_common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _reach(went: Sequence[int], came: Sequence[int], room: int) -> int:
    """How far before `room` the first border lies that only one of two rows of lengths has; 0 if none lies before."""
    at = 0
    for one, other in zip_longest(went, came, fillvalue=room + 1):
        at += min(one, other)
        if one != other or at >= room:
            return max(0, room - at)
    return 0
