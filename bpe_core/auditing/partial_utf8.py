"""Tokens that are a substring of valid UTF-8, cut inside characters: what is missing at their ends (RFC 3629)."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

UNUSED_BYTES: Final = (0xC0, 0xC1, *range(0xF5, 0x100))
"""The 13 bytes that no UTF-8 text contains: they would begin an overlong encoding, or a code point past U+10FFFF."""

_CONTINUATIONS: Final = range(0x80, 0xC0)
_LEADS: Final = range(0xC2, 0xF5)
_FILLERS: Final = (0x80, 0x90, 0xA0, 0xBF)
"""A few continuation bytes of which at least one is allowed after any lead byte."""


@dataclass(frozen=True, slots=True)
class TornEnds:
    """The incomplete characters at the ends of a substring of UTF-8; at least one of the two is not empty."""

    stray: bytes
    """Continuation bytes at the start, of a character whose first byte is missing; perhaps b""."""
    pending: bytes
    """Bytes at the end, of a character whose last byte is missing; perhaps b""."""

    @property
    def where(self) -> str:
        """Which end is inside a character: "start", "end" or "both"."""
        return "both" if self.stray and self.pending else "start" if self.stray else "end"


def torn_ends(token: bytes) -> TornEnds | None:
    r"""The incomplete characters at the ends of `token`; None if it is valid UTF-8, or if no valid UTF-8 contains it.

    >>> torn_ends(b"\x8a\xf0\x9f")
    TornEnds(stray=b'\x8a', pending=b'\xf0\x9f')
    """
    n_stray = next((i for i, byte in enumerate(token) if byte not in _CONTINUATIONS), len(token))
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(token[n_stray:])
    except UnicodeDecodeError:
        return None
    pending = decoder.getstate()[0]
    if n_stray > 3 or (pending and not any(_endings(pending))):  # the decoder waits for the rest of a surrogate, too
        return None
    return TornEnds(token[:n_stray], pending) if n_stray or pending else None


def completed(token: bytes) -> Iterator[str]:
    r"""Texts that contain the bytes of `token`, with the characters at its torn ends completed; none if no end is torn.

    Not all of them, 1,024 at most: all that the missing bytes can be if one is missing, a sample if more are.

    >>> next(completed(b"\xc3"))
    'À'
    """
    lacking = torn_ends(token)
    if lacking is None:
        return
    before, after = list(_beginnings(lacking.stray)), list(_endings(lacking.pending))
    for i in range(max(len(before), len(after))):
        # Both lists in step rather than their product: variety matters, not completeness.
        yield (before[i % len(before)] + token + after[i % len(after)]).decode()


def _beginnings(stray: bytes) -> Iterator[bytes]:
    """Some byte strings that, put before `stray`, make it a character; b"" if `stray` is empty."""
    if not stray:
        yield b""
        return
    for lead in _LEADS:
        n_missing = length(lead) - 1 - len(stray)
        if n_missing >= 0:
            for filling in product(_FILLERS, repeat=n_missing):
                beginning = bytes((lead, *filling))
                if _is_text(beginning + stray):
                    yield beginning


def _endings(pending: bytes) -> Iterator[bytes]:
    """Some byte strings that, put after `pending`, make it a character; b"" if `pending` is empty."""
    if not pending:
        yield b""
        return
    n_missing = length(pending[0]) - len(pending)
    for last in product(*[_FILLERS] * (n_missing - 1), _CONTINUATIONS):
        if _is_text(pending + bytes(last)):
            yield bytes(last)


def length(lead: int) -> int:
    """How many bytes the character has in UTF-8 that begins with the byte `lead`, which is 0xC2 or greater."""
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
