"""The man page and the page of commands are made from the parsers; pages of the reference are complete."""

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from bpe_core.auditing.findings import KINDS
from bpe_core.cli.outline import outline
from bpe_core.metrics.catalog import METRICS

DOCS = Path(__file__).parents[1] / "docs"
MANUAL = runpy.run_path(str(DOCS / "manual.py"))


def test_the_man_page_is_current() -> None:
    written = (DOCS / "bpescope.1").read_text("utf-8")
    assert written == MANUAL["man_page"](), "run python docs/manual.py"


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not installed")
def test_mandoc_accepts_the_man_page() -> None:
    page = DOCS / "bpescope.1"
    ended = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "error", page], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (0, "")


def test_the_page_of_commands_has_all_options() -> None:
    source = (DOCS / "reference" / "commands.md").read_text("utf-8")
    page = MANUAL["on_page_markdown"](source)
    for command in outline():
        section = page.partition(f"## {command.full_name}\n")[2].partition("\n## ")[0]
        for option in command.options:
            # The options of every command are named above all sections.
            place = (
                page
                if "--help" in option.names or "--debug" in option.names
                else section
            )
            assert all(name in place for name in option.names)
        assert all(example in section for example in command.examples)


def test_every_row_of_a_table_has_a_meaning() -> None:
    """A paragraph of help whose first line ends with a colon would become a table."""
    for command in outline():
        for table in command.tables:
            assert all(meaning for _, meaning in table.rows), command.full_name


def test_other_pages_stay_as_they_are() -> None:
    assert MANUAL["on_page_markdown"]("# A page") == "# A page"


def test_the_pages_have_all_kinds_of_findings_and_all_metrics() -> None:
    findings = (DOCS / "reference" / "findings.md").read_text("utf-8")
    metrics = (DOCS / "reference" / "metrics.md").read_text("utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in findings] == []
    assert [name for name in METRICS if f"`{name}`" not in metrics] == []
