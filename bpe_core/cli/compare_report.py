"""The tables and sentences of `measure` and `compare`, made from the results in JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from bpe_core.metrics.catalog import METRICS
from bpe_core.metrics.labels import numbered
from bpe_core.metrics.scripts import WITHOUT_SPACES
from bpe_core.report import ReportTable, Section
from bpe_core.visible import counted, token_label
from bpe_core.worker.comparison_json import (
    boundaries_sentence,
    metric_rows,
    number_split_rows,
)

Results = Mapping[str, Any]
"""The object that `compare --json` prints, or an object in it."""
Labels = Sequence[str]
"""The names of the tokenizers in a report, in the order of the tokenizers."""
_OTHER_COLUMNS: Final = (
    "text",
    "folder",
    "script",
    "bytes",
    "all texts",
    "unit",
    "times",
    "first in",
    "more",
    "in",
    "line",
)
"""Names of other columns. A tokenizer with one of these names is numbered."""
_SHORT_TITLES: Final = {
    "bytes_per_token": "b/token",
    "characters_per_token": "c/token",
    "continued_words": "continued",
    "whole_words": "whole",
}
"""Titles of metrics that are repeated for each tokenizer."""
_RANKS: Final = ("most frequent", "second", "third")
_TOKENS_SHOWN: Final = 8
"""Maximum number of tokens of only one vocabulary that are listed."""


def report_sections(
    results: Results, metrics: Sequence[str], is_for_terminal: bool, compares: bool
) -> Iterator[Section]:
    """Yield the sections of a report.

    Args:
        results: All results.
        metrics: The metrics to show for each text, folder and script.
        is_for_terminal: Whether the names of columns should be short.
        compares: Whether to show more than the totals.
    """
    labels = numbered(results["labels"], taken=_OTHER_COLUMNS)
    if compares:
        for kind in ("text", "folder", "script"):
            parts = results[f"{kind}s"]
            if kind == "text" and len(parts) > 1:
                parts = [*parts, results["total"] | {"name": "all"}]
            if kind != "folder" or len(parts) > 1:
                table = _amounts(kind, parts, labels, metrics, is_for_terminal)
                yield Section(table=table)
    yield _totals(results, labels)
    yield _number_splits(results, labels)
    if compares:
        for pair in results["pairs"]:
            yield _pair(pair, labels)
        for index, lines in enumerate(results["worst_lines"]):
            if lines:
                yield _worst_lines(lines, index, labels)


def _amounts(
    kind: str,
    parts: Iterable[Results],
    labels: Labels,
    metrics: Sequence[str],
    is_for_terminal: bool,
) -> ReportTable:
    """Make a row for each text, folder or script: its bytes, and the metrics of each tokenizer.

    The column with the tokens of a tokenizer has the tokenizer's name. Other columns have the name
    and the metric; in a terminal, all columns after the first one of a tokenizer have only the metric.
    Scripts have no parity.
    """
    if kind == "script":
        metrics = [key for key in metrics if key != "parity"]
    heads = [kind, "bytes"]
    for label in labels:
        for number, key in enumerate(metrics):
            title = _SHORT_TITLES.get(key, METRICS[key].title)
            if is_for_terminal and number > 0:
                heads.append(title)
            elif key == "tokens":
                heads.append(label)
            else:
                heads.append(f"{label} {title}")
    rows = []
    for part in parts:
        name = part["name" if kind == "text" else kind]
        if kind == "script":
            name = name.replace("_", " ")
        row = [name, f"{part['bytes']:,}"]
        for index in range(len(labels)):
            for key in metrics:
                cell = ""
                if key in part:
                    cell = format(part[key][index], METRICS[key].form)
                row.append(cell)
        rows.append(row)
    return ReportTable(heads, rows, numbers=range(1, len(heads)))


def _totals(results: Results, labels: Labels) -> Section:
    """Make a row for each metric of all texts together."""
    total = results["total"]
    rows = []
    if len(labels) > 1:
        n_first = total["tokens"][0] or 1
        changes = [f"{n / n_first - 1:+.1%}" for n in total["tokens"][1:]]
        rows.append(["tokens relative to first", "", *changes, ""])
    for metric, values in metric_rows(results):
        rows.append([metric.title, *values, metric.unit])
    heads = ["all texts", *labels, "unit"]
    scripts = [part["script"] for part in results["scripts"]]
    unspaced = [script for script in scripts if script in WITHOUT_SPACES]
    sentences = []
    if unspaced:
        sentences.append(
            f"{', '.join(unspaced)}: written without spaces between words, so fertility and "
            "other metrics of words do not apply."
        )
    table = ReportTable(heads, rows, numbers=range(1, len(labels) + 1))
    return Section(sentences=sentences, table=table)


def _number_splits(results: Results, labels: Labels) -> Section:
    """Show the most frequent splits of long numbers, such as 3+1 for 2024."""
    rows = [
        [rank, *splits]
        for rank, splits in zip(_RANKS, number_split_rows(results), strict=False)
    ]
    if not rows:
        return Section(sentences=["The texts contain no numbers of 4 digits or more."])
    heads = ["numbers of 4 digits and more", *labels]
    return Section(table=ReportTable(heads, rows, numbers=range(1, len(heads))))


def _pair(pair: Results, labels: Labels) -> Section:
    """Describe where the first tokenizer and another agree and disagree."""
    first, other = (labels[index] for index in pair["tokenizers"])
    boundaries = pair["boundaries"]
    vocabularies = pair["vocabularies"]
    sentences = [
        boundaries_sentence(pair, first, other),
        f"vocabularies: {counted(vocabularies['shared'], 'token')} in both, "
        f"{vocabularies['only_first']:,} only in {first}, {vocabularies['only_second']:,} only "
        f"in {other}",
    ]
    for name, key in ((first, "first_only_first"), (other, "first_only_second")):
        tokens = [token for _, token in vocabularies[key][:_TOKENS_SHOWN]]
        if tokens:
            sentences.append(f"  first tokens only in {name}: {_join_labels(tokens)}")
    sentences.append(f"merges: the same up to step {vocabularies['same_merges']:,}")
    if boundaries["first"] == boundaries["second"] == boundaries["shared"]:
        sentences.append("Both tokenizers split these texts in the same places.")
    table = None
    if pair["disagreements"]:
        sentences.append("most frequent disagreements:")
        table = _disagreements(pair["disagreements"], first, other)
    return Section(f"{first} and {other}", sentences, table)


def _disagreements(
    disagreements: Iterable[Results], first: str, other: str
) -> ReportTable:
    rows = []
    for example in disagreements:
        splits = [_join_labels(tokens) for tokens in example["tokens"]]
        place = f"{example['in']}:{example['line']}"
        rows.append([f"{example['count']:,}", *splits, place])
    return ReportTable(["times", first, other, "first in"], rows, numbers=(0,))


def _join_labels(tokens: Iterable[str]) -> str:
    """Join the labels of tokens that are given in hexadecimal."""
    return " ".join(token_label(bytes.fromhex(token)) for token in tokens)


def _worst_lines(lines: Iterable[Results], index: int, labels: Labels) -> Section:
    """Show the lines in which a tokenizer has the most extra tokens."""
    rows = []
    for line in lines:
        n_tokens = [f"{n:,}" for n in line["tokens"]]
        place = f"{line['in']}:{line['line']}"
        rows.append([f"+{line['excess']:,}", *n_tokens, place, line["text"].strip()])
    numbers = range(len(labels) + 1)
    table = ReportTable(["more", *labels, "in", "line"], rows, numbers, widest=60)
    best = "the other" if len(labels) == 2 else "the best of the others"
    heading = f"{labels[index]}: lines with the most extra tokens, compared with {best}"
    return Section(heading, table=table)
