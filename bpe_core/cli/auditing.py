"""The work of `audit`: counting its texts, examining the tokenizer, and telling an app what was found on the way."""

import json
import time
from argparse import Namespace
from contextlib import closing, suppress
from itertools import islice
from typing import Final

from bpe_core.auditing import Examination, Finding, Findings, Measures, Stage, verdicts
from bpe_core.auditing.what_if import what_if
from bpe_core.cli.control import Control
from bpe_core.cli.counting import PROGRESS_EVERY, count_files
from bpe_core.cli.events import Auditing, Done, Measured, Role, Verdicts
from bpe_core.cli.events import Findings as Batch
from bpe_core.cli.report import Report, report_to
from bpe_core.corpus import Counts
from bpe_core.embeddings.matrix import Matrix
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

BATCH: Final = 256
"""Findings or verdicts in one event at most."""
_VALUES: Final = 16_384
"""Values of a column in one event at most."""


class _StoppedError(Exception):
    """Raised by `progress` inside the checks of an audit, to end them when the control says stop."""


def audited(
    tokenizer: Tokenizer, matrix: Matrix | None, options: Namespace, control: Control, report: Report
) -> tuple[Findings, Measures]:
    """All findings, and what was measured; if the control says stop, what was made until then.

    Findings are sent on the way, in batches: when one holds BATCH findings, and with each report of progress. An app is
    sent columns and verdicts at the end.
    """

    def count(paths: list[str], role: Role) -> Counts | None:
        if not paths or control.stopped:
            return None
        return count_files(paths, tokenizer.pattern, control, report, role=role)

    counts = count(options.corpus, "corpus")
    reference = count(options.reference, "reference")
    found: list[Finding] = []
    sent = 0  # findings that have been sent
    shown = 0.0  # when progress was last sent

    def send() -> None:
        nonlocal sent
        if sent < len(found):
            report.send(Batch([finding.to_json() for finding in found[sent:]]))
        sent = len(found)

    def progress(stage: Stage) -> None:
        nonlocal shown
        control.receive()
        if control.stopped:
            raise _StoppedError
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            send()
            report.send(Auditing(stage.done, stage.total, stage.name))

    examination = Examination(
        tokenizer,
        counts=counts,
        reference=reference,
        embeddings=matrix,
        indicator=options.indicator,
        progress=progress,
    )
    with suppress(_StoppedError):
        if not control.stopped:
            for finding in examination.findings():
                found.append(finding)
                if len(found) - sent >= BATCH:
                    send()
    send()
    measures = examination.measures
    if options.stream:
        _send_verdicts(tokenizer, found, measures, report)
    return Findings(found), measures


def tell_what_if(tokenizer: Tokenizer, options: Namespace) -> int:
    """Look for tokens that another pattern or normalizer kills, and print or send them; 0, or 130 if interrupted."""
    began = time.monotonic()
    found: list[Finding] = []
    sent = 0
    with closing(Control(stdin=options.stream)) as control, closing(report_to(options.stream, control)) as report:

        def progress(stage: Stage) -> None:
            nonlocal sent
            control.receive()
            if control.stopped:
                raise _StoppedError
            report.send(Auditing(stage.done, stage.total, stage.name))
            if sent < len(found):
                report.send(Batch([finding.to_json() for finding in found[sent:]]))
                sent = len(found)

        with suppress(_StoppedError):
            for finding in what_if(
                tokenizer, pattern=options.what_if, normalizer=options.what_if_normalizer, progress=progress
            ):
                found.append(finding)
        if sent < len(found):
            report.send(Batch([finding.to_json() for finding in found[sent:]]))
        report.send(Done(control.stopped or "compared", len(found), time.monotonic() - began))
    if options.jsonl:
        print("".join(json.dumps(finding.to_json()) + "\n" for finding in found), end="")
    elif not options.stream:
        n = counted(len(found), "token") if found else "No token"
        print(f"{n} would become unreachable{':' if found else '.'}")
        print("".join(f"{finding.id}\t{finding.label}\t{visible(finding.reason)}\n" for finding in found), end="")
    return 130 if control.stopped == "interrupted" else 0


def _send_verdicts(tokenizer: Tokenizer, found: list[Finding], measures: Measures, report: Report) -> None:
    """Send what was measured, column by column, then the verdicts."""
    end = max(tokenizer.vocabulary.ids(), default=-1) + 1
    for name, column in measures.columns.items():
        for first in range(0, end, _VALUES):
            values = [column.get(token) for token in range(first, min(first + _VALUES, end))]
            report.send(Measured(name, first, values))
    rows = (verdict.to_json() for verdict in verdicts(tokenizer, found, measures))
    while batch := list(islice(rows, BATCH)):
        report.send(Verdicts(batch))
