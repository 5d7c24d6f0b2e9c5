"""The reports of an audit: Markdown for a model card, and one page of HTML that needs nothing from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from bpe_core import save, train
from bpe_core.cli.main import main

TEXT = "a|b`c <b> a|b`c <b> a|b`c <b> *x* *x* the theme of the other thesis\n" * 9


@pytest.fixture
def audit(tmp_path, capsys):
    save(train(TEXT, vocab_size=300, pattern="none"), tmp_path / "small_one.json")
    (tmp_path / "text.txt").write_text(TEXT)

    def printed(*options):
        words = ["audit", "-t", str(tmp_path / "small_one.json"), "--corpus", str(tmp_path / "text.txt"), *options]
        assert main(words) == 0
        return capsys.readouterr().out

    return printed


def test_markdown_keeps_its_tables_whatever_a_token_holds(audit):
    lines = audit("--markdown", "--all").splitlines()
    assert lines[0] == r"# Audit of small\_one.json"
    rows = [line for line in lines if re.match(r"\| \d+ \| `", line)]
    assert rows and "- Texts: text.txt." in lines
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 5, row
    assert any(line.startswith("| scaffold |") for line in lines)
    assert "## How the score is made" in lines


def test_html_is_one_page_without_scripts_for_dark_and_light(audit):
    page = audit("--html")
    assert page.startswith("<!DOCTYPE html>") and "prefers-color-scheme: dark" in page
    assert not re.search(r"<script|<link|src=|@import|https?:", page)
    cells: list[str] = []

    class Reader(HTMLParser):
        inside = ""

        def handle_starttag(self, tag, attrs):
            assert tag != "b"  # a token's text is no markup
            self.inside = tag

        def handle_data(self, data):
            if self.inside == "code":
                cells.append(data)
            self.inside = ""

    Reader().feed(page)
    assert any("<b>" in cell for cell in cells) and len(cells) <= 50
    assert len(re.findall("<tr class", page)) == len(cells)


def test_only_one_form_at_a_time(tmp_path, capsys):
    assert main(["audit", "-t", str(tmp_path), "--html", "--markdown"]) == 2
    assert "not allowed with" in capsys.readouterr().err
