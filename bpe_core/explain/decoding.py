"""Ids to text and back: what ids decode to, token by token, and where encoding that text gives other ids."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from bpe_core.common_prefix import common_prefix
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, shortened, visible

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
_WIDEST: Final = 12
"""Tokens of a difference that are considered, on either side."""

Kind = Literal["text", "invalid", "unknown"]
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
    [((104,), 'h', 'text'), ((105,), 'i', 'text'), ((128,), '�', 'invalid')]
    """
    tokens = [_bytes_of(tokenizer, token) for token in ids]
    if tokenizer.preparation and tokenizer.preparation.drops_space and tokens and (tokens[0] or b"")[:1] == b" ":
        tokens[0] = (tokens[0] or b"")[1:]
    data = b"".join(_REPLACEMENT if token is None else token for token in tokens)
    begins = bytearray(data.translate(_BEGINS))
    invalid = [match.span() for match in _PARTS.finditer(data) if match[1] is not None]
    for start, end in invalid:
        begins[start:end] = b"\1" + bytes(end - start - 1)
    yield from _spans(ids, tokens, data, begins, invalid)


def _spans(
    ids: Sequence[int], tokens: list[bytes | None], data: bytes, begins: bytearray, invalid: list[tuple[int, int]]
) -> Iterator[DecodedSpan]:
    at = first = start = end = 0
    waiting = iter(invalid)
    next_invalid = next(waiting, None)
    for index, token in enumerate(tokens, 1):
        end += len(_REPLACEMENT if token is None else token)
        if end < len(data) and not begins[end]:
            continue
        kind: Kind = "unknown" if token is None else "text"
        while next_invalid is not None and next_invalid[0] < end:
            kind, next_invalid = "invalid", next(waiting, None)
        text = data[start:end].decode(errors="replace")
        yield DecodedSpan(at, at + len(text), tuple(ids[first:index]), text, kind)
        at, first, start = at + len(text), index, end


def _bytes_of(tokenizer: Tokenizer, token: int) -> bytes | None:
    try:
        return tokenizer.token_bytes(token)
    except UnknownTokenError:
        return None


@dataclass(frozen=True, slots=True)
class RoundTripDifference:
    """The first place where encoding a decoded text gives other ids than it was decoded from."""

    n_ids: int
    """How many ids encoding gives, of the whole text."""
    index: int
    """The index of the first id that differs, in both lists."""
    given: tuple[int, ...]
    """The ids from there on, up to where both stand for the same text again."""
    encoded: tuple[int, ...]
    """What encoding gives in their place."""
    why: str
    """The reason, in a sentence."""


def round_trip_difference(
    tokenizer: Tokenizer, ids: Sequence[int], spans: Sequence[DecodedSpan]
) -> RoundTripDifference | None:
    """The first difference between `ids` and the ids of the text that they decode to; None if there is none.

    `spans` are the `decoded_spans` of `ids`. Special tokens are encoded as such if `ids` holds one. The cost is that of
    encoding the text.
    """
    special = set(tokenizer.vocabulary.special_tokens.values())
    text = tokenizer.decode(ids)
    has_special = not special.isdisjoint(ids)
    again = tokenizer.encode(text, allowed_special="all") if has_special else tokenizer.encode_ordinary(text)
    index = common_prefix(again, list(ids))
    if index == len(again) == len(ids):
        return None
    given, encoded = _window(tokenizer, spans, again, index)
    n_equal = common_prefix(list(given), list(encoded))
    why = _why(tokenizer, spans, index, given, encoded)
    return RoundTripDifference(len(again), index, given[n_equal:], encoded[n_equal:], why)


def _window(
    tokenizer: Tokenizer, spans: Sequence[DecodedSpan], again: list[int], index: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids from the span with the first difference to where both sides have as many bytes, or `_WIDEST` of them."""
    at, number = _span_of(spans, index)
    given: list[int] = []
    encoded: list[int] = []
    n_given = n_encoded = 0
    place = at
    while len(given) < _WIDEST and len(encoded) < _WIDEST:
        if n_given <= n_encoded and number < len(spans):
            given += spans[number].ids
            n_given += len(spans[number].text.encode())
            number += 1
        elif place < len(again):
            encoded.append(again[place])
            n_encoded += len(tokenizer.token_bytes(again[place]))
            place += 1
        else:
            break
        if n_given == n_encoded and (len(given) > index - at or len(encoded) > index - at):
            break
    return tuple(given), tuple(encoded)


def _span_of(spans: Sequence[DecodedSpan], index: int) -> tuple[int, int]:
    """(index of its first id, its number) of the span of the id at `index`; (ids in all, spans) past the end."""
    at = 0
    for number, span in enumerate(spans):
        if index < at + len(span.ids):
            return at, number
        at += len(span.ids)
    return at, len(spans)


def _why(
    tokenizer: Tokenizer, spans: Sequence[DecodedSpan], index: int, given: tuple[int, ...], encoded: tuple[int, ...]
) -> str:
    _, number = _span_of(spans, index)
    span = spans[number] if number < len(spans) else None
    if span is not None and span.kind == "unknown":
        return f"No token has the id {span.ids[0]:,}: \ufffd stands in its place, and that is what is encoded."
    if span is not None and span.kind == "invalid":
        data = b"".join(map(tokenizer.token_bytes, span.ids))
        what = f"The byte {data.hex()} is no text by itself"
        if len(data) > 1:
            what = f"The bytes {shortened(data.hex(' '), 40)} are no text by themselves"
        return f"{what}: decoding puts \ufffd there, and what is encoded is \ufffd, of the bytes ef bf bd."
    preparation = tokenizer.preparation
    if preparation is not None and not preparation.only_splits:
        return "This tokenizer changes a text before it splits it, so encoding does not give every sequence of ids."
    names = {token: text for text, token in tokenizer.vocabulary.special_tokens.items()}
    if new := next((names[token] for token in encoded if token in names and token not in given), None):
        return f"Ordinary tokens spell {quoted(new)} here; in a text it is taken for the special token."
    if any(token in names for token in given):
        return "The text of a special token is encoded as text here."
    text = tokenizer.decode(given)
    if given and tokenizer.encode_piece(text) == given:
        pieces = tokenizer.splitter.split(text)
        if len(pieces) > 1:
            what = " | ".join(visible(shortened(piece, 20)) for piece in pieces[:_WIDEST])
            return f"The pattern splits a text here: {what}. No token reaches across two pieces."
        return "The pattern splits the text around this place in another way, and no token reaches across two pieces."
    return "Of the pairs that can be merged here, encoding takes the earliest merge first, and comes to other tokens."
