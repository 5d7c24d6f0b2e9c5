"""Ids to text and back: where encoding what ids decode to gives other ids, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bpe_core.common_prefix import common_prefix
from bpe_core.explain.decoding import DecodedSpan
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, shortened, visible

_MOST: Final = 12
"""Tokens of a difference that are looked at, on either side."""


@dataclass(frozen=True, slots=True)
class Difference:
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


def difference(tokenizer: Tokenizer, ids: Sequence[int], spans: Sequence[DecodedSpan]) -> Difference | None:
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
    return Difference(len(again), index, given[n_equal:], encoded[n_equal:], why)


def _window(
    tokenizer: Tokenizer, spans: Sequence[DecodedSpan], again: list[int], index: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids from the span with the first difference to where both sides have as many bytes, or `_MOST` of them."""
    at, number = _span_of(spans, index)
    given: list[int] = []
    encoded: list[int] = []
    n_given = n_encoded = 0
    place = at
    while len(given) < _MOST and len(encoded) < _MOST:
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
    tokenizer: Tokenizer,
    spans: Sequence[DecodedSpan],
    index: int,
    given: tuple[int, ...],
    encoded: tuple[int, ...],
) -> str:
    _, number = _span_of(spans, index)
    span = spans[number] if number < len(spans) else None
    if span is not None and span.kind == "unknown":
        return f"No token has the id {span.ids[0]:,}: \ufffd stands in its place, and that is what is encoded."
    if span is not None and span.kind == "torn":
        data = b"".join(map(tokenizer.token_bytes, span.ids))
        told = f"The byte {data.hex()} is no text by itself"
        if len(data) > 1:
            told = f"The bytes {shortened(data.hex(' '), 40)} are no text by themselves"
        return f"{told}: decoding puts \ufffd there, and what is encoded is \ufffd, of the bytes ef bf bd."
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
            told = " | ".join(visible(shortened(piece, 20)) for piece in pieces[:_MOST])
            return f"The pattern splits a text here: {told}. No token reaches across two pieces."
        return "The pattern splits the text around this place in another way, and no token reaches across two pieces."
    return "Of the pairs that can be merged here, encoding takes the earliest merge first, and comes to other tokens."
