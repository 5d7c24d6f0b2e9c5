"""What `prune`, `graft` and `unite` report: lists of tokens, words and findings, for people and as JSON."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final, NamedTuple

from bpe_core.report import ReportTable, Section
from bpe_core.surgery.grafting import Grafted, joined_labels
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8
from bpe_core.visible import token_label
from bpe_core.weighted import Count
from bpe_core.worker.surgery import Changed, FindingsChange, TextsChange, ids_after

SHOWN: Final = 20
"""Maximum number of rows of a list that are printed. The others are only counted."""
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


class Listing(NamedTuple):
    """A list of the report."""

    name: str
    """Its key in JSON, which has all rows; "" to leave it out."""
    heading: str
    """Its heading for people; "" to leave it out."""
    rows: Sequence[Mapping[str, Any]]

    def sections(self, most: int = SHOWN) -> Iterator[Section]:
        """Yield a section with the first rows; none without rows."""
        if not self.heading or not self.rows:
            return
        shown = self.rows[:most]
        keys = [
            key
            for key in _COLUMNS
            if any(row.get(key) not in (None, "") for row in shown)
        ]
        table = ReportTable(
            [_COLUMNS[key] for key in keys],
            [[str(row[key]) for key in keys] for row in shown],
            numbers=[index for index, key in enumerate(keys) if key in _NUMBERS],
            widest=100,
        )
        n_more = len(self.rows) - len(shown)
        more = f"and {n_more:,} more" if n_more else ""
        yield Section(f"{self.heading}  {len(self.rows):,}", table=table, more=more)


def token_rows(tokenizer: Tokenizer, tokens: Iterable[int]) -> Iterator[dict[str, Any]]:
    for token in tokens:
        data = tokenizer.token_bytes(token)
        yield {"id": token, "token": data.hex(), "text": token_label(data)}


def _tokens_of_text(tokenizer: Tokenizer, ids: Sequence[int] | None) -> str:
    return joined_labels(map(tokenizer.token_bytes, ids or ())) or "nothing"


def pruned_listings(pruned: Pruned, changed: Changed) -> Iterator[Listing]:
    """Yield the removed tokens, the tokens that their texts become now, and the other tokens that are affected."""
    removed = list(token_rows(changed.before, pruned.removed))
    for row in removed:
        ids = ids_after(changed.after, bytes.fromhex(row["token"]))
        row |= {"ids": ids, "becomes": _tokens_of_text(changed.after, ids)}
    yield Listing("removed", "Removed tokens", removed)
    unreachable = "Removed too, since nothing makes them"
    if not set(pruned.unreachable).issubset(pruned.removed):
        unreachable = "Nothing makes these any more"
    for name, heading, tokens in (
        ("unreachable", unreachable, pruned.unreachable),
        ("kept", "Kept, since others are built on them", pruned.kept),
        ("only_whole", "Found only as whole pre-tokens now", pruned.only_whole),
    ):
        yield Listing(name, heading, list(token_rows(changed.before, tokens)))


def grafted_listings(
    grafted: Grafted, changed: Changed, savings: Mapping[str, Count]
) -> Iterator[Listing]:
    """Yield the words that are tokens now, and those that can't be. `savings` has the tokens that words save."""
    words = list(token_rows(changed.after, [word.token for word in grafted.words]))
    for row, word in zip(words, grafted.words, strict=True):
        row |= {"ids": word.parts, "was": _tokens_of_text(changed.before, word.parts)}
        row["saving"] = savings.get(word.word)
    yield Listing("words", "Words", words)
    refused = [
        {"text": token_label(utf8(word.word)), "reason": word.reason}
        for word in grafted.refused
    ]
    yield Listing("refused", "Not added", refused)
    parts = list(token_rows(changed.after, grafted.intermediate))
    yield Listing("intermediate", "New tokens that words are built from", parts)


def united_listings(united: United, changed: Changed, b: Tokenizer) -> list[Listing]:
    """Return a list for programs, of all tokens of B and all further new tokens, and three lists for people."""
    of_b = list(token_rows(b, [token.id for token in united.tokens]))
    for row, token in zip(of_b, united.tokens, strict=True):
        ids = ids_after(changed.before, bytes.fromhex(row["token"]))
        row |= {"ids": ids, "was": _tokens_of_text(changed.before, ids)}
        row |= {"id": token.token, "id_b": token.id}
        row |= {"outcome": token.outcome, "reason": token.reason}
    parts = list(token_rows(changed.after, united.intermediate))
    for row in parts:
        row["outcome"] = "part"
    new = [row for row in of_b if row["outcome"] == "new"]
    impossible = [row for row in of_b if row["outcome"] == "impossible"]
    return [
        Listing("tokens", "", of_b + parts),
        Listing("", "New tokens", new),
        Listing("", "Further new tokens", parts),
        Listing("", "Not possible", impossible),
    ]


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows of `unite`. Texts are labels, since some readers end a row at a carriage return."""
    text = StringIO()
    head = ("id_b", "id", "outcome", "token", "text", "reason")
    writer = csv.DictWriter(text, head, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def texts_section(texts: TextsChange) -> Section:
    sentence = f"Different lines: {texts.n_lines_changed:,} of {texts.n_lines:,}."
    n_tokens = (texts.n_before, texts.n_after)
    rows = [
        ["tokens", *[f"{n:,}" for n in n_tokens]],
        ["bytes per token", *[f"{texts.n_bytes / max(1, n):.3f}" for n in n_tokens]],
    ]
    table = ReportTable(("", "before", "after"), rows, numbers=(1, 2))
    return Section("The texts", [sentence], table)


def findings_section(findings: FindingsChange) -> Section:
    before, after = findings.before.kinds(), findings.after.kinds()
    rows = [
        (kind, f"{before.get(kind, 0):,}", f"{after.get(kind, 0):,}")
        for kind in before | after
    ]
    head = ("finding", "before", "after")
    return Section("The audit", table=ReportTable(head, rows, numbers=(1, 2)))


def findings_listings(findings: FindingsChange) -> Iterator[Listing]:
    for name, heading, found in (
        ("new_findings", "New findings", findings.new),
        (
            "findings_gone",
            "Findings that are gone, on tokens that are left",
            findings.gone,
        ),
    ):
        rows = [
            {
                "id": finding.id,
                "text": finding.label,
                "kind": finding.kind,
                "reason": finding.reason,
            }
            for finding in found
        ]
        yield Listing(name, heading, rows)
