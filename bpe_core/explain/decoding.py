"""Ids to text and back: what ids decode to, token by token, and where encoding that text gives other ids."""

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
"""The bytes of a character, or, where they are invalid, those that decoding replaces by one U+FFFD, as Unicode advises
(section 3.9, "U+FFFD Substitution of Maximal Subparts")."""
_REPLACEMENT: Final = "\ufffd".encode()
_WIDEST: Final = 12  # tokens of a difference that are considered, on either side
_Kind = Literal["text", "invalid", "unknown"]


class DecodedSpan(NamedTuple):
    """The smallest run of ids that begins and ends where characters do, several only if they share a character."""

    start: int  # where it begins in the decoded text, in code points
    end: int
    ids: tuple[int, ...]
    text: str  # what they decode to together
    kind: _Kind  # unknown: there is no such id; U+FFFD stands for it, and for bytes that are invalid


def decoded_spans(tokenizer: Tokenizer, ids: Sequence[int]) -> Iterator[DecodedSpan]:
    r"""The spans of `ids`, in order. Linear in the number of bytes.

    Their texts, joined, are `tokenizer.decode(ids)` but for byte-fallback tokens that are no UTF-8 together.

    >>> from bpe_core import train
    >>> [(span.ids, span.text, span.kind) for span in decoded_spans(train("", vocab_size=257), [104, 105, 128])]
    [((104,), 'h', 'text'), ((105,), 'i', 'text'), ((128,), '�', 'invalid')]
    """
    known = tokenizer.vocabulary
    tokens = [known.token_bytes(id) if id in known else _REPLACEMENT for id in ids]
    if tokenizer.preparation and tokenizer.preparation.drops_space and tokens:
        tokens[0] = tokens[0].removeprefix(b" ")
    data = b"".join(tokens)
    text, borders, invalid = data.decode(errors="replace"), {0: 0}, set[int]()
    for index, found in enumerate(_CHARACTER.finditer(data)):
        if text[index] == "\ufffd" and found[0] != _REPLACEMENT:
            invalid.add(found.start())
        borders[found.end()] = index + 1  # where a character begins: byte -> code point
    first = start = end = 0
    for index, token in enumerate(tokens, 1):
        end += len(token)
        if end in borders:
            kind: _Kind = "text" if ids[index - 1] in known else "unknown"
            if not invalid.isdisjoint(range(start, end)):
                kind = "invalid"
            part = text[borders[start] : borders[end]]
            yield DecodedSpan(
                borders[start], borders[end], tuple(ids[first:index]), part, kind
            )
            first, start = index, end


@dataclass(frozen=True, slots=True)
class RoundTripDifference:
    """The first place where encoding a decoded text gives other ids than it was decoded from."""

    n_ids: int  # how many ids encoding gives, of the whole text
    index: int  # of the first id that differs, in both lists
    given: tuple[
        int, ...
    ]  # the ids from there on, up to where both stand for the same text again
    encoded: tuple[int, ...]  # what encoding gives in their place
    why: str  # a sentence


def round_trip_difference(
    tokenizer: Tokenizer, ids: Sequence[int], spans: Sequence[DecodedSpan]
) -> RoundTripDifference | None:
    """The first difference between `ids` and the ids of the text that they decode to; None if there is none.

    `spans` are the `decoded_spans` of `ids`. Special tokens are encoded as such if `ids` holds one.
    """
    text = tokenizer.decode(ids)
    has_special = not set(tokenizer.vocabulary.special_tokens.values()).isdisjoint(ids)
    again = (
        tokenizer.encode(text, allowed_special="all")
        if has_special
        else tokenizer.encode_ordinary(text)
    )
    index = common_prefix(again, list(ids))
    if index == len(again) == len(ids):
        return None
    begins = [0, *accumulate(len(span.ids) for span in spans)]
    number = (
        bisect_right(begins, index) - 1
    )  # of the span that holds the first difference; past the last at the end
    at = begins[number]
    given, encoded = _window(tokenizer, spans[number:], again[at:], index - at)
    why = _why(
        tokenizer, spans[number] if number < len(spans) else None, given, encoded
    )
    return RoundTripDifference(
        len(again), index, given[index - at :], encoded[index - at :], why
    )


def _window(
    tokenizer: Tokenizer,
    spans: Sequence[DecodedSpan],
    again: Sequence[int],
    at_least: int,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids on both sides to where they have as many bytes and one side more than `at_least` ids, or `_WIDEST`."""
    given, encoded, n_given, n_encoded = list[int](), list[int](), 0, 0
    waiting = iter(spans)
    while len(given) < _WIDEST and len(encoded) < _WIDEST:
        if n_given <= n_encoded and (span := next(waiting, None)):
            given += span.ids
            n_given += len(span.text.encode())
        elif len(encoded) < len(again):
            encoded.append(again[len(encoded)])
            n_encoded += len(tokenizer.token_bytes(encoded[-1]))
        else:
            break
        if n_given == n_encoded and max(len(given), len(encoded)) > at_least:
            break
    return tuple(given), tuple(encoded)


def _why(
    tokenizer: Tokenizer,
    span: DecodedSpan | None,
    given: tuple[int, ...],
    encoded: tuple[int, ...],
) -> str:
    if span is not None and span.kind == "unknown":
        return f"No token has the id {span.ids[0]:,}: \ufffd stands in its place, and that is what is encoded."
    if span is not None and span.kind == "invalid":
        data = b"".join(map(tokenizer.token_bytes, span.ids))
        bytes_of_it = f"bytes {shortened(data.hex(' '), 40)} are no text by themselves"
        what = (
            bytes_of_it if len(data) > 1 else f"byte {data.hex()} is no text by itself"
        )
        return f"The {what}: decoding puts \ufffd there, and what is encoded is \ufffd, of the bytes ef bf bd."
    preparation = tokenizer.preparation
    if preparation is not None and not preparation.only_splits:
        return "This tokenizer changes a text before it splits it, so encoding does not give every sequence of ids."
    names = {token: text for text, token in tokenizer.vocabulary.special_tokens.items()}
    if new := next(
        (names[token] for token in encoded if token in names and token not in given),
        None,
    ):
        return f"Ordinary tokens spell {quoted(new)} here; in a text it is taken for the special token."
    if any(token in names for token in given):
        return "The text of a special token is encoded as text here."
    text = tokenizer.decode(given)
    if given and tokenizer.encode_piece(text) == given:
        pieces = tokenizer.splitter.split(text)
        if len(pieces) > 1:
            what = " | ".join(
                visible(shortened(piece, 20)) for piece in pieces[:_WIDEST]
            )
            return f"The pattern splits a text here: {what}. No token reaches across two pieces."
        return "The pattern splits the text around this place in another way, and no token reaches across two pieces."
    return "Of the pairs that can be merged here, encoding takes the earliest merge first, and comes to other tokens."
