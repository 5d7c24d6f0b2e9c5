"""Decode ids token by token, and find where encoding the decoded text gives other ids."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from bpe_core.common_ends import common_prefix
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, shortened, visible

_CHARACTER: Final = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]?|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]?"
    rb"|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{0,2}|[\x00-\xff]"
)
"""Matches the bytes of a character, or the invalid bytes that decoding replaces by one U+FFFD, as
Unicode advises (section 3.9, "U+FFFD Substitution of Maximal Subparts")."""
_REPLACEMENT: Final = "\ufffd".encode()
_WIDEST: Final = 12
"""Maximum number of tokens of a difference that are shown on either side."""
_Kind = Literal["text", "invalid", "unknown"]


class DecodedSpan(NamedTuple):
    """The smallest run of ids that begins and ends at characters. Several ids share a character."""

    start: int  # where it begins in the decoded text, in code points
    end: int
    ids: tuple[int, ...]
    text: str  # the ids, decoded together
    kind: _Kind
    """"unknown" if no token has this id. Unknown ids and invalid bytes are decoded as U+FFFD."""


def decoded_spans(tokenizer: Tokenizer, ids: Sequence[int]) -> Iterator[DecodedSpan]:
    r"""Yield the spans of `ids`, in order. Takes time linear in their bytes.

    The joined texts of the spans are `tokenizer.decode(ids)`, except for byte-fallback tokens that are not valid UTF-8
    together.

    Examples:
        >>> from bpe_core import train
        >>> spans = decoded_spans(train("", vocab_size=257), [104, 105, 128])
        >>> [(span.ids, span.text, span.kind) for span in spans]
        [((104,), 'h', 'text'), ((105,), 'i', 'text'), ((128,), '�', 'invalid')]
    """
    vocabulary = tokenizer.vocabulary
    tokens = [
        vocabulary.token_bytes(id) if id in vocabulary else _REPLACEMENT for id in ids
    ]
    if tokens and tokenizer.preparation and tokenizer.preparation.drops_space:
        tokens[0] = tokens[0].removeprefix(b" ")
    data = b"".join(tokens)
    text = data.decode(errors="replace")
    character_at = {0: 0}  # the byte at which a character begins -> its code point
    invalid_at: set[int] = set()
    for index, match in enumerate(_CHARACTER.finditer(data)):
        if text[index] == "\ufffd" and match[0] != _REPLACEMENT:
            invalid_at.add(match.start())
        character_at[match.end()] = index + 1
    first_token = 0
    first_byte = 0
    end_byte = 0
    for n_tokens, token in enumerate(tokens, 1):
        end_byte += len(token)
        if end_byte not in character_at:
            continue
        start = character_at[first_byte]
        end = character_at[end_byte]
        kind: _Kind = "text"
        if not invalid_at.isdisjoint(range(first_byte, end_byte)):
            kind = "invalid"
        elif ids[n_tokens - 1] not in vocabulary:
            kind = "unknown"
        span_ids = tuple(ids[first_token:n_tokens])
        yield DecodedSpan(start, end, span_ids, text[start:end], kind)
        first_token = n_tokens
        first_byte = end_byte


@dataclass(frozen=True, slots=True)
class RoundTripDifference:
    """The first place where encoding a decoded text gives other ids than the original ones."""

    n_ids: int  # how many ids encoding the whole text gives
    index: int  # the index of the first id that differs, in both lists
    given: tuple[int, ...]
    """The given ids from `index` on, up to where both lists have decoded to the same text."""
    encoded: tuple[int, ...]  # the ids from encoding, in the same range
    why: str  # the reason, in a sentence


class _Window(NamedTuple):
    """Ids from both lists. They decode to the same text, unless they were cut."""

    given: tuple[int, ...]
    encoded: tuple[int, ...]


def round_trip_difference(
    tokenizer: Tokenizer, ids: Sequence[int], spans: Sequence[DecodedSpan]
) -> RoundTripDifference | None:
    """Find the first difference between ids and the ids of the text that they decode to.

    Args:
        tokenizer: Any tokenizer.
        ids: The ids. If a special token is among them, special tokens in the text are encoded as such.
        spans: The `decoded_spans` of the ids.

    Returns:
        The difference, or None if the ids are equal.
    """
    text = tokenizer.decode(ids)
    special_ids = set(tokenizer.vocabulary.special_tokens.values())
    if special_ids.isdisjoint(ids):
        encoded_ids = tokenizer.encode_ordinary(text)
    else:
        encoded_ids = tokenizer.encode(text, allowed_special="all")
    index = common_prefix(encoded_ids, list(ids))
    if index == len(encoded_ids) == len(ids):
        return None
    first_tokens = [0, *accumulate(len(span.ids) for span in spans)]
    # The span that holds the first difference, or the end if encoding only adds ids.
    number = bisect_right(first_tokens, index) - 1
    n_same = index - first_tokens[number]
    window = _window(
        tokenizer, spans[number:], encoded_ids[first_tokens[number] :], n_same
    )
    span = spans[number] if number < len(spans) else None
    return RoundTripDifference(
        n_ids=len(encoded_ids),
        index=index,
        given=window.given[n_same:],
        encoded=window.encoded[n_same:],
        why=_why(tokenizer, span, window),
    )


def _window(
    tokenizer: Tokenizer,
    spans: Sequence[DecodedSpan],
    encoded_ids: Sequence[int],
    n_same: int,
) -> _Window:
    """Return the first ids of both lists that have the same number of bytes, about `_WIDEST` at most.

    One side has more than `n_same` ids, so that the window holds the difference.
    """
    given: list[int] = []
    encoded: list[int] = []
    n_given_bytes = 0
    n_encoded_bytes = 0
    n_spans = 0
    while len(given) < _WIDEST and len(encoded) < _WIDEST:
        if n_given_bytes <= n_encoded_bytes and n_spans < len(spans):
            span = spans[n_spans]
            n_spans += 1
            given += span.ids
            n_given_bytes += len(span.text.encode())
        elif len(encoded) < len(encoded_ids):
            encoded.append(encoded_ids[len(encoded)])
            n_encoded_bytes += len(tokenizer.token_bytes(encoded[-1]))
        else:
            break
        has_difference = max(len(given), len(encoded)) > n_same
        if has_difference and n_given_bytes == n_encoded_bytes:
            break
    return _Window(tuple(given), tuple(encoded))


def _why(tokenizer: Tokenizer, span: DecodedSpan | None, window: _Window) -> str:
    if span is not None and span.kind == "unknown":
        return f"No token has the id {span.ids[0]:,}: it is decoded as \ufffd, which is then encoded."
    if span is not None and span.kind == "invalid":
        data = b"".join(map(tokenizer.token_bytes, span.ids))
        subject = f"The byte {data.hex()} is not valid UTF-8"
        if len(data) > 1:
            subject = f"The bytes {shortened(data.hex(' '), 40)} are not valid UTF-8"
        return f"{subject}: decoded as \ufffd, which is then encoded as bytes ef bf bd."
    preparation = tokenizer.preparation
    if preparation is not None and not preparation.only_splits:
        return "This tokenizer changes a text before it splits it, so encoding never gives some sequences of ids."
    special_tokens = tokenizer.vocabulary.special_tokens
    text_of = {token: text for text, token in special_tokens.items()}
    for token in window.encoded:
        if token in text_of and token not in window.given:
            return f"Ordinary tokens spell {quoted(text_of[token])} here; encoding reads them as the special token."
    if not text_of.keys().isdisjoint(window.given):
        return "The text of a special token is encoded as ordinary text here."
    text = tokenizer.decode(window.given)
    if not window.given or tokenizer.encode_piece(text) != window.given:
        return "Encoding applies the earliest merge first, and gets other tokens here."
    pieces = tokenizer.splitter.split(text)
    if len(pieces) <= 1:
        return "The pattern splits the text differently around this place, and no token crosses a split."
    shown = " | ".join(visible(shortened(piece, 20)) for piece in pieces[:_WIDEST])
    return f"The pattern splits the text here: {shown}. No token crosses a split."
