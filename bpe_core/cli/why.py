"""`why`: why a merge was chosen, and the table of pair counts after it."""

import json
from argparse import Namespace
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, integer
from bpe_core.cli.report import report_to_person
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.cli.why_text import told_step
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError, Stopped
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.job import Job
from bpe_core.worker.subject import Question, counted_subject


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "why",
        run,
        "Tell why a merge was chosen, and count the pairs at any step of a training.",
        ("-t mine.json --step 311 my_texts/", "--preset S2"),
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="the texts that TOKENIZER was learned from")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("-t", "--tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument("--preset", choices=PRESETS, help="a founding example, with its own text")
    add_given_pattern(parser)
    parser.add_argument("--step", type=integer, metavar="N", help="the merge asked about, from 1 (all of them)")
    parser.add_argument(
        "--rows", type=integer, default=12, metavar="N", help="rows of the table of pairs (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object for each step")


def run(options: Namespace) -> int:
    """Count the corpus, then tell of one step, of all, or of those that are asked for."""
    question = _question(options)
    with closing(Job(report_to_person())) as job:
        try:
            subject = counted_subject(question, job)
        except Stopped:
            return 130
    for step in _steps(options.step, subject.tokenizer):
        told, places, uses = subject.explanation(step), subject.places(step), subject.uses(step)
        if options.json:
            print(json.dumps(told.to_json() | {"places": list(map(asdict, places))}))
        else:
            bytes_of, given = subject.tokenizer.token_bytes, subject.given(step)
            print(told_step(told, bytes_of, question.ties, given, places, uses, options.rows))
    return 0


def _steps(asked: int | None, tokenizer: Tokenizer) -> Iterable[int]:
    if asked is None:
        return range(tokenizer.step + 1)
    if not 0 <= asked <= tokenizer.step:
        raise OptionError(f"There is no step {asked}; this vocabulary has the steps 0 to {tokenizer.step}.")
    return (asked,)


def _question(options: Namespace) -> Question:
    preset = PRESETS.get(options.preset)
    if options.tokenizer:
        if not (preset or options.paths):
            raise OptionError("Name the texts that the tokenizer was learned from.")
        tokenizer = open_tokenizer(options.tokenizer, options.pattern)
        tokenizer.vocabulary.recover()
    elif preset:
        tokenizer = preset.train()
    else:
        raise OptionError("Name the tokenizer with -t and the texts it was learned from, or a --preset.")
    return Question.of_file(tokenizer, options.paths, preset)
