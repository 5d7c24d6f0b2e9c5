"""The views of a comparison of tokenizers: tables with their columns, rows, and the places in texts they lead to.

The compared tokenizers are called A to D, as in the headings of the columns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os.path import commonprefix
from typing import Any, Final, NamedTuple

from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.metrics.comparison import Amounts
from bpe_core.metrics.scripts import WITHOUT_SPACES
from bpe_core.visible import counted, token_label, visible
from tui.drawing.charts import LETTERS, histogram, placed, placed_by_ratio
from tui.drawing.lines import cut, how_often
from tui.state import ComparisonRun, PlaceInText
from tui.table.columns import Cell, Column

_SCALED: Final = 1000
"""The scale of a drawing is computed from this many rows."""
_LEAST_DIGITS: Final = 4
"""Splits are shown of numbers with at least this many digits; shorter ones are mostly one token."""

_TOO_SHORT: Final = "too short to compare. Type more (F4), or choose texts above."

Found = Mapping[str, Any]
"""A part of the JSON that `compare --json` prints."""
Row = Mapping[str, Any]
"""The contents and the sort keys of a row, by column key."""
RowOf = Callable[[int], Row]


class Aspect(NamedTuple):
    """What the user looks at in a view."""

    metric: str = "tokens"
    """A key of `OF_PARTS`."""
    tokenizer: int = 0
    """The tokenizer that is shown, or that the first one is compared with."""
    reference: int = 0
    """The row whose tokens parity divides by."""


@dataclass(frozen=True)
class View:
    """One table: its name, its columns, and what each row says and leads to.

    `turns` names those of "metric", "tokenizer" and "reference" that the user can change here.
    """

    key: str
    title: str
    caption: str
    columns: Sequence[Column]
    n_rows: int
    hint: Callable[[int], str]
    target: Callable[[int], PlaceInText | None] = lambda row: None
    turns: tuple[str, ...] = ()


NOTHING: Final = View("", "", "", (), 0, lambda row: "")


def views(comparison: ComparisonRun, aspect: Aspect) -> list[View]:
    """Return the views that have something to show. Most need all texts to be encoded."""
    if not comparison.texts:
        return [NOTHING]
    amounts = [text.amounts for text in comparison.texts]
    texts = _PartsView("text", amounts, comparison, aspect).view()
    found = comparison.found
    if found is None:
        return [texts]
    most_tokens = max(found["total"]["tokens"])
    if most_tokens <= 1 and not comparison.running:
        # All other figures would be zero.
        caption = f"{counted(most_tokens, 'token')}: {_TOO_SHORT}"
        return [replace(texts, caption=caption)]
    others = _views_of_all_texts(comparison, aspect, found)
    n_texts = found["total"]["texts"]
    if n_texts < len(comparison.texts):
        known = f"first {counted(n_texts, 'text')}"
        others = [replace(view, caption=f"{known} · {view.caption}") for view in others]
    return [texts, *others]


def _views_of_all_texts(
    comparison: ComparisonRun, aspect: Aspect, found: Found
) -> list[View]:
    views = []
    if len(found["folders"]) > 1:
        folders = _amounts_of("folder", found["folders"])
        views.append(_PartsView("folder", folders, comparison, aspect).view())
    scripts = _amounts_of("script", found["scripts"])
    views.append(_PartsView("script", scripts, comparison, aspect).view())
    views.append(_metrics_view(comparison, found))
    pairs = found["pairs"]
    if pairs:
        pair = pairs[max(0, min(aspect.tokenizer, len(pairs)) - 1)]
        index = min(aspect.tokenizer, len(comparison.tokenizers) - 1)
        worst_lines = found["worst_lines"][index]
        views.append(_worst_lines_view(comparison, worst_lines, index))
        views.append(_disagreements_view(comparison, pair))
        views.append(_vocabularies_view(comparison, pair))
    return views


def _amounts_of(kind: str, groups: Sequence[Found]) -> list[Amounts]:
    """Return the amounts of groups of texts, by the name that each has as its `kind`."""
    amounts = []
    for group in groups:
        name = group[kind]
        if kind == "script":
            name = name.replace("_", " ")
        whole_words = tuple(
            round(group["words"] * (1 - share)) for share in group["continued_words"]
        )
        amounts.append(
            Amounts(
                name,
                group["bytes"],
                group["characters"],
                group["words"],
                tuple(group["tokens"]),
                whole_words,
            )
        )
    return amounts


class _PartsView:
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
            folders = [part.name.split("/")[:-1] for part in parts[:_SCALED]]
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
            _path_column(self._row, "name", 14, order, title=self._kind, most=44),
            _number_column(
                self._row, "bytes", 9, "Bytes in UTF-8.", ",", rank=3, ink="muted"
            ),
        ]
        n_tokenizers = len(self._comparison.tokenizers)
        for index in range(n_tokenizers):
            name = _named(index, self._comparison)
            columns.append(
                _number_column(
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
            _text_column,
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
            hint = f"From 0 to {most}, the largest value; ● marks several in one place."
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
        return f"parity: tokens per token of {name}; r takes this row instead"

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


def _metrics_view(comparison: ComparisonRun, found: Found) -> View:
    """Return the view of all metrics over all texts, each with its unit and meaning."""
    table = _MetricRows()
    table.add_metrics(found["total"])
    table.add_token_lengths(found["token_lengths"])
    table.add_number_splits(found["number_splits"])
    rows = table.rows
    column = partial(_text_column, rows.__getitem__)
    columns = [column("name", 18, "The metric.", most=20, title="metric")]
    for index in range(len(comparison.tokenizers)):
        hint = "The value over all texts together."
        name = _named(index, comparison)
        columns.append(column(f"t{index}", 10, hint, most=16, right=True, title=name))
    columns.append(column("unit", 13, "The unit of the value.", rank=1, ink="muted"))
    hint = "How the value is computed."
    columns.append(column("meaning", 20, hint, most=100, rank=2, ink="muted"))
    return View(
        "metrics",
        "metrics",
        "all texts together; the line at the bottom explains each metric",
        columns,
        len(rows),
        lambda number: str(rows[number]["meaning"]),
    )


def _vocabularies_view(comparison: ComparisonRun, pair: Found) -> View:
    """Return the view of the tokens that only one of two vocabularies has, by rank."""
    other = pair["tokenizers"][1]
    shared = pair["vocabularies"]
    only = {0: shared["first_only_first"], other: shared["first_only_second"]}
    rows: list[dict[str, Any]] = [
        {"hints": []} for _ in range(max(map(len, only.values())))
    ]
    columns: list[Column] = []
    for index, tokens in only.items():
        name = _named(index, comparison)
        for row, (token_id, token) in zip(rows, tokens, strict=False):
            label = token_label(bytes.fromhex(token))
            row[f"t{index}"] = label
            row[f"id{index}"] = f"{token_id:,}"
            row["hints"].append(f"{label} is only in {name}, id {token_id:,}")
        column = partial(_text_column, rows.__getitem__)
        hint = "Tokens that the other vocabulary does not have."
        columns.append(column(f"t{index}", 14, hint, most=40, title=f"only in {name}"))
        hint = "The token's id; the lowest comes first."
        columns.append(
            column(f"id{index}", 8, hint, right=True, title="id", ink="muted")
        )
    caption = (
        f"{shared['shared']:,} in both · {shared['only_first']:,} only in {LETTERS[0]} · "
        f"{shared['only_second']:,} only in {LETTERS[other]} · "
        f"same merges up to {shared['same_merges']:,}"
    )
    return View(
        "vocabularies",
        "vocabularies",
        caption,
        columns,
        len(rows),
        lambda number: f"{'; '.join(rows[number]['hints'])}.",
        turns=_turns_of_pair(comparison),
    )


def _worst_lines_view(
    comparison: ComparisonRun, lines: Sequence[Found], index: int
) -> View:
    """Return the view of the lines for which a tokenizer needs the most extra tokens."""
    name = _named(index, comparison)
    best = "the best of the others"
    if len(comparison.tokenizers) == 2:
        best = "the other"
    rows: list[Row] = []
    for line in lines:
        row = {
            "more": line["excess"],
            "where": _place(line),
            "in": line["in"],
            "line": visible(line["text"].strip()),
        }
        for number, n_tokens in enumerate(line["tokens"]):
            row[f"t{number}"] = n_tokens
        rows.append(row)
    row_of = rows.__getitem__
    hint = f"How many more tokens {name} needs than {best}."
    columns = [_number_column(row_of, "more", 6, hint, "+,", most=8)]
    for number in range(len(comparison.tokenizers)):
        hint = f"Tokens with {_named(number, comparison)}."
        columns.append(
            _number_column(
                row_of, f"t{number}", 4, hint, ",", title=LETTERS[number], most=9
            )
        )
    columns.append(_where_column(row_of, "in"))
    hint = "The beginning of the line."
    columns.append(_text_column(row_of, "line", 20, hint, sort_by="line", most=160))
    return View(
        "lines",
        "worst lines",
        f"lines that cost {name} more tokens than {best}; t shows another tokenizer",
        columns,
        len(lines),
        partial(_place_hint, lines),
        partial(_target, comparison, lines),
        ("tokenizer",),
    )


def _disagreements_view(comparison: ComparisonRun, pair: Found) -> View:
    """Return the view of the texts that two tokenizers cut differently, most frequent first."""
    found = pair["disagreements"]
    sides = (0, pair["tokenizers"][1])
    rows: list[Row] = []
    for disagreement in found:
        row = {
            "times": disagreement["count"],
            "where": _place(disagreement),
            "in": disagreement["in"],
        }
        for index, tokens in zip(sides, disagreement["tokens"], strict=True):
            labels = [token_label(bytes.fromhex(token)) for token in tokens]
            row[f"t{index}"] = "│".join(labels)
            row[f"n{index}"] = len(tokens)
        rows.append(row)
    row_of = rows.__getitem__
    hint = "How often the tokenizers differ in this way."
    columns = [_number_column(row_of, "times", 7, hint, ",")]
    for index in sides:
        columns.append(
            _text_column(
                row_of,
                f"t{index}",
                12,
                "The tokens that this tokenizer makes.",
                most=40,
                title=_named(index, comparison),
                sort_by=f"n{index}",
                descending=True,
            )
        )
    columns.append(_where_column(row_of, "first in"))
    first, second = (LETTERS[index] for index in sides)
    shared = pair["boundaries"]
    caption = (
        f"{first} and {second} share {shared['shared']:,} boundaries: "
        f"{shared['precision']:.3f} of {second}'s (precision), "
        f"{shared['recall']:.3f} of {first}'s (recall) · F1 {shared['f1']:.3f}"
    )
    return View(
        "disagreements",
        "disagreements",
        caption,
        columns,
        len(rows),
        partial(_place_hint, found),
        partial(_target, comparison, found),
        _turns_of_pair(comparison),
    )


def _place_hint(rows: Sequence[Found], row: int) -> str:
    found = rows[row]
    times = how_often(found["count"])
    return f"First at {_place(found)}, {times} in all; Enter opens it in the editor."


def _target(
    comparison: ComparisonRun, rows: Sequence[Found], row: int
) -> PlaceInText | None:
    """Return the place that a row leads to, or None if its text is not in a file."""
    number, line, column = rows[row]["place"]
    if not 0 <= number < len(comparison.texts):
        return None
    path = comparison.texts[number].path
    if not path:
        return None
    # Select a disagreement, but only go to a line.
    length = 0 if "excess" in rows[row] else len(rows[row]["text"])
    return PlaceInText(path, line, column, length)


def _text_column(
    row_of: RowOf, key: str, width: int, hint: str, *, sort_by: str = "", **more: Any
) -> Column:
    """Return a column of the texts that the rows have under `key`."""

    def cell(_: object, number: int) -> str | Cell:
        text: str | Cell = row_of(number).get(key, "")
        return text

    def sort(_: object, number: int) -> Any:
        value = row_of(number).get(sort_by)
        return value.casefold() if isinstance(value, str) else value

    return Column(key, width, cell, hint, sort=sort if sort_by else None, **more)


def _number_column(
    row_of: RowOf, key: str, width: int, hint: str, form: str, **more: Any
) -> Column:
    """Return a column of the numbers that the rows have under `key`, written in a `form`."""

    def value(_: object, number: int) -> Any:
        return row_of(number).get(key)

    def cell(_: object, number: int) -> str:
        amount = row_of(number).get(key)
        return "" if amount is None else format(amount, form)

    return Column(
        key, width, cell, hint, right=True, sort=value, descending=True, **more
    )


def _path_column(
    row_of: RowOf, key: str, width: int, hint: str, *, sort_by: str = "", **more: Any
) -> Column:
    """Return a column of paths. Cut them at the start, since paths in a folder differ at the end."""
    sort_by = sort_by or key
    column = _text_column(row_of, key, width, hint, sort_by=sort_by, **more)

    def cell(_: object, number: int) -> Cell:
        return Cell(lambda room: cut(row_of(number)[key], room, "end"))

    return replace(column, cell=cell)


def _where_column(row_of: RowOf, title: str) -> Column:
    hint = "The text, and the number of the line in it."
    return _path_column(
        row_of,
        "where",
        16,
        hint,
        sort_by="in",
        most=34,
        rank=1,
        title=title,
        ink="muted",
    )


def _named(index: int, comparison: ComparisonRun) -> str:
    """Return the heading of a tokenizer's column: its letter if there are several, and its name."""
    name = visible(comparison.tokenizers[index].name)
    return f"{LETTERS[index]} {name}" if len(comparison.tokenizers) > 1 else name


def _turns_of_pair(comparison: ComparisonRun) -> tuple[str, ...]:
    return ("tokenizer",) if len(comparison.tokenizers) > 2 else ()


def _place(found: Found) -> str:
    return f"{visible(found['in'])}:{found['line']}"
