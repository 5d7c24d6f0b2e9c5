"""Which ids bytes and special tokens get, and which ids special tokens move to when merges take theirs."""

from collections.abc import Mapping, Sequence
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.merging.merge_loop import Triple

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


def moved_up(special_tokens: Mapping[str, int], merges: Sequence[Triple]) -> Mapping[str, int]:
    """`special_tokens` unchanged, or, if new `merges` take the ids of some, with these moved up behind all new ids."""
    made = {token for _, _, token in merges}
    if made.isdisjoint(special_tokens.values()):
        return special_tokens
    behind = [token for token in special_tokens.values() if token >= min(made)]
    shift = max(made) + 1 - min(behind)
    return {text: token + shift if token in behind else token for text, token in special_tokens.items()}
