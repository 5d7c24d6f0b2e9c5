"""Write reports of sentences and tables as terminal text, Markdown, HTML, CSV or LaTeX.

A report may quote any text. The writers make control characters visible and escape markup.
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

_GROUPED_NUMBER: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
"""A number such as 1,234.5."""
_LATEX: Final = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row, "[" and "*" would be arguments of the row before
    "*": "{*}",
}
"""LaTeX for the characters that it would interpret, or print as other characters."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of equal length with column names.

    If all names are empty, the text has no heading row, and the last column is not shortened.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[int]
    """Indexes of the columns that are aligned on the right."""
    widest: int = 36
    """Maximum width of a cell below the head in a terminal, in cells."""
    tokens: int = -1
    """Index of the column of tokens, which is formatted as code; -1 for none."""
    marks: Sequence[str] = ()
    """CSS class of each row on an HTML page: "problem", "warning" or ""."""

    @property
    def alignments(self) -> list[bool]:
        """Whether each column is aligned on the right."""
        return [index in self.numbers for index in range(len(self.head))]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report. In text, everything below a heading is indented."""

    heading: str = ""
    sentences: Sequence[str] = ()
    table: ReportTable | None = None
    more: str = ""
    """A sentence after the table."""


def as_text(sections: Iterable[Section]) -> str:
    """Format a report for a terminal, with an empty line between sections."""
    texts = []
    for section in sections:
        lines = [visible(sentence) for sentence in section.sentences]
        if section.table:
            lines += aligned(section.table)
        if section.more:
            lines.append(visible(section.more))
        if section.heading:
            indented = [f"  {line}" for line in lines]
            lines = [visible(section.heading), *indented]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def aligned(table: ReportTable) -> Iterator[str]:
    """Yield the rows as lines with aligned columns, and a rule below the heading row."""
    has_head = any(table.head)
    shown_rows = [
        [fitted(visible(cell), table.widest) for cell in row] for row in table.rows
    ]
    if has_head:
        # Names of columns are not shortened, since they could become equal.
        shown_rows.insert(0, list(map(visible, table.head)))
    else:
        for shown, row in zip(shown_rows, table.rows, strict=True):
            shown[-1] = visible(row[-1])
    widths = [max(map(cells, column)) for column in zip(*shown_rows, strict=True)]
    for number, row in enumerate(shown_rows):
        padded = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cells(cell))
            padded.append(space + cell if index in table.numbers else cell + space)
        yield "  ".join(padded).rstrip()
        if has_head and number == 0:
            yield "─" * (sum(widths) + 2 * (len(widths) - 1))


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """Format a report as Markdown with tables, as GitHub and model cards show it."""
    lines = [f"# {plain_markdown(title)}"]
    for section in sections:
        lines.append("")
        if section.heading:
            lines += [f"## {plain_markdown(section.heading)}", ""]
        lines += [f"- {plain_markdown(sentence)}" for sentence in section.sentences]
        if section.table is not None:
            if section.sentences:
                lines.append("")
            lines += _markdown_rows(section.table)
    return "\n".join(lines) + "\n"


def _markdown_rows(table: ReportTable) -> Iterator[str]:
    rules = ["---:" if is_right else "---" for is_right in table.alignments]
    yield f"| {' | '.join(map(plain_markdown, table.head))} |"
    yield f"| {' | '.join(rules)} |"
    for row in table.rows:
        shown = [plain_markdown(cell) for cell in row]
        if table.tokens >= 0:
            shown[table.tokens] = code(row[table.tokens])
        yield f"| {' | '.join(shown)} |"


def as_csv(sections: Iterable[Section]) -> str:
    """Format the tables as CSV, with an empty line between tables.

    Numbers have no thousands separators. Cells of other columns keep their text, also if it looks
    like a number; only control characters become visible.
    """
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    tables = [section.table for section in sections if section.table]
    for index, table in enumerate(tables):
        if index:
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
    """Format the tables as LaTeX. They need the package booktabs."""
    tables = [section.table for section in sections if section.table]
    return "\n".join(map(_latex_table, tables))


def _latex_table(table: ReportTable) -> str:
    columns = "".join("r" if is_right else "l" for is_right in table.alignments)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _latex_row(table.head),
        r"\midrule",
        *map(_latex_row, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(row: Sequence[str]) -> str:
    return f"{' & '.join(map(_latex, row))} \\\\"


def _latex(text: str) -> str:
    one_line = visible(text).replace("\n", " ")
    return "".join(_LATEX.get(character, character) for character in one_line)


def as_html(title: str, sections: Sequence[Section]) -> str:
    """Format a report as a complete HTML page, dark or light, that loads no other files."""
    lines = [f"<h1>{_html(title)}</h1>"]
    for section in sections:
        if section.heading:
            lines.append(f"<h2>{_html(section.heading)}</h2>")
        if section.sentences:
            lines.append("<ul>")
            lines += [f"<li>{_html(sentence)}</li>" for sentence in section.sentences]
            lines.append("</ul>")
        if section.table is not None:
            lines += _html_table(section.table)
    style = Path(__file__).with_suffix(".css").read_text("utf-8")
    return html_page(visible(title), f"\n{style}", "\n".join(lines) + "\n")


def _html_table(table: ReportTable) -> Iterator[str]:
    classes = [" class=n" if is_right else "" for is_right in table.alignments]
    yield "<table>"
    names = zip(classes, table.head, strict=True)
    heads = "".join(f"<th{css_class}>{_html(name)}" for css_class, name in names)
    yield f"<tr>{heads}</tr>"
    for index, row in enumerate(table.rows):
        mark = f' class="{table.marks[index]}"' if table.marks else ""
        shown = list(map(_html, row))
        if table.tokens >= 0:
            shown[table.tokens] = f"<code dir=auto>{shown[table.tokens]}</code>"
        pairs = zip(classes, shown, strict=True)
        columns = "".join(f"<td{css_class}>{cell}</td>" for css_class, cell in pairs)
        yield f"<tr{mark}>{columns}</tr>"
    yield "</table>"


def _html(text: str) -> str:
    return escape(visible(text))
