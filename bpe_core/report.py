"""A report: sections of sentences and tables. Writers make text for a terminal of it, Markdown, or a page of HTML.

What a report quotes may be anything: the writers make it visible, and markup of theirs is never taken from it.
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path
from typing import Final

from bpe_core.pictures.drawing import html_page
from bpe_core.visible import cells, code, fitted, plain_markdown, visible

_GROUPED_NUMBER: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")  # such as 1,234.5
_LATEX: Final = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after the end of a row, "[" and "*" would be read as its arguments
    "*": "{*}",
}
"""How LaTeX shows the characters that it would obey, or show as others."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of equal length, below the names of the columns; in text, nothing stands above them if all are empty, and
    the last column is as wide as it is."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[int]  # columns that are aligned on the right
    widest: int = 36  # cells of a column in a terminal at most
    tokens: int = -1  # the column that holds tokens, which is set as code; -1 for none
    marks: Sequence[
        str
    ] = ()  # what distinguishes each row in a page: "problem", "warning" or nothing


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report; in text, what follows a heading is indented, and `more` is a sentence behind the table."""

    heading: str = ""
    sentences: Sequence[str] = ()
    table: ReportTable | None = None
    more: str = ""


def as_text(sections: Iterable[Section]) -> str:
    """The report for a terminal, an empty line between sections."""
    found = []
    for section in sections:
        table = aligned(section.table) if section.table else ()
        lines = [
            *map(visible, section.sentences),
            *table,
            *filter(None, [visible(section.more)]),
        ]
        if section.heading:
            lines = [visible(section.heading), *(f"  {line}" for line in lines)]
        found.append("\n".join(lines) + "\n")
    return "\n".join(found)


def aligned(table: ReportTable) -> Iterator[str]:
    """The rows as lines, their columns aligned, with a rule below the head."""
    has_head = any(table.head)
    rows = [table.head, *table.rows] if has_head else table.rows
    fits = [[fitted(visible(cell), table.widest) for cell in row] for row in rows]
    if (
        not has_head
    ):  # sentences in the last column, behind which nothing has to be aligned
        fits = [
            [*row[:-1], visible(whole[-1])]
            for row, whole in zip(fits, rows, strict=True)
        ]
    widths = [max(map(cells, column)) for column in zip(*fits, strict=True)]
    for number, row in enumerate(fits):
        padded = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cells(cell))
            padded.append(space + cell if index in table.numbers else cell + space)
        yield "  ".join(padded).rstrip()
        if not number and has_head:
            yield "─" * (sum(widths) + 2 * (len(widths) - 1))


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The report in Markdown with tables, as GitHub and model cards show it."""
    lines = [f"# {plain_markdown(title)}"]
    for section in sections:
        lines += (
            ["", f"## {plain_markdown(section.heading)}", ""]
            if section.heading
            else [""]
        )
        lines += [f"- {plain_markdown(sentence)}" for sentence in section.sentences]
        if (table := section.table) is not None:
            rules = [
                "---:" if index in table.numbers else "---"
                for index in range(len(table.head))
            ]
            rows = [
                [
                    code(cell) if index == table.tokens else plain_markdown(cell)
                    for index, cell in enumerate(row)
                ]
                for row in table.rows
            ]
            lines += [""] * bool(section.sentences)
            lines += [
                f"| {' | '.join(row)} |"
                for row in (map(plain_markdown, table.head), rules, *rows)
            ]
    return "\n".join(lines) + "\n"


def as_csv(sections: Iterable[Section]) -> str:
    """Return the tables as CSV, with an empty line between two of them. The columns
    of numbers have no thousands separators; all other cells stay as they are."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    tables = [section.table for section in sections if section.table]
    for place, table in enumerate(tables):
        if place:
            out.write("\n")
        writer.writerow(map(visible, table.head))
        for row in table.rows:
            writer.writerow(_csv_cells(row, table.numbers))
    return out.getvalue()


def _csv_cells(row: Sequence[str], numbers: Collection[int]) -> Iterator[str]:
    for index, cell in enumerate(row):
        if index in numbers and _GROUPED_NUMBER.fullmatch(cell):
            yield cell.replace(",", "")
        else:
            yield visible(cell)


def as_latex(sections: Iterable[Section]) -> str:
    """The tables alone, as LaTeX, which need its package booktabs."""
    found = []
    for table in (section.table for section in sections if section.table):
        head, *rows = (
            f"{' & '.join(map(_latex, row))} \\\\" for row in (table.head, *table.rows)
        )
        columns = "".join(
            "r" if index in table.numbers else "l" for index in range(len(table.head))
        )
        lines = [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
        ]
        found.append("\n".join([*lines, r"\end{tabular}", ""]))
    return "\n".join(found)


def _latex(text: str) -> str:
    one_line = visible(text).replace("\n", " ")
    return "".join(_LATEX.get(character, character) for character in one_line)


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The report as a complete HTML document, dark or light as the reader has it; nothing is loaded from elsewhere."""
    lines = [f"<h1>{escape(visible(title))}</h1>"]
    for section in sections:
        if section.heading:
            lines.append(f"<h2>{escape(visible(section.heading))}</h2>")
        if section.sentences:
            sentences = [
                f"<li>{escape(visible(sentence))}</li>"
                for sentence in section.sentences
            ]
            lines += ["<ul>", *sentences, "</ul>"]
        if (table := section.table) is not None:
            kinds = [
                " class=n" if index in table.numbers else ""
                for index in range(len(table.head))
            ]
            heads = [
                f"<th{kind}>{escape(visible(name))}"
                for name, kind in zip(table.head, kinds, strict=True)
            ]
            lines += ["<table>", f"<tr>{''.join(heads)}</tr>"]
            for place, row in enumerate(table.rows):
                mark = f' class="{table.marks[place]}"' if table.marks else ""
                shown = [escape(visible(cell)) for cell in row]
                if table.tokens >= 0:
                    shown[table.tokens] = f"<code dir=auto>{shown[table.tokens]}</code>"
                columns = "".join(
                    f"<td{kind}>{cell}</td>"
                    for cell, kind in zip(shown, kinds, strict=True)
                )
                lines.append(f"<tr{mark}>{columns}</tr>")
            lines.append("</table>")
    style = Path(__file__).with_suffix(".css").read_text("utf-8")
    return html_page(visible(title), f"\n{style}", "\n".join(lines) + "\n")
