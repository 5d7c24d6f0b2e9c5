"""How tokenizers differ: the lines that cost one of them most, disagreements, tokens of one only, and the causes."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from bpe_core.difference import Cause, DecodedWitness, Witness
from bpe_core.difference.records import written
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.visible import token_label, visible
from tui.drawing.charts import LETTERS
from tui.drawing.lines import how_often
from tui.state import ComparisonRun, PairWitness, PlaceInText
from tui.table.columns import Column
from tui.widgets.comparison_views.view import (
    Found,
    Row,
    RowOf,
    View,
    heading_of,
    number_column,
    path_column,
    text_column,
)

ENTER: Final = "Enter puts the text into the editor."
"""What Enter does with a text that two tokenizers encode differently."""
_MARKS: Final = {False: "≠", None: "?", True: "="}
"""Whether a part is the same -> the mark for it, in the order of the rows."""


def worst_lines_view(
    comparison: ComparisonRun, lines: Sequence[Found], index: int
) -> View:
    """Return the view of the lines for which a tokenizer needs the most extra tokens."""
    name = heading_of(index, comparison)
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
    columns = [number_column(row_of, "more", 6, hint, "+,", most=8)]
    for number in range(len(comparison.tokenizers)):
        hint = f"Tokens with {heading_of(number, comparison)}."
        columns.append(
            number_column(
                row_of, f"t{number}", 4, hint, ",", title=LETTERS[number], most=9
            )
        )
    columns.append(_where_column(row_of, "in"))
    hint = "The beginning of the line."
    columns.append(text_column(row_of, "line", 20, hint, sort_by="line", most=160))
    return View(
        "lines",
        "worst lines",
        f"lines that cost {name} more tokens than {best}; t shows another tokenizer",
        columns,
        len(lines),
        partial(_place_hint, lines),
        partial(_target, comparison, lines),
        partial(_text_place, lines),
        ("tokenizer",),
    )


def disagreements_view(comparison: ComparisonRun, pair: Found) -> View:
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
    columns = [number_column(row_of, "times", 7, hint, ",")]
    for index in sides:
        columns.append(
            text_column(
                row_of,
                f"t{index}",
                12,
                "How this tokenizer splits the text.",
                most=40,
                title=heading_of(index, comparison),
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
        partial(_text_place, found),
        _turns_of_pair(comparison),
    )


def _place_hint(rows: Sequence[Found], row: int) -> str:
    found = rows[row]
    times = how_often(found["count"])
    return f"First at {_place(found)}, {times} in all; Enter opens it in the editor."


def _text_place(rows: Sequence[Found], row: int) -> TextPlace:
    return TextPlace(*rows[row]["place"])


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
    length = 0
    if "excess" not in rows[row]:
        # Select a disagreement; only go to a line.
        length = len(rows[row]["text"])
    return PlaceInText(path, line, column, length)


def vocabularies_view(comparison: ComparisonRun, pair: Found) -> View:
    """Return the view of the tokens that only one of two vocabularies has, by rank."""
    other = pair["tokenizers"][1]
    shared = pair["vocabularies"]
    only = {0: shared["first_only_first"], other: shared["first_only_second"]}
    rows: list[dict[str, Any]] = [
        {"hints": []} for _ in range(max(map(len, only.values())))
    ]

    def hint_of(row: int) -> str:
        hints = "; ".join(rows[row]["hints"])
        return f"{hints}."

    columns: list[Column] = []
    for index, tokens in only.items():
        name = heading_of(index, comparison)
        for row, (token_id, token) in zip(rows, tokens, strict=False):
            label = token_label(bytes.fromhex(token))
            row[f"t{index}"] = label
            row[f"id{index}"] = f"{token_id:,}"
            row["hints"].append(f"{label} is only in {name}, id {token_id:,}")
        column = partial(text_column, rows.__getitem__)
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
        hint_of,
        turns=_turns_of_pair(comparison),
    )


def causes_view(comparison: ComparisonRun, other: int) -> View:
    """Return the view of the parts of two tokenizers: each cause, or why there is none."""
    difference = comparison.differences[other].difference
    causes: list[Cause] = []
    rows: list[Row] = []
    order = list(_MARKS)
    for part in sorted(difference.parts, key=lambda part: order.index(part.is_same)):
        for cause in part.causes or [Cause(part.part, part.sentence, None)]:
            causes.append(cause)
            row = {"is": _MARKS[part.is_same], "part": part.part, "what": cause.what}
            match cause.witness:
                case Witness(text):
                    row["text"] = written(text)
                case DecodedWitness(ids):
                    row["text"] = f"ids {' '.join(map(str, ids))}"
            rows.append(row)

    def hint_of(row: int) -> str:
        return f"{causes[row].what} {ENTER}" if target(row) else causes[row].what

    def target(row: int) -> PairWitness | None:
        witness = causes[row].witness
        return PairWitness(other, witness) if isinstance(witness, Witness) else None

    column = partial(text_column, rows.__getitem__)
    columns = [
        column("is", 1, "≠ different, ? not decided, = the same.", title=" "),
        column("part", 14, "The part of a tokenizer.", sort_by="part"),
        column("what", 24, "What is different.", most=120, title="what is different"),
        column("text", 14, "A text that shows it.", sort_by="text", most=28),
    ]
    caption = f"A and {LETTERS[other]}, part by part"
    if other > 1:
        caption += f"; the sentences call {LETTERS[other]} B"
    return View(
        "causes",
        "causes",
        caption,
        columns,
        len(rows),
        hint_of,
        target,
        turns=_turns_of_pair(comparison),
    )


def _where_column(row_of: RowOf, title: str) -> Column:
    hint = "The text, and the number of the line in it."
    return path_column(
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


def _turns_of_pair(comparison: ComparisonRun) -> tuple[str, ...]:
    return ("tokenizer",) if len(comparison.tokenizers) > 2 else ()


def _place(found: Found) -> str:
    return f"{visible(found['in'])}:{found['line']}"
