"""One metric for each text, folder or script."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from os.path import commonprefix
from typing import Final

from bpe_core.metrics import ratio
from bpe_core.metrics.catalog import METRICS
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.metrics.scripts import WITHOUT_SPACES
from bpe_core.visible import counted, visible
from bpe_core.worker.comparison_json import measures_of
from tui.drawing.charts import placed
from tui.state import ComparisonRun
from tui.table.columns import Cell, Column
from tui.widgets.comparison_views.view import (
    Aspect,
    Found,
    Row,
    View,
    column_of,
    number_column,
)

_SCALED: Final = 1000
"""The scale of a drawing is computed from this many rows."""


def texts_view(comparison: ComparisonRun, aspect: Aspect) -> View:
    """Return the view of all texts. Only the rows that are needed are computed, since there may be many."""

    def part_of(number: int) -> Found:
        amounts = comparison.texts[number].amounts
        measures = measures_of(amounts, keys=("tokens", aspect.metric))
        return {"text": amounts.name, **measures}

    view = _PartsView("text", len(comparison.texts), part_of, comparison, aspect)
    return view.view()


def groups_view(
    kind: str, groups: Sequence[Found], comparison: ComparisonRun, aspect: Aspect
) -> View:
    """Return the view of folders or scripts."""
    parts = _PartsView(kind, len(groups), groups.__getitem__, comparison, aspect)
    return parts.view()


class _PartsView:
    """One metric for each text, folder or script, and how the tokenizers compare."""

    def __init__(
        self,
        kind: str,
        n_parts: int,
        part_of: Callable[[int], Found],
        comparison: ComparisonRun,
        aspect: Aspect,
    ) -> None:
        self._kind = kind
        self._n_parts = n_parts
        self._part_of = part_of
        self._comparison = comparison
        self._key = aspect.metric
        self._metric = METRICS[aspect.metric]
        self._reference: Found | None = None
        if kind != "script" and aspect.reference < n_parts:
            self._reference = part_of(aspect.reference)
        parts = [part_of(number) for number in range(min(n_parts, _SCALED))]
        self._folder = ""
        if kind == "text" and n_parts > 1:
            names = [part["text"] for part in parts]
            beginning = commonprefix(names)  # noqa: RUF071 - may end within a name
            shared, slash, _ = beginning.rpartition("/")
            self._folder = shared + slash
        plotted = [value for part in parts for value in self._plotted(part)]
        self._least = 0.0
        self._most = max(plotted, default=0.0)
        if self._key == "tokens":
            farthest = max((abs(ratio - 1) for ratio in plotted), default=0.0)
            self._least = 1 - farthest
            self._most = 1 + farthest

    def view(self) -> View:
        row_of = lru_cache(maxsize=256)(self._row)
        return View(
            f"{self._kind}s",
            counted(self._n_parts, self._kind),
            self._caption(),
            self._columns(row_of),
            self._n_parts,
            row_of,
            ("metric", "reference"),
        )

    def _values(self, part: Found) -> Sequence[float]:
        """Return the metric for each tokenizer; empty if it is not known."""
        if self._key != "parity":
            values: Sequence[float] = part.get(self._key, ())
            return values
        if self._reference is None:
            return ()
        pairs = zip(part["tokens"], self._reference["tokens"], strict=True)
        return [ratio(n_tokens, of_reference) for n_tokens, of_reference in pairs]

    def _plotted(self, part: Found) -> Sequence[float]:
        """Return the values to plot: the metric, or tokens as multiples of A's."""
        values = self._values(part)
        return _relative(values) if self._key == "tokens" else values

    def _row(self, number: int) -> Row:
        part = self._part_of(number)
        name = part[self._kind]
        if self._kind == "script":
            name = name.replace("_", " ")
        hint = (
            f"{visible(name)}: {counted(part['bytes'], 'byte')}, "
            f"{counted(part['characters'], 'character')}, {counted(part['words'], 'word')}"
        )
        target = None
        place = None
        if self._kind == "text":
            place = TextPlace(number, self._comparison.texts[number].line, column=0)
            target = self._comparison.place_in_file(place)
            if target:
                hint += "; Enter opens it in the editor"
        elif self._kind == "script" and name in WITHOUT_SPACES:
            hint += "; written without spaces, so metrics per word do not apply"
        values = self._values(part)
        others = _relative(values)[1:]
        more = " ".join(f"{ratio - 1:+.0%}" for ratio in others)
        order = others[0] if others else 0.0
        sort_keys = {"name": name.casefold(), "more": order, "plot": order}
        row = Row(f"{hint}.", {"more": more}, sort_keys, target, place)
        row.add_path("name", visible(name.removeprefix(self._folder)))
        row.add_number("bytes", part["bytes"], ",")
        for index, value in enumerate(values):
            row.add_number(f"t{index}", value, self._metric.form)
        plotted = self._plotted(part)
        row.cells["plot"] = Cell(partial(placed, plotted, self._least, self._most))
        return row

    def _columns(self, row_of: Callable[[int], Row]) -> list[Column]:
        meaning = f"{self._metric.title}: {self._metric.meaning}"
        order = "Click to sort by this column; click again to reverse the order."
        number = partial(number_column, row_of)
        columns = [
            column_of(row_of, "name", 14, order, sorts=True, most=44, title=self._kind),
            number("bytes", 9, "Bytes in UTF-8.", rank=3, ink="muted"),
        ]
        headings = self._comparison.headings
        for index, name in enumerate(headings):
            columns.append(number(f"t{index}", 9, meaning, most=14, title=name))
        if len(headings) == 1:
            return columns
        relative = partial(number, ink="accent")
        if self._key == "tokens":
            width = max(6, 6 * len(headings) - 7)
            hint = "How many more or fewer tokens than A."
            columns.append(relative("more", width, hint, rank=1, title="vs. A"))
            title = f"{self._least - 1:.0%} … A … {self._most - 1:+.0%}"
            hint = "To the right of A: more tokens than A, to its left: fewer."
        else:
            most = format(self._most, self._metric.form)
            title = f"0 … {most}"
            hint = f"From 0 to {most}, the largest value; ● marks several values in one place."
        plot = partial(relative, right=False)
        return [*columns, plot("plot", 11, hint, most=41, rank=2, title=title)]

    def _caption(self) -> str:
        if self._key != "parity":
            return f"{self._metric.title}: {self._metric.meaning}"
        if self._reference is None:
            return (
                "parity: only for texts and folders that are translations of each other"
            )
        name = visible(self._reference[self._kind])
        return f"parity: tokens per token of {name}; r compares with this row instead"


def _relative(values: Sequence[float]) -> list[float]:
    """Divide each value by the first.

    >>> _relative([4, 2, 6])
    [1.0, 0.5, 1.5]
    """
    return [value / values[0] if values[0] else 1.0 for value in values]
