"""The sections of a report on the differences of two tokenizers on texts."""

from collections.abc import Iterator, Sequence

from bpe_core.difference.texts import TextsCompared
from bpe_core.report import ReportTable, Section
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, token_label


def tokens_and_ids(tokenizer: Tokenizer, ids: Sequence[int] | None) -> list[str]:
    """Return two cells: the tokens with these ids, and the ids. None stands for a text that can't be encoded."""
    if ids is None:
        return ["can't be encoded", ""]
    labels = [f"`{token_label(tokenizer.token_bytes(token))}`" for token in ids]
    return [" ".join(labels) or "nothing", " ".join(map(str, ids))]


def text_sections(
    compared: TextsCompared, tokenizers: Sequence[Tokenizer]
) -> Iterator[Section]:
    """Yield how many lines are different, a row for each cause, and the first differences of each.

    Args:
        compared: The result of `compare_texts`.
        tokenizers: A and B.
    """
    n_of_a, n_of_b = compared.n_tokens
    share = compared.n_different_lines / max(1, compared.n_lines)
    lines = counted(compared.n_lines, "line")
    sentences = [
        f"Different lines: {compared.n_different_lines:,} of {lines} ({share:.2%}).",
        f"Tokens: {n_of_a:,} in A, {n_of_b:,} in B ({compared.change:+.2%}).",
    ]
    if not compared.causes:
        yield Section("On these texts", sentences)
        return
    rows = [
        [cause.part, f"{cause.n_differences:,}", f"{cause.n_lines:,}"]
        for cause in compared.causes
    ]
    table = ReportTable(["cause", "differences", "lines"], rows, numbers=(1, 2))
    yield Section("On these texts", sentences, table)
    a, b = tokenizers
    rows = []
    for cause in compared.causes:
        for difference in cause.first:
            of_a = tokens_and_ids(a, difference.a)
            of_b = tokens_and_ids(b, difference.b)
            place = f"{difference.name}:{difference.line}"
            rows.append([cause.part, f"{difference.n_times:,}", *of_a, *of_b, place])
    head = ["cause", "times", "A", "ids of A", "B", "ids of B", "first in"]
    table = ReportTable(head, rows, numbers=(1,), widest=60)
    yield Section("First differences", table=table)
