"""Checks that need the vocabulary alone: unused bytes, incomplete UTF-8, look-alikes of special tokens, duplicates."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.end_of_word import text_bytes
from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.utf8 import UNUSED_BYTES, incomplete_ends

_LOOKALIKE: Final = re.compile(r"\s*(?:<[^<>\s]*[^\W\d_][^<>\s]*>|\[[^\[\]\s]*[^\W\d_][^\[\]\s]*\])\s*")
"""Something with a letter in it between angle or square brackets, as special tokens are usually written."""

_TORN_AT: Final = {
    "end": "It ends inside a character, so it is no text until another token completes it.",
    "start": "It begins inside a character, so it is no text without the token before it.",
    "both": "It begins and ends inside characters, so it is no text without the tokens around it.",
}


def unused_bytes(subject: Subject) -> Iterator[Finding]:
    """The tokens of the 13 single bytes that UTF-8 never contains."""
    for token, token_bytes in subject.tokens("bytes"):
        if len(token_bytes) == 1 and token_bytes[0] in UNUSED_BYTES:
            reason = f"No text in UTF-8 contains the byte {token_bytes.hex()}; it only completes the set of 256 bytes."
            yield subject.finding(token, "unused-byte", Severity.NOTE, reason, witness=None)


def partial_utf8(subject: Subject) -> Iterator[Finding]:
    """Tokens of two or more bytes that are a substring of valid UTF-8, cut inside a character at one or both ends.

    Evidence: "where" ("start", "end" or "both"), "stray" and "pending", the bytes of the incomplete characters at the
    start and at the end, in hex; see `IncompleteEnds`.
    """
    for token, token_bytes in subject.tokens("parts of characters"):
        lacking = incomplete_ends(token_bytes) if len(token_bytes) > 1 else None
        if lacking:
            yield subject.finding(
                token,
                "partial-utf8",
                Severity.NOTE,
                _TORN_AT[lacking.where],
                where=lacking.where,
                stray=lacking.stray.hex(),
                pending=lacking.pending.hex(),
            )


def lookalikes(subject: Subject) -> Iterator[Finding]:
    """Ordinary tokens written like special ones: <...> and [...]."""
    for token, _ in subject.tokens("look-alikes"):
        token_bytes = text_bytes(subject.tokenizer.vocabulary, token)
        if token_bytes.strip()[-1:] in (b">", b"]") and _LOOKALIKE.fullmatch(token_bytes.decode(errors="replace")):
            severity = Severity.WARNING if b"<|" in token_bytes else Severity.NOTE
            reason = "It looks like a special token, but it is an ordinary one: any text can hold it."
            yield subject.finding(token, "special-lookalike", severity, reason)


def duplicates(subject: Subject) -> Iterator[Finding]:
    """Ordinary tokens with the same bytes as another token, except the one of them that encoding produces.

    Evidence: "ids", all ids with these bytes.
    """
    vocabulary = subject.tokenizer.vocabulary
    alike: dict[bytes, list[int]] = defaultdict(list)
    for token, token_bytes in subject.tokens("duplicates"):
        alike[token_bytes].append(token)
    for text, token in vocabulary.special_tokens.items():
        if text.encode() in alike:
            ids = sorted([*alike[text.encode()], token])
            reason = f"It has the bytes of the special token {token}, so the same text can mean two things."
            yield subject.finding(alike[text.encode()][0], "duplicate", Severity.WARNING, reason, ids=ids)
    for token_bytes, ids in alike.items():
        if len(ids) > 1:
            used = vocabulary.encode(token_bytes)
            for token in ids:
                if used != (token,):
                    reason = (
                        f"The tokens {', '.join(map(str, ids))} have the same bytes, and encoding never uses this one."
                    )
                    severity = subject.severity(token, Severity.PROBLEM)  # a byte is kept for texts that lack a token
                    yield subject.finding(token, "duplicate", severity, reason, ids=ids)
