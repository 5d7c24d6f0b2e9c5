"""Code as it runs: its source around the current line, and its variables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import dropwhile, groupby
from textwrap import wrap
from typing import Any

from rich.style import Style
from rich.text import Text

from bpe_core.explain.code import CodeLine
from bpe_core.explain.merge_choice import MergeChoice
from bpe_core.weighted import Count, formatted
from tui.drawing.lines import InfoLine, fit, sentence
from tui.text.line_form import LineForm


@cache
def _highlighted(source: Sequence[str], dark: bool) -> Sequence[InfoLine]:
    from rich.syntax import Syntax  # imported when first needed: it takes 20 ms

    theme = "ansi_dark" if dark else "ansi_light"
    code = Syntax("", "python", theme=theme).highlight("\n".join(source))
    return [InfoLine(text, lead="  ") for text in code.split("\n")]


def _grouped_words(words: Iterable[Sequence[int]], form: LineForm) -> str:
    """Write words like "2 × l o w | n e w": equal neighbors once, with their number."""
    written = []
    for word, repetitions in groupby(words):
        tokens = " ".join(map(form.write, word))
        n = len(list(repetitions))
        written.append(f"{n} × {tokens}" if n > 1 else tokens)
    return " | ".join(written)


def _pair_counts(counts: Mapping[tuple[int, int], Count], form: LineForm) -> str:
    by_count = sorted(counts, key=counts.__getitem__, reverse=True)
    return " · ".join(
        f"{form.pair(*pair)} {formatted(counts[pair])}" for pair in by_count
    )


def _value(name: str, value: Any, form: LineForm) -> str:
    """Write the value of a variable of the reference, as short as it can be read."""
    match name:
        case "words":
            return _grouped_words(value, form)
        case "counts" | "corpus":
            return _pair_counts(value, form)
        case "tied":
            return " · ".join(form.pair(*pair) for pair in value)
        case "best":
            return form.pair(*value)
        case "ids":
            return " ".join(map(form.write, value))
        case "most":
            return formatted(value)
    return f"{form.write(value)} (id {value:,})"


def _variables(line: CodeLine, choice: MergeChoice | None) -> dict[str, Any]:
    """The variables of a line, and the counts in the whole corpus if they differ from the sample."""
    variables = dict(line.values)
    counts = variables.get("counts")
    if choice is None or not counts:
        return variables
    corpus = {(choice.left, choice.right): choice.count}
    corpus.update(dict.fromkeys(choice.tied, choice.most))
    for other in choice.runners_up:
        corpus[other.left, other.right] = other.times
    if any(counts.get(pair) != n for pair, n in corpus.items()):
        variables["corpus"] = corpus
    return variables


def _variable_lines(
    name: str, value: Any, ink: str, form: LineForm
) -> Iterator[InfoLine]:
    """A variable in at most two lines, its name before the first."""
    label = name
    for row in sentence(_value(name, value, form), form.width - 7, ink, most=2):
        yield replace(row, lead=f"{label:>6} ")
        label = ""


def code_lines(
    source: Sequence[str],
    run: Sequence[CodeLine],
    choice: MergeChoice | None,
    form: LineForm,
    height: int,
    dark: bool,
) -> Sequence[InfoLine]:
    """Return the source around the last line of `run`, and below it the variables, in `height` lines.

    `run` has lines of `source`; it works on some words of the corpus; `choice` has the counts in the whole corpus.
    """
    variables: list[InfoLine] = []
    for line in run:
        ink = "accent" if line is run[-1] else "text"
        for name, value in _variables(line, choice).items():
            variables += _variable_lines(name, value, ink, form)
    number = run[-1].number
    style = form.inks["accent"] + Style(reverse=True)
    width = form.width - 2
    current: list[InfoLine] = []
    for row in wrap(source[number - 1], width, subsequent_indent=" " * 12):
        lead = "  " if current else "▸ "
        current.append(InfoLine(Text.assemble((fit(row, width), style)), lead=lead))

    # The current line is more important than variables.
    most = min(max(3, height // 2), max(0, height - len(current)))
    newest = variables[max(0, len(variables) - most) :]
    # Drop the continuation of a variable whose first line was cut off.
    variables = list(dropwhile(lambda row: row.lead.isspace(), newest))

    room = max(0, height - len(variables))
    first = number - 1 - max(0, room - len(current)) // 2
    n_rows = len(source) - 1 + len(current)
    first = max(0, min(first, n_rows - room))
    highlighted = _highlighted(source, dark)
    rows = [*highlighted[first : number - 1], *current, *highlighted[number:]]
    return [*rows[:room], *variables]
