"""UTF-8 (RFC 3629): surrogates, which it cannot hold, its bytes, where characters begin, incomplete ones completed."""

import codecs
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, product
from sys import byteorder
from typing import Final, NamedTuple

# No UTF-8 text contains these: they would begin an overlong encoding, or a code point past U+10FFFF.
UNUSED_BYTES: Final = (0xC0, 0xC1, *range(0xF5, 0x100))
CONTINUATIONS: Final = bytes(
    range(0x80, 0xC0)
)  # the bytes with which no character begins

_FILLERS: Final = (
    0x80,
    0x90,
    0xA0,
    0xBF,
)  # of these at least one is allowed after any lead byte


def without_surrogates(text: str) -> str:
    """`text` with each pair of surrogates replaced by the character it encodes, and each lone one by U+FFFD, as
    tiktoken does."""
    if not text.isascii():
        try:
            text.encode()  # which is faster than looking for one
        except UnicodeEncodeError:
            return text.encode("utf-16-le", "surrogatepass").decode(
                "utf-16-le", "replace"
            )
    return text


def utf8(text: str) -> bytes:
    """`without_surrogates(text)` in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


def byte_offsets(text: str) -> Sequence[int]:
    """Where each character of `text`, which holds no surrogate, begins in its UTF-8, and last where the text ends."""
    return (
        range(len(text) + 1)
        if text.isascii()
        else [0, *accumulate(map(len, map(str.encode, text)))]
    )


@cache
def every_character(start: int, end: int) -> str:
    """The characters of these code points, surrogates included; eight times as fast as with `chr`."""
    return (
        array("I", range(start, end))
        .tobytes()
        .decode(f"utf-32-{byteorder[0]}e", "surrogatepass")
    )


def n_characters(data: bytes) -> int:
    """How many characters begin in `data`, a part of a text in UTF-8."""
    return len(data) if data.isascii() else len(data.translate(None, CONTINUATIONS))


class IncompleteEnds(NamedTuple):
    """The incomplete characters at the ends of a substring of UTF-8, not both empty."""

    stray: bytes  # at the start, of one whose first byte is missing
    pending: bytes  # at the end, of one whose last byte is missing

    @property
    def where(self) -> str:
        """Which end is inside a character: "start", "end" or "both"."""
        return (
            "both" if self.stray and self.pending else "start" if self.stray else "end"
        )


def incomplete_ends(token: bytes) -> IncompleteEnds | None:
    """The incomplete characters at the ends of `token`; None if it is valid UTF-8, or if no valid UTF-8 contains it."""
    n_stray = next(
        (i for i, byte in enumerate(token) if byte not in CONTINUATIONS), len(token)
    )
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(token[n_stray:])
    except UnicodeDecodeError:
        return None
    pending = decoder.getstate()[0]
    if n_stray > 3 or (
        pending and not any(endings(pending))
    ):  # the decoder waits for the rest of a surrogate, too
        return None
    return IncompleteEnds(token[:n_stray], pending) if n_stray or pending else None


def completed(token: bytes) -> Iterator[str]:
    """Texts that contain the bytes of `token`, with the characters at its ends completed; none if none is incomplete.
    Not all of them, 1,024 at most: all that the missing bytes can be if one is missing, a sample if more are."""
    lacking = incomplete_ends(token)
    if lacking is None:
        return
    before, after = list(_beginnings(lacking.stray)), list(endings(lacking.pending))
    for i in range(max(len(before), len(after))):
        # Both lists in step rather than their product: variety matters, not completeness.
        yield (before[i % len(before)] + token + after[i % len(after)]).decode()


def _beginnings(stray: bytes) -> Iterator[bytes]:
    """Some byte strings that, put before `stray`, make it a character; b"" if `stray` is empty."""
    if not stray:
        yield b""
    for lead in range(0xC2, 0xF5) if stray else ():
        for filling in product(
            _FILLERS, repeat=max(0, character_length(lead) - 1 - len(stray))
        ):
            if is_utf8((start := bytes((lead, *filling))) + stray):
                yield start


def endings(pending: bytes) -> Iterator[bytes]:
    """Some byte strings that, put after `pending`, make it a character; b"" if `pending` is empty."""
    if not pending:
        return iter([b""])
    n_missing = character_length(pending[0]) - len(pending)
    found = map(bytes, product(*[_FILLERS] * (n_missing - 1), CONTINUATIONS))
    return (last for last in found if is_utf8(pending + last))


def character_length(lead: int) -> int:
    """How many bytes the character has in UTF-8 that begins with the byte `lead`, which is 0xC2 or greater."""
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
