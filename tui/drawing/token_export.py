"""Rows of the table of tokens as a file: JSON lines, CSV, or a Markdown table, as the suffix of its name says."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from bpe_core.auditing.verdicts import Verdict
from bpe_core.visible import token_label, visible
from tui.drawing.token_labels import number
from tui.drawing.token_rows import TokenRows

_HEAD: Final = ("id", "token", "bytes", "score", "severity", "kinds", "reason")
_TOGETHER: Final = 500
"""Rows of a part, between which whoever else runs has a turn."""


def exported(rows: TokenRows, order: Sequence[int], suffix: str) -> Iterator[bytes]:
    """The rows in `order`, without holes, as the parts of a file in UTF-8; `suffix` is one of `FORMS`.

    What is not known of a token has no place in JSON, and an empty one in the tables.
    """
    write = FORMS[suffix]
    measures = dict(rows.measures)
    for start in range(0, max(1, len(order)), _TOGETHER):
        some = [row for row in order[start : start + _TOGETHER] if rows.hole(row) is None]
        verdicts = [_verdict(rows, row) for row in some]
        yield "".join(write(verdicts, measures, not start)).encode()


def _verdict(rows: TokenRows, row: int) -> Verdict:
    """What is said of a row; of a token that nothing was found about, what was measured."""
    token = rows.ids[row]
    measured = {name: column[token] for name, column in rows.measures.items() if token in column}
    return rows.verdicts.get(token) or Verdict(token, rows.tokens[row], 0.0, None, (), "", {}, measured)


def _jsonl(verdicts: Sequence[Verdict], measures: Mapping[str, object], first: bool) -> Iterator[str]:
    """An object a line, with the names of `audit --jsonl --all-tokens`."""
    for verdict in verdicts:
        yield json.dumps(verdict.to_json()) + "\n"


def _csv(verdicts: Sequence[Verdict], measures: Mapping[str, object], first: bool) -> Iterator[str]:
    """A row each; bytes in hex."""
    written = io.StringIO()
    table = csv.writer(written)  # lines end as RFC 4180 says, so that a carriage return in a token is quoted
    if first:
        table.writerow((*_HEAD, *measures))
    for verdict in verdicts:
        text = verdict.token.decode("utf-8", "backslashreplace")
        severity = verdict.severity.word if verdict.severity else ""
        known = (verdict.evidence.get(name, "") for name in measures)
        table.writerow(
            (
                *(verdict.id, text, verdict.token.hex(), verdict.score, severity),
                *(" ".join(verdict.kinds), verdict.reason, *known),
            )
        )
    yield written.getvalue()


def _markdown(verdicts: Sequence[Verdict], measures: Mapping[str, object], first: bool) -> Iterator[str]:
    """A table for people: no bytes, numbers as they are on the screen."""
    if first:
        names = ("id", "token", "score", "kinds", *measures, "reason")
        yield _row(names) + _row(["---"] * len(names))
    for verdict in verdicts:
        known = (number(name, verdict.evidence[name]) if name in verdict.evidence else "" for name in measures)
        yield _row(
            (
                *(f"{verdict.id}", _code(token_label(verdict.token)), f"{verdict.score:.2f}"),
                *(", ".join(verdict.kinds), *known, visible(verdict.reason).replace("|", "\\|")),
            )
        )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _code(text: str) -> str:
    """A text between backticks, more of them than it holds in a row, in a table.

    >>> _code("a|b"), _code("``")
    ('`a\\\\|b`', '``` `` ```')
    """
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


FORMS: Final[Mapping[str, Callable[[Sequence[Verdict], Mapping[str, object], bool], Iterator[str]]]] = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".md": _markdown,
}
"""Suffix of a file -> how rows are written there."""
