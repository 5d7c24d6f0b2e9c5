"""Find evidence in the tokenizer alone: bytes, incomplete characters, lookalikes, duplicates, shapes and added tokens."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Final, NamedTuple

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.scaffold import end_of_order
from bpe_core.auditing.subject import AuditSubject
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import (
    UNUSED_BYTES,
    IncompleteEnds,
    character_length,
    incomplete_ends,
    is_utf8,
)
from bpe_core.visible import counted, letter_script, visible

# Something that contains a letter between angle or square brackets, as special tokens are usually written.
_LOOKALIKE: Final = re.compile(
    r"\s*(?:<[^<>\s]*[^\W\d_][^<>\s]*>|\[[^\[\]\s]*[^\W\d_][^\[\]\s]*\])\s*"
)
_INCOMPLETE_AT: Final = {
    "end": "It ends inside a character, so it is not valid text until another token completes it.",
    "start": "It begins inside a character, so it is not valid text without the token before it.",
    "both": "It begins and ends inside characters, so it is not valid text without the tokens around it.",
}
ENOUGH: Final = 200
"""Tokens of one script from which on their lengths are compared."""
USUAL: Final = 0.99
"""Share of a script's tokens that are not longer than its usual length."""
FACTOR: Final = 1.5
"""A token is long from this multiple of the usual length of its script on."""
_JAPANESE: Final = {"kana", "cjk"}  # scripts that are usually written together


def spelling(subject: AuditSubject) -> Iterator[Finding]:
    """Find single bytes that UTF-8 never contains, parts of characters, and ordinary tokens written like special ones.

    A part of a character is a substring of valid UTF-8 of two or more bytes that begins or ends inside a character.
    Evidence: "where", "stray" and "pending" (in hex), see `IncompleteEnds`.
    """
    for token, token_bytes in subject.tokens("bytes"):
        if len(token_bytes) > 1:
            ends = incomplete_ends(token_bytes)
            if ends:
                yield _partial_utf8(subject, token, ends)
        elif token_bytes and token_bytes[0] in UNUSED_BYTES:
            reason = f"No text in UTF-8 contains the byte {token_bytes.hex()}; it only completes the set of 256 bytes."
            yield subject.finding(
                token, "unused-byte", Severity.NOTE, reason, witness=None
            )
        text_bytes = subject.tokenizer.vocabulary.text_bytes(token)
        if _looks_special(text_bytes):
            severity = Severity.WARNING if b"<|" in text_bytes else Severity.NOTE
            reason = "It looks like a special token but is an ordinary one: any text can contain it."
            yield subject.finding(token, "special-lookalike", severity, reason)


def _partial_utf8(subject: AuditSubject, token: int, ends: IncompleteEnds) -> Finding:
    return subject.finding(
        token,
        "partial-utf8",
        Severity.NOTE,
        _INCOMPLETE_AT[ends.where],
        where=ends.where,
        stray=ends.stray.hex(),
        pending=ends.pending.hex(),
    )


def _looks_special(data: bytes) -> bool:
    if data.strip()[-1:] not in (b">", b"]"):  # which is quicker for most tokens
        return False
    return bool(_LOOKALIKE.fullmatch(data.decode(errors="replace")))


def duplicates(subject: AuditSubject) -> Iterator[Finding]:
    """Find ordinary tokens with the bytes of another token, except the one that encoding produces.

    Evidence: "ids" of all tokens with these bytes.
    """
    vocabulary = subject.tokenizer.vocabulary
    ids_of: dict[bytes, list[int]] = defaultdict(list)
    for token, token_bytes in subject.tokens("duplicates"):
        ids_of[token_bytes].append(token)
    for text, special in vocabulary.special_tokens.items():
        same = ids_of.get(text.encode())
        if same:
            reason = f"It has the bytes of the special token {special}, so the same text can mean two things."
            ids = sorted([*same, special])
            yield subject.finding(
                same[0], "duplicate", Severity.WARNING, reason, ids=ids
            )
    for token_bytes, ids in ids_of.items():
        if len(ids) == 1:
            continue
        encoded = vocabulary.encode(token_bytes)
        all_ids = ", ".join(map(str, ids))
        reason = f"The tokens {all_ids} have the same bytes, and encoding never uses this one."
        for token in ids:
            if encoded != (token,):
                severity = subject.severity_unless_byte(token, Severity.PROBLEM)
                yield subject.finding(token, "duplicate", severity, reason, ids=ids)


class _AddedText(NamedTuple):
    text: str
    is_special: bool


def added_tokens(subject: AuditSubject) -> Iterator[Finding]:
    """Find added tokens that any text can contain: those that are not special, and special ones that are words.

    A token of letters and digits is a warning, since texts contain it by chance; others are a note. Evidence:
    "special", "would_be" (the ids that its text becomes without it; empty if it cannot be encoded).
    """
    tokenizer = subject.tokenizer
    added: dict[int, _AddedText] = {}
    for text, token in tokenizer.special_tokens.items():
        added[token] = _AddedText(text, True)
    if tokenizer.preparation:
        for added_token in tokenizer.preparation.added:
            added[added_token.token] = _AddedText(added_token.text, added_token.special)
    for token, (text, is_special) in sorted(added.items()):
        is_word = text.strip().isalnum()
        if is_special and not is_word:
            continue
        would_be: list[int] = []
        with suppress(UnknownTokenError):
            would_be = list(tokenizer.encode_piece(text))
        where = "wherever it occurs, also inside of words"
        if is_special:
            where = "if it is allowed as a special token"
        reason = f"Text that contains {subject.label(token)} becomes this added token, {where}"
        if would_be and would_be != [token]:
            reason += f"; without it, the text would be {subject.joined(would_be)}"
        yield subject.finding(
            token,
            "added-token",
            Severity.WARNING if is_word else Severity.NOTE,
            f"{reason}.",
            witness=text,
            special=is_special,
            would_be=would_be,
            strength=1.0 if is_word else 0.2,
        )


class _WordOfScript(NamedTuple):
    n_letters: int
    token: int


def shape(subject: AuditSubject) -> Iterator[Finding]:
    """Find tokens with 1.5 times the usual number of letters of their script, and tokens with letters of two scripts.

    The usual number is one that 99 % of the tokens of the script do not exceed. Scripts with fewer than 200 tokens are
    not compared. Runs of one letter do not count as long. Evidence: "shape" ("long" or "mixed-scripts"), "scripts", and
    for long ones "letters", "usual", "strength" (0 at the usual number, 0.5 at twice as many, near 1 beyond).
    """
    words_of: dict[str, list[_WordOfScript]] = defaultdict(list)
    for token, token_bytes in subject.tokens("shapes"):
        text = token_bytes.decode(errors="ignore")
        letters = [character for character in text if character.isalpha()]
        scripts = Counter(filter(None, map(letter_script, letters)))
        if len(scripts) > 1 and scripts.keys() != _JAPANESE:
            names = sorted(scripts)
            yield subject.finding(
                token,
                "shape",
                Severity.NOTE,
                f"It has letters of {len(names)} scripts: {', '.join(names)}.",
                shape="mixed-scripts",
                scripts=names,
                strength=0.3,
            )
        elif scripts and len(set(letters)) > 1:
            script = "kana" if "kana" in scripts else next(iter(scripts))
            words_of[script].append(_WordOfScript(len(letters), token))
    for script, words in sorted(words_of.items()):
        if len(words) >= ENOUGH:
            yield from _long_words(subject, script, words)


def _long_words(
    subject: AuditSubject, script: str, words: list[_WordOfScript]
) -> Iterator[Finding]:
    words.sort()
    usual = words[int(USUAL * (len(words) - 1))].n_letters
    for n_letters, token in reversed(words):
        if n_letters < FACTOR * usual:
            return
        reason = f"It has {n_letters} letters ({script}); of a hundred tokens of this script, 99 have {usual} or fewer."
        yield subject.finding(
            token,
            "shape",
            Severity.NOTE,
            reason,
            shape="long",
            scripts=[script],
            letters=n_letters,
            usual=usual,
            strength=round((n_letters - usual) / n_letters, 4),
        )


def incomplete_bigrams(tokenizer: Tokenizer) -> Iterator[tuple[int, int, str]]:
    """Yield all (left, right, text) with `encode_ordinary(text) == [left, right]` that are valid text only together.

    They are sorted by id. `left` ends inside a character, and `right` begins with its missing bytes. Tokens of a single
    byte are included. A model has rarely seen such a pair and may fail to repeat it: S. Jang et al., "Improbable
    Bigrams Expose Vulnerabilities of Incomplete Tokens" (2024, arXiv 2410.23684).
    """
    lefts: list[tuple[int, bytes, int]] = []  # (token, bytes, number of missing bytes)
    rights: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for token, data in AuditSubject(tokenizer).tokens("incomplete bigrams"):
        ends = incomplete_ends(data)
        if ends and ends.where == "end":
            n_missing = character_length(ends.pending[0]) - len(ends.pending)
            lefts.append((token, data, n_missing))
        elif ends and ends.where == "start":
            rights[len(ends.stray)].append((token, data))
    for left, left_bytes, n_missing in lefts:
        for right, right_bytes in rights[n_missing]:
            data = left_bytes + right_bytes
            if not is_utf8(data):  # not every byte may follow every other
                continue
            text = data.decode()
            if tokenizer.encode_ordinary(text) == [left, right]:
                yield left, right, text


def summary(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield sentences about the vocabulary as a whole, safe to write to a terminal. Takes O(n) time for n ids."""
    vocabulary = tokenizer.vocabulary
    n_merges = vocabulary.n_merges
    tokens = counted(tokenizer.n_tokens, "token")
    merges = counted(n_merges, "merge")
    specials = counted(len(vocabulary.special_tokens), "special token")
    yield f"{tokens}, {merges}, {specials}, pattern {visible(tokenizer.pattern)}."
    last = end_of_order(vocabulary)
    if last < n_merges:
        last_token = vocabulary.merge_of(last)[2]
        yield (
            f"After merge {last:,} (id {last_token:,}) the ranks no longer follow the order of one training run: the "
            f"{n_merges - last:,} merges after it were appended and are not judged by rank."
        )
    ids = vocabulary.ids()
    unused = [(a + 1, b - 1) for a, b in pairwise([-1, *ids]) if b > a + 1]
    if unused:
        n_unused = sum(end - start + 1 for start, end in unused)
        start, end = unused[0]
        where = f"{start:,}" if start == end else f"{start:,} to {end:,}"
        if len(unused) > 1:
            where += f", and in {counted(len(unused) - 1, 'other range')}"
        yield f"{counted(n_unused, 'id has', 'ids have')} no token: {where}."
