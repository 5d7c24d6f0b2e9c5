"""ComparisonTable: what a comparison of tokenizers found, one view of it at a time, to sort and to go through.

A view is a table: its columns, its rows, and the places in texts they lead to. The tokenizers that are compared are
called A to D, as in the heads of the columns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os.path import commonprefix
from typing import Any, ClassVar, Final, NamedTuple

from textual.binding import BindingType
from textual.reactive import var

from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.metrics.comparison import Amounts
from bpe_core.metrics.scripts import WITHOUT_SPACES
from bpe_core.visible import counted, token_label, visible
from tui.commands.command import features_of
from tui.commands.keys import PartBindings
from tui.drawing.lines import LETTERS, beside, cut, placed, shape
from tui.state import ComparisonRun, PlaceInText
from tui.table.columns import Cell, Choices, Column
from tui.table.table import Table

_SCALED: Final = 1000  # rows that the scale of a drawing is made for
_LEAST_DIGITS: Final = (
    4  # digits of the numbers whose splits are shown; shorter ones are mostly one token
)

Found = Mapping[str, Any]  # a part of what `compare --json` prints
Row = Mapping[
    str, Any
]  # what stands in a row, and what it is sorted by, by the keys of columns
RowOf = Callable[[int], Row]


class Aspect(NamedTuple):
    """Which metric of `OF_PARTS` is seen; for which tokenizer, or with which one the first is compared; and the row
    that parity relates to."""

    metric: str = "tokens"
    tokenizer: int = 0
    reference: int = 0


@dataclass(frozen=True)
class View:
    """One table: its title among the others, what it shows in a line, what a row says in a sentence and leads to.

    `turns` says which of "metric", "tokenizer" and "reference" can be turned to something else here.
    """

    key: str
    title: str
    caption: str
    columns: Sequence[Column]
    n_rows: int
    hint: Callable[[int], str]
    target: Callable[[int], PlaceInText | None] = lambda row: None
    turns: tuple[str, ...] = ()


_NOTHING: Final = View("", "", "", (), 0, lambda row: "")


class ComparisonTable(Table):
    """The rows of the view that is seen; `choice` is its key, for the line below the rows has the views."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Comparison")

    aspect: var[Aspect] = var(
        Aspect(), init=False
    )  # what of the comparison is looked at

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(ComparisonTable.choice, "texts")
        self._comparison = ComparisonRun()
        self._views = [_NOTHING]

    def show(self, comparison: ComparisonRun) -> None:
        """Show a comparison, or what more it has found; the view, the order and the cursor stay where they can."""
        if comparison.tokenizers != self._comparison.tokenizers or len(
            comparison.texts
        ) < len(self._comparison.texts):
            self.set_reactive(
                ComparisonTable.aspect, self.aspect._replace(tokenizer=0, reference=0)
            )
        self._comparison = comparison
        self.watch_aspect()

    @property
    def view(self) -> View:
        return next(
            (view for view in self._views if view.key == self.choice), self._views[0]
        )

    def watch_aspect(self) -> None:
        self._views = views(self._comparison, self.aspect)
        self.columns, self.n_rows = self.view.columns, self.view.n_rows
        self.rows_changed()
        self.rearrange()
        self.refresh_bindings()
        self.refresh()

    def watch_choice(self) -> None:
        # Another view: from its beginning, in the order in which its rows come.
        self.set_reactive(ComparisonTable.sort_key, "")
        self.set_reactive(ComparisonTable.reverse, False)
        self.set_reactive(ComparisonTable.aspect, self.aspect._replace(reference=0))
        self.watch_aspect()
        self.to_top()

    @property
    def has_metrics(self) -> bool:
        return "metric" in self.view.turns

    @property
    def has_tokenizers(self) -> bool:
        return "tokenizer" in self.view.turns

    @property
    def has_references(self) -> bool:
        return "reference" in self.view.turns

    @property
    def can_sort(self) -> bool:
        return any(column.sort for column in self.columns)

    def action_metric(self, by: int) -> None:
        keys = tuple(OF_PARTS)
        metric = keys[(keys.index(self.aspect.metric) + by) % len(keys)]
        self.aspect = self.aspect._replace(metric=metric)

    def action_tokenizer(self) -> None:
        n = len(self._comparison.tokenizers)
        first = 0 if self.choice == "lines" else 1 % n
        self.aspect = self.aspect._replace(
            tokenizer=(self.aspect.tokenizer + 1) % n or first
        )

    def action_reference(self) -> None:
        if (row := self.current) is not None:
            self.aspect = self.aspect._replace(reference=row, metric="parity")

    def row_selected(self, row: int) -> None:
        if (target := self.view.target(row)) is not None:
            features_of(self).texts.open_place(target)

    @property
    def choices(self) -> Choices:
        return [(view.key, view.title) for view in self._views if view.key]

    def row_hint(self, row: int) -> str:
        return self.view.hint(row) if row < self.n_rows else ""

    @property
    def empty(self) -> str:
        if self._comparison.running:
            return "Encoding …"
        if not self._comparison.texts:
            return "Nothing is compared: a chooses tokenizers and texts."
        return f"Nothing differs here{'; t shows another tokenizer' * self.has_tokenizers}."


def views(comparison: ComparisonRun, aspect: Aspect) -> list[View]:
    """The views that there is something to show in; those of all texts once these have been encoded."""
    texts = comparison.texts
    if not texts:
        return [_NOTHING]

    def beginning(row: int) -> PlaceInText | None:
        return (
            PlaceInText(texts[row].path, texts[row].line, 0, 0)
            if texts[row].path
            else None
        )

    def groups(what: str, found: Sequence[Found]) -> View:
        parts = []
        for one in found:
            whole = tuple(
                round(one["words"] * (1 - part)) for part in one["continued_words"]
            )
            sizes = one["bytes"], one["characters"], one["words"]
            name = one[what].replace("_", " ") if what == "script" else one[what]
            parts.append(Amounts(name, *sizes, tuple(one["tokens"]), whole))
        return _of_parts(what, parts, comparison, aspect)

    found = [
        _of_parts(
            "text", [text.amounts for text in texts], comparison, aspect, beginning
        )
    ]
    if (everything := comparison.found) is None:
        return found
    if len(everything["folders"]) > 1:
        found.append(groups("folder", everything["folders"]))
    found += [
        groups("script", everything["scripts"]),
        _of_metrics(comparison, everything),
    ]
    if pairs := everything["pairs"]:
        pair = pairs[max(0, min(aspect.tokenizer, len(pairs)) - 1)]
        index = min(aspect.tokenizer, len(comparison.tokenizers) - 1)
        found.append(
            _of_worst_lines(comparison, everything["worst_lines"][index], index)
        )
        found += [
            _of_disagreements(comparison, pair),
            _of_vocabularies(comparison, pair),
        ]
    if (n := everything["total"]["texts"]) < len(texts):
        found[1:] = [
            replace(view, caption=f"first {counted(n, 'text')} · {view.caption}")
            for view in found[1:]
        ]
    return found


def _of_parts(
    what: str,
    parts: Sequence[Amounts],
    comparison: ComparisonRun,
    aspect: Aspect,
    target: Callable[[int], PlaceInText | None] = lambda row: None,
) -> View:
    """A metric of each "text", "folder" or "script", and how the tokenizers compare by it."""
    tokenizers, metric = range(len(comparison.tokenizers)), METRICS[aspect.metric]
    relates = what != "script" and aspect.reference < len(parts)
    reference = parts[aspect.reference] if relates else None
    is_size = aspect.metric == "tokens"
    folders = (
        [part.name.split("/")[:-1] for part in parts[:_SCALED]]
        if what == "text" and len(parts) > 1
        else []
    )
    folder = "/".join([*commonprefix(folders), ""])  # noqa: RUF071 - of lists of names

    def values(part: Amounts) -> tuple[list[float], list[float]]:
        """Of each tokenizer, if they are known; and of those but the first, divided by that."""
        found = (
            OF_PARTS[aspect.metric](part, reference, index) for index in tokenizers
        )
        known = [value for value in found if value is not None]
        return known, [value / known[0] if known[0] else 1.0 for value in known[1:]]

    def row(number: int) -> Row:
        part = parts[number]
        known, ratios = values(part)
        found: dict[str, Any] = {
            f"t{index}": value for index, value in enumerate(known)
        }
        if known:
            found["plot"] = Cell(
                lambda width: (
                    beside(ratios, most, width)
                    if is_size
                    else placed(known, most, width)
                )
            )
        found |= {
            "more": " ".join(f"{one - 1:+.0%}" for one in ratios),
            "ratio": next(iter(ratios), 0.0),
        }
        return {
            "name": visible(part.name.removeprefix(folder)),
            "bytes": part.n_bytes,
            **found,
        }

    first = [values(part) for part in parts[:_SCALED]]
    if is_size:
        most = max((abs(one - 1) for _, ratios in first for one in ratios), default=0.0)
        title = f"{-most:.0%} … A … {most:+.0%}"
        hint = "│ is A; right of it: more tokens for the text, left of it: fewer."
    else:
        most = max((value for known, _ in first for value in known), default=0.0)
        title = f"0 … {format(most, metric.form)}"
        hint = f"From 0 to {format(most, metric.form)}, the largest of all rows; ● where several fall together."
    caption = f"{metric.title}: {metric.meaning}"
    order = "A click sorts by this column, another one turns the order around."
    columns = [
        _column(row, "name", 14, order, by="name", keep="end", most=44, title=what),
        _column(row, "bytes", 9, "Bytes in UTF-8.", ",", rank=3, ink="muted"),
        *(
            _column(
                row,
                f"t{i}",
                9,
                caption,
                metric.form,
                most=14,
                title=_named(i, comparison),
            )
            for i in tokenizers
        ),
    ]
    drawn: dict[str, Any] = {"by": "ratio", "ink": "accent", "descending": True}
    if len(tokenizers) > 1 and is_size:
        width, more = max(6, 6 * len(tokenizers) - 7), "More or fewer tokens than A."
        columns.append(
            _column(
                row, "more", width, more, right=True, rank=1, title="vs. A", **drawn
            )
        )
    if len(tokenizers) > 1:
        columns.append(
            _column(row, "plot", 11, hint, most=41, rank=2, title=title, **drawn)
        )

    def row_hint(row: int) -> str:
        part = parts[row]
        sizes = (
            counted(part.n_bytes, "byte"),
            counted(part.n_characters, "character"),
            counted(part.n_words, "word"),
        )
        more = "; Enter opens it in the editor" if target(row) else ""
        if what == "script" and part.name in WITHOUT_SPACES:
            more = "; written without spaces, so what counts words is of no use here"
        return f"{visible(part.name)}: {', '.join(sizes)}{more}."

    if aspect.metric == "parity":
        caption = "parity: of texts and folders that are translations of one another, not of scripts"
        if reference is not None:
            caption = f"parity: tokens for each one of {visible(reference.name)}; r takes this row instead"
    title = counted(len(parts), what)
    return View(
        f"{what}s",
        title,
        caption,
        columns,
        len(parts),
        row_hint,
        target,
        ("metric", "reference"),
    )


def _of_metrics(comparison: ComparisonRun, found: Found) -> View:
    """All metrics over all texts, each with its unit and meaning."""
    rows: list[Row] = []

    def add(name: str, unit: str, meaning: str, values: Iterable[str | Cell]) -> None:
        mine = {f"t{index}": value for index, value in enumerate(values)}
        rows.append({"name": name, "unit": unit, "meaning": meaning, **mine})

    for key, metric in METRICS.items():
        if values := found["total"].get(key):
            add(
                metric.title,
                metric.unit,
                metric.meaning,
                [format(value, metric.form) for value in values],
            )
    lengths = [
        {int(n): count for n, count in one.items()} for one in found["token_lengths"]
    ]
    meaning = "How many tokens have 1, 2, 3 … bytes; the last bar is for the rest."
    add(
        "token lengths",
        "bytes",
        meaning,
        [Cell(partial(shape, one)) for one in lengths],
    )
    splits = [
        [one for one in mine if sum(one["digits"]) >= _LEAST_DIGITS]
        for mine in found["number_splits"]
    ]
    none: Found = {"digits": (), "count": 0}
    for place, name in enumerate(
        ("digits, most often", "digits, then", "digits, then")
    ):
        ways: list[Found] = [
            mine[place] if len(mine) > place else none for mine in splits
        ]
        if any(way["count"] for way in ways):
            counts = " and ".join(_times(way["count"]) for way in ways)
            meaning = f"How numbers of {_LEAST_DIGITS} digits and more are cut: here {counts}."
            add(
                name,
                "digits",
                meaning,
                ["+".join(map(str, way["digits"])) for way in ways],
            )
    row, over_all = rows.__getitem__, "Over all texts together."
    columns = [
        _column(
            row, "name", 18, f"What is measured. {over_all}", most=20, title="metric"
        ),
        *(
            _column(
                row,
                f"t{index}",
                10,
                over_all,
                most=16,
                right=True,
                title=_named(index, comparison),
            )
            for index in range(len(comparison.tokenizers))
        ),
        _column(row, "unit", 13, "What is counted.", rank=1, ink="muted"),
        _column(
            row, "meaning", 20, "How it is computed.", most=100, rank=2, ink="muted"
        ),
    ]
    caption = (
        "over all texts together; the line at the foot tells what each metric means"
    )
    return View(
        "metrics",
        "metrics",
        caption,
        columns,
        len(rows),
        lambda number: str(rows[number]["meaning"]),
    )


def _of_vocabularies(comparison: ComparisonRun, pair: Found) -> View:
    """What only one of two vocabularies has, by rank."""
    other, shared = pair["tokenizers"][1], pair["vocabularies"]
    columns: list[Column] = []
    rows: list[dict[str, str]] = [
        {}
        for _ in max(shared["first_only_first"], shared["first_only_second"], key=len)
    ]
    for index, key in ((0, "first_only_first"), (other, "first_only_second")):
        name = _named(index, comparison)
        for row, (id, token) in zip(rows, shared[key], strict=False):
            label = token_label(bytes.fromhex(token))
            row |= {
                f"t{index}": label,
                f"id{index}": f"{id:,}",
                f"hint{index}": f"{label} is only in {name}, id {id:,}",
            }
        hint, title = "Tokens whose bytes the other does not have.", f"only in {name}"
        columns += [
            _column(rows.__getitem__, f"t{index}", 14, hint, most=40, title=title),
            _column(
                rows.__getitem__,
                f"id{index}",
                8,
                "The lowest first.",
                right=True,
                title="id",
                ink="muted",
            ),
        ]

    def row_hint(number: int) -> str:
        return f"{'; '.join(text for key, text in rows[number].items() if key.startswith('hint'))}."

    caption = (
        f"{shared['shared']:,} in both · {shared['only_first']:,} only in {LETTERS[0]} · "
        f"{shared['only_second']:,} only in {LETTERS[other]} · same merges up to {shared['same_merges']:,}"
    )
    return View(
        "vocabularies",
        "vocabularies",
        caption,
        columns,
        len(rows),
        row_hint,
        turns=_others(comparison),
    )


def _of_worst_lines(
    comparison: ComparisonRun, lines: Sequence[Found], index: int
) -> View:
    """The lines for which a tokenizer needs the most more tokens than another."""
    name, indices = _named(index, comparison), range(len(comparison.tokenizers))
    best = "the other" if len(indices) == 2 else "the best of the others"
    rows = [
        {
            "more": one["excess"],
            "where": _place(one),
            "in": one["in"],
            "line": visible(one["text"].strip()),
        }
        | {f"t{index}": n for index, n in enumerate(one["tokens"])}
        for one in lines
    ]
    row = rows.__getitem__
    columns = [
        _column(
            row, "more", 6, f"Tokens that {name} needs more than {best}.", "+,", most=8
        ),
        *(
            _column(
                row,
                f"t{i}",
                4,
                f"Tokens by {_named(i, comparison)}.",
                ",",
                title=LETTERS[i],
                most=9,
            )
            for i in indices
        ),
        _where(row, "in"),
        _column(row, "line", 20, "The beginning of the line.", by="line", most=160),
    ]
    caption = f"{name}: how many more tokens than {best}; t shows another's"
    leads = partial(_place_hint, lines), partial(_target, comparison, lines)
    return View(
        "lines", "worst lines", caption, columns, len(lines), *leads, ("tokenizer",)
    )


def _of_disagreements(comparison: ComparisonRun, pair: Found) -> View:
    """What the first tokenizer and another cut differently, most often first."""
    other, found, shared = (
        pair["tokenizers"][1],
        pair["disagreements"],
        pair["boundaries"],
    )
    rows: list[dict[str, Any]] = [
        {"times": one["count"], "where": _place(one), "in": one["in"]} for one in found
    ]
    row = rows.__getitem__
    columns = [_column(row, "times", 7, "How often they differ in this way.", ",")]
    for side, index in enumerate((0, other)):
        for mine, tokens in zip(
            rows, (one["tokens"][side] for one in found), strict=True
        ):
            mine |= {
                f"t{index}": "│".join(
                    token_label(bytes.fromhex(token)) for token in tokens
                ),
                f"n{index}": len(tokens),
            }
        sorts: dict[str, Any] = {"by": f"n{index}", "descending": True}
        hint, title = "The tokens it makes of it.", _named(index, comparison)
        columns.append(
            _column(row, f"t{index}", 12, hint, most=40, title=title, **sorts)
        )
    columns.append(_where(row, "first in"))
    one, two = LETTERS[0], LETTERS[other]
    caption = (
        f"{one} and {two} share {shared['shared']:,} boundaries: {shared['precision']:.3f} of {two}'s (precision), "
        f"{shared['recall']:.3f} of {one}'s (recall) · F1 {shared['f1']:.3f}"
    )
    leads = partial(_place_hint, found), partial(_target, comparison, found)
    return View(
        "disagreements",
        "disagreements",
        caption,
        columns,
        len(rows),
        *leads,
        _others(comparison),
    )


def _place_hint(rows: Sequence[Found], row: int) -> str:
    return f"First at {_place(rows[row])}, {_times(rows[row]['count'])} in all; Enter shows it there in the editor."


def _target(
    comparison: ComparisonRun, rows: Sequence[Found], row: int
) -> PlaceInText | None:
    """Where the place of a row is to be shown; None if its text lies in no file."""
    text, line, column = rows[row]["place"]
    if not 0 <= text < len(comparison.texts) or not comparison.texts[text].path:
        return None
    length = (
        0 if "excess" in rows[row] else len(rows[row]["text"])
    )  # a line is shown, a difference selected
    return PlaceInText(comparison.texts[text].path, line, column, length)


def _column(
    row: RowOf,
    key: str,
    width: int,
    hint: str,
    form: str = "",
    *,
    by: str = "",
    keep: str = "",
    **more: Any,
) -> Column:
    """A column of what a `row` has under its key: of numbers, written in a `form`, the greatest first; or of texts.

    `by` is the key of what these are sorted by; to `keep` their "end" they are cut at the beginning, for by the end
    those of one folder differ.
    """
    by = by or (key if form else "")

    def cell(_: object, number: int) -> str | Cell:
        value = row(number).get(key, "")
        if keep:
            return Cell(lambda width: cut(value, width, "end"))
        return value if isinstance(value, str | Cell) else format(value, form)

    def sort(_: object, number: int) -> Any:
        value = row(number).get(by)
        return value.casefold() if isinstance(value, str) else value

    if form:
        more |= {"right": True, "descending": True}
    return Column(key, width, cell, hint, sort=sort if by else None, **more)


def _where(row: RowOf, title: str) -> Column:
    hint = "The text, and the number of the line in it."
    return _column(
        row,
        "where",
        16,
        hint,
        by="in",
        keep="end",
        most=34,
        rank=1,
        title=title,
        ink="muted",
    )


def _named(index: int, comparison: ComparisonRun) -> str:
    """A tokenizer in the head of a column: its letter, where there are several, and its name."""
    name = visible(comparison.tokenizers[index].name)
    return f"{LETTERS[index]} {name}" if len(comparison.tokenizers) > 1 else name


def _others(comparison: ComparisonRun) -> tuple[str, ...]:
    return ("tokenizer",) if len(comparison.tokenizers) > 2 else ()


def _place(one: Found) -> str:
    return f"{visible(one['in'])}:{one['line']}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"
