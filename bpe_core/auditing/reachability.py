"""Tokens that encoding never produces, as the tokenizer is, or if it had another split pattern or normalizer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from bpe_core.auditing.findings import UNPROVEN, Finding, OnStage, Severity
from bpe_core.auditing.subject import AuditSubject, is_mergeable, witness
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import LOWERCASE, NormalForm, Normalizer
from bpe_core.tokenizer.preparation import Preparation, SplitStep
from bpe_core.utf8 import incomplete_ends, is_utf8
from bpe_core.visible import quoted, token_label

_NEVER_BUILT: Final = "Its bytes become {}: the merges never build this token, whatever stands around it."


def unreachable(subject: AuditSubject) -> Iterator[Finding]:
    """Tokens with `encode(decode([id])) != [id]`.

    A token that some longer text contains is "reachable-in-context", with the shortest such text found as witness. The
    others are "unreachable": proved where "cause" is "utf-8", "bytes", "merges", or a published "pattern" no piece of
    which can hold them; else none of the texts that `witness` tries contains them, which counts `UNPROVEN`. Evidence:
    "encodes_to" (ids), "tried" (how many texts, if it is not proved), "strength" and "cause":

    - "utf-8": no valid UTF-8 contains the bytes;
    - "bytes": a single byte of them has no id;
    - "merges": the merges make other tokens of them;
    - "pattern": the split pattern cuts or drops them;
    - "added-token": an added token is found in them before everything else;
    - "normalizer": they are changed or removed before the split;
    - "prefix-space": a space is put before the text;
    - "end-of-word": the marker behind the text merges into other tokens.
    """
    vocabulary = subject.tokenizer.vocabulary
    for token, token_bytes in subject.tokens("reachability"):
        text_bytes = vocabulary.text_bytes(token)
        try:
            if is_utf8(text_bytes):
                text, mark = text_bytes.decode(), vocabulary.end_of_word
                ids = subject.tokenizer.encode_ordinary(text)
                if ids != [token] and (mark is None or (token != mark and ids != [token, mark])):
                    yield _of_text(subject, token, text, ids)
            elif len(token_bytes) > 1:
                encoded = vocabulary.encode(token_bytes)
                if incomplete_ends(token_bytes) is None:
                    reason = "No text in UTF-8 contains these bytes in this order."
                    yield _unreachable(subject, token, reason, "utf-8", encoded)
                elif encoded != (token,):
                    yield _unreachable(subject, token, _NEVER_BUILT.format(subject.joined(encoded)), "merges", encoded)
        except UnknownTokenError as error:  # some published vocabularies lack bytes
            problem = f"{str(error)[0].lower()}{str(error)[1:]}"
            yield _unreachable(subject, token, f"Its bytes cannot be encoded: {problem}", "bytes", ())


def _of_text(subject: AuditSubject, token: int, text: str, ids: list[int]) -> Finding:
    """The finding about a token whose bytes are valid UTF-8, `text`, but encode to other `ids`."""
    tokenizer = subject.tokenizer
    cause, effect = _what_becomes_of(subject, token, text, ids)
    if ids and cause == "merges":
        return _unreachable(subject, token, _NEVER_BUILT.format(subject.joined(ids)), cause, ids)
    effect_first = effect[0].upper() + effect[1:]
    if cause == "pattern" and tokenizer.by_piece and not tokenizer.splitter.may_hold(text):
        return _unreachable(subject, token, f"{effect_first}, and no piece of any text holds it.", cause, ids)
    found, tried = witness(tokenizer, token)
    if found:
        reason = f"Alone, {effect}; inside a longer text it does occur."
        evidence = {"witness": found, "cause": cause, "encodes_to": ids, "tried": tried}
        return subject.finding(token, "reachable-in-context", Severity.NOTE, reason, **evidence)
    reason = f"{effect_first}, and in none of {tried:,} contexts tried does it occur, which is no proof."
    return _unreachable(subject, token, reason, cause, ids, tried)


def _what_becomes_of(subject: AuditSubject, token: int, text: str, ids: list[int]) -> tuple[str, str]:
    """Why `text` is encoded as `ids` and not as `token`: (cause as in `unreachable`, a clause that describes it)."""
    tokenizer = subject.tokenizer
    becomes = subject.joined(ids)
    if not is_mergeable(tokenizer, token):
        return "merges", f"the merges make {becomes} of its text"
    if tokenizer.vocabulary.end_of_word is not None and tokenizer.encode_piece(text) == tuple(ids):
        return "end-of-word", f"with the end of a word behind it, its text becomes {becomes}"
    if tokenizer.preparation and (before := _before_split(tokenizer.preparation, text)):
        cause, change = before
        return cause, f"{change}, which becomes {becomes}" if ids else change
    return "pattern", f"the split pattern {f'cuts its text apart into {becomes}' if ids else 'drops this text'}"


def _before_split(preparation: Preparation, text: str) -> tuple[str, str] | None:
    """What happens to a text before it is split, as (cause, a clause); None if nothing does."""
    parts = list(preparation.parts(text, frozenset()))
    if any(isinstance(part, int) for part in parts):
        return "added-token", "an added token is found in its text first"
    prepared = "".join(piece for part in parts if not isinstance(part, int) for piece in part)
    if prepared == text:
        return None
    if not prepared:
        return "normalizer", "its text is removed before the split"
    before, its, after = prepared.partition(text)
    if not its or after:
        return "normalizer", f"its text is first changed into “{token_label(prepared.encode())}”"
    cause = "prefix-space" if before.isspace() else "normalizer"
    return cause, f"“{token_label(before.encode())}” is put before its text"


def _unreachable(
    subject: AuditSubject, token: int, reason: str, cause: str, ids: Sequence[int], tried: int = 0
) -> Finding:
    """The finding about a token; if contexts were `tried`, this is not proved."""
    evidence = {"witness": None, "cause": cause, "encodes_to": list(ids), "strength": UNPROVEN if tried else 1.0}
    severity = subject.severity(token, Severity.WARNING if tried else Severity.PROBLEM)
    return subject.finding(token, "unreachable", severity, reason, **evidence, **{"tried": tried} if tried else {})


NORMALIZERS: Final[Mapping[str, Normalizer | None]] = {
    "none": None,
    "NFC": Normalizer([NormalForm("NFC")]),
    "NFD": Normalizer([NormalForm("NFD")]),
    "NFKC": Normalizer([NormalForm("NFKC")]),
    "NFKD": Normalizer([NormalForm("NFKD")]),
    "lowercase": Normalizer([LOWERCASE]),
}


def what_if(
    tokenizer: Tokenizer, *, pattern: str | None = None, normalizer: str | None = None, progress: OnStage | None = None
) -> Iterator[Finding]:
    """Tokens that texts become with this tokenizer, but not with another `pattern` or `normalizer`, by id.

    `pattern` is a name of `PATTERNS` or a regular expression, `normalizer` one of `NORMALIZERS`; None leaves it as it
    is. The findings are of the kind "unreachable", about `changed(tokenizer, ...)`, whose errors this raises.
    """

    def is_reached(token: int) -> bool:
        with suppress(UnicodeDecodeError, UnknownTokenError):
            if tokenizer.encode_ordinary(tokenizer.vocabulary.text_bytes(token).decode()) == [token]:
                return True
        return witness(tokenizer, token)[0] is not None

    found = unreachable(AuditSubject(changed(tokenizer, pattern=pattern, normalizer=normalizer), progress=progress))
    return (finding for finding in found if finding.kind == "unreachable" and is_reached(finding.id))


def changed(tokenizer: Tokenizer, *, pattern: str | None = None, normalizer: str | None = None) -> Tokenizer:
    """The tokenizer with another pattern, normalizer, or both; its vocabulary and added tokens stay.

    In a pipeline of several steps the pattern takes the place of the steps that split. Raises `PatternError` or
    `OptionError` for one that there is not.
    """
    preparation = tokenizer.preparation
    if normalizer is not None:
        if normalizer not in NORMALIZERS:
            raise OptionError(f"There is no normalizer {quoted(normalizer)}; choose one of {', '.join(NORMALIZERS)}.")
        if preparation is None:
            preparation = Preparation((), None, (SplitStep(tokenizer.splitter),), False, False, {})
        preparation = replace(preparation, normalize=NORMALIZERS[normalizer], description={})
    if pattern is not None and preparation is not None:
        kept = [step for step in preparation.steps if not isinstance(step, SplitStep)]
        places = [i for i, step in enumerate(preparation.steps) if isinstance(step, SplitStep)]
        kept.insert(places[0] if places else len(kept), SplitStep(splitter(pattern)))
        preparation = replace(preparation, steps=tuple(kept), description={})
    return Tokenizer(tokenizer.vocabulary, pattern or tokenizer.pattern, preparation=preparation)
