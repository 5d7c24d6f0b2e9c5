"""`python -m benchmarks.side_by_side RUN.md RUN.md ...`: reports of several runs as one, ratio beside ratio.

A machine that others use is twice as fast an hour later; what stays the same from run to run is the ratio to a peer.
Of a row that the others of its table are compared with, what it took is told instead of the ratio.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import table

_RELATIVE: Final = ("times ours", "times the bare one")
"""Columns of ratios to another row; what they are ratios of stands left of them."""
_PLAIN: Final = ("times", "median µs", "99 % µs", "slowest ms", "1,000 additions, µs")
"""Columns that say something by themselves."""
_N_KEYS: Final = 2
"""Columns that name a row."""


class Section(NamedTuple):
    """A table of a report."""

    about: str
    """The sentence over it."""
    head: list[str]
    rows: dict[tuple[str, ...], list[str]]
    """What a row is of -> all of its cells."""


def sections(report: str) -> dict[str, Section]:
    """Title -> the table under it."""
    found: dict[str, Section] = {}
    for part in report.split("\n### ")[1:]:
        title, _, about, *_ = part.splitlines()
        lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("|")]
        if lines:
            head, _, *rows = lines
            found[title] = Section(about, head, {tuple(row[:_N_KEYS]): row for row in rows})
    return found


def merged(runs: Sequence[Section]) -> Iterator[list[str]]:
    """The head of the table in which several runs are one, and its rows: those that all of them have."""
    head = runs[0].head
    columns = [i for i, name in enumerate(head) if name in _RELATIVE + _PLAIN]
    yield [*head[:_N_KEYS], *(f"{head[i]} ({head[i - 1]})" if head[i] in _RELATIVE else head[i] for i in columns)]
    for key in runs[0].rows:
        rows = [run.rows[key] for run in runs if key in run.rows]
        if len(rows) == len(runs):
            yield [*key, *(_cell(rows, i, head[i] in _RELATIVE) for i in columns)]


def _cell(rows: Sequence[Sequence[str]], column: int, is_relative: bool) -> str:
    values = [row[column] for row in rows]
    if is_relative and set(values) == {"1.00"}:
        return f"({' / '.join(row[column - 1] for row in rows)})"
    return " / ".join(values)


def main() -> None:
    """Read the reports and print one."""
    parser = ArgumentParser(prog="python -m benchmarks.side_by_side", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN.md", help="what `python -m benchmarks` has printed")
    runs = []
    for path in parser.parse_args().runs:
        try:
            runs.append(sections(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            parser.error(f"{path} cannot be read: {error}")
        if not runs[-1]:
            parser.error(f"{path} has no tables; give it what `python -m benchmarks` has printed.")
    for title in runs[0]:
        if all(title in run for run in runs):
            head, *rows = merged([run[title] for run in runs])
            print(f"### {title}\n\n{runs[0][title].about}\n", *table.markdown(head, rows), "", sep="\n")


if __name__ == "__main__":
    main()
