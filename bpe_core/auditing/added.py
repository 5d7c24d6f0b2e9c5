"""Added and special tokens that collide with ordinary text."""

from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer

_SHOWN: Final = 4
"""Ids of other tokens that a reason names."""


def added_tokens(subject: Subject) -> Iterator[Finding]:
    """Added tokens that any text can hold, because they are not special, and special ones that are ordinary words.

    An added token that is not special is found before everything else, wherever its text stands: also inside of words.
    A warning for one that consists of letters and digits, which texts hold by chance; a note for others.
    Evidence: "special", "would_be" (the ids that its text becomes without it; empty if it cannot be encoded).
    """
    tokenizer = subject.tokenizer
    added = {token.token: token for token in tokenizer.preparation.added} if tokenizer.preparation else {}
    specials = {token: text for text, token in tokenizer.special_tokens.items()}
    for token in sorted({*added, *specials}):
        special = added[token].special if token in added else True
        text = added[token].text if token in added else specials[token]
        is_word = text.strip().isalnum()
        if special and not is_word:
            continue
        would_be = _would_be(tokenizer, text)
        parts = " + ".join(map(subject.label, would_be[:_SHOWN])) + (" + …" if len(would_be) > _SHOWN else "")
        where = "where it is allowed as a special token" if special else "wherever it stands, also inside of words"
        reason = f"A text that holds {subject.label(token)} becomes this added token, {where}"
        reason += f"; without it, it would be {parts}." if parts and would_be != [token] else "."
        severity = Severity.WARNING if is_word else Severity.NOTE
        strength = 1.0 if is_word else 0.2
        yield subject.finding(
            token, "added-token", severity, reason, witness=text, special=special, would_be=would_be, strength=strength
        )


def _would_be(tokenizer: Tokenizer, text: str) -> list[int]:
    try:
        return list(tokenizer.encode_piece(text))
    except UnknownTokenError:
        return []
