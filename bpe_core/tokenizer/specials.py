"""Special tokens in a text: which are allowed, where they occur, and errors for those that are disallowed."""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, Literal

from bpe_core.errors import OptionError, SpecialTokenError
from bpe_core.patterns.text_search import TextSearch

Choice = Literal["all"] | Collection[str]
"""The texts of some special tokens, or "all" of them."""


def chosen(allowed: Choice, disallowed: Choice, specials: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """(texts that become tokens, texts that must not occur) for tiktoken's options `allowed_special` and
    `disallowed_special`; `specials` are all special tokens. Raises `OptionError` for a single text."""
    wanted, refused = _names("allowed_special", allowed, specials), _names("disallowed_special", disallowed, specials)
    return wanted.intersection(specials), refused - wanted if disallowed == "all" else refused


def refuse(tokens: frozenset[str], text: str, before: int = 0) -> None:
    """Raise `SpecialTokenError` if one of the tokens occurs in `text`; `before` is added to the offset it names."""
    if tokens and (found := next(finder(tokens).spans(text), None)):
        raise SpecialTokenError(
            f"The text holds the special token {text[slice(*found)]!r} at offset {before + found[0]}; name it in "
            "allowed_special to encode it as a token, or pass disallowed_special=() to encode it as text."
        )


def without(tokens: frozenset[str], blocks: Iterable[str]) -> Iterator[str]:
    """The blocks unchanged; `SpecialTokenError` at the first block that contains or completes one of the tokens."""
    overlap = max(map(len, tokens), default=1) - 1
    before, edge = 0, ""
    for block in blocks:
        refuse(tokens, edge + block, before - len(edge))
        before += len(block)
        edge = (edge + block)[-overlap:] if overlap else ""
        yield block


def parts(tokens: frozenset[str], blocks: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """The text in parts: (True, token) for each occurrence of a token, also across blocks, and (False, text) for the
    text between them, which may come in several parts; none is empty."""
    if not tokens:
        yield from ((False, block) for block in blocks if block)
        return
    find, longest = finder(tokens).spans, max(map(len, tokens))
    held = ""
    for block in chain(blocks, (None,)):
        text, start = held + (block or ""), 0
        # What begins from `safe` on may yet turn out to be a longer one; not behind the last block.
        safe = len(text) if block is None else len(text) - longest + 1
        for begin, stop in find(text):
            if begin >= safe:
                break
            if start < begin:
                yield False, text[start:begin]
            yield True, text[begin:stop]
            start = stop
        end = max(start, safe)
        if start < end:
            yield False, text[start:end]
        held = text[end:]


def _names(option: str, given: Choice, specials: Collection[str]) -> frozenset[str]:
    if given == "all":
        return frozenset(specials)
    if isinstance(given, str):
        raise OptionError(f'{option} is "all" or a set of special tokens, not the text {given!r}.')
    return frozenset(given)


finder: Final = lru_cache(maxsize=64)(TextSearch)
