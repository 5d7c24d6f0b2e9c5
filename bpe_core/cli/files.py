"""`runs`, `export`, `convert` and `fetch`: list, print, convert and fetch tokenizer files."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command
from bpe_core.cli.streams import open_tokenizer, print_fetching
from bpe_core.errors import OptionError
from bpe_core.formats import WRITABLE, load, save
from bpe_core.hub import KINDS, fetch
from bpe_core.process import print_to_stderr
from bpe_core.report import ReportTable, aligned
from bpe_core.runs import RunDifference, exported, found
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from bpe_core.weighted import for_programs, formatted
from bpe_core.whole_file import check_place, write_atomically


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_runs)
    parser.add_argument(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="folders, or tokenizer files (default: the current folder)",
    )
    parser.add_flag(
        "json", "print one JSON object per training, or one about the difference"
    )
    parser = add_command(commands, run_export)
    parser.add_argument(
        "what", choices=("merges", "curve", "record"), help="what to print"
    )
    parser.add_argument(
        "tokenizer",
        nargs="+",
        metavar="TOKENIZER",
        help=f"{A_TOKENIZER}; repeatable with curve",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write to this file instead of stdout"
    )
    parser = add_command(commands, run_convert)
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="the file to write"
    )
    parser.add_argument(
        "--format", required=True, choices=WRITABLE, help="the format of OUT"
    )
    parser.add_given_pattern()
    parser = add_command(commands, run_fetch)
    parser.add_argument("name", metavar="MODEL", help=KINDS)


def run_runs(options: Namespace) -> int:
    """List the training runs in a folder, or show where two training runs differ.

    runs
    runs vocabularies/ --json
    runs mine.json other.json

    A training run is listed by its checkpoint until its tokenizer is saved. Subfolders are not searched.

    If you name two files, runs compares them: it shows which options differ, how many merges are the
    same, which merge each training run made next, and which tokens only one of them has.
    """
    paths = [Path(path) for path in options.paths]
    if len(paths) == 2 and not any(path.is_dir() for path in paths):
        _print_difference(paths, as_json=options.json)
        return 0
    trainings = list(found(paths))
    runs = [(training.described(), training.options) for training in trainings]
    runs.sort(key=lambda run: str(run[0]["created"]))
    if options.json:
        for description, _ in runs:
            print(json.dumps(description, default=for_programs))
        return 0
    if not runs:
        raise OptionError(
            f"No training runs found in {', '.join(options.paths)}; name another folder, or train "
            "a tokenizer there."
        )
    heads = [
        "file",
        "when (UTC)",
        "tokens",
        "merges",
        "bytes",
        "b/token",
        "corpus",
        "ended",
        "options",
    ]
    rows = [_row(description, rules) for description, rules in runs]
    table = ReportTable(heads, rows, numbers=(2, 3, 4, 5), widest=60)
    print("\n".join(aligned(table)))
    return 0


def _row(description: Mapping[str, Any], rules: str) -> list[str]:
    """Return the row of a training run in the table of `runs`."""
    return [
        description["path"],
        description["created"][: len("2026-01-31T12:00")].replace("T", " "),
        f"{description['vocab_size']:,}",
        f"{description['merges']:,}",
        formatted(description["bytes"]),
        f"{description['bytes_per_token']:.3f}",
        description["corpus"][:8],
        description["ended"],
        rules,
    ]


def _print_difference(paths: Sequence[Path], *, as_json: bool) -> None:
    """Print where two training runs differ."""
    first, second = paths
    difference = RunDifference.of(load(first), load(second))
    if as_json:
        only = [[token.hex() for token in tokens] for tokens in difference.only]
        fields = {
            "options": difference.options,
            "same_until": difference.n_same,
            "both": difference.n_both,
            "only": only,
            "bytes_per_token": difference.compression,
        }
        print(json.dumps(fields))
        return
    for sentence in difference.sentences(str(first), str(second)):
        print(visible(sentence))


def run_export(options: Namespace) -> int:
    """Print the merges, the curve or the record of a training run.

    export merges mine.json > merges.tsv
    export curve mine.json larger.json -o curve.csv

    merges: one merge per line, with tabs between the columns. curve: the size of the corpus after
    each merge, as CSV, for one training run or several. record: options, texts and steps, as JSON. To
    use a tokenizer with other libraries, see convert.
    """
    if options.what != "curve" and len(options.tokenizer) > 1:
        raise OptionError(
            f"export {options.what} takes one tokenizer; leave out {options.tokenizer[1]}."
        )
    if options.output:
        check_place(options.output)
    tokenizers = [open_tokenizer(name) for name in options.tokenizer]
    lines = exported(options.what, tokenizers, options.tokenizer)
    if options.output:
        write_atomically((options.output, list(lines)))
    else:
        sys.stdout.writelines(lines)
    return 0


def run_convert(options: Namespace) -> int:
    """Write a tokenizer in another format.

    convert mine.json -o tokenizer.json --format huggingface
    convert ranks.tiktoken --pattern llama3 -o llama3.json --format native

    gpt2 writes two files: OUT, and next to it the merges, such as merges.txt for vocab.json or
    a-merges.txt for a.json. It replaces an existing file of merges only if that belongs to OUT.

    convert refuses a format in which the tokenizer would give other ids. tiktoken files do not hold the
    pattern and the special tokens: give these to the program that reads the file, or choose
    huggingface or native.
    """
    output = Path(options.output)
    check_place(output)
    exist = output.exists() and os.path.exists(options.tokenizer)
    if exist and output.samefile(options.tokenizer):
        raise OptionError(
            f"{options.output} is both the input and the output; name another file with -o."
        )
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    save(tokenizer, output, format=options.format)
    if options.format == "tiktoken":
        warn_about_ranks(tokenizer)
    return 0


def warn_about_ranks(tokenizer: Tokenizer) -> None:
    """Print which special tokens a file of ranks does not contain."""
    from bpe_core.formats.tiktoken import warning_about  # imported late: few need it

    warning = warning_about(tokenizer)
    if warning:
        print_to_stderr(warning)


def run_fetch(options: Namespace) -> int:
    """Fetch a tokenizer by its name, and print the path of its file.

    fetch gpt-4o
    fetch Qwen/Qwen3-8B

    Files that tiktoken or huggingface_hub has downloaded before need no network. Downloading others
    needs the extra [hub].
    """
    print(fetch(options.name, print_fetching))
    return 0
