"""Which ids bytes and special tokens get, may have, and move to when merges take those of special tokens."""

from collections.abc import Mapping, Sequence
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.merging.merge_loop import Triple
from bpe_core.utf8 import utf8, without_surrogates

ID_LAYOUTS: Final = ("bytes-first", "specials-first")
"""bytes-first: 0..255 bytes, merges, special tokens last. specials-first: special tokens, bytes, merges."""


def before_merges(id_layout: str, special_tokens: Sequence[str], n_base: int) -> tuple[int, Mapping[str, int]]:
    """(id of the first of the `n_base` tokens that no merge makes, {special token: id}) before the first merge.

    Raises `OptionError` if there is no such layout.
    """
    if id_layout not in ID_LAYOUTS:
        raise OptionError(f"There is no id layout {id_layout!r}; choose one of {', '.join(ID_LAYOUTS)}.")
    first, first_special = (len(special_tokens), 0) if id_layout == "specials-first" else (0, n_base)
    return first, {text: first_special + n for n, text in enumerate(special_tokens)}


def check_special_tokens(special_tokens: Mapping[str, int], bytes_of: Mapping[int, bytes]) -> None:
    """Raise `OptionError` for a special token that has no text, or the id of a token with other bytes."""
    text_of = {token: utf8(text) for text, token in special_tokens.items()}
    for text, token in special_tokens.items():
        if not text:
            raise OptionError("A special token is empty; give it a text.")
        if without_surrogates(text) != text:
            raise OptionError(f"The special token {text!r} holds half of a character; give it a text.")
        if bytes_of.get(token, utf8(text)) != text_of[token] or text_of[token] != utf8(text):
            raise OptionError(f"The special token {text!r} has the id {token}, which is taken already.")


def moved_up(special_tokens: Mapping[str, int], merges: Sequence[Triple]) -> Mapping[str, int]:
    """`special_tokens` unchanged, or, if new `merges` take the ids of some, with these moved up behind all new ids."""
    made = {token for _, _, token in merges} if special_tokens else set()
    if made.isdisjoint(special_tokens.values()):
        return special_tokens
    behind = [token for token in special_tokens.values() if token >= min(made)]
    shift = max(made) + 1 - min(behind)
    return {text: token + shift if token in behind else token for text, token in special_tokens.items()}
