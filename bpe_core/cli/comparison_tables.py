"""A comparison of tokenizers as tables for people."""

from collections.abc import Iterator, Sequence

from bpe_core.cli.table import table
from bpe_core.metrics import Comparison, merges_in_common, overlap, parity
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label, visible


def tables(
    comparison: Comparison, labels: Sequence[str], with_parity: bool, price: float | None, n_examples: int
) -> str:
    """All tables as one text. `labels` are the names of the tokenizers, `price` is what a million tokens cost.

    With parity, a text shows tokens relative to those of the first text, instead of bytes per token.
    """
    parts = [
        _texts(comparison, labels, with_parity),
        _measures(comparison, labels, price),
        _scripts(comparison, labels),
        _numbers(comparison, labels),
    ]
    for index in range(len(comparison.pairs)):
        parts.append(_pair(comparison, index, labels, n_examples))
    return "\n\n".join("\n".join(part) for part in parts)


def _texts(comparison: Comparison, labels: Sequence[str], with_parity: bool) -> Iterator[str]:
    """A row for each text: its bytes, and for each tokenizer its tokens and bytes per token, or parity."""
    ratio = "parity" if with_parity else "b/token"
    rows = [["text", "bytes", *(cell for label in labels for cell in (label, ratio))]]
    reference = comparison.texts[0].n_tokens
    for text in comparison.texts:
        rows.append([visible(text.name), f"{text.n_bytes:,}"])
        for n, n_reference in zip(text.n_tokens, reference, strict=True):
            rows[-1] += [f"{n:,}", f"{parity(n, n_reference) if with_parity else text.n_bytes / (n or 1):.2f}"]
    if len(comparison.texts) > 1:
        totals = comparison.totals
        rows.append(["all", f"{totals[0].n_bytes:,}"])
        rows[-1] += [cell for total in totals for cell in (f"{total.n_tokens:,}", f"{total.bytes_per_token:.2f}")]
        if with_parity:
            rows[-1][3::2] = [""] * len(totals)
    yield from table(rows)


def _measures(comparison: Comparison, labels: Sequence[str], price: float | None) -> Iterator[str]:
    totals, tokenizers = comparison.totals, comparison.tokenizers
    rows = [["measure", *labels]]
    if len(totals) > 1:
        first = totals[0].n_tokens or 1
        rows.append(["tokens beside the first", "", *(f"{total.n_tokens / first - 1:+.1%}" for total in totals[1:])])
    rows += [
        ["bytes per token", *(f"{total.bytes_per_token:.3f}" for total in totals)],
        ["characters per token", *(f"{total.characters_per_token:.3f}" for total in totals)],
        ["tokens per word (fertility)", *(f"{total.fertility:.3f}" for total in totals)],
        ["words that are cut", *(f"{total.continued_words:.1%}" for total in totals)],
        ["Rényi efficiency, order 2.5", *(f"{total.renyi_efficiency:.4f}" for total in totals)],
        ["Shannon efficiency", *(f"{total.shannon_efficiency:.4f}" for total in totals)],
        [
            "part of the vocabulary used",
            *(f"{total.utilization(tokenizer):.1%}" for total, tokenizer in zip(totals, tokenizers, strict=True)),
        ],
    ]
    if price is not None:
        rows.append([f"price at {price:g} a million", *(f"{total.n_tokens * price / 1e6:.6g}" for total in totals)])
    yield from table(rows)


def _scripts(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    rows = [["script", "bytes", *(f"{label} b/token" for label in labels)]]
    for script, n_bytes, n_tokens in comparison.scripts():
        rows.append([script.replace("_", " "), f"{n_bytes:,}", *(f"{n_bytes / n:.2f}" if n else "-" for n in n_tokens)])
    yield from table(rows)


def _numbers(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    """How numbers of four digits or more are cut into tokens: the three most frequent splits of each tokenizer."""
    rows = [["numbers of 4 digits and more", *labels]]
    ways = [
        [(way, n) for way, n in total.number_splits.most_common() if sum(way) > 3][:3] for total in comparison.totals
    ]
    for place in range(max(map(len, ways))):
        rows.append([("most often", "then", "then")[place]])
        rows[-1] += [_way(*mine[place]) if place < len(mine) else "" for mine in ways]
    if len(rows) > 1:
        yield from table(rows)
    else:
        yield "No number of 4 digits or more occurs."


def _way(lengths: Sequence[int], n: int) -> str:
    return f"{'+'.join(map(str, lengths))} ({n:,})"


def _pair(comparison: Comparison, index: int, labels: Sequence[str], n_examples: int) -> Iterator[str]:
    pair, first, other = comparison.pairs[index], comparison.tokenizers[0], comparison.tokenizers[index + 1]
    one, two = labels[0], labels[index + 1]
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
            yield f"    first only in {name}: {' '.join(_label(tokenizer, id) for id in ids[:8])}"
    yield f"  the same merges up to step {merges_in_common(first, other):,}"
    examples = pair.examples(n_examples)
    if not examples:
        yield "  They do not disagree."
        return
    yield "  most frequent disagreements"
    rows = [
        [
            f"  {example.n_times:,}",
            " ".join(_label(first, id) for id in example.first),
            " ".join(_label(other, id) for id in example.other),
            f"{visible(example.name)}:{example.line}",
        ]
        for example in examples
    ]
    yield from table([["  times", one, two, "first in"], *rows], numbers=(0,))


def _label(tokenizer: Tokenizer, id: int) -> str:
    return token_label(tokenizer.token_bytes(id))
