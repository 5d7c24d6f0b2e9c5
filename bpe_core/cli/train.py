"""`train`: learn a vocabulary from files."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import Field, fields
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
from bpe_core.corpus.counts import is_counts
from bpe_core.corpus.reading import split_field
from bpe_core.process import INTERRUPTED
from bpe_core.tokenizer.training_record import EXTEND, OPTION_OF, OPTIONS, Options
from bpe_core.visible import visible
from bpe_core.worker.job import Job
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import TrainRequest, train

SOURCES: Final = (
    "text files, folders and URLs (s3://, hf://, https://), compressed or not; in .jsonl .csv "
    ".tsv .parquet .arrow .warc .wet .tar .zip each row or member is a document; PATH::FIELD "
    "selects a field; - for stdin; stdin and pipes are read once and cannot be sampled"
)


def add(commands: Subcommands) -> None:
    add_arguments(add_command(commands, run_train))


def add_arguments(parser: Parser) -> None:
    """Add the arguments of `train`. The default of options is "" unless given here."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help=SOURCES)
    parser.add_value("-o --output", "OUT", "the file to save the tokenizer to")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        default="",
        help="train a published example with its own text and options, and check the result; "
        "needs no OUT",
    )
    parser.add_value(
        "--curve", "FILE", "write the corpus size after each merge to FILE, as CSV"
    )
    parser.add_flag(
        "keep-existing", "never replace files: if OUT exists, save as OUT-2, OUT-3, …"
    )
    for field in fields(Options):
        _add_option(parser, field)
    parser.add_value("--extend", "OLD", f"{EXTEND.help()} ({A_TOKENIZER})")
    parser.add_value(
        "--fork",
        "STEP",
        "with --extend: keep only the first STEP merges of OLD",
        None,
        type=integer,
    )
    add_selection(parser)
    parser.add_value(
        "--counts",
        "C",
        "train on these counts instead of texts: a file written by `count`",
    )
    parser.add_value(
        "--min-piece-count",
        "N",
        "with --counts: drop pre-tokens seen fewer than N times, and report the largest "
        "possible error (default: 1)",
        1,
        type=integer,
    )
    parser.add_flag(
        "resume", "continue an earlier run of this command, however it ended"
    )
    parser.add_value(
        "--resume-from",
        "FILE",
        "like --resume, but from this file instead of OUT.checkpoint or OUT",
    )
    parser.add_value(
        "--checkpoint",
        "FILE",
        "the file for progress until OUT is saved (default: OUT.checkpoint)",
    )


def _add_option(parser: Parser, field: "Field[Any]") -> None:
    """Add the argument for a field of `Options`."""
    option = OPTION_OF[field.name]
    keywords: dict[str, Any] = {}
    if option.choices:
        keywords["choices"] = option.choices
    elif field.type in (int, int | None):
        keywords["metavar"] = "N"
        keywords["type"] = integer
    else:
        keywords["metavar"] = option.argument.rpartition("-")[2].upper()
    note = ""
    if field.type == Sequence[str]:
        keywords["action"] = "append"
        note = "repeatable"
    elif not option.choices and option.example != str(field.default):
        note = f"such as {option.example}"
    parser.add_argument(
        f"--{option.argument}",
        dest=field.name,
        help=option.help(field.default or "none", note),
        **keywords,
    )


def add_selection(parser: Parser) -> None:
    """Add the options that select, weigh and count documents: `--field` and fields of `Recipe`."""
    parser.add_value(
        "--field --column",
        "NAME",
        "the field or column with the documents, for each PATH without ::NAME (default: guessed "
        "and reported)",
    )
    parser.add_value(
        "--sample", "X", OPTIONS["sample"].help("all", "such as 1/10 or 0.1")
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
        OPTIONS["weight"].help(1, "repeatable"),
        [],
        action="append",
    )
    parser.add_value(
        "--alpha",
        "X",
        OPTIONS["alpha"].help(1, "weights are rounded to hundredths"),
    )
    parser.add_cluster()


def recipe_of(options: Namespace, rules: Mapping[str, Any]) -> Recipe:
    """Make a `Recipe` from the options that `add_selection` and other commands declare."""
    values = _fields_of(Recipe, options)
    values["paths"] = with_field(options.paths, options.field)
    return Recipe(**values, options=rules, weights=tuple(options.weight))


def with_field(paths: Sequence[str], field: str) -> tuple[str, ...]:
    """Add `::` and a field, if there is one, to each path of texts that has none."""
    if not field:
        return tuple(paths)
    return tuple(
        path if split_field(path)[1] or is_counts(path) else f"{path}::{field}"
        for path in paths
    )


def request_of(options: Namespace) -> TrainRequest:
    """Make a `TrainRequest` from the options of `train`."""
    rules = {}
    for name in OPTION_OF:
        value = getattr(options, name)
        if value is not None:
            rules[name] = value
    recipe = recipe_of(options, rules)
    return TrainRequest(recipe, **_fields_of(TrainRequest, options))


def _fields_of(kind: type[Recipe | TrainRequest], options: Namespace) -> dict[str, Any]:
    """Return the options that are fields of a dataclass."""
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

    Until OUT is saved, the merges are saved in OUT.checkpoint every few seconds, as a tokenizer
    file like any other. If training ends early, the same command with --resume continues from
    there, or from OUT if it was stopped. It reads the same texts again, so a pipe must deliver the
    same text.

    --extend STAGE1 --pattern none adds merges across words to the merges of STAGE1: this is
    SuperBPE.
    """
    # patience=0: the first Ctrl+C always waits until the merges can be saved.
    with closing(Job(StderrReporter(), patience=0)) as job:
        tokenizer = train(request_of(options), job)
    if job.stopped:
        return INTERRUPTED
    if not (options.preset and tokenizer):
        return 0
    is_expected, sentence = PRESETS[options.preset].verdict(tokenizer)
    print(visible(sentence))
    return 0 if is_expected else 1
