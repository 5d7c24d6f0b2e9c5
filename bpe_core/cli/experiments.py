"""Experiments: ways to learn that are not byte-pair encoding as it is commonly done.

superbpe=STEP is the idea of Liu et al., "SuperBPE: Space Travel for Language Models" (2025, arXiv 2503.13423). The
first STEP merges are learned within pieces, as always; then texts are not split any more, and tokens may reach across
words. What comes out is an ordinary vocabulary whose pattern is "none", since a text is encoded as it was merged in the
second stage: all merges in their order, on the whole text.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from itertools import islice
from typing import Final

from bpe_core.cli.control import Control
from bpe_core.cli.counting import told_to_stop
from bpe_core.cli.learning import prepare
from bpe_core.cli.report import Report
from bpe_core.corpus.counts import Counts
from bpe_core.errors import OptionError
from bpe_core.trainer.options import Options
from bpe_core.trainer.start import specials_behind
from bpe_core.vocabulary import Vocabulary

SECOND_PATTERN: Final = "none"
"""How texts are split in the second stage."""


def add_experiment(parser: ArgumentParser) -> None:
    """Add `--experiment`."""
    parser.add_argument(
        "--experiment",
        metavar="NAME=N",
        help="superbpe=STEP: after STEP merges, texts are not split any more, and tokens may reach across words",
    )


def transition_of(options: Namespace, rules: Options) -> int | None:
    """The step after which texts are not split any more; None without the experiment. Raises `OptionError`."""
    if options.experiment is None:
        return None
    name, _, number = options.experiment.partition("=")
    if name != "superbpe" or not (number.isascii() and number.isdigit() and len(number) < 9 and int(number)):
        raise OptionError(
            f"There is no experiment {options.experiment!r}; there is superbpe=STEP, STEP being from 1 on."
        )
    for given, what in (
        (options.preset, "--preset"),
        (options.extend, "--extend"),
        (options.sample, "--sample"),
        (rules.end_of_word, "--end-of-word"),
    ):
        if given:
            raise OptionError(f"The experiment superbpe does not go together with {what}; leave one of them out.")
    if int(number) >= rules.n_merges:
        raise OptionError(
            f"Of {rules.n_merges:,} merges, none is left after step {int(number):,}; name an earlier step."
        )
    return int(number)


def second_stage(rules: Options) -> Options:
    """The rules of the second stage."""
    return replace(rules, pattern=SECOND_PATTERN)


def first_stage(step: int, rules: Options, counts: Counts, control: Control, report: Report) -> Vocabulary | None:
    """What the second stage begins with: the vocabulary of the first `step` merges; None if `control` said stop."""
    trainer = prepare(counts, rules, control, report)
    if trainer is None:
        return None
    for _ in islice(trainer, step):
        if told_to_stop(control, report, "preparing"):
            return None
    return specials_behind(trainer.vocabulary, rules.vocab_size)
