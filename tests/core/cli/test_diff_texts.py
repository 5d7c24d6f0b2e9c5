"""Differences of two tokenizers on files, and the report on them."""

import csv
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bpe_core import TextError, train
from bpe_core.cli.diff_texts import text_sections
from bpe_core.corpus import Skipped
from bpe_core.errors import Stopped
from bpe_core.report import as_csv, as_markdown, as_text
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import WorkProgress

A = train("low low", vocab_size=258, pattern="gpt2")
B = train("low low", vocab_size=258, pattern="gpt2").at(1)


class Noted(Reporter):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []
        self.said: list[str] = []

    def send(self, event: Any) -> None:
        self.events.append(event)

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("texts")
    folder.mkdir()
    (folder / "a.txt").write_text("low|\nhigh\nlow low\n")
    (folder / "b.jsonl").write_text('{"text": "low"}\n{"text": "no"}\n')
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    return folder


def test_files_are_read_as_count_reads_them_and_reported(texts: Path) -> None:
    noted = Noted()
    with closing(Job(noted)) as job:
        found = compare_on_files(A, B, [str(texts)], job)
    assert found.n_tokens == (15, 19)
    assert found.n_texts == 3
    assert (found.n_lines, found.n_different_lines) == (5, 3)
    (cause,) = found.causes
    (difference,) = cause.first
    assert (difference.text, difference.n_times) == ("low", 4)
    skipped = [event for event in noted.events if isinstance(event, Skipped)]
    assert [one.path.name for one in skipped] == ["picture.png"]
    progress = [event for event in noted.events if isinstance(event, WorkProgress)]
    assert progress[0].activity == "comparing"
    rows = Path("rows.jsonl")
    rows.write_text('{"text": "no", "body": "low"}\n{"text": "no", "body": 5}\n')
    with closing(Job(noted)) as job:
        found = compare_on_files(A, B, ["rows.jsonl"], job)
        assert found.causes == []
        assert "Reading the field text" in noted.said[-1]
        with pytest.raises(TextError, match="line 2 has no text as 'body'"):
            compare_on_files(A, B, ["rows.jsonl::body"], job)
        found = compare_on_files(A, B, ["rows.jsonl::body"], job, skip_bad=True)
        assert found.causes[0].first[0].name == "rows.jsonl row 1"
        job.stop("stopped")
        with pytest.raises(Stopped):
            compare_on_files(A, B, [str(texts)], job)


def test_the_report_has_lines_tokens_and_the_first_differences(texts: Path) -> None:
    with closing(Job(Noted())) as job:
        found = compare_on_files(A, B, [str(texts)], job)
        same = compare_on_files(A, A, [str(texts)], job)
    sections = list(text_sections(found, (A, B)))
    report = as_text(sections)
    assert "Different lines: 3 of 5 lines (60.00%)." in report
    assert "Tokens: 15 in A, 19 in B (+26.67%)." in report
    causes, first = (
        list(csv.reader(table.splitlines())) for table in as_csv(sections).split("\n\n")
    )
    assert causes == [["cause", "differences", "lines"], ["vocabulary", "4", "3"]]
    assert first[0] == [
        *("cause", "times", "A", "ids of A", "B", "ids of B", "first in")
    ]
    assert first[1] == [
        *("vocabulary", "4", "`low`", "257", "`lo` `w`", "256 119", "texts/a.txt:1")
    ]
    assert "First differences" in as_markdown("Differences", sections)
    (section,) = text_sections(same, (A, A))
    assert section.sentences == [
        "Different lines: 0 of 5 lines (0.00%).",
        "Tokens: 15 in A, 15 in B (+0.00%).",
    ]
