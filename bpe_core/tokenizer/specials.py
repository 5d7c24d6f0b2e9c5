"""Special tokens in a text: which of them count, where they stand, and that none stands there unasked."""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Literal

from bpe_core.errors import OptionError, SpecialTokenError
from bpe_core.patterns.texts import Texts

Choice = Literal["all"] | Collection[str]
"""Texts of special tokens, or all there are."""


def chosen(allowed: Choice, disallowed: Choice, specials: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Those that are taken as tokens, and those that must not occur, as tiktoken understands its two options."""
    taken, refused = _names("allowed_special", allowed, specials), _names("disallowed_special", disallowed, specials)
    return taken.intersection(specials), refused - taken if disallowed == "all" else refused


def refuse(tokens: frozenset[str], text: str, before: int = 0) -> None:
    """Raise `SpecialTokenError` if one of the tokens occurs in a text that begins at `before` in the whole."""
    if tokens and (found := next(finder(tokens).spans(text), None)):
        raise SpecialTokenError(
            f"The text holds the special token {text[slice(*found)]!r} at offset {before + found[0]}; name it in "
            "allowed_special to encode it as a token, or pass disallowed_special=() to encode it as text."
        )


def without(tokens: frozenset[str], blocks: Iterable[str]) -> Iterator[str]:
    """The blocks of a text as they are; `SpecialTokenError` once one of the tokens occurs, also across their bounds."""
    overlap = max(map(len, tokens), default=1) - 1
    before, edge = 0, ""
    for block in blocks:
        refuse(tokens, edge + block, before - len(edge))
        before += len(block)
        edge = (edge + block)[-overlap:] if overlap else ""
        yield block


def parts(tokens: frozenset[str], blocks: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """A text that comes in blocks, in parts: (True, a token), and (False, text) for what stands between them.

    Text comes in several parts as it comes in several blocks; none is empty.
    """
    if not tokens:
        yield from ((False, block) for block in blocks if block)
        return
    find, longest = finder(tokens).spans, max(map(len, tokens))
    held = ""
    for block in blocks:
        text = held + block
        start, safe = 0, len(text) - longest + 1  # what begins from `safe` on may yet turn out to be a longer one
        for begin, stop in find(text):
            if begin >= safe:
                break
            yield from _between(text[start:begin])
            yield True, text[begin:stop]
            start = stop
        end = max(start, safe)
        yield from _between(text[start:end])
        held = text[end:]
    start = 0
    for begin, stop in find(held):
        yield from _between(held[start:begin])
        yield True, held[begin:stop]
        start = stop
    yield from _between(held[start:])


def _between(text: str) -> Iterator[tuple[bool, str]]:
    if text:
        yield False, text


def _names(option: str, given: Choice, specials: Collection[str]) -> frozenset[str]:
    if given == "all":
        return frozenset(specials)
    if isinstance(given, str):
        raise OptionError(f'{option} is "all" or a set of special tokens, not the text {given!r}.')
    return frozenset(given)


@lru_cache(maxsize=64)
def finder(tokens: frozenset[str]) -> Texts:
    """Finds any of the tokens; where several begin at one place, the longest."""
    return Texts(tokens)
