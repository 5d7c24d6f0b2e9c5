"""Reports of several benchmark runs as one: `benchmarks.side_by_side`."""

import sys
from pathlib import Path

import pytest

from benchmarks import side_by_side

FIRST = """A machine.

### Training

The whole job.

| corpus | who | seconds | times ours | peak MB |
| --- | --- | ---: | ---: | ---: |
| 1 MB | bpescope | 2.00 | 1.00 | 30 |
| 1 MB | peer | 1.00 | 0.50 | 40 |
| 9 MB | peer | 9.00 | 1.00 | 40 |

### An edit

One edit.

| text | pattern | median µs | peak MB |
| --- | --- | ---: | ---: |
| emoji | gpt4 | 60 | 9 |
"""
SECOND = FIRST.replace("2.00 | 1.00", "4.00 | 1.00").replace("1.00 | 0.50", "3.00 | 0.75").replace("| 9 MB", "| 8 MB")
BOTH = """### Training

The whole job.

| corpus | who | times ours (seconds) |
| --- | --- | ---: |
| 1 MB | bpescope | (2.00 / 4.00) |
| 1 MB | peer | 0.50 / 0.75 |

### An edit

One edit.

| text | pattern | median µs |
| --- | --- | ---: |
| emoji | gpt4 | 60 / 60 |

"""


def test_ratios_stand_beside_each_other_and_rows_that_one_run_lacks_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "first.md", tmp_path / "second.md"]
    for path, report in zip(paths, (FIRST, SECOND), strict=True):
        path.write_text(report, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["side_by_side", *map(str, paths)])
    side_by_side.main()
    assert capsys.readouterr().out == BOTH


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read"), (b"\xff", "cannot be read"), (b"no", "no tables")]
)
def test_what_is_no_report_is_refused_in_a_sentence(
    content: bytes | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "run.md"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(sys, "argv", ["side_by_side", str(path)])
    with pytest.raises(SystemExit):
        side_by_side.main()
    assert said in capsys.readouterr().err
