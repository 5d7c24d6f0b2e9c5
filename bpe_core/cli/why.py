"""`why`: why a merge was chosen, and the table of pair counts after it, for a person or as the worker of the app.

As a worker it counts the corpus once, and answers one question a line: `step N` asks for a step, `merges` tells of
steps that have been learned since, each as `left,right,token`. The end of stdin is the end.
"""

import json
import os
import re
import select
import sys
from argparse import REMAINDER, Namespace
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from typing import Final

from bpe_core import kernel
from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, add_stream, integer
from bpe_core.cli.control import Control
from bpe_core.cli.report import Report, report_to
from bpe_core.cli.result_events import Explained, Places
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.cli.why_subject import Question, Subject
from bpe_core.cli.why_text import told_step
from bpe_core.cli.wire import WireError
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError, TextError
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.tokenizer import Tokenizer

MOST_ON_DISK: Final = (1 << 24, 1 << 28)
"""Bytes of texts that a worker counts without and with the kernel: in a second or two."""
MOST_IN_PIECES: Final = (1 << 18, 1 << 23)
"""Bytes of distinct pieces that a worker counts the pairs of, without and with the kernel."""
MOST_UNSPLIT: Final = (1 << 17, 1 << 21)
"""Of these, bytes in pieces longer than `_LONG`: where texts are not split, nearly each merge changes all of them."""
_LONG: Final = 1 << 12
"""Characters."""
_ROW: Final = re.compile(r"\d+,\d+,\d+", re.ASCII)
"""How a step is told on stdin."""
_MODESTY: Final = 5
"""How much less urgent a worker is than one that learns, in steps of `nice`."""


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
    add_stream(parser)
    parser.add_argument(
        "--learning",
        nargs=REMAINDER,
        metavar="ARGUMENT",
        help="with --stream, at the end: the arguments of the `train` that is learning the merges told on stdin",
    )


def run(options: Namespace) -> int:
    """Count the corpus, then tell of one step, of all, or of those that are asked for."""
    if options.stream:
        os.nice(_MODESTY)
    question = _question(options)
    with closing(Control(stdin=False)) as control, closing(report_to(options.stream, control)) as report:
        subject = _subject(question, options.stream, control, report)
        if subject is None:
            return 130
    if options.stream:
        return _answer(subject, report)
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
    if options.stream and options.learning is not None:
        return Question.of_training(options.learning)
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


def _subject(asked: Question, stream: bool, control: Control, report: Report) -> Subject | None:
    """The corpus counted; None if a signal ended that. Raises `TextError` if there is too much of it for a worker."""
    is_fast = kernel.available
    if stream:
        _check_size("texts", asked.texts.size, MOST_ON_DISK[is_fast])
    counts = asked.texts.counts(asked.tokenizer.pattern, control, report)
    if counts is None:
        return None
    if stream:
        sizes = [*map(len, counts.pieces)]
        _check_size("different pieces", sum(sizes), MOST_IN_PIECES[is_fast])
        unsplit = sum(size for size in sizes if size > _LONG)
        _check_size("text in long pieces", unsplit, MOST_UNSPLIT[is_fast])
    return Subject(asked, PairCounts(asked.tokenizer, counts.pieces))


def _check_size(what: str, n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise TextError(
            f"These are {n_bytes / 1e6:,.1f} MB of {what}, too much to count pairs in beside the screen (at most "
            f"{most / 1e6:,.1f} MB); `bpescope why` in a terminal has more patience."
        )


def _answer(subject: Subject, report: Report) -> int:
    """Answer what is asked on stdin, one question after the other."""
    for line in sys.stdin:
        match line.split():
            case ["step", number] if number.isdecimal():
                step = min(int(number), subject.tokenizer.step)
                report.send(Explained(subject.explanation(step).to_json()))
                if not select.select([sys.stdin], [], [], 0)[0]:  # nobody has gone on meanwhile
                    report.send(Places(step, list(map(asdict, subject.places(step)))))
            case ["merges", *told] if all(map(_ROW.fullmatch, told)):
                rows = [row.split(",") for row in told]
                subject.grow((int(left), int(right), int(token)) for left, right, token in rows)
            case _:
                raise WireError(f"Not a question: {line[:80]!r}; ask for step N, or tell merges of three ids.")
    return 0
