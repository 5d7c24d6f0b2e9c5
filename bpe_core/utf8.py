"""Helpers for UTF-8 (RFC 3629): surrogates, character offsets and incomplete characters."""

import codecs
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, product
from sys import byteorder
from typing import Final, NamedTuple

UNUSED_BYTES: Final = (0xC0, 0xC1, *range(0xF5, 0x100))
"""Bytes that no UTF-8 text contains: they would begin an overlong encoding, or a code point past U+10FFFF."""
CONTINUATIONS: Final = bytes(range(0x80, 0xC0))
"""The bytes that continue a character: no character begins with one of them."""

_BLOCK: Final = 1 << 18  # characters: 0.01 s in `byte_offsets`
_FILLERS: Final = (0x80, 0x90, 0xA0, 0xBF)
"""After any lead byte, at least one of these is allowed."""


def without_surrogates(text: str) -> str:
    """Replace each pair of surrogates by its character and each lone surrogate by U+FFFD, as tiktoken does."""
    if text.isascii():
        return text
    try:
        text.encode()  # quicker than a search for surrogates
    except UnicodeEncodeError:
        utf16 = text.encode("utf-16-le", "surrogatepass")
        return utf16.decode("utf-16-le", "replace")
    return text


def utf8(text: str) -> bytes:
    """Return `without_surrogates(text)` in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


def byte_offsets(text: str) -> Sequence[int]:
    """Return the byte offset of each character of `text` in UTF-8, then that of its end. No surrogates."""
    if text.isascii():
        return range(len(text) + 1)
    offsets = [0]
    for start in range(0, len(text), _BLOCK):  # Ctrl+C takes effect between blocks
        lengths = map(len, map(str.encode, text[start : start + _BLOCK]))
        offsets += accumulate(lengths, initial=offsets.pop())
    return offsets


@cache
def every_character(start: int, end: int) -> str:
    """Return the characters of these code points, with surrogates; eight times as fast as with `chr`."""
    codes = array("I", range(start, end)).tobytes()
    return codes.decode(f"utf-32-{byteorder[0]}e", "surrogatepass")


def n_characters(data: bytes) -> int:
    """Return how many characters begin in `data`, a part of a text in UTF-8."""
    if data.isascii():
        return len(data)
    return len(data.translate(None, CONTINUATIONS))


class IncompleteEnds(NamedTuple):
    """The incomplete characters at the ends of a substring of UTF-8. At least one of them is not empty."""

    stray: bytes  # the end of a character, at the start
    pending: bytes  # the beginning of a character, at the end

    @property
    def where(self) -> str:
        """Which end is inside a character: "start", "end" or "both"."""
        if self.stray and self.pending:
            return "both"
        return "start" if self.stray else "end"


def incomplete_ends(token: bytes) -> IncompleteEnds | None:
    """Return the incomplete characters at the ends of `token`.

    None if it is valid UTF-8, or if no valid UTF-8 contains it.
    """
    n_stray = len(token) - len(token.lstrip(CONTINUATIONS))
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(token[n_stray:])
    except UnicodeDecodeError:
        return None
    pending = decoder.getstate()[0]
    if n_stray > 3:
        return None
    if pending and not any(endings(pending)):  # the decoder also waits for surrogates
        return None
    if not n_stray and not pending:
        return None
    return IncompleteEnds(token[:n_stray], pending)


def completed(token: bytes) -> Iterator[str]:
    """Yield texts that contain `token` with its incomplete characters completed; none if it has none.

    These are not all such texts, but at most 1,024: all if one byte is missing, otherwise a sample.
    """
    ends = incomplete_ends(token)
    if ends is None:
        return
    before = list(_beginnings(ends.stray))
    after = list(endings(ends.pending))
    # Both lists in step, not their product: a variety is enough.
    for i in range(max(len(before), len(after))):
        yield (before[i % len(before)] + token + after[i % len(after)]).decode()


def _beginnings(stray: bytes) -> Iterator[bytes]:
    """Yield some byte strings that complete a character when put before `stray`; b"" if `stray` is empty."""
    if not stray:
        yield b""
        return
    for lead in range(0xC2, 0xF5):
        n_missing = max(0, character_length(lead) - 1 - len(stray))
        for filling in product(_FILLERS, repeat=n_missing):
            beginning = bytes((lead, *filling))
            if is_utf8(beginning + stray):
                yield beginning


def endings(pending: bytes) -> Iterator[bytes]:
    """Yield some byte strings that complete a character when put after `pending`; b"" if `pending` is empty."""
    if not pending:
        yield b""
        return
    n_missing = character_length(pending[0]) - len(pending)
    choices = [_FILLERS] * (n_missing - 1) + [CONTINUATIONS]
    for ending in map(bytes, product(*choices)):
        if is_utf8(pending + ending):
            yield ending


def character_length(lead: int) -> int:
    """Return how many bytes a character has that begins with the byte `lead`, 0xC2 or higher."""
    if lead < 0xE0:
        return 2
    return 3 if lead < 0xF0 else 4


def is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
