"""Views of a comparison that lead into the texts: the worst lines of a tokenizer, and what two cut differently."""

from collections.abc import Mapping
from typing import Any, Final

from bpe_core.visible import token_label, visible
from tui.drawing.columns import Column
from tui.drawing.comparison_view import Choices, Row, View, Widths, named, target, times, where
from tui.drawing.small_plots import LETTERS
from tui.state.comparison import Comparison

_BETWEEN: Final = "│"
"""Stands between two tokens."""
_WHERE: Final = "The text, and the number of the line in it."


def of_worst_lines(comparison: Comparison, found: Mapping[str, Any], choices: Choices) -> View:
    """The lines for which a tokenizer needs the most more tokens than another."""
    index = min(choices.tokenizer, len(comparison.tokenizers) - 1)
    lines: list[Mapping[str, Any]] = found["worst_lines"][index]

    def row(number: int, widths: Widths) -> Row:
        one = lines[number]
        texts = {"more": f"+{one['excess']:,}", "where": where(one, widths), "line": visible(one["text"].strip())}
        texts |= {f"t{i}": f"{n:,}" for i, n in enumerate(one["tokens"])}
        hint = f"{where(one, {})}, {times(one['count'])} in all; Enter shows it there in the editor."
        return Row(texts, hint, target(comparison, one["place"], 0))

    def value(number: int, column: str) -> Any:
        one = lines[number]
        if column in ("where", "line"):
            return one["in" if column == "where" else "text"].casefold()
        return one["excess"] if column == "more" else one["tokens"][int(column[1:])]

    name = named(index, comparison)
    best = "the other" if len(comparison.tokenizers) == 2 else "the best of the others"
    columns = [
        Column("more", 6, 8, right=True, hint=f"Tokens that {name} needs more than {best}."),
        *(
            Column(f"t{i}", 4, 9, right=True, title=LETTERS[i], hint=f"Tokens of the line by {named(i, comparison)}.")
            for i in range(len(comparison.tokenizers))
        ),
        Column("where", 16, 34, rank=1, title="in", hint=_WHERE),
        Column("line", 20, 160, hint="The beginning of the line."),
    ]
    caption = f"{name}: tokens more than by {best}; t tells another one's"
    return View("lines", "worst lines", caption, columns, len(lines), row, value, ("tokenizer",))


def of_disagreements(comparison: Comparison, pair: Mapping[str, Any]) -> View:
    """What the first tokenizer and another cut differently, most often first."""
    other = pair["tokenizers"][1]
    rows: list[Mapping[str, Any]] = pair["disagreements"]

    def row(number: int, widths: Widths) -> Row:
        one = rows[number]
        first, second = (_BETWEEN.join(token_label(bytes.fromhex(token)) for token in ids) for ids in one["tokens"])
        texts = {"times": f"{one['count']:,}", "t0": first, f"t{other}": second, "where": where(one, widths)}
        hint = f"{times(one['count'])}, first in {where(one, {})}; Enter shows it there in the editor."
        return Row(texts, f"{hint[0].upper()}{hint[1:]}", target(comparison, one["place"], len(one["text"])))

    def value(number: int, column: str) -> Any:
        one = rows[number]
        if column in ("times", "where"):
            return one["count"] if column == "times" else one["in"].casefold()
        return len(one["tokens"][0 if column == "t0" else 1])

    shared = pair["boundaries"]
    columns = [
        Column("times", 7, right=True, hint="How often they differ in this way."),
        *(
            Column(f"t{index}", 12, 40, title=named(index, comparison), hint="The tokens it makes of it.")
            for index in (0, other)
        ),
        Column("where", 16, 34, rank=1, title="first in", hint=_WHERE),
    ]
    caption = (
        f"{LETTERS[0]} and {LETTERS[other]}: {shared['shared']:,} boundaries shared · precision "
        f"{shared['precision']:.3f} · recall {shared['recall']:.3f} · F1 {shared['f1']:.3f}"
    )
    choices = ("tokenizer",) if len(comparison.tokenizers) > 2 else ()
    return View("disagreements", "disagreements", caption, columns, len(rows), row, value, choices)
