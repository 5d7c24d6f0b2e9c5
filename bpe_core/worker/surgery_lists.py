"""The report of `prune`, `graft` and `unite`: lists of tokens, words and findings, for people and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from bpe_core.report import ReportTable, Section, as_csv
from bpe_core.surgery.grafting import Grafted
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, duration, token_label
from bpe_core.worker.surgery import Changed, FindingsChange, TextsChange, ids_after

SHOWN: Final = 20
"""Maximum number of rows of a list that are printed. The others are only counted."""
_TOKEN: Final = {"id": "id", "text": "token"}
_FINDING: Final = {**_TOKEN, "kind": "finding", "reason": "why"}


class Listing(NamedTuple):
    """A list of the report."""

    name: str
    """Its key in JSON, where all rows are printed with all keys; "" to leave it out."""
    heading: str
    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, str]
    """Key of a row -> heading of its column; without columns it is not printed."""

    def sections(self, most: int = SHOWN) -> Iterator[Section]:
        """Yield a section with the first rows; none without rows."""
        n_rows = len(self.rows)
        if not (n_rows and self.columns):
            return
        shown = [[str(row[key]) for key in self.columns] for row in self.rows[:most]]
        numbers = (0,) if next(iter(self.columns)).startswith("id") else ()
        table = ReportTable([*self.columns.values()], shown, numbers, widest=100)
        more = f"and {n_rows - most:,} more" if n_rows > most else ""
        yield Section(f"{self.heading}  {n_rows:,}", table=table, more=more)

    def as_csv(self) -> str:
        """Return all rows. Texts are labels, since some readers end a row at a carriage return."""
        head = ("id_b", "id", "outcome", "token", "text", "reason")
        rows = [
            ["" if row[key] is None else str(row[key]) for key in head]
            for row in self.rows
        ]
        return as_csv([Section(table=ReportTable(head, rows, numbers=()))])


def token_row(tokenizer: Tokenizer, token: int, **more: Any) -> dict[str, Any]:
    data = tokenizer.token_bytes(token)
    return {"id": token, "token": data.hex(), "text": token_label(data), **more}


def _parts(tokenizer: Tokenizer, ids: Sequence[int] | None) -> dict[str, Any]:
    """Return what a text is in a tokenizer."""
    labels = [f"“{token_label(tokenizer.token_bytes(token))}”" for token in ids or ()]
    return {"ids": ids, "parts": " + ".join(labels) or "nothing"}


def _listing(
    name: str, heading: str, tokenizer: Tokenizer, tokens: Iterable[int]
) -> Listing:
    rows = [token_row(tokenizer, token) for token in tokens]
    return Listing(name, heading, rows, _TOKEN)


def pruned_listings(pruned: Pruned, changed: Changed) -> Iterator[Listing]:
    """Yield what was removed, what the texts of these tokens become now, and what else is affected."""
    before = changed.before
    rows = []
    for token in pruned.removed:
        ids = ids_after(changed.after, before.token_bytes(token))
        rows.append(token_row(before, token, **_parts(changed.after, ids)))
    columns = {**_TOKEN, "parts": "its text becomes"}
    yield Listing("removed", "Removed tokens", rows, columns)
    unreachable = "Removed too, since nothing makes them"
    if not set(pruned.unreachable).issubset(pruned.removed):
        unreachable = "Nothing makes these any more"
    for name, heading, tokens in (
        ("unreachable", unreachable, pruned.unreachable),
        ("kept", "Kept, since others are built on them", pruned.kept),
        ("only_whole", "Found only as whole pre-tokens now", pruned.only_whole),
    ):
        yield _listing(name, heading, before, tokens)


def grafted_listings(
    grafted: Grafted, changed: Changed, savings: Mapping[str, Any]
) -> Iterator[Listing]:
    """Yield the words that are tokens now, and those that can't be. `savings` has the tokens that words save."""
    rows = []
    for word in grafted.words:
        row = token_row(changed.after, word.token, **_parts(changed.before, word.parts))
        rows.append({**row, "saving": savings.get(word.word)})
    columns = {"id": "id", "text": "word", "parts": "before"}
    if savings:
        columns["saving"] = "tokens saved"
    yield Listing("words", "Words", rows, columns)
    refused = [
        {"text": token_label(word.word.encode(errors="replace")), "reason": word.reason}
        for word in grafted.refused
    ]
    yield Listing("refused", "Not added", refused, {"text": "word", "reason": "why"})
    heading = "New tokens that words are built from"
    yield _listing("intermediate", heading, changed.after, grafted.intermediate)


def united_listings(united: United, changed: Changed, b: Tokenizer) -> list[Listing]:
    """Return all tokens of B and all further new tokens, then those that are printed."""
    rows = []
    for token in united.tokens:
        row = token_row(b, token.id, id_b=token.id, outcome=token.outcome)
        ids = ids_after(changed.before, b.token_bytes(token.id))
        row |= _parts(changed.before, ids)
        rows.append({**row, "id": token.token, "reason": token.reason})
    parts = _listing("", "Further new tokens", changed.after, united.intermediate)
    for part in parts.rows:
        rows.append({**dict.fromkeys(rows[0]), **part, "outcome": "part"})
    new = [row for row in rows if row["outcome"] == "new"]
    impossible = [row for row in rows if row["outcome"] == "impossible"]
    columns = {"id_b": "id in B", "text": "token", "reason": "why"}
    return [
        Listing("tokens", "Tokens of B, and further new tokens", rows, {}),
        Listing(
            "", "New tokens", new, {**_TOKEN, "id_b": "id in B", "parts": "before"}
        ),
        parts,
        Listing("", "Not possible", impossible, columns),
    ]


def texts_section(texts: TextsChange) -> Section:
    rows = [
        ("tokens", f"{texts.n_before:,}", f"{texts.n_after:,}"),
        ("bytes per token", texts.ratio(texts.n_before), texts.ratio(texts.n_after)),
    ]
    lines = counted(texts.n_lines, "line has", "lines have")
    table = ReportTable(("", "before", "after"), rows, numbers=(1, 2))
    return Section(
        "The texts", [f"{texts.n_lines_changed:,} of {lines} other tokens."], table
    )


def findings_section(findings: FindingsChange) -> Section:
    before, after = findings.before.kinds(), findings.after.kinds()
    rows = [
        (kind, f"{before.get(kind, 0):,}", f"{after.get(kind, 0):,}")
        for kind in before | after
    ]
    table = ReportTable(("finding", "before", "after"), rows, numbers=(1, 2))
    sentence = f"Both tokenizers were audited in {duration(findings.seconds)}."
    return Section("The audit", [sentence], table)


def findings_listings(findings: FindingsChange) -> Iterator[Listing]:
    for name, heading, found in (
        ("new_findings", "New findings", findings.new),
        ("findings_gone", "Findings gone, on tokens that are left", findings.gone),
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
        yield Listing(name, heading, rows, _FINDING)
