"""Evidence from the tokenizer alone: bytes, incomplete characters, look-alikes, duplicates, shapes, added tokens, and
tokens that encoding never produces, as the tokenizer is, or if it had another split pattern or normalizer."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Final

from bpe_core.auditing.corpora import end_of_order
from bpe_core.auditing.findings import UNPROVEN, Finding, OnStage, Severity
from bpe_core.auditing.subject import AuditSubject, is_mergeable, witness
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import LOWERCASE, NormalForm, Normalizer
from bpe_core.tokenizer.preparation import Preparation, SplitStep
from bpe_core.utf8 import UNUSED_BYTES, character_length, incomplete_ends, is_utf8
from bpe_core.visible import counted, letter_script, quoted, token_label, visible

# Something with a letter in it between angle or square brackets, as special tokens are usually written.
_LOOKALIKE: Final = re.compile(
    r"\s*(?:<[^<>\s]*[^\W\d_][^<>\s]*>|\[[^\[\]\s]*[^\W\d_][^\[\]\s]*\])\s*"
)
_INCOMPLETE_AT: Final = {
    "end": "It ends inside a character, so it is no text until another token completes it.",
    "start": "It begins inside a character, so it is no text without the token before it.",
    "both": "It begins and ends inside characters, so it is no text without the tokens around it.",
}
ENOUGH: Final = 200  # tokens of one script from which on their lengths are compared
USUAL: Final = (
    0.99  # share of a script's tokens that is no longer than its usual length
)
FACTOR: Final = (
    1.5  # a token is long from so many times the usual length of its script on
)
_JAPANESE: Final = {"kana", "cjk"}  # scripts that are written together as a rule
_NEVER_BUILT: Final = (
    "Its bytes become {}: the merges never build this token, whatever stands around it."
)


def spelling(subject: AuditSubject) -> Iterator[Finding]:
    """Single bytes that UTF-8 never contains, parts of characters, and ordinary tokens written like special ones.

    A part of a character is a substring of valid UTF-8 of two or more bytes, cut inside a character at one or both
    ends. Evidence: "where", "stray" and "pending" (in hex), see `IncompleteEnds`.
    """
    for token, token_bytes in subject.tokens("bytes"):
        ends = incomplete_ends(token_bytes) if len(token_bytes) > 1 else None
        if len(token_bytes) == 1 and token_bytes[0] in UNUSED_BYTES:
            reason = f"No text in UTF-8 contains the byte {token_bytes.hex()}; it only completes the set of 256 bytes."
            yield subject.finding(
                token, "unused-byte", Severity.NOTE, reason, witness=None
            )
        if ends:
            evidence = {
                "where": ends.where,
                "stray": ends.stray.hex(),
                "pending": ends.pending.hex(),
            }
            yield subject.finding(
                token,
                "partial-utf8",
                Severity.NOTE,
                _INCOMPLETE_AT[ends.where],
                **evidence,
            )
        text = subject.tokenizer.vocabulary.text_bytes(token)
        if text.strip()[-1:] in (b">", b"]") and _LOOKALIKE.fullmatch(
            text.decode(errors="replace")
        ):
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
        if same := by_bytes.get(text.encode()):
            reason = f"It has the bytes of the special token {token}, so the same text can mean two things."
            yield subject.finding(
                same[0],
                "duplicate",
                Severity.WARNING,
                reason,
                ids=sorted([*same, token]),
            )
    for token_bytes, ids in by_bytes.items():
        if len(ids) > 1:
            used = vocabulary.encode(token_bytes)
            reason = f"The tokens {', '.join(map(str, ids))} have the same bytes, and encoding never uses this one."
            for token in ids:
                if used != (token,):
                    severity = subject.severity(
                        token, Severity.PROBLEM
                    )  # a byte is kept for texts that lack a token
                    yield subject.finding(token, "duplicate", severity, reason, ids=ids)


def added_tokens(subject: AuditSubject) -> Iterator[Finding]:
    """Added tokens that any text can hold, because they are not special, and special ones that are ordinary words.

    A warning for one that consists of letters and digits, which texts hold by chance; a note for others. Evidence:
    "special", "would_be" (the ids that its text becomes without it; empty if it cannot be encoded).
    """
    tokenizer = subject.tokenizer
    added = {token: (text, True) for text, token in tokenizer.special_tokens.items()}
    if tokenizer.preparation:
        added |= {
            one.token: (one.text, one.special) for one in tokenizer.preparation.added
        }
    for token, (text, special) in sorted(added.items()):
        is_word = text.strip().isalnum()
        if special and not is_word:
            continue
        would_be: list[int] = []
        with suppress(UnknownTokenError):
            would_be += tokenizer.encode_piece(text)
        where = (
            "where it is allowed as a special token"
            if special
            else "wherever it stands, also inside of words"
        )
        reason = f"A text that holds {subject.label(token)} becomes this added token, {where}"
        reason += (
            f"; without it, it would be {subject.joined(would_be)}."
            if would_be not in ([], [token])
            else "."
        )
        severity, strength = (
            (Severity.WARNING, 1.0) if is_word else (Severity.NOTE, 0.2)
        )
        evidence = {"special": special, "would_be": would_be, "strength": strength}
        yield subject.finding(
            token, "added-token", severity, reason, witness=text, **evidence
        )


def shape(subject: AuditSubject) -> Iterator[Finding]:
    """Tokens of one script with 1.5 times its usual number of letters or more, and tokens with letters of two scripts.

    The usual number is what 99 % of the tokens of that script do not exceed; scripts with fewer than 200 tokens are not
    compared. Runs of one letter are not long. Evidence: "shape" ("long" or "mixed-scripts"), "scripts", and for
    a long one "letters", "usual", "strength" (0 at the usual number, 0.5 at twice as many, near 1 beyond).
    """
    of_script: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for token, token_bytes in subject.tokens("shapes"):
        letters = [
            character
            for character in token_bytes.decode(errors="ignore")
            if character.isalpha()
        ]
        scripts = Counter(
            name for character in letters if (name := letter_script(character))
        )
        if len(scripts) > 1 and scripts.keys() != _JAPANESE:
            names = sorted(scripts)
            reason = f"It has letters of {len(names)} scripts: {', '.join(names)}."
            evidence = {"shape": "mixed-scripts", "scripts": names, "strength": 0.3}
            yield subject.finding(token, "shape", Severity.NOTE, reason, **evidence)
        elif scripts and len(set(letters)) > 1:
            of_script["kana" if "kana" in scripts else next(iter(scripts))].append(
                (len(letters), token)
            )
    for name, found in sorted(of_script.items()):
        if len(found) < ENOUGH:
            continue
        found.sort()
        usual = found[int(USUAL * (len(found) - 1))][0]
        for n, token in reversed(found):
            if n < FACTOR * usual:
                break
            reason = f"It has {n} letters ({name}), and of a hundred tokens of this script 99 have {usual} or fewer."
            long: dict[str, object] = {
                "shape": "long",
                "scripts": [name],
                "letters": n,
                "usual": usual,
            }
            yield subject.finding(
                token,
                "shape",
                Severity.NOTE,
                reason,
                **long,
                strength=round((n - usual) / n, 4),
            )


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
                if token != mark and ids not in ([token], [token, mark]):
                    yield _of_text(subject, token, text, ids)
            elif len(token_bytes) > 1:
                encoded = vocabulary.encode(token_bytes)
                if incomplete_ends(token_bytes) is None:
                    reason = "No text in UTF-8 contains these bytes in this order."
                    yield _unreachable(subject, token, reason, "utf-8", encoded)
                elif encoded != (token,):
                    yield _unreachable(
                        subject,
                        token,
                        _NEVER_BUILT.format(subject.joined(encoded)),
                        "merges",
                        encoded,
                    )
        except UnknownTokenError as error:  # some published vocabularies lack bytes
            problem = f"{str(error)[0].lower()}{str(error)[1:]}"
            yield _unreachable(
                subject, token, f"Its bytes cannot be encoded: {problem}", "bytes", ()
            )


def _of_text(subject: AuditSubject, token: int, text: str, ids: list[int]) -> Finding:
    """The finding about a token whose bytes are valid UTF-8, `text`, but encode to other `ids`."""
    tokenizer, becomes = subject.tokenizer, subject.joined(ids)
    if ids and not is_mergeable(tokenizer, token):
        return _unreachable(subject, token, _NEVER_BUILT.format(becomes), "merges", ids)
    cause, does = (
        "pattern",
        f"cuts its text apart into {becomes}" if ids else "drops this text",
    )
    effect = f"the split pattern {does}"
    if tokenizer.vocabulary.end_of_word is not None and tokenizer.encode_piece(
        text
    ) == tuple(ids):
        cause, effect = (
            "end-of-word",
            f"with the end of a word behind it, its text becomes {becomes}",
        )
    elif tokenizer.preparation and (
        before := _before_split(tokenizer.preparation, text)
    ):
        cause, change = before
        effect = f"{change}, which becomes {becomes}" if ids else change
    effect_first = effect[0].upper() + effect[1:]
    if (
        cause == "pattern"
        and tokenizer.by_piece
        and not tokenizer.splitter.may_hold(text)
    ):
        return _unreachable(
            subject,
            token,
            f"{effect_first}, and no piece of any text holds it.",
            cause,
            ids,
        )
    found, tried = witness(tokenizer, token)
    if found:
        reason = f"Alone, {effect}; inside a longer text it does occur."
        evidence = {"witness": found, "cause": cause, "encodes_to": ids, "tried": tried}
        return subject.finding(
            token, "reachable-in-context", Severity.NOTE, reason, **evidence
        )
    reason = f"{effect_first}, and in none of {tried:,} contexts tried does it occur, which is no proof."
    return _unreachable(subject, token, reason, cause, ids, tried)


def _before_split(preparation: Preparation, text: str) -> tuple[str, str] | None:
    """What happens to a text before it is split, as (cause, a clause); None if nothing does."""
    parts = list(preparation.parts(text, frozenset()))
    if any(isinstance(part, int) for part in parts):
        return "added-token", "an added token is found in its text first"
    prepared = "".join(
        piece for part in parts if not isinstance(part, int) for piece in part
    )
    if prepared == text:
        return None
    if not prepared:
        return "normalizer", "its text is removed before the split"
    before, its, after = prepared.partition(text)
    if not its or after:
        return (
            "normalizer",
            f"its text is first changed into “{token_label(prepared.encode())}”",
        )
    cause = "prefix-space" if before.isspace() else "normalizer"
    return cause, f"“{token_label(before.encode())}” is put before its text"


def _unreachable(
    subject: AuditSubject,
    token: int,
    reason: str,
    cause: str,
    ids: Sequence[int],
    tried: int = 0,
) -> Finding:
    """The finding about a token; if contexts were `tried`, this is not proved."""
    evidence = {
        "witness": None,
        "cause": cause,
        "encodes_to": list(ids),
        "strength": UNPROVEN if tried else 1.0,
    }
    severity = subject.severity(token, Severity.WARNING if tried else Severity.PROBLEM)
    return subject.finding(
        token,
        "unreachable",
        severity,
        reason,
        **evidence,
        **{"tried": tried} if tried else {},
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
    """Tokens that texts become with this tokenizer, but not with another `pattern` or `normalizer`, by id.

    `pattern` is a name of `PATTERNS` or a regular expression, which in a pipeline of several steps takes the place of
    those that split; `normalizer` is one of `NORMALIZERS`. None leaves it as it is; the vocabulary and added tokens
    stay. The findings are of the kind "unreachable". Raises `PatternError` or `OptionError` for one that there is not.
    """
    preparation = tokenizer.preparation
    if normalizer is not None:
        if normalizer not in NORMALIZERS:
            raise OptionError(
                f"There is no normalizer {quoted(normalizer)}; choose one of {', '.join(NORMALIZERS)}."
            )
        if preparation is None:
            preparation = Preparation(
                (), None, (SplitStep(tokenizer.splitter),), False, False, {}
            )
        preparation = replace(
            preparation, normalize=NORMALIZERS[normalizer], description={}
        )
    if pattern is not None and preparation is not None:
        kept = [step for step in preparation.steps if not isinstance(step, SplitStep)]
        places = [
            i for i, step in enumerate(preparation.steps) if isinstance(step, SplitStep)
        ]
        kept.insert(places[0] if places else len(kept), SplitStep(splitter(pattern)))
        preparation = replace(preparation, steps=tuple(kept), description={})
    changed = Tokenizer(
        tokenizer.vocabulary, pattern or tokenizer.pattern, preparation=preparation
    )

    def is_reached(token: int) -> bool:
        with suppress(UnicodeDecodeError, UnknownTokenError):
            if tokenizer.encode_ordinary(
                tokenizer.vocabulary.text_bytes(token).decode()
            ) == [token]:
                return True
        return witness(tokenizer, token)[0] is not None

    found = unreachable(AuditSubject(changed, progress=progress))
    return (
        finding
        for finding in found
        if finding.kind == "unreachable" and is_reached(finding.id)
    )


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
    tokens, merges = counted(tokenizer.n_tokens, "token"), counted(n_merges, "merge")
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
        more = (
            f", and in {counted(len(holes) - 1, 'other range')}"
            if len(holes) > 1
            else ""
        )
        yield f"{counted(n, 'id has', 'ids have')} no token: {where}{more}."
