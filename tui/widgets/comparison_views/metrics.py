"""All metrics over all texts, one per row."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from bpe_core.metrics.catalog import METRICS
from tui.drawing.charts import histogram
from tui.drawing.lines import how_often
from tui.state import ComparisonRun
from tui.table.columns import Cell
from tui.widgets.comparison_views.view import Found, Row, View, heading_of, text_column

_LEAST_DIGITS: Final = 4
"""Splits are shown of numbers with at least this many digits; shorter ones are mostly one token."""


class _MetricRows:
    """The rows of the view of all metrics."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(
        self, name: str, unit: str, meaning: str, values: Iterable[str | Cell]
    ) -> None:
        row: dict[str, Any] = {"name": name, "unit": unit, "meaning": meaning}
        for index, value in enumerate(values):
            row[f"t{index}"] = value
        self.rows.append(row)

    def add_metrics(self, total: Found) -> None:
        for key, metric in METRICS.items():
            values = total.get(key)
            if values:
                texts = [format(value, metric.form) for value in values]
                self.add(metric.title, metric.unit, metric.meaning, texts)

    def add_token_lengths(self, token_lengths: Sequence[Mapping[str, int]]) -> None:
        meaning = (
            "How many tokens have 1, 2, 3 … bytes; the last bar counts all longer ones."
        )
        charts = []
        for counts in token_lengths:
            by_length = {int(length): count for length, count in counts.items()}
            charts.append(Cell(partial(histogram, by_length)))
        self.add("token lengths", "bytes", meaning, charts)

    def add_number_splits(self, number_splits: Sequence[Sequence[Found]]) -> None:
        """Add the most frequent ways in which each tokenizer splits long numbers."""
        splits = [
            [way for way in ways if sum(way["digits"]) >= _LEAST_DIGITS]
            for ways in number_splits
        ]
        names = "digits, most often", "digits, second", "digits, third"
        for place, name in enumerate(names):
            counts = []
            texts = []
            for ways in splits:
                if place < len(ways):
                    counts.append(ways[place]["count"])
                    texts.append("+".join(map(str, ways[place]["digits"])))
                else:
                    counts.append(0)
                    texts.append("")
            if any(counts):
                times = " and ".join(map(how_often, counts))
                meaning = f"How numbers of {_LEAST_DIGITS} or more digits are split: here {times}."
                self.add(name, "digits", meaning, texts)


def metrics_view(comparison: ComparisonRun, found: Found) -> View:
    """Return the view of all metrics over all texts, each with its unit and meaning."""
    table = _MetricRows()
    table.add_metrics(found["total"])
    table.add_token_lengths(found["token_lengths"])
    table.add_number_splits(found["number_splits"])
    rows = table.rows

    def meaning_of(row: int) -> str:
        return str(rows[row]["meaning"])

    column = partial(text_column, rows.__getitem__)
    columns = [column("name", 18, "The metric.", most=26, title="metric")]
    for index in range(len(comparison.tokenizers)):
        hint = "The value over all texts together."
        name = heading_of(index, comparison)
        columns.append(column(f"t{index}", 12, hint, most=26, right=True, title=name))
    columns.append(column("unit", 13, "The unit of the value.", rank=1, ink="muted"))
    return View(
        "metrics",
        "metrics",
        "all texts together; the bottom line explains each metric",
        columns,
        len(rows),
        meaning_of,
    )
