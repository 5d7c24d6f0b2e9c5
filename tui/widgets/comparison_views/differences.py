"""How tokenizers differ: the lines that cost one of them most, disagreements, and the causes."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from bpe_core.difference import Cause, DecodedWitness, Witness
from bpe_core.difference.records import written
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.visible import token_label, visible
from bpe_core.worker.comparison_json import boundaries_sentence
from tui.drawing.lines import how_often
from tui.state import LETTERS, ComparisonRun
from tui.widgets.comparison_views.view import (
    Found,
    Row,
    View,
    column_of,
    number_column,
)

_MARKS: Final = {False: "≠", None: "?", True: "="}
"""Whether a part is the same -> the mark for it, in the order of the rows."""
_WHERE: Final = "The text, and the number of the line in it."


def worst_lines_view(
    comparison: ComparisonRun, lines: Sequence[Found], index: int
) -> View:
    """Return the view of the lines for which a tokenizer needs the most extra tokens."""
    rows = []
    for line in lines:
        row = _row_in_text(comparison, line, length=0)
        row.add_number("more", line["excess"], "+,")
        for number, n_tokens in enumerate(line["tokens"]):
            row.add_number(f"t{number}", n_tokens, ",")
        text = visible(line["text"].strip())
        row.cells["line"] = text
        row.sort_keys["line"] = text.casefold()
        rows.append(row)
    headings = comparison.headings
    best = "the other" if len(headings) == 2 else "the best of the others"
    column = partial(column_of, rows.__getitem__, sorts=True)
    number_of = partial(number_column, rows.__getitem__)
    hint = f"How many more tokens {headings[index]} needs than {best}."
    columns = [number_of("more", 6, hint, most=8)]
    for number, name in enumerate(headings):
        hint = f"Tokens with {name}."
        columns.append(number_of(f"t{number}", 4, hint, title=LETTERS[number], most=9))
    columns += [
        column("where", 16, _WHERE, most=34, rank=1, title="in", ink="muted"),
        column("line", 20, "The beginning of the line.", most=160),
    ]
    return View(
        "lines",
        "worst lines",
        f"lines that cost {headings[index]} more tokens than {best}; t shows another tokenizer",
        columns,
        len(rows),
        rows.__getitem__,
        ("tokenizer",),
    )


def disagreements_view(comparison: ComparisonRun, pair: Found) -> View:
    """Return the view of the texts that two tokenizers cut differently, most frequent first."""
    sides = pair["tokenizers"]
    rows = []
    for disagreement in pair["disagreements"]:
        row = _row_in_text(comparison, disagreement, len(disagreement["text"]))
        row.add_number("times", disagreement["count"], ",")
        for index, tokens in zip(sides, disagreement["tokens"], strict=True):
            labels = [token_label(bytes.fromhex(token)) for token in tokens]
            row.cells[f"t{index}"] = "│".join(labels)
            row.sort_keys[f"t{index}"] = len(tokens)
        rows.append(row)
    column = partial(column_of, rows.__getitem__, sorts=True)
    split = partial(column, descending=True, most=40)
    hint = "How often the tokenizers differ in this way."
    columns = [number_column(rows.__getitem__, "times", 7, hint)]
    for index in sides:
        hint = "How this tokenizer splits the text."
        columns.append(split(f"t{index}", 12, hint, title=comparison.headings[index]))
    columns.append(
        column("where", 16, _WHERE, most=34, rank=1, title="first in", ink="muted")
    )
    first, second = (LETTERS[index] for index in sides)
    return View(
        "disagreements",
        "disagreements",
        boundaries_sentence(pair, first, second),
        columns,
        len(rows),
        rows.__getitem__,
        _turns_of_pair(comparison),
    )


def _row_in_text(comparison: ComparisonRun, found: Found, length: int) -> Row:
    """Return a row with only the cell "where". Enter selects `length` characters at that place in a text."""
    place = TextPlace(*found["place"])
    where = f"{visible(found['in'])}:{found['line']}"
    hint = f"First at {where}, {how_often(found['count'])} in all; Enter opens it in the editor."
    target = comparison.place_in_file(place, length)
    row = Row(hint, {}, {"where": found["in"].casefold()}, target, place)
    row.add_path("where", where)
    return row


def causes_view(comparison: ComparisonRun, other: int) -> View:
    """Return the view of the parts of two tokenizers: each cause, or why there is none."""
    difference = comparison.differences[other].difference
    rows: list[Row] = []
    order = list(_MARKS)
    for part in sorted(difference.parts, key=lambda part: order.index(part.is_same)):
        causes = list(part.causes)
        if len(causes) != 1:
            # How many there are in all, or why there are none.
            causes.insert(0, Cause(part.part, part.sentence, None))
        for cause in causes:
            row = Row.about(other, cause.what, cause.witness)
            row.cells["is"] = _MARKS[part.is_same]
            row.cells["part"] = part.part
            row.cells["what"] = cause.what
            match cause.witness:
                case Witness(text):
                    row.cells["text"] = written(text)
                case DecodedWitness(ids):
                    row.cells["text"] = f"ids {' '.join(map(str, ids))}"
            row.sort_keys |= row.cells
            rows.append(row)
    column = partial(column_of, rows.__getitem__)
    columns = [
        column("is", 1, "≠ different, ? not decided, = the same.", title=" "),
        column("part", 14, "The part of a tokenizer.", sorts=True),
        column("what", 24, "What is different.", most=120, title="what is different"),
        column("text", 14, "A text that shows it.", sorts=True, most=28),
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
        rows.__getitem__,
        _turns_of_pair(comparison),
    )


def _turns_of_pair(comparison: ComparisonRun) -> tuple[str, ...]:
    return ("tokenizer",) if len(comparison.tokenizers) > 2 else ()
