"""The views of a comparison of tokenizers, each a table: its columns, its rows, and the places in texts they lead to.

Pure; knows no widget. The tokenizers that are compared are called A to D, as in the heads of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from rich.cells import cell_len

from bpe_core.metrics import Amounts
from bpe_core.metrics.catalog import METRICS, of_amounts
from bpe_core.plurals import counted
from bpe_core.visible import token_label, visible
from tui.drawing.plots import LETTERS, beside, placed, shape
from tui.state import Comparison
from tui.table.columns import Cell, Column

_SCALED: Final = 1000
"""Rows that the scale of a drawing is made for."""
_LONGEST: Final = 16
"""Bytes of the longest tokens that the distribution of lengths tells apart."""
_LEAST_DIGITS: Final = 4
"""Digits of the numbers whose splits are told; shorter ones are one token more often than not."""

Found = Mapping[str, Any]
"""A part of what `compare --json` prints."""


class Aspect(NamedTuple):
    """What of a comparison is looked at."""

    metric: str = "tokens"
    """One of `OF_PARTS`."""
    tokenizer: int = 0
    """For which tokenizer lines are told, and, but for the first, with which one the first is compared."""
    reference: int = 0
    """The row that parity relates to."""


class Target(NamedTuple):
    """A place in a text, to be shown in the editor."""

    path: str
    line: int
    """From 1."""
    column: int
    """Characters before it in the line."""
    length: int
    """Characters to be selected."""


@dataclass(frozen=True)
class View:
    """One table."""

    key: str
    title: str
    """What it is called among the others."""
    caption: str
    """What it shows, in a line."""
    columns: Sequence[Column]
    n_rows: int
    hint: Callable[[int], str]
    """A row in a sentence."""
    target: Callable[[int], Target | None] = lambda row: None
    """Where a row leads to."""
    turns: tuple[str, ...] = ()
    """Which of "metric", "tokenizer" and "reference" can be turned to something else here."""


def views(comparison: Comparison, aspect: Aspect) -> list[View]:
    """The views that there is something to show in; those of all texts once these have been encoded."""
    texts = comparison.texts
    if not texts:
        return []

    def beginning(row: int) -> Target | None:
        return Target(texts[row].path, texts[row].line, 0, 0) if texts[row].path else None

    found = [_of_parts("text", [text.amounts for text in texts], comparison, aspect, beginning)]
    if (everything := comparison.found) is None:
        return found
    if len(everything["folders"]) > 1:
        found.append(_of_groups("folder", everything["folders"], comparison, aspect))
    found.append(_of_groups("script", everything["scripts"], comparison, aspect))
    found.append(_of_metrics(comparison, everything))
    if everything["pairs"]:
        pair = everything["pairs"][max(0, min(aspect.tokenizer, len(everything["pairs"])) - 1)]
        found.append(_of_worst_lines(comparison, everything, aspect))
        found.append(_of_disagreements(comparison, pair))
        found.append(_of_vocabularies(comparison, pair))
    return found


# A metric of each text, folder or script


def _of_groups(what: str, found: Sequence[Found], comparison: Comparison, aspect: Aspect) -> View:
    """A metric of each "folder" or "script", as JSON has them."""
    parts = []
    for one in found:
        whole = tuple(round(one["words"] * (1 - part)) for part in one["continued_words"])
        sizes = one["bytes"], one["characters"], one["words"]
        parts.append(Amounts(one[what].replace("_", " "), *sizes, tuple(one["tokens"]), whole))
    return _of_parts(what, parts, comparison, aspect)


def _of_parts(
    what: str,
    parts: Sequence[Amounts],
    comparison: Comparison,
    aspect: Aspect,
    target: Callable[[int], Target | None] = lambda row: None,
) -> View:
    """A metric of each part of the texts, and how the tokenizers compare by it."""
    n_tokenizers, metric = len(comparison.tokenizers), METRICS[aspect.metric]
    relates = what != "script" and aspect.reference < len(parts)
    reference = parts[aspect.reference] if relates else None
    is_size = aspect.metric == "tokens"
    folder = _common_folder([part.name for part in parts[:_SCALED]]) if what == "text" else ""

    def values(row: int) -> list[float]:
        known = (of_amounts(aspect.metric, parts[row], index, reference=reference) for index in range(n_tokenizers))
        return [value for value in known if value is not None]

    def ratio(_: object, row: int) -> float:
        return next(iter(_ratios(values(row))), 0.0)

    def plot(row: int) -> Cell:
        known = values(row)
        if not known:
            return Cell("")
        return Cell(lambda width: beside(_ratios(known), most, width) if is_size else placed(known, most, width))

    first = [values(row) for row in range(min(len(parts), _SCALED))]
    if is_size:
        most = max((abs(one - 1) for known in first for one in _ratios(known)), default=0.0)
        title = f"{-most:.0%} … A … {most:+.0%}"
        hint = "│ is A: to the right who needs more tokens for the text, to the left who needs fewer."
    else:
        most = max((value for known in first for value in known), default=0.0)
        title = f"0 … {metric.text(most)}"
        hint = f"From 0 to {metric.text(most)}, the largest of all rows; ● where several fall together."
    columns = [
        Column(
            "name",
            14,
            lambda _, row: _ending(visible(parts[row].name.removeprefix(folder))),
            "A click sorts by this column, another one turns the order around.",
            most=44,
            title=what,
            sort=lambda _, row: parts[row].name.casefold(),
        ),
        _count("bytes", 9, lambda row: parts[row].n_bytes, "Bytes in UTF-8.", rank=3, ink="muted"),
        *_per_tokenizer(
            comparison,
            lambda row, index: metric.text(known[index]) if (known := values(row)) else "",
            f"{metric.title}: {metric.meaning}",
            width=9,
            most=14,
            sort=lambda row, index: known[index] if (known := values(row)) else 0.0,
        ),
    ]
    if n_tokenizers > 1 and is_size:
        columns.append(
            Column(
                "more",
                max(6, 6 * (n_tokenizers - 1) - 1),
                lambda _, row: " ".join(f"{one - 1:+.0%}" for one in _ratios(values(row))),
                "More tokens or fewer than A.",
                right=True,
                rank=1,
                title="than A",
                ink="accent",
                sort=ratio,
                descending=True,
            )
        )
    if n_tokenizers > 1:
        drawn = Column("plot", 11, lambda _, row: plot(row), hint, most=41, rank=2, title=title, ink="accent")
        columns.append(replace(drawn, sort=ratio, descending=True))

    def row_hint(row: int) -> str:
        part = parts[row]
        sizes = counted(part.n_bytes, "byte"), counted(part.n_characters, "character"), counted(part.n_words, "word")
        return f"{visible(part.name)}: {', '.join(sizes)}{'; Enter opens it in the editor' if target(row) else ''}."

    caption = f"{metric.title}: {metric.meaning}"
    if aspect.metric == "parity" and reference is None:
        caption = "parity: of texts and folders that are translations of one another, not of scripts"
    elif aspect.metric == "parity" and reference is not None:
        caption = f"parity: tokens for each one of {visible(reference.name)}; e takes this row instead"
    title = counted(len(parts), what)
    return View(f"{what}s", title, caption, columns, len(parts), row_hint, target, ("metric", "reference"))


def _ratios(values: Sequence[float]) -> list[float]:
    """The values but the first, each divided by the first."""
    return [value / values[0] if values[0] else 1.0 for value in values[1:]]


def _common_folder(names: Sequence[str]) -> str:
    """The folders that all names begin with, and a slash; empty if there is none, or only one name."""
    common = min(names, default="").rpartition("/")[0] if len(names) > 1 else ""
    while common and not all(name.startswith(f"{common}/") for name in names):
        common = common.rpartition("/")[0]
    return f"{common}/" if common else ""


# Over all texts


class _Measured(NamedTuple):
    """A row of the view of metrics."""

    name: str
    unit: str
    meaning: str
    values: Sequence[str | Callable[[int], str]]


def _of_metrics(comparison: Comparison, found: Found) -> View:
    """All metrics over all texts, each with its unit and meaning."""
    total: Mapping[str, list[float]] = found["total"]
    rows = [
        _Measured(metric.title, metric.unit, metric.meaning, [*map(metric.text, total[key])])
        for key, metric in METRICS.items()
        if total.get(key) and key != "edit_survival"  # the editor shows what an edit does
    ]
    lengths = [{int(n): count for n, count in one.items()} for one in found["token_lengths"]]
    meaning = "How many tokens have 1, 2, 3 … bytes; the last bar is for the rest."
    shapes = [partial(_shape, one) for one in lengths]
    rows.append(_Measured("token lengths", "bytes", meaning, shapes))
    splits = [[one for one in mine if sum(one["digits"]) >= _LEAST_DIGITS] for mine in found["number_splits"]]
    none: Found = {"digits": (), "count": 0}
    for place, name in enumerate(("digits, most often", "digits, then", "digits, then")):
        ways: list[Found] = [mine[place] if len(mine) > place else none for mine in splits]
        if any(way["count"] for way in ways):
            counts = " and ".join(_times(way["count"]) for way in ways)
            meaning = f"How numbers of {_LEAST_DIGITS} digits and more are cut: here {counts}."
            rows.append(_Measured(name, "digits", meaning, ["+".join(map(str, way["digits"])) for way in ways]))

    def value(row: int, index: int) -> Cell:
        values = rows[row].values
        return Cell(values[index] if index < len(values) else "")

    over_all = "Over all texts together."
    columns = [
        Column("name", 18, lambda _, row: rows[row].name, f"What is measured. {over_all}", most=20, title="metric"),
        *_per_tokenizer(comparison, value, over_all, width=10, most=_LONGEST),
        Column("unit", 13, lambda _, row: rows[row].unit, "What is counted.", rank=1, ink="muted"),
        Column("meaning", 20, lambda _, row: rows[row].meaning, "How it is computed.", most=100, rank=2, ink="muted"),
    ]
    caption = "over all texts together; the line at the foot tells what each metric means"
    return View("metrics", "metrics", caption, columns, len(rows), lambda row: rows[row].meaning)


def _shape(lengths: Mapping[int, int], width: int) -> str:
    return shape(lengths, 1, min(_LONGEST, width))


def _of_vocabularies(comparison: Comparison, pair: Found) -> View:
    """What only one of two vocabularies has, by rank."""
    other, shared = pair["tokenizers"][1], pair["vocabularies"]
    own = {
        index: [(int(id), token_label(bytes.fromhex(token))) for id, token in shared[key]]
        for index, key in ((0, "first_only_first"), (other, "first_only_second"))
    }

    def column_of(index: int) -> list[Column]:
        tokens, title = own[index], f"only in {_named(index, comparison)}"

        def text(row: int, place: int) -> str:
            return (f"{tokens[row][0]:,}", tokens[row][1])[place] if row < len(tokens) else ""

        hint = "Tokens whose bytes the other does not have."
        return [
            Column(f"t{index}", 14, lambda _, row: text(row, 1), hint, most=40, title=title),
            Column(
                f"id{index}", 8, lambda _, row: text(row, 0), "The lowest first.", right=True, title="id", ink="muted"
            ),
        ]

    def hint(row: int) -> str:
        known = [(index, *tokens[row]) for index, tokens in own.items() if row < len(tokens)]
        return f"{'; '.join(f'{label} is only in {_named(i, comparison)}, id {id:,}' for i, id, label in known)}."

    caption = (
        f"{shared['shared']:,} in both · {shared['only_first']:,} only in {LETTERS[0]} · "
        f"{shared['only_second']:,} only in {LETTERS[other]} · same merges up to {shared['same_merges']:,}"
    )
    columns = [column for index in own for column in column_of(index)]
    n_rows = max(map(len, own.values()))
    return View("vocabularies", "vocabularies", caption, columns, n_rows, hint, turns=_others(comparison))


# Views that lead into the texts


def _of_worst_lines(comparison: Comparison, found: Found, aspect: Aspect) -> View:
    """The lines for which a tokenizer needs the most more tokens than another."""
    index = min(aspect.tokenizer, len(comparison.tokenizers) - 1)
    lines: list[Found] = found["worst_lines"][index]
    name = _named(index, comparison)
    best = "the other" if len(comparison.tokenizers) == 2 else "the best of the others"

    def n_tokens(index: int, row: int) -> int:
        return int(lines[row]["tokens"][index])

    columns = [
        _count("more", 6, lambda row: lines[row]["excess"], f"Tokens that {name} needs more than {best}.", "+", most=8),
        *(
            replace(
                _count(f"t{i}", 4, partial(n_tokens, i), f"Tokens by {_named(i, comparison)}."),
                title=LETTERS[i],
                most=9,
            )
            for i in range(len(comparison.tokenizers))
        ),
        _where(lines, "in"),
        Column(
            "line",
            20,
            lambda _, row: visible(lines[row]["text"].strip()),
            "The beginning of the line.",
            most=160,
            sort=lambda _, row: lines[row]["text"].casefold(),
        ),
    ]

    def hint(row: int) -> str:
        return f"{_place(lines[row])}, {_times(lines[row]['count'])} in all; Enter shows it there in the editor."

    caption = f"{name}: tokens more than by {best}; t tells another one's"
    target = partial(_target, comparison, lines, 0)
    return View("lines", "worst lines", caption, columns, len(lines), hint, target, ("tokenizer",))


def _of_disagreements(comparison: Comparison, pair: Found) -> View:
    """What the first tokenizer and another cut differently, most often first."""
    other, rows, shared = pair["tokenizers"][1], pair["disagreements"], pair["boundaries"]

    def tokens(side: int, index: int) -> Column:
        return Column(
            f"t{index}",
            12,
            lambda _, row: "│".join(token_label(bytes.fromhex(token)) for token in rows[row]["tokens"][side]),
            "The tokens it makes of it.",
            most=40,
            title=_named(index, comparison),
            sort=lambda _, row: len(rows[row]["tokens"][side]),
            descending=True,
        )

    columns = [
        _count("times", 7, lambda row: rows[row]["count"], "How often they differ in this way."),
        tokens(0, 0),
        tokens(1, other),
        _where(rows, "first in"),
    ]

    def hint(row: int) -> str:
        says = f"{_times(rows[row]['count'])}, first in {_place(rows[row])}; Enter shows it there in the editor."
        return f"{says[0].upper()}{says[1:]}"

    def target(row: int) -> Target | None:
        return _target(comparison, rows, len(rows[row]["text"]), row)

    caption = (
        f"{LETTERS[0]} and {LETTERS[other]}: {shared['shared']:,} boundaries shared · precision "
        f"{shared['precision']:.3f} · recall {shared['recall']:.3f} · F1 {shared['f1']:.3f}"
    )
    return View("disagreements", "disagreements", caption, columns, len(rows), hint, target, _others(comparison))


def _target(comparison: Comparison, rows: Sequence[Found], length: int, row: int) -> Target | None:
    """Where the place of a row is to be shown; None if its text lies in no file."""
    text, line, column = rows[row]["place"]
    if not 0 <= text < len(comparison.texts) or not comparison.texts[text].path:
        return None
    return Target(comparison.texts[text].path, line, column, length)


# Columns that several views have


def _named(index: int, comparison: Comparison) -> str:
    """A tokenizer in the head of a column: its letter, where there are several, and its name."""
    name = visible(comparison.tokenizers[index].name)
    return f"{LETTERS[index]} {name}" if len(comparison.tokenizers) > 1 else name


def _others(comparison: Comparison) -> tuple[str, ...]:
    """The first can be compared with another one where there are several."""
    return ("tokenizer",) if len(comparison.tokenizers) > 2 else ()


def _per_tokenizer(
    comparison: Comparison,
    cell: Callable[[int, int], str | Cell],
    hint: str,
    *,
    width: int,
    most: int,
    sort: Callable[[int, int], float] | None = None,
) -> list[Column]:
    """A column of numbers for each tokenizer; `cell` and `sort` take a row and a tokenizer."""

    def column(index: int) -> Column:
        return Column(
            f"t{index}",
            width,
            lambda _, row: cell(row, index),
            hint,
            most=most,
            right=True,
            title=_named(index, comparison),
            sort=sort and (lambda _, row: sort(row, index)),
            descending=True,
        )

    return [column(index) for index in range(len(comparison.tokenizers))]


def _count(key: str, width: int, n: Callable[[int], int], hint: str, sign: str = "", **more: Any) -> Column:
    """A column of whole numbers, the greatest first where it sorts."""
    written = f"{{:{sign},}}".format
    column = Column(key, width, lambda _, row: written(n(row)), hint, right=True, descending=True, **more)
    return replace(column, sort=lambda _, row: n(row))


def _where(rows: Sequence[Found], title: str) -> Column:
    hint = "The text, and the number of the line in it."
    column = Column("where", 16, lambda _, row: _ending(_place(rows[row])), hint, most=34, rank=1, title=title)
    return replace(column, ink="muted", sort=lambda _, row: rows[row]["in"].casefold())


def _place(one: Found) -> str:
    """The text and the line of a place."""
    return f"{visible(one['in'])}:{one['line']}"


def _ending(name: str) -> Cell:
    """A name cut at its beginning, for by the end those of one folder differ."""

    def cut(width: int) -> str:
        if cell_len(name) <= width:
            return name
        end = name[1 - width :] if width > 1 else ""
        while cell_len(end) >= width > 1:
            end = end[1:]
        return f"…{end}"

    return Cell(cut)


def _times(n: int) -> str:
    """A number of occurrences.

    >>> _times(1), _times(2000)
    ('once', '2,000 times')
    """
    return "once" if n == 1 else f"{n:,} times"
