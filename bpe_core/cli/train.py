"""`train`: learn a vocabulary from files."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any, Final

from bpe_core.cli.arguments import (
    A_TOKENIZER,
    Parser,
    Subcommands,
    add_command,
    integer,
)
from bpe_core.cli.streams import StderrReporter
from bpe_core.content.presets import PRESETS
from bpe_core.corpus.reading import split_field
from bpe_core.process import INTERRUPTED
from bpe_core.tokenizer.training_record import EXTEND, OPTION_OF, OPTIONS, Options
from bpe_core.visible import visible
from bpe_core.worker.job import Job
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import TrainRequest, train

SOURCES: Final = (
    "text files, folders and URLs (s3://, hf://, https://), compressed or not; in .jsonl .csv .tsv .parquet .arrow "
    ".warc .wet .tar .zip each row or member is a document; PATH::FIELD selects a field; - for stdin; stdin and pipes "
    "are read once and cannot be sampled"
)


def add(commands: Subcommands) -> None:
    add_arguments(add_command(commands, run_train))


def add_arguments(parser: Parser) -> None:
    """Add the arguments of `train`. The default of options is "" unless given here."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help=SOURCES)
    parser.add_value("-o --output", "OUT", "the file to save the tokenizer to")
    outcome = "train a published example with its own text and options, and check the result; needs no OUT"
    parser.add_argument("--preset", choices=PRESETS, default="", help=outcome)
    parser.add_value(
        "--curve", "FILE", "write the corpus size after each merge to FILE, as CSV"
    )
    parser.add_flag(
        "keep-existing", "never replace files: if OUT exists, save as OUT-2, OUT-3, …"
    )
    for field in fields(Options):
        option = OPTION_OF[field.name]
        how: dict[str, Any] = (
            {"choices": option.choices}
            if option.choices
            else {"metavar": option.argument.rpartition("-")[2].upper()}
        )
        if field.type in (int, int | None):
            how |= {"type": integer, "metavar": "N"}
        if field.type == Sequence[str]:
            how["action"] = "append"
        usual = field.default or f"such as {option.example}; none"
        parser.add_argument(
            f"--{option.argument}", dest=field.name, help=option.help(usual), **how
        )
    parser.add_value("--extend", "OLD", f"{EXTEND.help()}:\n{A_TOKENIZER}")
    begin = "with --extend: keep only the first STEP merges of OLD"
    parser.add_value("--fork", "STEP", begin, None, type=integer)
    add_choice(parser)
    parser.add_value(
        "--counts",
        "C",
        "train on these counts instead of texts: a file written by `count`",
    )
    least = "with --counts: drop pre-tokens seen fewer than N times, and report the largest possible error (default: 1)"
    parser.add_value("--min-piece-count", "N", least, 1, type=integer)
    parser.add_flag(
        "resume", "continue an earlier run of this command, however it ended"
    )
    parser.add_value(
        "--resume-from",
        "FILE",
        "like --resume, but from this file instead of OUT.checkpoint or OUT",
    )
    kept = "the file for progress until OUT is saved (default: OUT.checkpoint)"
    parser.add_value("--checkpoint", "FILE", kept)


def add_choice(parser: Parser) -> None:
    """Add the options that select and weigh documents: `--field` and fields of `Recipe`."""
    field = "the field or column with the documents, for each PATH without ::NAME (default: guessed and reported)"
    parser.add_value("--field --column", "NAME", field)
    parser.add_value(
        "--sample", "X", OPTIONS["sample"].help("such as 1/10 or 0.1; all")
    )
    parser.add_value(
        "--documents", "N", OPTIONS["documents"].help("all"), None, type=integer
    )
    parser.add_value("--seed", "N", OPTIONS["seed"].help(0), 0, type=integer)
    parser.add_flag("dedupe", OPTIONS["dedupe"].help())
    parser.add_flag("skip-bad", OPTIONS["skip-bad"].help())
    parser.add_value(
        "--weight",
        "PATH=N",
        OPTIONS["weight"].help("repeatable; 1"),
        [],
        action="append",
    )
    parser.add_value(
        "--alpha", "A", OPTIONS["alpha"].help("the weights are hundredths; 1")
    )
    parser.add_cluster()


def recipe_of(options: Namespace, rules: Mapping[str, Any]) -> Recipe:
    """Make a `Recipe` from the options that `add_choice` and other commands declare."""
    values = _given(Recipe, options)
    paths = list[str]()
    for path in options.paths:
        _, field = split_field(path)
        if options.field and not field:
            path = f"{path}::{options.field}"
        paths.append(path)
    values["paths"] = tuple(paths)
    return Recipe(**values, options=rules, weights=tuple(options.weight))


def request_of(options: Namespace) -> TrainRequest:
    values = {name: getattr(options, name) for name in OPTION_OF}
    rules = {name: value for name, value in values.items() if value is not None}
    return TrainRequest(recipe_of(options, rules), **_given(TrainRequest, options))


def _given(kind: type[Recipe | TrainRequest], options: Namespace) -> dict[str, Any]:
    return {
        field.name: getattr(options, field.name)
        for field in fields(kind)
        if field.name in options
    }


def run_train(options: Namespace) -> int:
    """Train a vocabulary on texts and save it.

    train my_texts/ notes.md -o mine.json --vocab-size 4096
    train log.txt -o log.json --pattern none --special '<|endoftext|>'
    train more/ --extend mine.json -o larger.json --vocab-size 8192
    train my_texts/ notes.md -o mine.json --vocab-size 4096 --resume
    train reviews.parquet::text more.jsonl.zst shards/ -o mine.json --dedupe
    train --counts counts.parquet -o mine.json
    train --preset S0

    The merges are saved in OUT.checkpoint every few seconds, as a tokenizer file like any other, until OUT is
    saved. If training ends early, the same command with --resume continues from there, or from OUT if it was
    stopped. It reads the same texts again, so a pipe must deliver the same text.
    --extend STAGE1 --pattern none adds merges across words to the merges of STAGE1: this is SuperBPE.
    """
    with closing(Job(StderrReporter(), patience=0)) as job:
        tokenizer = train(request_of(options), job)
    if job.stopped:
        return INTERRUPTED
    if not (options.preset and tokenizer):
        return 0
    is_expected, sentence = PRESETS[options.preset].verdict(tokenizer)
    print(visible(sentence))
    return 0 if is_expected else 1
