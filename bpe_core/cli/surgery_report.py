"""The report of `prune`, `graft` and `unite`: what has changed, for people and as JSON."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final

from bpe_core.auditing.findings import Finding
from bpe_core.report import ReportTable, Section
from bpe_core.surgery.grafting import Grafted
from bpe_core.surgery.pruning import Pruned
from bpe_core.surgery.uniting import United
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, duration, token_label, visible
from bpe_core.worker.surgery import Changed, FindingsChange, TextsChange, ids_after

SHOWN: Final = 20
"""Maximum number of tokens, words or findings that are listed. The others are only counted."""


def label(tokenizer: Tokenizer, token: int) -> str:
    return token_label(tokenizer.token_bytes(token))


def labels(tokenizer: Tokenizer, ids: Iterable[int]) -> str:
    return " + ".join(f"“{label(tokenizer, token)}”" for token in ids)


def first_tokens(tokenizer: Tokenizer, ids: Sequence[int], most: int = SHOWN) -> str:
    """Name the first tokens in a sentence, and count the others."""
    shown = [f"{token} “{label(tokenizer, token)}”" for token in ids[:most]]
    if len(ids) > most:
        shown.append(f"{len(ids) - most:,} more")
    return ", ".join(shown)


def list_section(
    heading: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[Section]:
    """Yield a section with the first rows; none without rows."""
    if rows:
        more = f"and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
        table = ReportTable(head, rows[:SHOWN], numbers=(0,), widest=100)
        yield Section(f"{heading}  {len(rows):,}", table=table, more=more)


def pruned_sections(pruned: Pruned, changed: Changed) -> Iterator[Section]:
    """Yield what was removed, and what the texts of these tokens become now."""
    before = changed.before
    n_left = counted(changed.after.n_tokens, "token is left", "tokens are left")
    sentences = [f"Removed {counted(len(pruned.removed), 'token')}; {n_left}."]
    if pruned.edit.new_ids is None:
        sentences.append("All other tokens keep their ids.")
    else:
        sentences.append("The tokens that are left have new ids.")
    if pruned.unreachable:
        names = first_tokens(before, pruned.unreachable)
        sentences.append(f"Removed with them, since no text becomes them now: {names}.")
    if pruned.kept:
        names = first_tokens(before, list(pruned.kept))
        sentences.append(f"Kept, since other tokens are built on them: {names}.")
    if pruned.only_whole:
        names = first_tokens(before, pruned.only_whole)
        sentences.append(f"Now found only as a whole pre-token: {names}.")
    yield Section(sentences=sentences)
    rows = []
    for token in pruned.removed:
        ids = ids_after(changed.after, before.token_bytes(token))
        becomes = "nothing" if ids is None else labels(changed.after, ids)
        rows.append((str(token), label(before, token), becomes))
    head = ("id", "token", "its text becomes")
    yield from list_section("Removed tokens", head, rows)


def pruned_json(pruned: Pruned, changed: Changed) -> dict[str, Any]:
    removed = [
        {
            **token_json(changed.before, token),
            "becomes": ids_after(changed.after, changed.before.token_bytes(token)),
        }
        for token in pruned.removed
    ]
    return {
        "removed": removed,
        "unreachable": pruned.unreachable,
        "kept": list(pruned.kept),
        "only_whole": pruned.only_whole,
    }


def token_json(tokenizer: Tokenizer, token: int) -> dict[str, Any]:
    data = tokenizer.token_bytes(token)
    return {"id": token, "token": data.hex(), "text": data.decode(errors="replace")}


def grafted_sections(
    grafted: Grafted, changed: Changed, savings: Mapping[str, Any]
) -> Iterator[Section]:
    """Yield the words that are tokens now, and those that can't be. `savings` has the tokens that words save."""
    sentences = [
        f"Added {counted(len(grafted.words), 'word')} by {counted(len(grafted.merges), 'merge')}, each of which makes a "
        f"new token; {counted(changed.after.n_tokens, 'token')} in all."
    ]
    if grafted.intermediate:
        names = first_tokens(changed.after, grafted.intermediate)
        sentences.append(f"New tokens that words are built from: {names}.")
    yield Section(sentences=sentences)
    rows = []
    for word in grafted.words:
        row = [str(word.token), label(changed.after, word.token)]
        row.append(labels(changed.before, word.parts))
        if savings:
            row.append(f"{savings[word.word]:,}")
        rows.append(row)
    head = ["id", "word", "before"]
    if savings:
        head.append("tokens saved")
    yield from list_section("Words", head, rows)
    refused = [
        ("", token_label(word.word.encode(errors="replace")), word.reason)
        for word in grafted.refused
    ]
    yield from list_section("Not added", ("", "word", "why"), refused)


def grafted_json(
    grafted: Grafted, changed: Changed, savings: Mapping[str, Any]
) -> dict[str, Any]:
    words = []
    for word in grafted.words:
        fields = {**token_json(changed.after, word.token), "before": word.parts}
        if savings:
            fields["saving"] = savings[word.word]
        words.append(fields)
    refused = [{"word": word.word, "reason": word.reason} for word in grafted.refused]
    return {
        "words": words,
        "refused": refused,
        "intermediate": grafted.intermediate,
        "merges": grafted.merges,
    }


def united_sections(
    united: United, changed: Changed, b: Tokenizer
) -> Iterator[Section]:
    """Yield what became of the tokens of B."""
    outcomes = [token.outcome for token in united.tokens]
    sentences = [
        f"Of {counted(len(outcomes), 'token')} of the second tokenizer, {outcomes.count('same'):,} were there already, "
        f"{outcomes.count('new'):,} are new and {outcomes.count('impossible'):,} are not possible.",
        f"The first tokenizer keeps its ids; {counted(changed.after.n_tokens, 'token')} in all.",
    ]
    if united.intermediate:
        names = first_tokens(changed.after, united.intermediate)
        sentences.append(f"New tokens that others are built from: {names}.")
    yield Section(sentences=sentences)
    new = []
    impossible = []
    for token in united.tokens:
        name = label(b, token.id)
        if token.outcome == "new":
            ids = ids_after(changed.before, b.token_bytes(token.id))
            parts = labels(changed.before, ids or ())
            new.append((str(token.token), name, str(token.id), parts))
        elif token.outcome == "impossible":
            impossible.append((str(token.id), name, token.reason))
    yield from list_section("New tokens", ("id", "token", "id before", "before"), new)
    yield from list_section("Not possible", ("id", "token", "why"), impossible)


def united_rows(
    united: United, changed: Changed, b: Tokenizer
) -> Iterator[dict[str, Any]]:
    """Yield each token of B, and each further new token, as the rows of a table."""
    for token in united.tokens:
        fields = token_json(b, token.id)
        yield {
            "id_b": token.id,
            "id": token.token,
            "outcome": token.outcome,
            "token": fields["token"],
            "text": fields["text"],
            "reason": token.reason,
        }
    for new in united.intermediate:
        row = {"id_b": None, "outcome": "part", **token_json(changed.after, new)}
        yield {**row, "reason": "other tokens are built from it"}


def table_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        # Some readers end a row at a carriage return.
        writer.writerow({**row, "text": visible(row["text"])})
    return out.getvalue()


def texts_sections(texts: TextsChange) -> Iterator[Section]:
    rows = [
        ("tokens", f"{texts.n_before:,}", f"{texts.n_after:,}"),
        (
            "bytes per token",
            f"{texts.n_bytes / max(1, texts.n_before):.3f}",
            f"{texts.n_bytes / max(1, texts.n_after):.3f}",
        ),
    ]
    lines = counted(texts.n_lines, "line has", "lines have")
    sentence = f"{texts.n_lines_changed:,} of {lines} other tokens."
    table = ReportTable(("", "before", "after"), rows, numbers=(1, 2))
    yield Section("The texts", [sentence], table)


def findings_sections(findings: FindingsChange) -> Iterator[Section]:
    before, after = findings.before.kinds(), findings.after.kinds()
    rows = [
        (kind, f"{before.get(kind, 0):,}", f"{after.get(kind, 0):,}")
        for kind in before | after
    ]
    sentence = (
        f"{counted(len(findings.new), 'finding is', 'findings are')} new, and {len(findings.gone):,} on tokens that are "
        f"left {'is' if len(findings.gone) == 1 else 'are'} gone. The two audits took {duration(findings.seconds)}."
    )
    table = ReportTable(("finding", "before", "after"), rows, numbers=(1, 2))
    yield Section("The audit", [sentence], table if rows else None)
    head = ("id", "token", "finding", "why")
    yield from list_section("New findings", head, _finding_rows(findings.new))
    yield from list_section("Findings gone", head, _finding_rows(findings.gone))


def _finding_rows(findings: Iterable[Finding]) -> list[Sequence[str]]:
    return [
        (str(finding.id), finding.label, finding.kind, finding.reason)
        for finding in findings
    ]


def findings_json(findings: FindingsChange) -> dict[str, Any]:
    def listed(some: Iterable[Finding]) -> list[dict[str, Any]]:
        return [
            {"id": finding.id, "kind": finding.kind, "reason": finding.reason}
            for finding in some
        ]

    return {
        "before": findings.before.kinds(),
        "after": findings.after.kinds(),
        "gone": listed(findings.gone),
        "new": listed(findings.new),
    }
