"""For a tokenizer that prepares a text, find one with the same ids that only splits the text.

Such a tokenizer exists if the preparation does nothing to a text in NFC except to find added tokens in it.
"""

from dataclasses import replace
from functools import lru_cache
from unicodedata import is_normalized

from bpe_core.live.live_text import LiveText
from bpe_core.tokenizer import SpecialsAllowed, Tokenizer
from bpe_core.tokenizer.preparation import found_at_once


def plain_twin(live: LiveText, tail: str) -> LiveText | None:
    """Return the end of a text under a tokenizer that only splits the text; None if ids could differ."""
    tokenizer = live.tokenizer
    if difference(tokenizer):
        return None
    preparation = tokenizer.preparation
    if preparation and preparation.normalize and not is_normalized("NFC", tail):
        return None
    return LiveText(without_preparation(tokenizer), tail)


@lru_cache(maxsize=4)
def difference(tokenizer: Tokenizer) -> str:
    """Return the beginning of a sentence that says why no such tokenizer exists; "" if one exists."""
    preparation = tokenizer.preparation
    if preparation is None or not tokenizer.vocabulary.is_faithful:
        return "Some tokens of this tokenizer have other bytes than the text"
    if preparation.normalize:
        if preparation.description.get("normalizer") != {"type": "NFC"}:
            return "This tokenizer changes text before splitting it"
        if any(token.normalized for token in preparation.added if not token.special):
            return "This tokenizer applies NFC before looking for added tokens"
    special = tuple(token for token in preparation.added if token.special)
    has_others = len(special) < len(preparation.added)
    if has_others and not found_at_once(preparation.added):
        return "Some added tokens of this tokenizer depend on the text around them"
    if not replace(preparation, normalize=None, added=special).only_splits:
        return "This tokenizer adds characters to a text, or splits its bytes, before it encodes it"
    return ""


@lru_cache(maxsize=4)
def without_preparation(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that only splits. Its special tokens are the added tokens found in every text."""
    id_of: dict[str, int] = {}
    if tokenizer.preparation:
        for added in tokenizer.preparation.added:
            if not added.special:
                id_of[added.text] = added.token
    if not id_of:
        return Tokenizer(tokenizer.vocabulary, tokenizer.pattern)
    vocabulary = tokenizer.vocabulary.with_special_tokens(id_of)
    return SpecialsAllowed.of(Tokenizer(vocabulary, tokenizer.pattern))
