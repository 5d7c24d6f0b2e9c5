"""`runs`, `export`, `convert` and `fetch`: the files of trainings and tokenizers, for people and for other programs."""

import json
import os
import sys
from argparse import Namespace
from pathlib import Path

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command
from bpe_core.cli.streams import open_tokenizer, print_fetching
from bpe_core.errors import OptionError
from bpe_core.formats import WRITABLE, load, save
from bpe_core.hub import KINDS, fetch
from bpe_core.process import print_to_stderr
from bpe_core.report import ReportTable, aligned
from bpe_core.runs import RunDifference, exported, found
from bpe_core.visible import visible
from bpe_core.weighted import for_programs
from bpe_core.whole_file import check_place, write_atomically


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_runs)
    parser.add_argument(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="a folder, or tokenizer files (.)",
    )
    parser.add_flag("json", "an object a training, one a line")
    parser = add_command(commands, run_export)
    parser.add_argument(
        "what", choices=("merges", "curve", "record"), help="what to print"
    )
    parser.add_argument(
        "tokenizer",
        nargs="+",
        metavar="TOKENIZER",
        help=f"{A_TOKENIZER}; several for curve",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="the file to write, instead of stdout"
    )
    parser = add_command(commands, run_convert)
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="the file to write"
    )
    parser.add_argument(
        "--format", required=True, choices=WRITABLE, help="the format to write"
    )
    parser.add_given_pattern()
    parser = add_command(commands, run_fetch)
    parser.add_argument("name", metavar="NAME", help=KINDS)


def run_runs(options: Namespace) -> int:
    """List the trainings whose files lie in a folder, or say where two of them part.

    runs
    runs vocabularies/ --json
    runs mine.json other.json

    A training is remembered by the file it is saved to, and by its checkpoint as long as it has not ended. Two
    files are compared: what was asked for otherwise, the step until which they are the same, what each did
    then, and what followed.
    """
    paths = [Path(path) for path in options.paths]
    if len(paths) == 2 and not any(path.is_dir() for path in paths):
        difference = RunDifference.of(*map(load, paths))
        names = [
            path.name if paths[0].name != paths[1].name else str(path) for path in paths
        ]
        if options.json:
            what = {
                "options": difference.options,
                "same_until": difference.n_same,
                "both": difference.n_both,
            }
            what["only"] = [[token.hex() for token in only] for only in difference.only]
            print(json.dumps(what | {"bytes_per_token": difference.compression}))
        else:
            print(*map(visible, difference.sentences(*names)), sep="\n")
        return 0
    runs = sorted(
        ((one.described(), one.options) for one in found(paths)),
        key=lambda run: str(run[0]["created"]),
    )
    if options.json:
        print(
            "".join(f"{json.dumps(run, default=for_programs)}\n" for run, _ in runs),
            end="",
        )
    elif not runs:
        raise OptionError(
            f"There is no training in {', '.join(map(str, paths))}; train one, or name another folder."
        )
    else:
        rows = []
        for run, rules in runs:
            created, ratio = (
                run["created"][:16].replace("T", " "),
                f"{run['bytes_per_token']:.3f}",
            )
            sizes = [f"{run[name]:,}" for name in ("vocab_size", "merges", "bytes")]
            rows.append(
                [
                    run["path"],
                    created,
                    *sizes,
                    ratio,
                    run["corpus"][:8],
                    run["ended"],
                    rules,
                ]
            )
        head = [
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
        print(
            *aligned(ReportTable(head, rows, numbers=(2, 3, 4, 5), widest=60)), sep="\n"
        )
    return 0


def run_export(options: Namespace) -> int:
    """Print the merges, the curve or the record of a training.

    export merges mine.json > merges.tsv
    export curve mine.json larger.json -o curve.csv

    merges: a line a merge, separated by tabs. curve: the corpus after every merge, as CSV, of one training
    or several. record: options, texts and steps, as JSON. convert writes a tokenizer for other libraries.
    """
    if options.what in ("merges", "record") and len(options.tokenizer) > 1:
        raise OptionError(
            f"export {options.what} takes one tokenizer; leave out {options.tokenizer[1]}."
        )
    if options.output:
        check_place(options.output)
    lines = exported(
        options.what,
        [open_tokenizer(name) for name in options.tokenizer],
        options.tokenizer,
    )
    if options.output:
        write_atomically((options.output, list(lines)))
    else:
        sys.stdout.writelines(lines)
    return 0


def run_convert(options: Namespace) -> int:
    """Write a tokenizer in another format.

    convert mine.json -o tokenizer.json --format huggingface
    convert ranks.tiktoken --pattern llama3 -o llama3.json --format native

    gpt2 writes two files: OUT, and beside it merges.txt for vocab.json, a-merges.txt for a.json; it replaces
    there only the merges of the vocabulary OUT. A format that cannot hold a tokenizer so that it gives the
    same ids is refused. tiktoken's has no place for the pattern and the special tokens: name them where it is
    read, or choose huggingface or native, which keep them.
    """
    output = Path(options.output)
    check_place(output)
    if (
        output.exists()
        and os.path.exists(options.tokenizer)
        and output.samefile(options.tokenizer)
    ):
        raise OptionError(
            f"{options.output} is the tokenizer to convert; name another file for the new one."
        )
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    save(tokenizer, output, format=options.format)
    if options.format == "tiktoken":
        from bpe_core.formats.tiktoken import warning_about  # late: few need it

        if warning := warning_about(tokenizer):
            print_to_stderr(warning)
    return 0


def run_fetch(options: Namespace) -> int:
    """Fetch a tokenizer by its name, and say where its file lies.

    fetch gpt-4o
    fetch Qwen/Qwen3-8B

    What was fetched before, by whatever program, needs no network. The rest needs the extra [hub].
    """
    print(fetch(options.name, print_fetching))
    return 0
