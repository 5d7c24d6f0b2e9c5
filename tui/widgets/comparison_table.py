"""ComparisonTable: what a comparison of tokenizers found, one view of it at a time, to sort and to go through.

A view is a table: its columns, its rows, and the places in texts they lead to. The tokenizers that are compared are
called A to D, as in the heads of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var

from bpe_core.metrics.catalog import MEANINGS, METRICS, OF_PARTS, of_amounts
from bpe_core.metrics.comparison import Amounts
from bpe_core.metrics.text_parts import WITHOUT_SPACES
from bpe_core.visible import counted, token_label, visible
from tui.commands import applies, bindings
from tui.drawing.lines import cut
from tui.drawing.plots import LETTERS, beside, placed, shape
from tui.state import ComparisonRun, PlaceInText, do
from tui.table.table import Cell, Choices, Column, Table

_SCALED: Final = 1000  # rows that the scale of a drawing is made for
_LEAST_DIGITS: Final = 4  # digits of the numbers whose splits are shown; shorter ones are mostly one token

Found = Mapping[str, Any]  # a part of what `compare --json` prints
CellOf = Callable[[Any, int], str | Cell]


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

    BINDINGS: ClassVar[list[BindingType]] = bindings("Comparison")

    aspect: var[Aspect] = var(Aspect(), init=False)  # what of the comparison is looked at

    class Turned(Message):
        """Another view is seen, or the same shows something else."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(ComparisonTable.choice, "texts")
        self._comparison = ComparisonRun()
        self._views = [_NOTHING]

    def show(self, comparison: ComparisonRun) -> None:
        """Show a comparison, or what more it has found; the view, the order and the cursor stay where they can."""
        if comparison.tokenizers != self._comparison.tokenizers or len(comparison.texts) < len(self._comparison.texts):
            self.set_reactive(ComparisonTable.aspect, self.aspect._replace(tokenizer=0, reference=0))
        self._comparison = comparison
        self.watch_aspect()

    @property
    def view(self) -> View:
        return next((view for view in self._views if view.key == self.choice), self._views[0])

    def watch_aspect(self) -> None:
        self._views = views(self._comparison, self.aspect)
        self.columns, self.n_rows = self.view.columns, self.view.n_rows
        self.rows_changed()
        self.rearrange()
        self.post_message(self.Turned())
        self.refresh_bindings()
        self.refresh()

    def watch_choice(self) -> None:
        # Another view: from its beginning, in the order in which its rows come.
        self.set_reactive(ComparisonTable.sort_key, "")
        self.set_reactive(ComparisonTable.reverse, False)
        self.set_reactive(ComparisonTable.aspect, self.aspect._replace(reference=0))
        self.watch_aspect()
        self.to_top()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return applies("Comparison", self, action)

    def can_turn(self, what: str) -> bool:
        return what in self.view.turns

    def action_metric(self, by: int) -> None:
        metric = OF_PARTS[(OF_PARTS.index(self.aspect.metric) + by) % len(OF_PARTS)]
        self.aspect = self.aspect._replace(metric=metric)

    def action_tokenizer(self) -> None:
        """Look at another tokenizer: which lines are worst for it, or where it differs from the first."""
        n = len(self._comparison.tokenizers)
        first = 0 if self.choice == "lines" else 1 % n
        self.aspect = self.aspect._replace(tokenizer=(self.aspect.tokenizer + 1) % n or first)

    def action_reference(self) -> None:
        if (row := self.current) is not None:
            self.aspect = self.aspect._replace(reference=row, metric="parity")

    def row_selected(self, row: int) -> None:
        if (target := self.view.target(row)) is not None:
            do(self, "texts.open_place", target)

    @property
    def choices(self) -> Choices:
        return [(view.key, view.title) for view in self._views if view.key]

    def row_hint(self, row: int) -> str:
        return self.view.hint(row) if row < self.n_rows else ""

    @property
    def empty(self) -> str:
        return "Encoding …" if self._comparison.running else "Nothing differs here." if self._comparison.texts else ""


def views(comparison: ComparisonRun, aspect: Aspect) -> list[View]:
    """The views that there is something to show in; those of all texts once these have been encoded."""
    texts = comparison.texts
    if not texts:
        return [_NOTHING]

    def beginning(row: int) -> PlaceInText | None:
        return PlaceInText(texts[row].path, texts[row].line, 0, 0) if texts[row].path else None

    def groups(what: str, found: Sequence[Found]) -> View:
        parts = []
        for one in found:
            whole = tuple(round(one["words"] * (1 - part)) for part in one["continued_words"])
            sizes = one["bytes"], one["characters"], one["words"]
            name = one[what].replace("_", " ") if what == "script" else one[what]
            parts.append(Amounts(name, *sizes, tuple(one["tokens"]), whole))
        return _of_parts(what, parts, comparison, aspect)

    found = [_of_parts("text", [text.amounts for text in texts], comparison, aspect, beginning)]
    if (everything := comparison.found) is None:
        return found
    if len(everything["folders"]) > 1:
        found.append(groups("folder", everything["folders"]))
    found += [groups("script", everything["scripts"]), _of_metrics(comparison, everything)]
    if pairs := everything["pairs"]:
        pair = pairs[max(0, min(aspect.tokenizer, len(pairs)) - 1)]
        index = min(aspect.tokenizer, len(comparison.tokenizers) - 1)
        found.append(_of_worst_lines(comparison, everything["worst_lines"][index], index))
        found += [_of_disagreements(comparison, pair), _of_vocabularies(comparison, pair)]
    if (n := everything["total"]["texts"]) < len(texts):
        found[1:] = [replace(view, caption=f"first {counted(n, 'text')} · {view.caption}") for view in found[1:]]
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
    names = [part.name for part in parts[:_SCALED]] if what == "text" else []
    folder = min(names).rpartition("/")[0] if len(names) > 1 else ""
    while folder and not all(name.startswith(f"{folder}/") for name in names):
        folder = folder.rpartition("/")[0]

    def values(row: int) -> list[float]:
        known = (of_amounts(aspect.metric, parts[row], index, reference=reference) for index in tokenizers)
        return [value for value in known if value is not None]

    def name(_: object, row: int) -> Cell:
        return _ending(visible(parts[row].name.removeprefix(f"{folder}/")))

    def value(index: int, _: object, row: int) -> float:
        return known[index] if (known := values(row)) else 0.0

    def cell(index: int, _: object, row: int) -> str:
        return format(known[index], metric.form) if (known := values(row)) else ""

    def ratios(known: Sequence[float]) -> list[float]:
        """The values but the first, each divided by the first."""
        return [value / known[0] if known[0] else 1.0 for value in known[1:]]

    def ratio(_: object, row: int) -> float:
        return next(iter(ratios(values(row))), 0.0)

    def plot(_: object, row: int) -> Cell:
        if not (known := values(row)):
            return Cell("")
        return Cell(lambda width: beside(ratios(known), most, width) if is_size else placed(known, most, width))

    first = [values(row) for row in range(min(len(parts), _SCALED))]
    if is_size:
        most = max((abs(one - 1) for known in first for one in ratios(known)), default=0.0)
        title = f"{-most:.0%} … A … {most:+.0%}"
        hint = "│ is A; right of it: more tokens for the text, left of it: fewer."
    else:
        most = max((value for known in first for value in known), default=0.0)
        title = f"0 … {format(most, metric.form)}"
        hint = f"From 0 to {format(most, metric.form)}, the largest of all rows; ● where several fall together."
    caption = f"{metric.title}: {MEANINGS[aspect.metric]}"
    order = "A click sorts by this column, another one turns the order around."
    columns = [
        Column("name", 14, name, order, most=44, title=what, sort=lambda _, row: parts[row].name.casefold()),
        _count("bytes", 9, lambda _, row: parts[row].n_bytes, "Bytes in UTF-8.", rank=3, ink="muted"),
        *(_of_one(i, comparison, 9, partial(cell, i), caption, most=14, sort=partial(value, i)) for i in tokenizers),
    ]
    drawn: dict[str, Any] = {"sort": ratio, "ink": "accent", "descending": True}
    if len(tokenizers) > 1 and is_size:

        def more(_: object, row: int) -> str:
            return " ".join(f"{one - 1:+.0%}" for one in ratios(values(row)))

        width = max(6, 6 * len(tokenizers) - 7)
        columns.append(
            Column("more", width, more, "More or fewer tokens than A.", right=True, rank=1, title="vs. A", **drawn)
        )
    if len(tokenizers) > 1:
        columns.append(Column("plot", 11, plot, hint, most=41, rank=2, title=title, **drawn))

    def row_hint(row: int) -> str:
        part = parts[row]
        sizes = counted(part.n_bytes, "byte"), counted(part.n_characters, "character"), counted(part.n_words, "word")
        more = "; Enter opens it in the editor" if target(row) else ""
        if what == "script" and part.name in WITHOUT_SPACES:
            more = "; written without spaces, so what counts words is of no use here"
        return f"{visible(part.name)}: {', '.join(sizes)}{more}."

    if aspect.metric == "parity" and reference is None:
        caption = "parity: of texts and folders that are translations of one another, not of scripts"
    elif aspect.metric == "parity" and reference is not None:
        caption = f"parity: tokens for each one of {visible(reference.name)}; e takes this row instead"
    title = counted(len(parts), what)
    return View(f"{what}s", title, caption, columns, len(parts), row_hint, target, ("metric", "reference"))


def _of_metrics(comparison: ComparisonRun, found: Found) -> View:
    """All metrics over all texts, each with its unit and meaning."""
    total: Mapping[str, list[float]] = found["total"]
    rows: list[tuple[str, str, str, Sequence[str | Callable[[int], str]]]] = [
        (metric.title, metric.unit, MEANINGS[key], [format(value, metric.form) for value in total[key]])
        for key, metric in METRICS.items()
        if total.get(key)
    ]
    lengths = [{int(n): count for n, count in one.items()} for one in found["token_lengths"]]
    meaning = "How many tokens have 1, 2, 3 … bytes; the last bar is for the rest."
    rows.append(("token lengths", "bytes", meaning, [partial(shape, one) for one in lengths]))
    splits = [[one for one in mine if sum(one["digits"]) >= _LEAST_DIGITS] for mine in found["number_splits"]]
    none: Found = {"digits": (), "count": 0}
    for place, name in enumerate(("digits, most often", "digits, then", "digits, then")):
        ways: list[Found] = [mine[place] if len(mine) > place else none for mine in splits]
        if any(way["count"] for way in ways):
            counts = " and ".join(_times(way["count"]) for way in ways)
            meaning = f"How numbers of {_LEAST_DIGITS} digits and more are cut: here {counts}."
            rows.append((name, "digits", meaning, ["+".join(map(str, way["digits"])) for way in ways]))

    def value(index: int, _: object, row: int) -> Cell:
        values = rows[row][3]
        return Cell(values[index] if index < len(values) else "")

    over_all = "Over all texts together."
    columns = [
        Column("name", 18, lambda _, row: rows[row][0], f"What is measured. {over_all}", most=20, title="metric"),
        *(
            _of_one(index, comparison, 10, partial(value, index), over_all, most=16)
            for index in range(len(comparison.tokenizers))
        ),
        Column("unit", 13, lambda _, row: rows[row][1], "What is counted.", rank=1, ink="muted"),
        Column("meaning", 20, lambda _, row: rows[row][2], "How it is computed.", most=100, rank=2, ink="muted"),
    ]
    caption = "over all texts together; the line at the foot tells what each metric means"
    return View("metrics", "metrics", caption, columns, len(rows), lambda row: rows[row][2])


def _of_vocabularies(comparison: ComparisonRun, pair: Found) -> View:
    """What only one of two vocabularies has, by rank."""
    other, shared = pair["tokenizers"][1], pair["vocabularies"]
    own = {
        index: [(f"{int(id):,}", token_label(bytes.fromhex(token))) for id, token in shared[key]]
        for index, key in ((0, "first_only_first"), (other, "first_only_second"))
    }

    def text(index: int, field: int, _: object, row: int) -> str:
        return own[index][row][field] if row < len(own[index]) else ""

    columns: list[Column] = []
    for index in own:
        token, title = partial(text, index, 1), f"only in {_named(index, comparison)}"
        columns += [
            Column(f"t{index}", 14, token, "Tokens whose bytes the other does not have.", most=40, title=title),
            Column(f"id{index}", 8, partial(text, index, 0), "The lowest first.", right=True, title="id", ink="muted"),
        ]

    def hint(row: int) -> str:
        known = [(index, *tokens[row]) for index, tokens in own.items() if row < len(tokens)]
        return f"{'; '.join(f'{label} is only in {_named(i, comparison)}, id {id}' for i, id, label in known)}."

    caption = (
        f"{shared['shared']:,} in both · {shared['only_first']:,} only in {LETTERS[0]} · "
        f"{shared['only_second']:,} only in {LETTERS[other]} · same merges up to {shared['same_merges']:,}"
    )
    n_rows = max(map(len, own.values()))
    return View("vocabularies", "vocabularies", caption, columns, n_rows, hint, turns=_others(comparison))


def _of_worst_lines(comparison: ComparisonRun, lines: Sequence[Found], index: int) -> View:
    """The lines for which a tokenizer needs the most more tokens than another."""
    name = _named(index, comparison)
    best = "the other" if len(comparison.tokenizers) == 2 else "the best of the others"

    def n_tokens(index: int, _: object, row: int) -> int:
        return int(lines[row]["tokens"][index])

    def line(_: object, row: int) -> str:
        return visible(lines[row]["text"].strip())

    more = f"Tokens that {name} needs more than {best}."
    columns = [
        _count("more", 6, lambda _, row: lines[row]["excess"], more, "+,", most=8),
        *(
            _count(*(f"t{i}", 4, partial(n_tokens, i), f"Tokens by {_named(i, comparison)}."), title=LETTERS[i], most=9)
            for i in range(len(comparison.tokenizers))
        ),
        _where(lines, "in"),
        Column("line", 20, line, "The beginning of the line.", most=160, sort=lambda *at: line(*at).casefold()),
    ]

    caption = f"{name}: how many more tokens than {best}; t shows another's"
    leads = partial(_place_hint, lines), partial(_target, comparison, lines)
    return View("lines", "worst lines", caption, columns, len(lines), *leads, ("tokenizer",))


def _of_disagreements(comparison: ComparisonRun, pair: Found) -> View:
    """What the first tokenizer and another cut differently, most often first."""
    other, rows, shared = pair["tokenizers"][1], pair["disagreements"], pair["boundaries"]

    def tokens(side: int, _: object, row: int) -> str:
        return "│".join(token_label(bytes.fromhex(token)) for token in rows[row]["tokens"][side])

    def n_tokens(side: int, _: object, row: int) -> int:
        return len(rows[row]["tokens"][side])

    columns = [_count("times", 7, lambda _, row: rows[row]["count"], "How often they differ in this way.")]
    for side, index in enumerate((0, other)):
        cell, title = partial(tokens, side), _named(index, comparison)
        sorts: dict[str, Any] = {"sort": partial(n_tokens, side), "descending": True}
        columns.append(Column(f"t{index}", 12, cell, "The tokens it makes of it.", most=40, title=title, **sorts))
    columns.append(_where(rows, "first in"))

    one, two = LETTERS[0], LETTERS[other]
    caption = (
        f"{one} and {two} share {shared['shared']:,} boundaries: {shared['precision']:.3f} of {two}'s (precision), "
        f"{shared['recall']:.3f} of {one}'s (recall) · F1 {shared['f1']:.3f}"
    )
    leads = partial(_place_hint, rows), partial(_target, comparison, rows)
    return View("disagreements", "disagreements", caption, columns, len(rows), *leads, _others(comparison))


def _place_hint(rows: Sequence[Found], row: int) -> str:
    return f"First at {_place(rows[row])}, {_times(rows[row]['count'])} in all; Enter shows it there in the editor."


def _target(comparison: ComparisonRun, rows: Sequence[Found], row: int) -> PlaceInText | None:
    """Where the place of a row is to be shown; None if its text lies in no file."""
    text, line, column = rows[row]["place"]
    if not 0 <= text < len(comparison.texts) or not comparison.texts[text].path:
        return None
    length = 0 if "excess" in rows[row] else len(rows[row]["text"])  # a line is shown, a difference selected
    return PlaceInText(comparison.texts[text].path, line, column, length)


# Columns that several views have


def _count(key: str, width: int, n: Callable[[Any, int], int], hint: str, form: str = ",", **more: Any) -> Column:
    """A column of whole numbers, the greatest first where it sorts."""
    return Column(key, width, lambda *at: format(n(*at), form), hint, right=True, sort=n, descending=True, **more)


def _of_one(index: int, comparison: ComparisonRun, width: int, cell: CellOf, hint: str, **more: Any) -> Column:
    """A column of numbers of one of the tokenizers."""
    name = _named(index, comparison)
    return Column(f"t{index}", width, cell, hint, title=name, right=True, descending=True, **more)


def _where(rows: Sequence[Found], title: str) -> Column:
    def place(_: object, row: int) -> Cell:
        return _ending(_place(rows[row]))

    def sort(_: object, row: int) -> str:
        return str(rows[row]["in"]).casefold()

    hint = "The text, and the number of the line in it."
    return Column("where", 16, place, hint, most=34, rank=1, title=title, sort=sort, ink="muted")


def _named(index: int, comparison: ComparisonRun) -> str:
    """A tokenizer in the head of a column: its letter, where there are several, and its name."""
    name = visible(comparison.tokenizers[index].name)
    return f"{LETTERS[index]} {name}" if len(comparison.tokenizers) > 1 else name


def _others(comparison: ComparisonRun) -> tuple[str, ...]:
    return ("tokenizer",) if len(comparison.tokenizers) > 2 else ()


def _place(one: Found) -> str:
    return f"{visible(one['in'])}:{one['line']}"


def _ending(name: str) -> Cell:
    """A name cut at its beginning, for by the end those of one folder differ."""
    return Cell(lambda width: cut(name, width, "end"))


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"
