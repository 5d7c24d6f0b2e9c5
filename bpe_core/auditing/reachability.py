"""Tokens that no text becomes: cut apart, or changed before, or never built by the merges in force."""

from collections.abc import Iterator

from bpe_core.auditing.end_of_word import text_bytes
from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.partial_utf8 import torn_ends
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.witness import is_mergeable, witness
from bpe_core.errors import UnknownTokenError
from bpe_core.visible import token_label


def unreachable(subject: Subject) -> Iterator[Finding]:
    """Tokens whose text is encoded as something else: `encode(decode([id])) != [id]`.

    Those that occur inside a longer text are "reachable-in-context", with the shortest witness found; the others are
    "unreachable": certainly so where UTF-8 or the merges are to blame, as far as some hundred texts can tell where it
    is something else. Evidence: "blame" ("utf-8", "bytes": one has no token of its own, "merges", "pattern",
    "preparation": what is done to a text before it is split, or "end-of-word": the marker there), "encodes_to" (the ids
    of the token's bytes).
    """
    for token, token_bytes in subject.tokens("reachability"):
        try:
            text = _as_text(text_bytes(subject.tokenizer.vocabulary, token))
            if text is not None:
                finding = _of_text(subject, token, text)
            else:
                finding = _of_bytes(subject, token, token_bytes) if len(token_bytes) > 1 else None
        except UnknownTokenError as error:
            finding = _of_the_unknown(subject, token, str(error))
        if finding:
            yield finding


def _of_text(subject: Subject, token: int, text: str) -> Finding | None:
    """For a token that is text by itself."""
    tokenizer = subject.tokenizer
    ids = tokenizer.encode_ordinary(text)
    end = tokenizer.vocabulary.end_of_word
    if ids == [token] or (end is not None and (token == end or ids == [token, end])):
        return None
    blame, effect = _what_becomes_of(subject, token, text, ids)
    found = witness(tokenizer, token)
    if found:
        kind, severity = "reachable-in-context", Severity.NOTE
        reason = f"Alone, {effect}; inside a longer text it does occur."
    else:
        kind, severity = "unreachable", subject.severity(token, Severity.PROBLEM)
        if not ids:
            reason = f"{effect[0].upper()}{effect[1:]}, so no text becomes this token."
        elif blame == "merges":
            reason = _never_built(_joined(subject, ids))
        else:
            reason = f"{effect[0].upper()}{effect[1:]}, whatever was tried around it."
    return subject.finding(token, kind, severity, reason, witness=found, blame=blame, encodes_to=ids)


def _what_becomes_of(subject: Subject, token: int, text: str, ids: list[int]) -> tuple[str, str]:
    """Why the token's text, `text`, has other ids: what is to blame, and what happens, as a part of a sentence."""
    tokenizer = subject.tokenizer
    becomes = _joined(subject, ids)
    if not is_mergeable(tokenizer, token):
        return "merges", f"the merges make {becomes} of its text"
    if tokenizer.vocabulary.end_of_word is not None and tokenizer.encode_piece(text) == tuple(ids):
        return "end-of-word", f"with the end of a word behind it, its text becomes {becomes}"
    if tokenizer.preparation:
        parts = list(tokenizer.preparation.parts(text, frozenset()))
        if any(isinstance(part, int) for part in parts):
            return "preparation", f"an added token is found in its text first, which becomes {becomes}"
        prepared = "".join(piece for part in parts if not isinstance(part, int) for piece in part)
        if not prepared:
            return "preparation", "its text is removed before the split"
        if prepared != text:
            before, its, after = prepared.partition(text)
            changed = f"{_quoted(before)} is put before its text" if its and before and not after else ""
            changed = changed or f"its text is first changed into {_quoted(prepared)}"
            return "preparation", f"{changed}, which becomes {becomes}"
    return (
        "pattern",
        f"the split pattern cuts its text apart into {becomes}" if ids else "the split pattern drops this text",
    )


def _of_bytes(subject: Subject, token: int, token_bytes: bytes) -> Finding | None:
    """For a token that begins or ends inside a character, or is broken."""
    ids = subject.tokenizer.vocabulary.encode(token_bytes)
    if torn_ends(token_bytes) is None:
        blame, reason = "utf-8", "No text in UTF-8 contains these bytes in this order."
    elif ids != (token,):
        blame, reason = "merges", _never_built(_joined(subject, ids))
    else:
        return None
    evidence = {"blame": blame, "encodes_to": list(ids)}
    return subject.finding(token, "unreachable", Severity.PROBLEM, reason, witness=None, **evidence)


def _of_the_unknown(subject: Subject, token: int, problem: str) -> Finding:
    """For a token that cannot be merged because a byte of it has no token of its own, as in some published files."""
    reason = f"Its bytes cannot be encoded: {problem[0].lower()}{problem[1:]}"
    severity, no_ids = subject.severity(token, Severity.PROBLEM), list[int]()
    return subject.finding(token, "unreachable", severity, reason, witness=None, blame="bytes", encodes_to=no_ids)


def _as_text(token_bytes: bytes) -> str | None:
    try:
        return token_bytes.decode()
    except UnicodeDecodeError:
        return None


def _never_built(becomes: str) -> str:
    return f"Its bytes become {becomes}: the merges never build this token, whatever stands around it."


def _quoted(text: str) -> str:
    return f"“{token_label(text.encode())}”"


def _joined(subject: Subject, ids: list[int] | tuple[int, ...]) -> str:
    return " + ".join(map(subject.label, ids[:4])) + (" + …" if len(ids) > 4 else "")
