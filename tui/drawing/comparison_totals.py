"""Views of a comparison over all texts: every metric with its meaning, and what only one of two vocabularies has."""

from collections.abc import Mapping
from typing import Any, Final

from bpe_core.metrics.catalog import METRICS
from bpe_core.visible import token_label
from tui.drawing.columns import Column
from tui.drawing.comparison_view import Choices, Row, View, Widths, named, per_tokenizer, times
from tui.drawing.small_plots import LETTERS, shape
from tui.state.comparison import Comparison

_LONGEST: Final = 16
"""Bytes of the longest tokens that the distribution of lengths tells apart."""
_LEAST_DIGITS: Final = 4
"""Digits of the numbers whose splits are told; shorter ones are one token more often than not."""


def of_metrics(comparison: Comparison, found: Mapping[str, Any], choices: Choices) -> View:
    """All metrics over all texts, each with its unit and meaning."""
    total: Mapping[str, list[float]] = found["total"]
    rows = []
    for key, metric in METRICS.items():
        values = total.get(key, [])
        if values and key != "edit_survival":  # the editor shows what an edit does
            rows.append(_row(metric.title, metric.unit, metric.meaning, list(map(metric.text, values))))
    lengths = [{int(n): count for n, count in one.items()} for one in found["token_lengths"]]
    told = "How many tokens have 1, 2, 3 … bytes; the last bar is for the rest."
    place_of_lengths = len(rows)
    rows.append(_row("token lengths", "bytes", told, []))
    splits: list[list[Mapping[str, Any]]] = [
        [one for one in mine if sum(one["digits"]) >= _LEAST_DIGITS] for mine in found["number_splits"]
    ]
    for place, name in enumerate(("digits, most often", "digits, then", "digits, then")):
        none: Mapping[str, Any] = {"digits": (), "count": 0}
        ways = [mine[place] if len(mine) > place else none for mine in splits]
        if any(way["count"] for way in ways):
            counts = " and ".join(times(way["count"]) for way in ways)
            told = f"How numbers of {_LEAST_DIGITS} digits and more are cut: here {counts}."
            rows.append(_row(name, "digits", told, ["+".join(map(str, way["digits"])) for way in ways]))
    columns = [
        Column("name", 18, 20, title="metric", hint="What is measured, over all texts together."),
        *per_tokenizer(comparison, 10, _LONGEST, "Over all texts together."),
        Column("unit", 13, rank=1, hint="What is counted."),
        Column("meaning", 20, 100, rank=2, hint="How it is computed, and who measured so first."),
    ]

    def row(number: int, widths: Widths) -> Row:
        if number != place_of_lengths:
            return rows[number]
        drawn = {f"t{i}": shape(one, 1, min(_LONGEST, widths.get(f"t{i}", _LONGEST))) for i, one in enumerate(lengths)}
        return rows[number]._replace(texts={**rows[number].texts, **drawn})

    caption = "over all texts together; the line at the foot tells what each metric means"
    return View("metrics", "metrics", caption, columns, len(rows), row)


def _row(name: str, unit: str, meaning: str, values: list[str]) -> Row:
    texts = {"name": name, "unit": unit, "meaning": meaning, **{f"t{i}": text for i, text in enumerate(values)}}
    return Row(texts, meaning)


def of_vocabularies(comparison: Comparison, pair: Mapping[str, Any]) -> View:
    """What only one of two vocabularies has, by rank."""
    other, shared = pair["tokenizers"][1], pair["vocabularies"]
    sides = [
        [(int(id), token_label(bytes.fromhex(token))) for id, token in shared[key]]
        for key in ("first_only_first", "first_only_second")
    ]

    def row(number: int, widths: Widths) -> Row:
        texts: dict[str, str] = {}
        told = []
        for index, side in zip((0, other), sides, strict=True):
            if number < len(side):
                id, label = side[number]
                texts |= {f"id{index}": f"{id:,}", f"t{index}": label}
                told.append(f"{label} is only in {named(index, comparison)}, id {id:,}")
        return Row(texts, f"{'; '.join(told)}.")

    columns = []
    for index in (0, other):
        name = f"only in {named(index, comparison)}"
        columns.append(Column(f"t{index}", 14, 40, title=name, hint="Tokens whose bytes the other does not have."))
        columns.append(Column(f"id{index}", 8, right=True, title="id", hint="The lowest ids first."))
    caption = (
        f"{shared['shared']:,} in both · {shared['only_first']:,} only in {LETTERS[0]} · "
        f"{shared['only_second']:,} only in {LETTERS[other]} · same merges up to {shared['same_merges']:,}"
    )
    choices = ("tokenizer",) if len(comparison.tokenizers) > 2 else ()
    n_rows = max(map(len, sides))
    return View("vocabularies", "vocabularies", caption, columns, n_rows, row, None, choices)
