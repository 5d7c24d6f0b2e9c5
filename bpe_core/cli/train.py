"""`train`: learn a vocabulary from files."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, integer
from bpe_core.cli.streams import report_to_person
from bpe_core.content.presets import PRESETS, PresetCheck
from bpe_core.tokenizer.training_record import EXTEND, OPTION_OF, SAMPLE, SEED, WEIGHT, Options
from bpe_core.visible import counted, visible
from bpe_core.worker.job import Job
from bpe_core.worker.train import Recipe, Trained, TrainRequest, train


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "train",
        run,
        "Learn a vocabulary from texts and save it.",
        (
            "my_texts/ notes.md -o mine.json --vocab-size 4096",
            "log.txt -o log.json --pattern none --special '<|endoftext|>'",
            "more/ --extend mine.json -o larger.json --vocab-size 8192",
            "my_texts/ notes.md -o mine.json --vocab-size 4096 --resume",
            "--preset S0",
        ),
        "Every few seconds what is learned is kept in OUT.checkpoint, a tokenizer file like any other, until OUT is\n"
        "saved. After any end, the same command with --resume goes on from there, or from OUT if it was stopped.\n"
        "--extend STAGE1 --pattern none merges across words behind the merges of STAGE1: that is SuperBPE.",
    )
    add_arguments(parser)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the texts, the options and what is written."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a text, or a folder of them; also .gz and .xz")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to save the tokenizer to")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help="run a founding example again, with its own text and options, and say whether it comes out; no OUT needed",
    )
    parser.add_argument(
        "--curve",
        metavar="FILE",
        help="write the corpus after every merge there, as CSV",
    )
    parser.add_argument(
        "--keep-existing", action="store_true", help="replace no file: where OUT is taken, save as OUT-2, OUT-3, …"
    )
    _add_options(parser)
    parser.add_argument(
        "--resume", action="store_true", help="go on where an earlier run of this command ended, however it ended"
    )
    parser.add_argument(
        "--resume-from", metavar="FILE", help="the same, from this file instead of OUT.checkpoint or OUT"
    )
    parser.add_argument(
        "--checkpoint", metavar="FILE", help="where to keep what is learned so far, until OUT is saved (OUT.checkpoint)"
    )


def _add_options(parser: ArgumentParser) -> None:
    """Add the options of a training, and how the texts are read."""
    for field in fields(Options):
        option = OPTION_OF[field.name]
        how: dict[str, Any] = {"choices": option.choices} if option.choices else {"metavar": option.example[:1]}
        if field.type in (int, int | None):
            how |= {"type": integer, "metavar": "N"}
        if field.type == Sequence[str]:
            how["action"] = "append"
        usual = field.default or f"such as {option.example}; none"
        parser.add_argument(f"--{option.argument}", dest=field.name, help=option.help(usual), **how)
    parser.add_argument("--extend", default="", metavar="OLD", help=f"{EXTEND.help()}:\n{A_TOKENIZER}")
    parser.add_argument(
        "--fork", type=integer, metavar="STEP", help="with --extend: begin with the first STEP merges of OLD only"
    )
    parser.add_argument("--sample", default="", metavar="X", help=SAMPLE.help("such as 1/10 or 0.1; all"))
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help=SEED.help(0))
    repeatable = "repeatable; 1; counts are multiplied by the common denominator"
    parser.add_argument("--weight", action="append", default=[], metavar="PATH=N", help=WEIGHT.help(repeatable))


def request_of(options: Namespace) -> TrainRequest:
    """What the arguments ask for."""
    given = {name: value for name in OPTION_OF if (value := getattr(options, name)) is not None}
    texts = {name: getattr(options, name) for name in ("sample", "seed", "extend", "fork")}
    recipe = Recipe(tuple(options.paths), given, weights=tuple(options.weight), preset=options.preset or "", **texts)
    return TrainRequest(
        recipe,
        options.output or "",
        keep_existing=options.keep_existing,
        checkpoint=options.checkpoint or "",
        resume=options.resume,
        resume_from=options.resume_from or "",
        curve=options.curve or "",
    )


def run(options: Namespace) -> int:
    """Count, learn and save; returns 0, 1 if a preset gave another result than promised, or 130 after a signal."""
    with closing(Job(report_to_person(), patience=0)) as job:
        trained = train(request_of(options), job)
        job.say(_ending(job.stopped, trained, job.seconds))
    if job.stopped:
        return 130
    lines = PRESETS[options.preset].check(trained.tokenizer) if options.preset and trained.tokenizer else ()
    sys.stdout.writelines(map(_shown, lines))
    return int(not all(line.is_as_expected for line in lines))


def _shown(line: PresetCheck) -> str:
    if line.is_as_expected and line.stated:
        return visible(f"not as its article states: {line.what}: {line.found}; stated: {line.stated}") + "\n"
    if line.is_as_expected:
        return visible(f"as promised: {line.what}: {line.found}") + "\n"
    return visible(f"NOT as promised: {line.what}: {line.found}; promised: {line.expected}") + "\n"


def _ending(stopped: str, trained: Trained, seconds: float) -> str:
    learned = counted(trained.n_merges - trained.n_given, "merge")
    behind = f" behind {trained.n_given:,} of the old vocabulary" if trained.n_given else ""
    place = f"saved in {trained.saved}" if trained.saved else "nothing is saved without -o"
    if not stopped:
        return f"Learned {learned}{behind} in {seconds:.1f} s ({trained.reason}); {place}."
    if trained.n_merges < trained.n_known:
        return f"{stopped.capitalize()} before all that was known was made again; no file has changed."
    if trained.n_merges:
        return f"{stopped.capitalize()} after {learned}{behind}; {place}."
    return f"{stopped.capitalize()} before the first merge; nothing is saved."
