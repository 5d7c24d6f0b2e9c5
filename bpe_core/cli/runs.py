"""`runs`: the trainings whose tokenizer files lie in a folder, and where two of them part."""

import json
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.report import ReportTable, aligned
from bpe_core.errors import OptionError
from bpe_core.formats import load
from bpe_core.metrics.vocabularies import RunDifference
from bpe_core.runs import TrainingRun, found
from bpe_core.visible import visible

_WIDEST = 60
"""Terminal cells of a column: the last one has all options that were asked for."""


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "runs",
        run,
        "List the trainings whose files lie in a folder, or say where two of them part.",
        ("", "vocabularies/ --json", "mine.json other.json"),
        "A training is remembered by the file it is saved to, and by its checkpoint as long as it has not ended. Two\n"
        "files are compared: what was asked for otherwise, the step until which they are the same, what each did\n"
        "then, and what followed.",
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="a folder, or tokenizer files (.)")
    parser.add_argument("--json", action="store_true", help="an object a training, one a line")


def run(options: Namespace) -> int:
    """Print the table, or the difference of two files; returns 0."""
    paths = [Path(path) for path in options.paths]
    if len(paths) == 2 and not any(path.is_dir() for path in paths):
        first, second = map(load, paths)
        difference = RunDifference.of(first, second)
        if options.json:
            print(json.dumps(_told(difference)))
        for sentence in () if options.json else difference.sentences(*_names(paths)):
            print(visible(sentence))
        return 0
    runs = sorted(found(paths), key=lambda run: run.tokenizer.record.created if run.tokenizer.record else "")
    if options.json:
        for one in runs:
            print(json.dumps(one.described()))
        return 0
    if not runs:
        raise OptionError(f"There is no training in {', '.join(map(str, paths))}; train one, or name another folder.")
    head = ["file", "when (UTC)", "tokens", "merges", "b/token", "bytes", "corpus", "ended", "options"]
    print(*aligned(ReportTable(head, list(_rows(runs)), numbers=(2, 3, 4, 5), widest=_WIDEST)), sep="\n")
    return 0


def _names(paths: list[Path]) -> tuple[str, str]:
    first, second = paths
    return (first.name, second.name) if first.name != second.name else (str(first), str(second))


def _told(difference: RunDifference) -> dict[str, Any]:
    return {
        "options": difference.options,
        "same_until": difference.n_same,
        "both": difference.n_both,
        "only": [[token.hex() for token in only] for only in difference.only],
        "bytes_per_token": difference.compression,
    }


def _rows(runs: Iterable[TrainingRun]) -> Iterator[list[str]]:
    for one in runs:
        told = one.described()
        yield [
            os.fspath(one.path),
            told["created"][:16].replace("T", " "),
            f"{told['vocab_size']:,}",
            f"{told['merges']:,}",
            f"{told['bytes_per_token']:.3f}",
            f"{told['bytes']:,}",
            told["corpus"][:8],
            told["ended"],
            one.options,
        ]
