"""`runs`: the trainings whose tokenizer files lie in a folder, and where two of them part."""

import json
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.report import Table, aligned
from bpe_core.errors import BpeError, OptionError
from bpe_core.formats import load
from bpe_core.formats.native import recognizes
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.metrics.run_options import run_options, unusual
from bpe_core.metrics.vocabularies import RunDifference
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_HEAD = 256
"""Bytes of a file that show whether it is a tokenizer file of ours."""
_WIDEST = 60
"""Terminal cells of a column: the last one has all options that were asked for."""


class Run(NamedTuple):
    """A training that left a file."""

    path: Path
    tokenizer: Tokenizer

    def described(self) -> dict[str, Any]:
        """Its options, corpus and results, as `--json` prints them."""
        record = self.tokenizer.record
        assert record
        end = record.steps[-1][2] if record.steps else record.n_tokens_start
        return {
            "path": str(self.path),
            "created": record.created,
            "merges": self.tokenizer.step,
            "given": record.n_given,
            "vocab_size": self.tokenizer.n_vocab,
            "options": run_options(self.tokenizer),
            "texts": len(record.sources),
            "bytes": record.n_bytes,
            "corpus": record.corpus_digest,
            "bytes_per_token": bytes_per_token(record.n_bytes, end),
            "ended": "under way, or killed" if self.path.suffix == ".checkpoint" else record.stop_reason,
        }

    @property
    def options(self) -> str:
        """What it was asked for, as far as it is not what is usual, in words."""
        rules = unusual(run_options(self.tokenizer))
        del rules["vocabulary"], rules["texts"]
        return ", ".join(f"{name} {value}" for name, value in rules.items())


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
    print(*aligned(Table(head, list(_rows(runs)), numbers=(2, 3, 4, 5), widest=_WIDEST)), sep="\n")
    return 0


def found(paths: Iterable[Path]) -> Iterator[Run]:
    """The trainings in files and in the folders themselves, not below them. Files that are none are passed over.

    Raises `OptionError` for a path that does not exist.
    """
    for path in paths:
        if not path.exists():
            raise OptionError(f"There is no {path}; name a folder with tokenizer files, or two such files.")
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if tokenizer := _trained(file):
                yield Run(file, tokenizer)


def _trained(file: Path) -> Tokenizer | None:
    try:
        if not file.is_file():
            return None
        with file.open("rb") as head:
            if not recognizes(head.read(_HEAD)):
                return None
        tokenizer = load(file)
    except (BpeError, OSError):
        return None
    return tokenizer if tokenizer.record else None


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


def _rows(runs: Iterable[Run]) -> Iterator[list[str]]:
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
