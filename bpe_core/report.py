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

from bpe_core.pictures.drawing import html_page
from bpe_core.visible import cells, code, fitted, visible


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of equal length, below the names of the columns; in text, nothing stands above them if all are empty, and
    the last column is as wide as it is."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[int]  # columns that are aligned on the right
    widest: int = 36  # cells of a column in a terminal at most
    tokens: int = -1  # the column that holds tokens, which is set as code; -1 for none
    marks: Sequence[str] = ()  # what distinguishes each row in a page: "problem", "warning" or nothing


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
        lines = [*map(visible, section.sentences), *table, *filter(None, [visible(section.more)])]
        if section.heading:
            lines = [visible(section.heading), *(f"  {line}" for line in lines)]
        found.append("\n".join(lines) + "\n")
    return "\n".join(found)


def aligned(table: ReportTable) -> Iterator[str]:
    """The rows as lines, their columns aligned, with a rule below the head."""
    has_head = any(table.head)
    rows = [table.head, *table.rows] if has_head else table.rows
    fits = [[fitted(visible(cell), table.widest) for cell in row] for row in rows]
    if not has_head:  # sentences in the last column, behind which nothing has to be aligned
        fits = [[*row[:-1], visible(whole[-1])] for row, whole in zip(fits, rows, strict=True)]
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
    lines = [f"# {_plain(title)}"]
    for section in sections:
        lines += ["", f"## {_plain(section.heading)}", ""] if section.heading else [""]
        lines += [f"- {_plain(sentence)}" for sentence in section.sentences]
        if (table := section.table) is not None:
            rules = ["---:" if index in table.numbers else "---" for index in range(len(table.head))]
            rows = [
                [code(cell) if index == table.tokens else _plain(cell) for index, cell in enumerate(row)]
                for row in table.rows
            ]
            lines += [""] * bool(section.sentences)
            lines += [f"| {' | '.join(row)} |" for row in (map(_plain, table.head), rules, *rows)]
    return "\n".join(lines) + "\n"


def as_csv(sections: Iterable[Section]) -> str:
    """The tables alone, as CSV, an empty line between them; numbers without separators."""
    out = StringIO()
    for table in (section.table for section in sections if section.table):
        out.write("\n" * bool(out.tell()))
        plain = ([_number(cell) or visible(cell) for cell in row] for row in (table.head, *table.rows))
        csv.writer(out, lineterminator="\n").writerows(plain)
    return out.getvalue()


def _number(cell: str) -> str:
    return cell.replace(",", "") if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", cell) else ""


def as_latex(sections: Iterable[Section]) -> str:
    """The tables alone, as LaTeX, which need its package booktabs."""
    found = []
    for table in (section.table for section in sections if section.table):
        head, *rows = (f"{' & '.join(map(_latex, row))} \\\\" for row in (table.head, *table.rows))
        columns = "".join("r" if index in table.numbers else "l" for index in range(len(table.head)))
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
        found.append("\n".join([*lines, r"\end{tabular}", ""]))
    return "\n".join(found)


def _latex(text: str) -> str:
    own = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(own.get(c) or (f"\\{c}" if c in "&%$#_{}" else c) for c in visible(text).replace("\n", " "))


def _plain(text: str) -> str:
    """Text of a cell or a line, nothing in it taken for Markdown or HTML."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#~&" else c for c in visible(text).replace("\n", " "))


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The report as a complete HTML document, dark or light as the reader has it; nothing is loaded from elsewhere."""
    lines = [f"<h1>{escape(visible(title))}</h1>"]
    for section in sections:
        if section.heading:
            lines.append(f"<h2>{escape(visible(section.heading))}</h2>")
        if section.sentences:
            sentences = [f"<li>{escape(visible(sentence))}</li>" for sentence in section.sentences]
            lines += ["<ul>", *sentences, "</ul>"]
        if (table := section.table) is not None:
            kinds = [" class=n" if index in table.numbers else "" for index in range(len(table.head))]
            heads = [f"<th{kind}>{escape(name)}" for name, kind in zip(table.head, kinds, strict=True)]
            lines += ["<table>", f"<tr>{''.join(heads)}</tr>"]
            for place, row in enumerate(table.rows):
                mark = f' class="{table.marks[place]}"' if table.marks else ""
                shown = [escape(visible(cell)) for cell in row]
                if table.tokens >= 0:
                    shown[table.tokens] = f"<code dir=auto>{shown[table.tokens]}</code>"
                columns = "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(shown, kinds, strict=True))
                lines.append(f"<tr{mark}>{columns}</tr>")
            lines.append("</table>")
    style = Path(__file__).with_suffix(".css").read_text("utf-8")
    return html_page(visible(title), f"\n{style}", "\n".join(lines) + "\n")
