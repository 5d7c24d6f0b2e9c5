"""All metrics over all texts, one per row."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from bpe_core.worker.comparison_json import metric_rows, number_split_rows
from tui.drawing.charts import histogram
from tui.state import ComparisonRun
from tui.table.columns import Cell
from tui.widgets.comparison_views.view import Found, Row, View, column_of

_LENGTHS: Final = (
    "How many tokens have 1, 2, 3 … bytes; the last bar counts all longer ones."
)
_SPLITS: Final = "How numbers of 4 or more digits are split, and how often."
_SPLIT_NAMES: Final = ("digits, most often", "digits, second", "digits, third")


def metrics_view(comparison: ComparisonRun, found: Found) -> View:
    """Return the view of all metrics over all texts, each with its unit and meaning."""
    rows: list[Row] = []

    def add(name: str, unit: str, meaning: str, values: Iterable[str | Cell]) -> None:
        row = Row(meaning, {"name": name, "unit": unit})
        for index, value in enumerate(values):
            row.cells[f"t{index}"] = value
        rows.append(row)

    for metric, values in metric_rows(found):
        add(metric.title, metric.unit, metric.meaning, values)
    charts = []
    for counts in found["token_lengths"]:
        by_length = {int(length): count for length, count in counts.items()}
        charts.append(Cell(partial(histogram, by_length)))
    add("token lengths", "bytes", _LENGTHS, charts)
    for name, splits in zip(_SPLIT_NAMES, number_split_rows(found), strict=False):
        add(name, "digits", _SPLITS, splits)
    column = partial(column_of, rows.__getitem__)
    columns = [column("name", 18, "The metric.", most=26, title="metric")]
    for index, name in enumerate(comparison.headings):
        hint = "The value over all texts together."
        columns.append(column(f"t{index}", 12, hint, most=26, right=True, title=name))
    columns.append(column("unit", 13, "The unit of the value.", rank=1, ink="muted"))
    return View(
        "metrics",
        "metrics",
        "all texts together; the bottom line explains each metric",
        columns,
        len(rows),
        rows.__getitem__,
    )
