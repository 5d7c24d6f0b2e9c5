"""The two stages of SuperBPE: a training within pieces, and one on whole texts that begins with what it learned."""

from dataclasses import replace
from itertools import islice
from typing import Final

from bpe_core.cli.control import Control
from bpe_core.cli.counting import told_to_stop
from bpe_core.cli.learning import prepare
from bpe_core.cli.report import Report
from bpe_core.corpus.counts import Counts
from bpe_core.trainer.experiment import SuperBPE
from bpe_core.trainer.options import Options
from bpe_core.trainer.start import specials_behind
from bpe_core.vocabulary import Vocabulary

SECOND_PATTERN: Final = "none"
"""How texts are split in the second stage."""


def last_stage(rules: Options) -> Options:
    """The rules of the only stage, or of the second of two."""
    if not isinstance(rules.experiment, SuperBPE):
        return rules
    return replace(rules, pattern=SECOND_PATTERN, first_pattern=rules.pattern)


def first_stage(rules: Options, counts: Counts, control: Control, report: Report) -> Vocabulary | None:
    """What the second stage begins with: the vocabulary of the first merges; None if `control` said stop."""
    assert isinstance(rules.experiment, SuperBPE)
    trainer = prepare(counts, replace(rules, experiment=None), control, report)
    if trainer is None:
        return None
    for _ in islice(trainer, rules.experiment.step):
        if told_to_stop(control, report, "preparing"):
            return None
    return specials_behind(trainer.vocabulary, rules.vocab_size)
