"""Views of a comparison by parts: a metric of each text, folder or script."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from bpe_core.metrics import Amounts
from bpe_core.metrics.catalog import METRICS, of_amounts
from bpe_core.plurals import counted
from bpe_core.visible import visible
from tui.drawing.columns import Column
from tui.drawing.comparison_view import Choices, Row, Target, View, Widths, ending, per_tokenizer
from tui.drawing.small_plots import beside, placed
from tui.state.comparison import Comparison

_SCALED: Final = 1000
"""Rows that the scale of a drawing is made for."""
_VALUE: Final = 9
"""Cells of a number."""


def of_texts(comparison: Comparison, choices: Choices) -> View:
    """A metric of each text."""
    texts = comparison.texts

    def beginning(number: int) -> Target | None:
        return Target(texts[number].path, texts[number].line, 0, 0) if texts[number].path else None

    return _parts("text", [text.amounts for text in texts], comparison, choices, beginning)


def of_groups(what: str, found: Sequence[Mapping[str, Any]], comparison: Comparison, choices: Choices) -> View:
    """A metric of each "folder" or "script", as JSON has them."""
    parts = []
    for one in found:
        whole = tuple(round(one["words"] * (1 - part)) for part in one["continued_words"])
        sizes = one["bytes"], one["characters"], one["words"]
        parts.append(Amounts(one[what].replace("_", " "), *sizes, tuple(one["tokens"]), whole))
    return _parts(what, parts, comparison, choices, lambda number: None)


def _parts(
    what: str,
    parts: Sequence[Amounts],
    comparison: Comparison,
    choices: Choices,
    target: Callable[[int], Target | None],
) -> View:
    n_tokenizers = len(comparison.tokenizers)
    metric = METRICS[choices.metric]
    relates = what != "script" and choices.reference < len(parts)
    reference = parts[choices.reference] if relates else None
    is_size = choices.metric == "tokens"

    def values(number: int) -> list[float]:
        told = (of_amounts(choices.metric, parts[number], index, reference=reference) for index in range(n_tokenizers))
        return [value for value in told if value is not None]

    first = [values(number) for number in range(min(len(parts), _SCALED))]
    if is_size:
        most = max((abs(ratio - 1) for told in first for ratio in _ratios(told)), default=0.0)
    else:
        most = max((value for told in first for value in told), default=0.0)
    folder = _common_folder([part.name for part in parts[:_SCALED]]) if what == "text" else ""

    def row(number: int, widths: Widths) -> Row:
        part, told = parts[number], values(number)
        name = visible(part.name.removeprefix(folder))
        texts = {"name": ending(name, widths.get("name", 0)), "bytes": f"{part.n_bytes:,}"}
        texts |= {f"t{index}": metric.text(value) for index, value in enumerate(told)}
        texts["more"] = " ".join(f"{ratio - 1:+.0%}" for ratio in _ratios(told))
        if told and (width := widths.get("plot", 0)):
            texts["plot"] = beside(_ratios(told), most, width) if is_size else placed(told, most, width)
        return Row(texts, _hint(part, target(number) is not None), target(number))

    def value(number: int, column: str) -> Any:
        part, told = parts[number], values(number)
        if column in ("name", "bytes"):
            return part.name.casefold() if column == "name" else part.n_bytes
        if column in ("more", "plot"):
            return next(iter(_ratios(told)), 0.0)
        return told[int(column[1:])] if told else 0.0

    columns = [
        Column("name", 14, 44, title=what, hint="A click sorts by this column, another one turns the order around."),
        Column("bytes", _VALUE, right=True, rank=3, hint="Bytes in UTF-8."),
        *per_tokenizer(comparison, _VALUE, 14, f"{metric.title}: {metric.meaning}"),
    ]
    if n_tokenizers > 1 and is_size:
        wide = max(6, 6 * (n_tokenizers - 1) - 1)
        columns.append(Column("more", wide, right=True, rank=1, title="than A", hint="More tokens or fewer than A."))
        hint = "│ is A: to the right who needs more tokens for the text, to the left who needs fewer."
        columns.append(Column("plot", 11, 41, rank=2, title=f"{-most:.0%} … A … {most:+.0%}", hint=hint))
    elif n_tokenizers > 1:
        hint = f"From 0 to {metric.text(most)}, the largest of all rows; ● where several fall together."
        columns.append(Column("plot", 11, 41, rank=2, title=f"0 … {metric.text(most)}", hint=hint))
    caption = _caption(what, choices, reference)
    title = counted(len(parts), what)
    return View(f"{what}s", title, caption, columns, len(parts), row, value, ("metric", "reference"))


def _caption(what: str, choices: Choices, reference: Amounts | None) -> str:
    metric = METRICS[choices.metric]
    if choices.metric == "parity":
        if reference is None:
            return "parity: of texts and folders that are translations of one another, not of scripts"
        return f"parity: tokens for each one of {visible(reference.name)}; e takes this row instead"
    return f"{metric.title}: {metric.meaning}"


def _ratios(values: Sequence[float]) -> list[float]:
    """The values but the first, each divided by the first."""
    return [value / values[0] if values[0] else 1.0 for value in values[1:]]


def _common_folder(names: Sequence[str]) -> str:
    """The folders that all names begin with, and a slash; empty if there is none, or only one name."""
    common = min(names, default="").rpartition("/")[0] if len(names) > 1 else ""
    while common and not all(name.startswith(f"{common}/") for name in names):
        common = common.rpartition("/")[0]
    return f"{common}/" if common else ""


def _hint(part: Amounts, can_open: bool) -> str:
    sizes = counted(part.n_bytes, "byte"), counted(part.n_characters, "character"), counted(part.n_words, "word")
    return f"{visible(part.name)}: {', '.join(sizes)}{'; Enter opens it in the editor' if can_open else ''}."
