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
from bpe_core.worker.train import Recipe, TrainRequest, train

SOURCES: Final = (
    "texts, folders of them, and addresses (s3://, hf://, https://); packed ones, too, and those whose rows or members "
    "are the documents: .jsonl .csv .tsv .parquet .arrow .warc .wet .tar .zip; PATH::FIELD names the field; "
    "- for stdin, or a pipe, which are read once and without a sample"
)


def add(commands: Subcommands) -> None:
    add_arguments(add_command(commands, run_train))


def add_arguments(parser: Parser) -> None:
    """Add the texts, the options and what is written; unless a help text says otherwise, what is left out is ""."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help=SOURCES)
    parser.add_value("-o --output", "OUT", "the file to save the tokenizer to")
    outcome = "run a founding example again, with its own text and options, and say whether it comes out; no OUT needed"
    parser.add_argument("--preset", choices=PRESETS, default="", help=outcome)
    parser.add_value(
        "--curve", "FILE", "write the corpus after every merge there, as CSV"
    )
    parser.add_flag(
        "keep-existing", "replace no file: where OUT is taken, save as OUT-2, OUT-3, …"
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
    begin = "with --extend: begin with the first STEP merges of OLD only"
    parser.add_value("--fork", "STEP", begin, None, type=integer)
    add_choice(parser)
    parser.add_value(
        "--counts",
        "C",
        "learn from these counts instead of texts: a file that `count` has written",
    )
    least = "with --counts: leave out pieces that occur less than N times; how wrong a count can be then, is said (1)"
    parser.add_value("--min-piece-count", "N", least, 1, type=integer)
    parser.add_flag(
        "resume", "go on where an earlier run of this command ended, however it ended"
    )
    parser.add_value(
        "--resume-from",
        "FILE",
        "the same, from this file instead of OUT.checkpoint or OUT",
    )
    kept = "where to keep what is learned so far, until OUT is saved (OUT.checkpoint)"
    parser.add_value("--checkpoint", "FILE", kept)


def add_choice(parser: Parser) -> None:
    """Add what counts of the texts: which field, which documents, how often; fields of `Recipe` but for the first."""
    field = "the field or column of the documents, for each PATH that does not end in ::NAME; a guess, which is said"
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
    """What `add_choice` has added, and other options that a `Recipe` has."""
    given, field = _given(Recipe, options), options.field
    paths = tuple(
        f"{path}::{field}" if field and not split_field(path)[1] else path
        for path in options.paths
    )
    return Recipe(
        **given | {"paths": paths}, options=rules, weights=tuple(options.weight)
    )


def request_of(options: Namespace) -> TrainRequest:
    rules = {
        name: value
        for name in OPTION_OF
        if (value := getattr(options, name)) is not None
    }
    return TrainRequest(recipe_of(options, rules), **_given(TrainRequest, options))


def _given(kind: type[Recipe | TrainRequest], options: Namespace) -> dict[str, Any]:
    return {
        field.name: getattr(options, field.name)
        for field in fields(kind)
        if field.name in options
    }


def run_train(options: Namespace) -> int:
    """Learn a vocabulary from texts and save it.

    train my_texts/ notes.md -o mine.json --vocab-size 4096
    train log.txt -o log.json --pattern none --special '<|endoftext|>'
    train more/ --extend mine.json -o larger.json --vocab-size 8192
    train my_texts/ notes.md -o mine.json --vocab-size 4096 --resume
    train reviews.parquet::text more.jsonl.zst shards/ -o mine.json --dedupe
    train --counts counts.parquet -o mine.json
    train --preset S0

    Every few seconds what is learned is kept in OUT.checkpoint, a tokenizer file like any other, until OUT is
    saved. After any end, the same command with --resume goes on from there, or from OUT if it was stopped;
    it reads the same texts again, so a pipe has to bring the same text again.
    --extend STAGE1 --pattern none merges across words behind the merges of STAGE1: that is SuperBPE.
    """
    with closing(Job(StderrReporter(), patience=0)) as job:
        tokenizer = train(request_of(options), job)
    if job.stopped:
        return INTERRUPTED
    came_out, sentence = (
        PRESETS[options.preset].verdict(tokenizer)
        if options.preset and tokenizer
        else (True, "")
    )
    if sentence:
        print(visible(sentence))
    return int(not came_out)
