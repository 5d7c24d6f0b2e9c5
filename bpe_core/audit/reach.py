"""Tokens that no text becomes: the split pattern cuts them apart, or the merges in force never build them."""

from collections.abc import Iterator

from bpe_core.audit.findings import Finding, Severity
from bpe_core.audit.subject import Subject
from bpe_core.audit.utf8 import gap
from bpe_core.audit.witness import is_mergeable, witness


def unreachable(subject: Subject) -> Iterator[Finding]:
    """Tokens whose text is encoded as something else: `encode(decode([id])) != [id]`.

    Those that occur inside a longer text are "reachable-in-context", with the shortest witness found; the others are
    "unreachable": certainly so where UTF-8 or the merges are to blame, as far as some hundred texts can tell where the
    pattern is. Evidence: "blame" ("utf-8", "merges" or "pattern"), "encodes_to" (the ids of the token's bytes).
    """
    for token, token_bytes in subject.tokens("reachability"):
        try:
            finding = _of_text(subject, token, token_bytes.decode())
        except UnicodeDecodeError:
            finding = _of_bytes(subject, token, token_bytes) if len(token_bytes) > 1 else None
        if finding:
            yield finding


def _of_text(subject: Subject, token: int, text: str) -> Finding | None:
    """For a token that is text by itself."""
    ids = subject.tokenizer.encode_ordinary(text)
    if ids == [token]:
        return None
    blame = "pattern" if is_mergeable(subject.tokenizer, token) else "merges"
    found = witness(subject.tokenizer, token)
    becomes = _joined(subject, ids)
    if found:
        kind, severity = "reachable-in-context", Severity.NOTE
        reason = f"Alone, the split pattern cuts its text apart into {becomes}; inside a longer text it does occur."
    else:
        kind, severity = "unreachable", subject.severity(token, Severity.PROBLEM)
        if not ids:
            reason = "The split pattern drops this text, so no text becomes this token."
        elif blame == "merges":
            reason = _never_built(becomes)
        else:
            reason = f"The split pattern cuts its text apart into {becomes}, whatever was tried around it."
    return subject.finding(token, kind, severity, reason, witness=found, blame=blame, encodes_to=ids)


def _of_bytes(subject: Subject, token: int, token_bytes: bytes) -> Finding | None:
    """For a token that begins or ends inside a character, or is broken."""
    ids = subject.tokenizer.vocabulary.encode(token_bytes)
    if gap(token_bytes) is None:
        blame, reason = "utf-8", "No text in UTF-8 contains these bytes in this order."
    elif ids != (token,):
        blame, reason = "merges", _never_built(_joined(subject, ids))
    else:
        return None
    evidence = {"blame": blame, "encodes_to": list(ids)}
    return subject.finding(token, "unreachable", Severity.PROBLEM, reason, witness=None, **evidence)


def _never_built(becomes: str) -> str:
    return f"Its bytes become {becomes}: the merges never build this token, whatever stands around it."


def _joined(subject: Subject, ids: list[int] | tuple[int, ...]) -> str:
    return " + ".join(map(subject.label, ids[:4])) + (" + …" if len(ids) > 4 else "")
