"""A comparison of tokenizers as tables for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bpe_core.cli.table import table
from bpe_core.metrics import Amounts, Comparison, merges_in_common, overlap
from bpe_core.metrics.catalog import METRICS, called, of_all_texts, of_amounts
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label, visible


class Shown(NamedTuple):
    """What of a comparison is shown."""

    labels: Sequence[str]
    """The names of the tokenizers."""
    metrics: Sequence[str]
    """What is told of each text, folder and script: keys of `OF_PARTS`."""
    reference: str | None = None
    """The text or folder that parity relates to; the first if None."""
    n_examples: int = 10
    n_lines: int = 10


def tables(comparison: Comparison, shown: Shown) -> str:
    """All tables as one text."""
    folders = comparison.folders()
    parts = [_amounts("text", [text.amounts for text in comparison.texts], shown, comparison.total)]
    if len(folders) > 1:
        parts.append(_amounts("folder", folders, shown))
    parts += [
        _amounts("script", comparison.scripts(), shown),
        measures(comparison, shown),
        number_splits(comparison, shown.labels),
    ]
    for index in range(len(comparison.pairs)):
        parts.append(_pair(comparison, index, shown))
    for index in range(len(comparison.tokenizers)):
        parts.append(_worst_lines(comparison, index, shown))
    return "\n\n".join(text for part in parts if (text := "\n".join(part)))


def _amounts(what: str, parts: Sequence[Amounts], shown: Shown, total: Amounts | None = None) -> Iterator[str]:
    """A row for each text, folder or script: its bytes, and for each tokenizer the metrics that are shown.

    The metrics of `total` follow where there is more than one row; parity is told of texts and folders alone.
    """
    metrics = [key for key in shown.metrics if what != "script" or key != "parity"]
    reference = called(parts, shown.reference)
    rows = [[what, "bytes", *(_head(key, label) for label in shown.labels for key in metrics)]]
    for one in [*parts, *([total] if total and len(parts) > 1 else [])]:
        rows.append([visible(one.name).replace("_", " "), f"{one.n_bytes:,}"])
        for index in range(len(shown.labels)):
            for key in metrics:
                value = of_amounts(key, one, index, reference=None if one is total else reference)
                rows[-1].append("" if value is None else METRICS[key].text(value))
    yield from table(rows)


_SHORT = {"bytes_per_token": "b/token", "characters_per_token": "c/token", "continued_words": "continued"}


def _head(key: str, label: str) -> str:
    """The head of a column: the tokenizer stands above its tokens, the other metrics follow by their own names."""
    return label if key == "tokens" else _SHORT.get(key, METRICS[key].title)


def measures(comparison: Comparison, shown: Shown) -> Iterator[str]:
    """A row for each metric of all texts together: its value for each tokenizer, and its unit."""
    rows = [["all texts", *shown.labels, "unit"]]
    first, *others = comparison.total.n_tokens
    if others:
        rows.append(["tokens beside the first", "", *(f"{n / (first or 1) - 1:+.1%}" for n in others), ""])
    for key, values in of_all_texts(comparison).items():
        metric = METRICS[key]
        rows.append([metric.title, *map(metric.text, values), metric.unit])
    yield from table(rows, numbers=range(1, len(others) + 2))


def number_splits(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    """How numbers of four digits or more are cut into tokens: the three most frequent splits of each tokenizer."""
    rows = [["numbers of 4 digits and more", *labels]]
    ways = [[(way, n) for way, n in splits.most_common() if sum(way) > 3][:3] for splits in comparison.number_splits]
    for place in range(max(map(len, ways))):
        rows.append([("most often", "then", "then")[place]])
        rows[-1] += [_way(*mine[place]) if place < len(mine) else "" for mine in ways]
    if len(rows) > 1:
        yield from table(rows)
    else:
        yield "No number of 4 digits or more occurs."


def _way(lengths: Sequence[int], n: int) -> str:
    return f"{'+'.join(map(str, lengths))} ({n:,})"


def _pair(comparison: Comparison, index: int, shown: Shown) -> Iterator[str]:
    pair, first, other = comparison.pairs[index], comparison.tokenizers[0], comparison.tokenizers[index + 1]
    one, two = shown.labels[0], shown.labels[index + 1]
    agreement = pair.agreement
    yield f"{one} and {two}"
    yield (
        f"  boundaries: {agreement.n_first:,} and {agreement.n_second:,}, {agreement.n_shared:,} in common; "
        f"precision {agreement.precision:.3f}, recall {agreement.recall:.3f}, F1 {agreement.f1:.3f}"
    )
    shared = overlap(first, other)
    yield (
        f"  vocabularies: {counted(shared.n_shared, 'token')} in common, {len(shared.only_first):,} only in {one}, "
        f"{len(shared.only_second):,} only in {two}"
    )
    for name, tokenizer, ids in ((one, first, shared.only_first), (two, other, shared.only_second)):
        if ids:
            yield f"    first only in {name}: {_labels(tokenizer, ids[:8])}"
    yield f"  the same merges up to step {merges_in_common(first, other):,}"
    examples = pair.examples(shown.n_examples)
    if not examples:
        yield "  They do not disagree."
        return
    yield "  most frequent disagreements"
    rows = [
        [
            f"  {example.n_times:,}",
            _labels(first, example.first),
            _labels(other, example.other),
            f"{visible(comparison.texts[example.place.text].amounts.name)}:{example.place.line}",
        ]
        for example in examples
    ]
    yield from table([["  times", one, two, "first in"], *rows], numbers=(0,))


def _worst_lines(comparison: Comparison, index: int, shown: Shown) -> Iterator[str]:
    """The lines for which a tokenizer needs the most more tokens than the best of the others."""
    lines = comparison.worst_lines.of(index)[: max(0, shown.n_lines)] if comparison.worst_lines else []
    if not lines:
        return
    best = "the other" if len(shown.labels) == 2 else "the best of the others"
    yield f"{shown.labels[index]}: the lines that are worst for it, in tokens more than by {best}"
    rows = [
        [
            f"+{one.excess(index):,}",
            *(f"{n:,}" for n in one.n_tokens),
            f"{visible(comparison.texts[one.text].amounts.name)}:{one.number}",
            visible(one.line.strip()),
        ]
        for one in lines
    ]
    yield from table([["more", *shown.labels, "in", "line"], *rows], numbers=range(len(shown.labels) + 1), widest=60)


def _labels(tokenizer: Tokenizer, ids: Iterable[int]) -> str:
    return " ".join(token_label(tokenizer.token_bytes(id)) for id in ids)
