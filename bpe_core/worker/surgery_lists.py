"""What `prune`, `graft` and `unite` report: lists of tokens, words and findings, for people and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from bpe_core.auditing.findings import Finding
from bpe_core.difference.texts import TextsCompared
from bpe_core.errors import UnknownTokenError
from bpe_core.report import ReportTable, Section
from bpe_core.surgery.grafting import Grafted, joined_labels
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8
from bpe_core.visible import token_label
from bpe_core.weighted import Count

Row = dict[str, Any]
SHOWN: Final = 20
"""Maximum number of rows of a list that are printed. The others are only counted."""
_HEADINGS: Final = {
    "removed": "Removed tokens",
    "unreachable": "Nothing makes these any more",
    "kept": "Kept, since others are built on them",
    "only_whole": "Found only as whole pre-tokens now",
    "words": "Words",
    "refused": "Not added",
    "intermediate": "New tokens that words are built from",
    "new": "New tokens",
    "part": "New tokens that these are built from",
    "impossible": "Not possible",
    "new_findings": "New findings",
    "findings_gone": "Findings that are gone, on tokens that are left",
}
"""Name of a list -> its heading for people. Other lists are only in JSON."""
_COLUMNS: Final = {
    "id": "id",
    "id_b": "id in B",
    "text": "token",
    "becomes": "its text becomes",
    "was": "before",
    "saving": "tokens saved",
    "kind": "finding",
    "reason": "why",
}
"""Key of a row -> heading of its column. Other keys are only in JSON."""
_NUMBERS: Final = ("id", "id_b", "saving")


def list_sections(
    lists: Mapping[str, Sequence[Row]], most: int = SHOWN, hint: str = ""
) -> Iterator[Section]:
    """Yield the first rows of each list that has rows. `hint` follows the number of other rows."""
    for name, heading in _HEADINGS.items():
        rows = lists.get(name, ())
        if not rows:
            continue
        keys = [key for key in _COLUMNS if rows[0].get(key) not in (None, "")]
        table = ReportTable(
            [_COLUMNS[key] for key in keys],
            [[str(row[key]) for key in keys] for row in rows[:most]],
            numbers=[index for index, key in enumerate(keys) if key in _NUMBERS],
            widest=100,
        )
        n_more = len(rows) - most
        more = f"and {n_more:,} more{hint}" if n_more > 0 else ""
        yield Section(f"{heading}  {len(rows):,}", table=table, more=more)


def _token_rows(
    tokenizer: Tokenizer,
    tokens: Iterable[int],
    other: Tokenizer | None = None,
    column: str = "",
) -> list[Row]:
    """Return a row for each token. `column` has the tokens that `other` makes of its text."""
    rows: list[Row] = []
    for token in tokens:
        data = tokenizer.token_bytes(token)
        row: Row = {"id": token, "token": data.hex(), "text": token_label(data)}
        if other:
            ids: tuple[int, ...] = ()
            with suppress(UnknownTokenError):  # it lacks a byte
                ids = other.vocabulary.encode(data)
            row["ids"] = ids
            row[column] = joined_labels(map(other.token_bytes, ids)) or "nothing"
        rows.append(row)
    return rows


def pruned_lists(before: Tokenizer, pruned: Pruned) -> dict[str, list[Row]]:
    """List the removed tokens with what their texts become, and the other tokens that are affected.

    `pruned` is not renumbered.
    """
    return {
        "removed": _token_rows(before, pruned.removed, pruned.tokenizer, "becomes"),
        "unreachable": _token_rows(before, pruned.unreachable),
        "kept": _token_rows(before, sorted(pruned.kept)),
        "only_whole": _token_rows(before, pruned.only_whole),
    }


def grafted_lists(
    before: Tokenizer, grafted: Grafted, savings: Mapping[str, Count]
) -> dict[str, list[Row]]:
    """List the words that are tokens now, and those that can't be. `savings` has the tokens that words save."""
    after = grafted.tokenizer
    words = _token_rows(after, [word.token for word in grafted.words], before, "was")
    for row, word in zip(words, grafted.words, strict=True):
        row["saving"] = savings.get(word.word)
    refused = [
        {"text": token_label(utf8(word.word)), "reason": word.reason}
        for word in grafted.refused
    ]
    parts = _token_rows(after, grafted.intermediate)
    return {"words": words, "refused": refused, "intermediate": parts}


def united_rows(before: Tokenizer, united: United, b: Tokenizer) -> list[Row]:
    """Return a row for each token of B, and for each new token that B does not have."""
    rows = _token_rows(b, [token.id for token in united.tokens], before, "was")
    for row, token in zip(rows, united.tokens, strict=True):
        row |= {"id": token.token, "id_b": token.id}
        row |= {"outcome": token.outcome, "reason": token.reason}
    for row in _token_rows(united.tokenizer, united.intermediate):
        rows.append({**row, "outcome": "part"})
    return rows


def finding_rows(findings: Iterable[Finding], others: Iterable[Finding]) -> list[Row]:
    """Return a row for each finding that is not among the others."""
    known = {(finding.id, finding.kind) for finding in others}
    return [
        {
            "id": finding.id,
            "text": finding.label,
            "kind": finding.kind,
            "reason": finding.reason,
        }
        for finding in findings
        if (finding.id, finding.kind) not in known
    ]


def about_texts(texts: TextsCompared) -> list[str]:
    """Describe what a change does to texts, in sentences."""
    n_before, n_after = texts.n_tokens
    per_token = [f"{texts.n_bytes / max(1, n):.3f}" for n in texts.n_tokens]
    return [
        f"Tokens of the texts: {n_before:,} before, {n_after:,} after.",
        f"Bytes per token: {per_token[0]} before, {per_token[1]} after.",
        f"Different lines: {texts.n_different_lines:,} of {texts.n_lines:,}.",
    ]
