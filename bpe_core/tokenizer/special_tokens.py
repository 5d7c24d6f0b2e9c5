"""Special tokens in a text: which become ids, which are refused, and where they are."""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple

from bpe_core.errors import OptionError, SpecialTokenError
from bpe_core.patterns.text_search import TextSearch

Choice = Literal["all"] | Collection[str]
"""The texts of some special tokens, or "all" of them."""

_search_for: Final = lru_cache(maxsize=64)(TextSearch)


def chosen_specials(
    allowed: Choice, disallowed: Choice, specials: Collection[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the allowed and the disallowed special tokens for tiktoken's options of these names.

    A token in neither set is encoded as ordinary text.

    Args:
        allowed: Texts that become tokens; "all" for every special token.
        disallowed: Texts that must not occur; "all" for every special token that is not allowed.
        specials: The texts of all special tokens.

    Raises:
        OptionError: An option is a single text instead of a set.
    """
    wanted = _texts_in("allowed_special", allowed, specials)
    refused = _texts_in("disallowed_special", disallowed, specials)
    if disallowed == "all":
        refused -= wanted
    return wanted.intersection(specials), refused


def _texts_in(option: str, choice: Choice, specials: Collection[str]) -> frozenset[str]:
    if choice == "all":
        return frozenset(specials)
    if isinstance(choice, str):
        raise OptionError(
            f'{option} is "all" or a set of special tokens, not the text {choice!r}.'
        )
    return frozenset(choice)


def refuse_specials(
    disallowed: frozenset[str], text: str, offset_of_text: int = 0
) -> None:
    """Raise `SpecialTokenError` if a disallowed token occurs in `text`.

    `offset_of_text` is where `text` begins in a longer text; the error counts offsets from there.
    """
    if not disallowed:
        return
    for start, end in _search_for(disallowed).spans(text):
        raise SpecialTokenError(
            f"The text holds the special token {text[start:end]!r} at offset {offset_of_text + start}; name it in "
            "allowed_special to encode it as a token, or pass disallowed_special=() to encode it as text."
        )


def without_specials(
    disallowed: frozenset[str], blocks: Iterable[str]
) -> Iterator[str]:
    """Yield the same text, in other blocks. Raises `SpecialTokenError` when a disallowed token is reached."""
    offset = 0
    for is_token, part in special_parts(disallowed, blocks):
        if is_token:
            refuse_specials(disallowed, part, offset)
        offset += len(part)
        yield part


class SpecialPart(NamedTuple):
    """A special token, or text next to one."""

    is_token: bool
    text: str


def special_parts(
    tokens: frozenset[str], blocks: Iterable[str]
) -> Iterator[SpecialPart]:
    """Divide a text that comes in blocks at each occurrence of a token, also across blocks.

    No part is empty. The text between two tokens may come in several parts.
    """
    search = _search_for(tokens)
    longest = max(map(len, tokens), default=1)
    held = ""  # the end of the text so far, in which a token may have begun
    for block in chain(blocks, (None,)):  # None: the text has ended
        if block is None:
            text = held
            n_settled = len(text)
        else:
            text = held + block
            # A match that begins later may turn out to belong to a longer token.
            n_settled = len(text) - longest + 1
        done = 0
        for start, end in search.spans(text):
            if start >= n_settled:
                break
            if done < start:
                yield SpecialPart(False, text[done:start])
            yield SpecialPart(True, text[start:end])
            done = end
        n_yielded = max(done, n_settled)
        if done < n_yielded:
            yield SpecialPart(False, text[done:n_yielded])
        held = text[n_yielded:]
