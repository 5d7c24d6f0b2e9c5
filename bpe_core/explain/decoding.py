"""What ids decode to, token by token, although tokens end inside of characters, and some bytes are no text at all."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer

_CHARACTER: Final = (
    rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
_BEGUN: Final = (
    rb"\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?"
    rb"|[\xf1-\xf3][\x80-\xbf]{0,2}|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?|[\x00-\xff]"
)
_PARTS: Final = re.compile(rb"(?:%b)+|(%b)" % (_CHARACTER, _BEGUN))
"""Runs of whole characters, and between them the sequences that decoding replaces by one U+FFFD each, as Unicode
advises (section 3.9, "U+FFFD Substitution of Maximal Subparts")."""
_BEGINS: Final = bytes(0 if 0x80 <= byte < 0xC0 else 1 for byte in range(256))
_REPLACEMENT: Final = "\ufffd".encode()

Kind = Literal["text", "torn", "unknown"]
"""Whole characters; bytes that are no text, where U+FFFD stands in the decoded text; an id that there is not."""


class DecodedSpan(NamedTuple):
    """The smallest run of ids that begins and ends where characters do."""

    start: int
    """Where it begins in the decoded text, in code points."""
    end: int
    """The code point behind its last."""
    ids: tuple[int, ...]
    """Several only if they share a character."""
    text: str
    """What they decode to together."""
    kind: Kind


def decoded_spans(tokenizer: Tokenizer, ids: Sequence[int]) -> Iterator[DecodedSpan]:
    r"""The spans of `ids`, in order. Linear in the number of bytes.

    Their texts, joined, are `tokenizer.decode(ids)` but for byte-fallback tokens that are no UTF-8 together.

    >>> from bpe_core import train
    >>> [(span.ids, span.text, span.kind) for span in decoded_spans(train("", vocab_size=257), [104, 105, 128])]
    [((104,), 'h', 'text'), ((105,), 'i', 'text'), ((128,), '�', 'torn')]
    """
    tokens = [_bytes_of(tokenizer, token) for token in ids]
    if tokenizer.preparation and tokenizer.preparation.drops_space and tokens and (tokens[0] or b"")[:1] == b" ":
        tokens[0] = (tokens[0] or b"")[1:]
    data = b"".join(_REPLACEMENT if token is None else token for token in tokens)
    begins = bytearray(data.translate(_BEGINS))
    torn = [match.span() for match in _PARTS.finditer(data) if match[1] is not None]
    for start, end in torn:
        begins[start:end] = b"\1" + bytes(end - start - 1)
    yield from _spans(ids, tokens, data, begins, torn)


def _spans(
    ids: Sequence[int], tokens: list[bytes | None], data: bytes, begins: bytearray, torn: list[tuple[int, int]]
) -> Iterator[DecodedSpan]:
    at = first = start = end = 0
    waiting = iter(torn)
    next_torn = next(waiting, None)
    for index, token in enumerate(tokens, 1):
        end += len(_REPLACEMENT if token is None else token)
        if end < len(data) and not begins[end]:
            continue
        kind: Kind = "unknown" if token is None else "text"
        while next_torn is not None and next_torn[0] < end:
            kind, next_torn = "torn", next(waiting, None)
        text = data[start:end].decode(errors="replace")
        yield DecodedSpan(at, at + len(text), tuple(ids[first:index]), text, kind)
        at, first, start = at + len(text), index, end


def _bytes_of(tokenizer: Tokenizer, token: int) -> bytes | None:
    try:
        return tokenizer.token_bytes(token)
    except UnknownTokenError:
        return None
