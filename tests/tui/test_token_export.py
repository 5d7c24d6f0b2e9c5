"""What the audit shows as a file: the same rows in JSON lines, CSV and Markdown."""

import csv
import io
import json

from test_table import worked_out
from test_token_table import LOW, ST, VOCABULARY

from tui.drawing.token_rows import TokenRows, exported

ROWS = worked_out(worked_out(TokenRows().read(VOCABULARY)).judge([LOW, ST], {"count": {300: 7, ord("|"): 3}}))
ORDER = [row for row in map(ROWS.row_of, (300, 256, *range(256), 257, 301, 310)) if row is not None]


def written(suffix: str) -> str:
    return b"".join(exported(ROWS, ORDER, suffix)).decode()


def test_each_line_of_json_is_a_verdict_also_of_a_token_that_nothing_was_found_about() -> None:
    lines = [json.loads(line) for line in written(".jsonl").splitlines()]
    assert len(lines) == 261 and [line["id"] for line in lines[:3]] == [300, 256, 0]
    assert lines[0] == LOW.to_json()
    bar = next(line for line in lines if line["id"] == ord("|"))
    assert bar["score"] == 0 and bar["kinds"] == [] and bar["evidence"] == {"count": 3}


def test_a_table_for_a_spreadsheet() -> None:
    head, low, *rest = csv.reader(io.StringIO(written(".csv"), newline=""))
    assert head == ["id", "token", "bytes", "score", "severity", "kinds", "reason", "count"]
    assert low[:6] == ["300", "low", "6c6f77", "0.95", "problem", "unreachable"]
    assert len(rest) == 260 and all(len(row) == len(head) for row in rest)


def test_a_table_for_people_whatever_the_tokens_are() -> None:
    head, rule, low, *rest = written(".md").splitlines()
    assert low.startswith("| 300 | `low` | 0.95 | unreachable |") and len(rest) == 260
    assert all(line.replace("\\|", "").count("|") == head.count("|") for line in (rule, low, *rest))
