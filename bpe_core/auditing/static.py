"""Evidence from the vocabulary alone: bytes, incomplete characters, look-alikes, duplicates, added tokens, shapes."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.scaffold import end_of_order
from bpe_core.auditing.subject import AuditSubject
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import UNUSED_BYTES, character_length, incomplete_ends, is_utf8
from bpe_core.visible import counted, letter_script, visible

# Something with a letter in it between angle or square brackets, as special tokens are usually written.
_LOOKALIKE: Final = re.compile(r"\s*(?:<[^<>\s]*[^\W\d_][^<>\s]*>|\[[^\[\]\s]*[^\W\d_][^\[\]\s]*\])\s*")
_INCOMPLETE_AT: Final = {
    "end": "It ends inside a character, so it is no text until another token completes it.",
    "start": "It begins inside a character, so it is no text without the token before it.",
    "both": "It begins and ends inside characters, so it is no text without the tokens around it.",
}
ENOUGH: Final = 200  # tokens of one script from which on their lengths are compared
USUAL: Final = 0.99  # share of a script's tokens that is no longer than its usual length
FACTOR: Final = 1.5  # a token is long from so many times the usual length of its script on
_JAPANESE: Final = {"kana", "cjk"}  # scripts that are written together as a rule


def spelling(subject: AuditSubject) -> Iterator[Finding]:
    """Single bytes that UTF-8 never contains, parts of characters, and ordinary tokens written like special ones.

    A part of a character is a substring of valid UTF-8 of two or more bytes, cut inside a character at one or both
    ends. Evidence: "where", "stray" and "pending" (in hex), see `IncompleteEnds`.
    """
    for token, token_bytes in subject.tokens("bytes"):
        ends = incomplete_ends(token_bytes) if len(token_bytes) > 1 else None
        if len(token_bytes) == 1 and token_bytes[0] in UNUSED_BYTES:
            reason = f"No text in UTF-8 contains the byte {token_bytes.hex()}; it only completes the set of 256 bytes."
            yield subject.finding(token, "unused-byte", Severity.NOTE, reason, witness=None)
        if ends:
            evidence = {"where": ends.where, "stray": ends.stray.hex(), "pending": ends.pending.hex()}
            yield subject.finding(token, "partial-utf8", Severity.NOTE, _INCOMPLETE_AT[ends.where], **evidence)
        text = subject.tokenizer.vocabulary.text_bytes(token)
        if text.strip()[-1:] in (b">", b"]") and _LOOKALIKE.fullmatch(text.decode(errors="replace")):
            severity = Severity.WARNING if b"<|" in text else Severity.NOTE
            reason = "It looks like a special token, but it is an ordinary one: any text can hold it."
            yield subject.finding(token, "special-lookalike", severity, reason)


def duplicates(subject: AuditSubject) -> Iterator[Finding]:
    """Ordinary tokens with the bytes of another, but for that which encoding produces. Evidence: "ids", of all."""
    vocabulary = subject.tokenizer.vocabulary
    by_bytes: dict[bytes, list[int]] = defaultdict(list)
    for token, token_bytes in subject.tokens("duplicates"):
        by_bytes[token_bytes].append(token)
    for text, token in vocabulary.special_tokens.items():
        if text.encode() in by_bytes:
            ids = sorted([*by_bytes[text.encode()], token])
            reason = f"It has the bytes of the special token {token}, so the same text can mean two things."
            yield subject.finding(by_bytes[text.encode()][0], "duplicate", Severity.WARNING, reason, ids=ids)
    for token_bytes, ids in by_bytes.items():
        if len(ids) > 1:
            used = vocabulary.encode(token_bytes)
            reason = f"The tokens {', '.join(map(str, ids))} have the same bytes, and encoding never uses this one."
            for token in ids:
                if used != (token,):
                    severity = subject.severity(token, Severity.PROBLEM)  # a byte is kept for texts that lack a token
                    yield subject.finding(token, "duplicate", severity, reason, ids=ids)


def added_tokens(subject: AuditSubject) -> Iterator[Finding]:
    """Added tokens that any text can hold, because they are not special, and special ones that are ordinary words.

    A warning for one that consists of letters and digits, which texts hold by chance; a note for others. Evidence:
    "special", "would_be" (the ids that its text becomes without it; empty if it cannot be encoded).
    """
    tokenizer = subject.tokenizer
    added = {token: (text, True) for text, token in tokenizer.special_tokens.items()}
    if tokenizer.preparation:
        added |= {one.token: (one.text, one.special) for one in tokenizer.preparation.added}
    for token, (text, special) in sorted(added.items()):
        is_word = text.strip().isalnum()
        if special and not is_word:
            continue
        try:
            would_be = list(tokenizer.encode_piece(text))
        except UnknownTokenError:
            would_be = []
        where = "where it is allowed as a special token" if special else "wherever it stands, also inside of words"
        reason = f"A text that holds {subject.label(token)} becomes this added token, {where}"
        reason += f"; without it, it would be {subject.joined(would_be)}." if would_be not in ([], [token]) else "."
        severity, strength = (Severity.WARNING, 1.0) if is_word else (Severity.NOTE, 0.2)
        evidence = {"special": special, "would_be": would_be, "strength": strength}
        yield subject.finding(token, "added-token", severity, reason, witness=text, **evidence)


def shape(subject: AuditSubject) -> Iterator[Finding]:
    """Tokens of one script with 1.5 times its usual number of letters or more, and tokens with letters of two scripts.

    The usual number is what 99 % of the tokens of that script do not exceed; scripts with fewer than 200 tokens are not
    compared. Runs of one letter are not long. Evidence: "shape" ("long" or "mixed-scripts"), "scripts", and for
    a long one "letters", "usual", "strength" (0 at the usual number, 0.5 at twice as many, near 1 beyond).
    """
    of_script: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for token, token_bytes in subject.tokens("shapes"):
        letters = [character for character in token_bytes.decode(errors="ignore") if character.isalpha()]
        scripts = Counter(name for character in letters if (name := letter_script(character)))
        if len(scripts) > 1 and scripts.keys() != _JAPANESE:
            names = sorted(scripts)
            reason = f"It has letters of {len(names)} scripts: {', '.join(names)}."
            evidence = {"shape": "mixed-scripts", "scripts": names, "strength": 0.3}
            yield subject.finding(token, "shape", Severity.NOTE, reason, **evidence)
        elif scripts and len(set(letters)) > 1:
            of_script["kana" if "kana" in scripts else next(iter(scripts))].append((len(letters), token))
    for name, found in sorted(of_script.items()):
        if len(found) < ENOUGH:
            continue
        found.sort()
        usual = found[int(USUAL * (len(found) - 1))][0]
        for n, token in reversed(found):
            if n < FACTOR * usual:
                break
            reason = f"It has {n} letters ({name}), and of a hundred tokens of this script 99 have {usual} or fewer."
            long: dict[str, object] = {"shape": "long", "scripts": [name], "letters": n, "usual": usual}
            yield subject.finding(token, "shape", Severity.NOTE, reason, **long, strength=round((n - usual) / n, 4))


def incomplete_bigrams(tokenizer: Tokenizer) -> Iterator[tuple[int, int, str]]:
    """All (left, right, text) with `tokenizer.encode_ordinary(text) == [left, right]` that are text only together.

    Sorted by id. `left` ends inside a character, `right` begins with the bytes missing there; tokens of a single byte
    are included. A model has rarely met such a pair, and may fail to repeat it: S. Jang et al., "Improbable Bigrams
    Expose Vulnerabilities of Incomplete Tokens" (2024, arXiv 2410.23684).
    """
    by_missing: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    lefts: list[tuple[int, bytes, bytes]] = []
    for token, data in AuditSubject(tokenizer).tokens("incomplete bigrams"):
        ends = incomplete_ends(data)
        if ends and ends.where == "end":
            lefts.append((token, data, ends.pending))
        elif ends and ends.where == "start":
            by_missing[len(ends.stray)].append((token, data))
    for left, start, pending in lefts:
        for right, end in by_missing[character_length(pending[0]) - len(pending)]:
            if is_utf8(start + end):  # not every byte may follow every other
                text = (start + end).decode()
                if tokenizer.encode_ordinary(text) == [left, right]:
                    yield left, right, text


def summary(tokenizer: Tokenizer) -> Iterator[str]:
    """Sentences for a person about the vocabulary as a whole, safe to write to a terminal; O(ids)."""
    vocabulary = tokenizer.vocabulary
    n_merges, last = vocabulary.n_merges, end_of_order(vocabulary)
    tokens, merges = counted(tokenizer.n_vocab, "token"), counted(n_merges, "merge")
    specials = counted(len(vocabulary.special_tokens), "special token")
    yield f"{tokens}, {merges}, {specials}, pattern {visible(tokenizer.pattern)}."
    if last < n_merges:
        yield (
            f"Behind merge {last:,} (id {vocabulary.merge_of(last)[2]:,}) the ranks are not the order of the same "
            f"training any more: the {n_merges - last:,} merges that follow were appended, and are not judged by their "
            "rank."
        )
    holes = [(a + 1, b - 1) for a, b in pairwise([-1, *vocabulary.ids()]) if b > a + 1]
    if holes:
        n = sum(end - first + 1 for first, end in holes)
        first, end = holes[0]
        where = f"{first:,}" if first == end else f"{first:,} to {end:,}"
        more = f", and in {counted(len(holes) - 1, 'other range')}" if len(holes) > 1 else ""
        yield f"{counted(n, 'id has', 'ids have')} no token: {where}{more}."
