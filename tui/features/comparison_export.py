"""Export the table of a comparison."""

from pathlib import Path
from typing import Final

from bpe_core.report import ReportTable, Section, as_csv, as_latex, as_markdown
from tui.disk.config import write_file
from tui.features.feature import StateScreen
from tui.features.texts import Texts
from tui.table.columns import Cell

_FORMS: Final = (".csv", ".md", ".tex")
_WIDE: Final = 1000
"""Cells for a column in an exported file, so that no name is cut."""


async def export_comparison(screen: StateScreen, texts: Texts) -> None:
    """Save the current view with its rows in their current order, without the plots."""
    pane = screen.compare_pane
    title = screen.comparison.subject
    table = pane.table
    view = table.view
    order = tuple(table.order)
    if not view.key:
        screen.say("Nothing to export yet: compare tokenizers first.", "warning")
        return
    if not pane.display:
        screen.action_show("compare")
    columns = [column for column in view.columns if column.key != "plot"]
    headings = [column.heading for column in columns]
    numbers = [index for index, column in enumerate(columns) if column.right]

    def write(path: Path) -> None:
        rows = [
            [_text_of(column.cell(table, row)) for column in columns] for row in order
        ]
        report = ReportTable(headings, rows, numbers)
        sections = [Section(view.title, [view.caption], report)]
        if path.suffix == ".csv":
            text = as_csv(sections)
        elif path.suffix == ".md":
            text = as_markdown(title, sections)
        else:
            text = as_latex(sections)
        write_file(path, [text.encode()])

    question = f"Save the comparison to which file? {', '.join(_FORMS)}"
    await texts.save(question, write, "", _FORMS)


def _text_of(cell: str | Cell) -> str:
    """Return the text of a cell, not cut to a width."""
    text = cell if isinstance(cell, str) else cell.text
    if not isinstance(text, str):
        text = text(_WIDE)
    return text.strip()
