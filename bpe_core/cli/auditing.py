"""The work of `audit`: counting its texts, examining the tokenizer, and telling an app what was found on the way."""

import json
import time
from argparse import Namespace
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from typing import Final

from bpe_core.auditing import Examination, Finding, Findings, Measures, Stage, verdicts
from bpe_core.auditing.reachability import what_if
from bpe_core.auditing.usage import Spread, spread_of
from bpe_core.cli.control import Control
from bpe_core.cli.counting import PROGRESS_EVERY, count_files, told_to_stop
from bpe_core.cli.events import Auditing, Role
from bpe_core.cli.report import Report, report_to
from bpe_core.cli.result_events import Measured, Verdicts
from bpe_core.corpus import Counts, Progress, find_files
from bpe_core.corpus.reading import Stopped
from bpe_core.embeddings.matrix import Matrix
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

BATCH: Final = 256
"""Verdicts in one event at most."""
_VALUES: Final = 16_384
"""Values of a column in one event at most."""


class _StoppedError(Exception):
    """Raised by `progress` inside the checks of an audit, to end them when the control says stop."""


def audited(
    tokenizer: Tokenizer, matrix: Matrix | None, options: Namespace, control: Control, report: Report
) -> tuple[Findings, Measures]:
    """All findings, and what was measured; if the control says stop, what was made until then.

    An app is sent columns and verdicts at the end.
    """

    def count(paths: list[str], role: Role) -> Counts | None:
        if not paths or control.stopped:
            return None
        return count_files(paths, tokenizer.pattern, control, report, role=role)

    counts = count(options.corpus, "corpus")
    spread = None if counts is None else _spread(tokenizer, options.corpus, control, report)
    reference = count(options.reference, "reference")
    found: list[Finding] = []
    shown = 0.0  # when progress was last sent

    def progress(stage: Stage) -> None:
        nonlocal shown
        control.receive()
        if control.stopped:
            raise _StoppedError
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(Auditing(stage.done, stage.total, stage.name))

    examination = Examination(
        tokenizer,
        counts=counts,
        reference=reference,
        embeddings=matrix,
        indicator=options.indicator,
        spread=spread,
        progress=progress,
    )
    with suppress(_StoppedError):
        if not control.stopped:
            for finding in examination.findings():
                found.append(finding)
    measures = examination.measures
    if options.stream:
        _send_measures(measures, report)
        rows = (verdict.to_json() for verdict in verdicts(tokenizer, found, measures))
        while batch := list(islice(rows, BATCH)):
            report.send(Verdicts(batch))
    return Findings(found), measures


def _spread(tokenizer: Tokenizer, paths: list[str], control: Control, report: Report) -> Spread | None:
    """How tokens are spread over the files of the corpus; None where that is not counted, or the control stops it."""

    def progress(now: Progress) -> None:
        report.send(Auditing(now.done, now.total, "tokens in each document"))

    with suppress(Stopped):
        stop = partial(told_to_stop, control, report, "counting")
        return spread_of(tokenizer, find_files(paths).files, progress=progress, stop=stop)
    return None


def tell_what_if(tokenizer: Tokenizer, options: Namespace) -> int:
    """Look for tokens that another pattern or normalizer kills, and print them; 0, or 130 if interrupted."""
    found: list[Finding] = []
    with closing(Control(stdin=False)) as control, closing(report_to(False, control)) as report:

        def progress(stage: Stage) -> None:
            control.receive()
            if control.stopped:
                raise _StoppedError
            report.send(Auditing(stage.done, stage.total, stage.name))

        with suppress(_StoppedError):
            for finding in what_if(
                tokenizer, pattern=options.what_if, normalizer=options.what_if_normalizer, progress=progress
            ):
                found.append(finding)
    if options.jsonl:
        print("".join(json.dumps(finding.to_json()) + "\n" for finding in found), end="")
    else:
        n = counted(len(found), "token") if found else "No token"
        print(f"{n} would become unreachable{':' if found else '.'}")
        print("".join(f"{finding.id}\t{finding.label}\t{visible(finding.reason)}\n" for finding in found), end="")
    return 130 if control.stopped == "interrupted" else 0


def _send_measures(measures: Measures, report: Report) -> None:
    """Send what was measured, column by column."""
    for name, column in measures.columns.items():
        numbers = iter(column.items())
        while some := dict(islice(numbers, _VALUES)):
            report.send(Measured(name, [*some], [*some.values()]))
