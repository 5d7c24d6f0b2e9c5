"""One metric for each text, folder or script."""

from collections.abc import Sequence
from functools import partial
from os.path import commonprefix
from typing import Any, Final

from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.metrics.comparison import Amounts
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.metrics.scripts import WITHOUT_SPACES
from bpe_core.metrics.token_use import TokenUse
from bpe_core.visible import counted, visible
from tui.drawing.charts import placed, placed_by_ratio
from tui.state import ComparisonRun, PlaceInText
from tui.table.columns import Cell, Column
from tui.widgets.comparison_views.view import (
    Aspect,
    Found,
    Row,
    View,
    heading_of,
    number_column,
    path_column,
    text_column,
)

_SCALED: Final = 1000
"""The scale of a drawing is computed from this many rows."""


def amounts_of(
    kind: str, groups: Sequence[Found], vocabularies: Sequence[Found]
) -> list[Amounts]:
    """Return the amounts of groups of texts, by the name that each has as its `kind`."""
    amounts = []
    for group in groups:
        name = group[kind]
        if kind == "script":
            name = name.replace("_", " ")
        whole_words = tuple(
            round(group["words"] * share) for share in group["whole_words"]
        )
        amounts.append(
            Amounts(
                name,
                group["bytes"],
                group["characters"],
                group["words"],
                tuple(group["tokens"]),
                whole_words,
                _token_use(group, vocabularies),
            )
        )
    return amounts


def _token_use(group: Found, vocabularies: Sequence[Found]) -> tuple[TokenUse, ...]:
    found = []
    for index, vocabulary in enumerate(vocabularies):
        n_tokens = vocabulary["tokens"]
        use = TokenUse(
            n_used=round(group["utilization"][index] * n_tokens),
            n_tokens=n_tokens,
            renyi_entropy=group["renyi_entropy"][index],
            shannon_entropy=group["shannon_entropy"][index],
        )
        found.append(use)
    return tuple(found)


class PartsView:
    """One metric for each text, folder or script, and how the tokenizers compare."""

    def __init__(
        self,
        kind: str,
        parts: Sequence[Amounts],
        comparison: ComparisonRun,
        aspect: Aspect,
    ) -> None:
        self._kind = kind
        self._parts = parts
        self._comparison = comparison
        self._key = aspect.metric
        self._metric = METRICS[aspect.metric]
        self._reference: Amounts | None = None
        if kind != "script" and aspect.reference < len(parts):
            self._reference = parts[aspect.reference]
        self._folder = ""
        if kind == "text" and len(parts) > 1:
            paths = [part.name.split("/") for part in parts[:_SCALED]]
            folders = [path[:-1] for path in paths]
            shared = commonprefix(folders)  # noqa: RUF071 - of lists of names
            self._folder = "/".join([*shared, ""])
        self._most = self._greatest()

    def view(self) -> View:
        return View(
            f"{self._kind}s",
            counted(len(self._parts), self._kind),
            self._caption(),
            self._columns(),
            len(self._parts),
            self._hint,
            self._target,
            self._place,
            ("metric", "reference"),
        )

    def _values(self, part: Amounts) -> list[float]:
        """Return the metric for each tokenizer; empty if it is not known."""
        compute = OF_PARTS[self._key]
        values = (
            compute(part, self._reference, index)
            for index in range(len(self._comparison.tokenizers))
        )
        return [value for value in values if value is not None]

    def _greatest(self) -> float:
        """Return the value at the end of the scale."""
        greatest = 0.0
        for part in self._parts[:_SCALED]:
            values = self._values(part)
            if self._key == "tokens":
                values = [abs(ratio - 1) for ratio in _ratios(values)]
            greatest = max([greatest, *values])
        return greatest

    def _row(self, number: int) -> Row:
        part = self._parts[number]
        values = self._values(part)
        ratios = _ratios(values)
        row: dict[str, Any] = {
            "name": visible(part.name.removeprefix(self._folder)),
            "bytes": part.n_bytes,
            "more": " ".join(f"{ratio - 1:+.0%}" for ratio in ratios),
            "ratio": ratios[0] if ratios else 0.0,
        }
        for index, value in enumerate(values):
            row[f"t{index}"] = value
        if self._key == "tokens":
            row["plot"] = Cell(partial(placed_by_ratio, ratios, self._most))
        else:
            row["plot"] = Cell(partial(placed, values, self._most))
        if not values:
            row["plot"] = ""
        return row

    def _columns(self) -> list[Column]:
        metric = self._metric
        meaning = f"{metric.title}: {metric.meaning}"
        order = "Click to sort by this column; click again to reverse the order."
        columns = [
            path_column(self._row, "name", 14, order, title=self._kind, most=44),
            number_column(
                self._row, "bytes", 9, "Bytes in UTF-8.", ",", rank=3, ink="muted"
            ),
        ]
        n_tokenizers = len(self._comparison.tokenizers)
        for index in range(n_tokenizers):
            name = heading_of(index, self._comparison)
            columns.append(
                number_column(
                    self._row,
                    f"t{index}",
                    9,
                    meaning,
                    metric.form,
                    most=14,
                    title=name,
                )
            )
        if n_tokenizers > 1:
            columns += self._columns_of_ratios(n_tokenizers)
        return columns

    def _columns_of_ratios(self, n_tokenizers: int) -> list[Column]:
        column = partial(
            text_column,
            self._row,
            sort_by="ratio",
            descending=True,
            ink="accent",
        )
        columns = []
        if self._key == "tokens":
            width = max(6, 6 * n_tokenizers - 7)
            hint = "How many more or fewer tokens than A."
            columns.append(
                column("more", width, hint, right=True, rank=1, title="vs. A")
            )
            title = f"{-self._most:.0%} … A … {self._most:+.0%}"
            hint = "│ is A; to its right: more tokens than A, to its left: fewer."
        else:
            most = format(self._most, self._metric.form)
            title = f"0 … {most}"
            hint = f"From 0 to {most}, the largest value; ● marks several values in one place."
        columns.append(column("plot", 11, hint, most=41, rank=2, title=title))
        return columns

    def _caption(self) -> str:
        if self._key != "parity":
            return f"{self._metric.title}: {self._metric.meaning}"
        if self._reference is None:
            return (
                "parity: only for texts and folders that are translations of each other"
            )
        name = visible(self._reference.name)
        return f"parity: tokens per token of {name}; r compares with this row instead"

    def _hint(self, row: int) -> str:
        part = self._parts[row]
        hint = (
            f"{visible(part.name)}: {counted(part.n_bytes, 'byte')}, "
            f"{counted(part.n_characters, 'character')}, {counted(part.n_words, 'word')}"
        )
        if self._kind == "script" and part.name in WITHOUT_SPACES:
            hint += "; written without spaces, so metrics per word do not apply"
        elif self._target(row):
            hint += "; Enter opens it in the editor"
        return f"{hint}."

    def _place(self, row: int) -> TextPlace | None:
        if self._kind != "text":
            return None
        return TextPlace(row, self._comparison.texts[row].line, 0)

    def _target(self, row: int) -> PlaceInText | None:
        if self._kind != "text":
            return None
        text = self._comparison.texts[row]
        return PlaceInText(text.path, text.line, 0, 0) if text.path else None


def _ratios(values: Sequence[float]) -> list[float]:
    """Divide each value except the first by the first.

    >>> _ratios([4, 2, 6])
    [0.5, 1.5]
    """
    return [value / values[0] if values[0] else 1.0 for value in values[1:]]
