"""Find tokens that encoding never produces, with the tokenizer as it is or with another split pattern or normalizer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from bpe_core.auditing.findings import UNPROVEN, Finding, OnStage, Severity
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.witness import is_mergeable, witness
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import LOWERCASE, NormalForm, Normalizer
from bpe_core.tokenizer.preparation import Preparation, SplitStep
from bpe_core.utf8 import incomplete_ends, is_utf8
from bpe_core.visible import quoted, token_label

_NEVER_BUILT: Final = (
    "Its bytes become {}: the merges never build this token, in any context."
)


def unreachable(subject: AuditSubject) -> Iterator[Finding]:
    """Find tokens with `encode(decode([id])) != [id]`.

    A token that some longer text contains is "reachable-in-context", with the shortest such text found as witness. The
    others are "unreachable". This is proved if "cause" is "utf-8", "bytes", "merges", or a published "pattern" none of
    whose pieces can contain them. Otherwise none of the texts that `witness` tries contains them, and the strength of
    the finding is `UNPROVEN`. Evidence: "encodes_to" (ids), "tried" (how many texts, if it is not proved), "strength"
    and "cause":

    - "utf-8": no valid UTF-8 contains the bytes;
    - "bytes": a single byte of them has no id;
    - "merges": the merges make other tokens of them;
    - "pattern": the split pattern cuts or drops them;
    - "added-token": an added token is found in them before everything else;
    - "normalizer": they are changed or removed before the split;
    - "prefix-space": a space is inserted before the text;
    - "end-of-word": the marker after the text merges into other tokens.
    """
    for token, token_bytes in subject.tokens("reachability"):
        try:
            yield from _check(subject, token, token_bytes)
        except UnknownTokenError as error:  # some published vocabularies lack bytes
            message = str(error)
            problem = message[0].lower() + message[1:]
            reason = f"Its bytes cannot be encoded: {problem}"
            yield _unreachable(subject, token, reason, "bytes", ())


def _check(subject: AuditSubject, token: int, token_bytes: bytes) -> Iterator[Finding]:
    vocabulary = subject.tokenizer.vocabulary
    text_bytes = vocabulary.text_bytes(token)
    if is_utf8(text_bytes):
        marker = vocabulary.end_of_word
        text = text_bytes.decode()
        ids = subject.tokenizer.encode_ordinary(text)
        if token != marker and ids not in ([token], [token, marker]):
            yield _finding_of_text(subject, token, text, ids)
        return
    if len(token_bytes) == 1:
        return
    ids_of_bytes = vocabulary.encode(token_bytes)
    if incomplete_ends(token_bytes) is None:
        reason = "No text in UTF-8 contains these bytes in this order."
        yield _unreachable(subject, token, reason, "utf-8", ids_of_bytes)
    elif ids_of_bytes != (token,):
        reason = _NEVER_BUILT.format(subject.joined(ids_of_bytes))
        yield _unreachable(subject, token, reason, "merges", ids_of_bytes)


class _Cause(NamedTuple):
    """The reason why the text of a token does not become the token."""

    name: str  # as in the evidence
    effect: str  # a clause for a sentence


def _finding_of_text(
    subject: AuditSubject, token: int, text: str, ids: list[int]
) -> Finding:
    """Report a token whose bytes are `text` but encode to other `ids`."""
    tokenizer = subject.tokenizer
    if ids and not is_mergeable(tokenizer, token):
        reason = _NEVER_BUILT.format(subject.joined(ids))
        return _unreachable(subject, token, reason, "merges", ids)
    cause, effect = _cause(subject, text, ids)
    effect_first = effect[0].upper() + effect[1:]
    splits_once = tokenizer.by_piece or _splits_once(tokenizer.preparation)
    if cause == "pattern" and splits_once and not tokenizer.splitter.may_hold(text):
        reason = f"{effect_first}, and no piece of any text contains it."
        return _unreachable(subject, token, reason, cause, ids)
    if cause == "normalizer" and _is_never_normalized(tokenizer, text):
        reason = f"{effect_first}, and no normalized text contains it."
        return _unreachable(subject, token, reason, cause, ids)
    found, n_tried = witness(tokenizer, token)
    if found is None:
        reason = f"{effect_first}. It does not occur in any of the {n_tried:,} contexts tried, but this is not proof."
        return _unreachable(subject, token, reason, cause, ids, n_tried)
    return subject.finding(
        token,
        "reachable-in-context",
        Severity.NOTE,
        f"On its own, {effect}; inside a longer text it does occur.",
        witness=found,
        cause=cause,
        encodes_to=ids,
        tried=n_tried,
    )


def _is_never_normalized(tokenizer: Tokenizer, text: str) -> bool:
    """Whether it is proved that no piece of any text contains `text`, because a Unicode normal form excludes it.

    Each substring of a normalized text is normalized, too (Unicode Standard Annex 15). So if the only change before the
    split is such a form, no piece contains text that the form would change, such as "e" and U+0301 under NFC.
    """
    preparation = tokenizer.preparation
    if preparation is None or not _splits_once(preparation):
        return False
    rules = tuple(preparation.normalize or ())
    if len(rules) != 1 or not isinstance(rules[0], NormalForm):
        return False
    return rules[0](text) != text


def _splits_once(preparation: Preparation | None) -> bool:
    """Whether each piece is a part of the normalized text that a single pattern cut out."""
    if preparation is None or preparation.has_metaspace or preparation.drops_space:
        return False
    steps = preparation.steps
    return len(steps) == 1 and isinstance(steps[0], SplitStep)


def _cause(subject: AuditSubject, text: str, ids: list[int]) -> _Cause:
    tokenizer = subject.tokenizer
    becomes = subject.joined(ids)
    has_marker = tokenizer.vocabulary.end_of_word is not None
    if has_marker and tokenizer.encode_piece(text) == tuple(ids):
        return _Cause(
            "end-of-word", f"with the end-of-word marker its text becomes {becomes}"
        )
    if tokenizer.preparation:
        change = _change_before_split(tokenizer.preparation, text)
        if change and ids:
            return change._replace(effect=f"{change.effect}, which becomes {becomes}")
        if change:
            return change
    if ids:
        return _Cause("pattern", f"the split pattern cuts its text into {becomes}")
    return _Cause("pattern", "the split pattern drops this text")


def _change_before_split(preparation: Preparation, text: str) -> _Cause | None:
    """Return what happens to a text before it is split; None if nothing does."""
    prepared = ""
    for part in preparation.parts(text, frozenset()):
        if isinstance(part, int):
            return _Cause("added-token", "an added token is found in its text first")
        prepared += "".join(part)
    if prepared == text:
        return None
    if not prepared:
        return _Cause("normalizer", "its text is removed before the split")
    prefix, same_text, suffix = prepared.partition(text)
    if not same_text or suffix:
        label = token_label(prepared.encode())
        return _Cause("normalizer", f"its text is first changed into “{label}”")
    name = "prefix-space" if prefix.isspace() else "normalizer"
    return _Cause(name, f"“{token_label(prefix.encode())}” is inserted before its text")


def _unreachable(
    subject: AuditSubject,
    token: int,
    reason: str,
    cause: str,
    ids: Sequence[int],
    n_tried: int = 0,
) -> Finding:
    """Make the finding "unreachable". It is proved if no contexts had to be tried (`n_tried` is 0)."""
    severity = Severity.WARNING if n_tried else Severity.PROBLEM
    evidence = {
        "witness": None,
        "cause": cause,
        "encodes_to": list(ids),
        "strength": UNPROVEN if n_tried else 1.0,
    }
    if n_tried:
        evidence["tried"] = n_tried
    return subject.finding(
        token,
        "unreachable",
        subject.severity_unless_byte(token, severity),
        reason,
        **evidence,
    )


NORMALIZERS: Final[Mapping[str, Normalizer | None]] = {
    "none": None,
    "NFC": Normalizer([NormalForm("NFC")]),
    "NFD": Normalizer([NormalForm("NFD")]),
    "NFKC": Normalizer([NormalForm("NFKC")]),
    "NFKD": Normalizer([NormalForm("NFKD")]),
    "lowercase": Normalizer([LOWERCASE]),
}


def what_if(
    tokenizer: Tokenizer,
    *,
    pattern: str | None = None,
    normalizer: str | None = None,
    progress: OnStage | None = None,
) -> Iterator[Finding]:
    """Find the tokens that texts become with this tokenizer, but not with another pattern or normalizer.

    Args:
        tokenizer: Its vocabulary and added tokens stay as they are.
        pattern: A name of `PATTERNS` or a regular expression. In a pipeline of several steps it replaces those that
            split. None keeps the pattern.
        normalizer: One of `NORMALIZERS`. None keeps the normalizer.
        progress: Called with (done, total, stage).

    Returns:
        Findings of the kind "unreachable", by id.

    Raises:
        PatternError: The pattern is not valid.
        OptionError: The normalizer is unknown.
    """
    preparation = _changed_preparation(tokenizer, pattern, normalizer)
    if pattern is None:
        pattern = tokenizer.pattern
    changed = Tokenizer(tokenizer.vocabulary, pattern, preparation=preparation)

    def is_reached_now(token: int) -> bool:
        with suppress(UnicodeDecodeError, UnknownTokenError):
            text = tokenizer.vocabulary.text_bytes(token).decode()
            if tokenizer.encode_ordinary(text) == [token]:
                return True
        return witness(tokenizer, token).text is not None

    findings = unreachable(AuditSubject(changed, progress=progress))
    return (
        finding
        for finding in findings
        if finding.kind == "unreachable" and is_reached_now(finding.id)
    )


def _changed_preparation(
    tokenizer: Tokenizer, pattern: str | None, normalizer: str | None
) -> Preparation | None:
    preparation = tokenizer.preparation
    if normalizer is not None:
        if normalizer not in NORMALIZERS:
            raise OptionError(
                f"Unknown normalizer {quoted(normalizer)}; choose one of {', '.join(NORMALIZERS)}."
            )
        if preparation is None:
            preparation = Preparation((), None, (SplitStep(tokenizer.splitter),))
        preparation = replace(
            preparation, normalize=NORMALIZERS[normalizer], description={}
        )
    if pattern is None or preparation is None:
        return preparation
    # The new split comes where the first of the old ones was.
    steps = [step for step in preparation.steps if not isinstance(step, SplitStep)]
    are_splits = [isinstance(step, SplitStep) for step in preparation.steps]
    place = are_splits.index(True) if True in are_splits else len(steps)
    steps.insert(place, SplitStep(splitter(pattern)))
    return replace(preparation, steps=tuple(steps), description={})
