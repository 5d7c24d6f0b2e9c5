"""The options of a training as arguments of a command line, and what they ask for."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from bpe_core.cli.arguments import A_TOKENIZER, integer
from bpe_core.cli.inputs import open_tokenizer
from bpe_core.content.presets import PRESETS
from bpe_core.corpus.sampling import Sample
from bpe_core.errors import OptionError, PatternNeededError
from bpe_core.exact_fraction import exact_fraction
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import OPTION_OF, OPTIONS, Options
from bpe_core.trainer.start import check_extensible, check_larger, inherited
from bpe_core.worker.job import PROGRESS_EVERY


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments that say what is learned, by which rules, and how the texts are read."""
    for field in fields(Options):
        option = OPTION_OF[field.name]
        how: dict[str, Any] = {"choices": option.choices} if option.choices else {"metavar": option.example[:1]}
        if field.type in (int, int | None):
            how |= {"type": integer, "metavar": "N"}
        if field.type == Sequence[str]:
            how["action"] = "append"
        usual = field.default or f"such as {option.example}; none"
        parser.add_argument(f"--{option.argument}", dest=field.name, help=option.help(usual), **how)
    extend, sample, seed, weight = map(OPTIONS.__getitem__, ("extend", "sample", "seed", "weight"))
    parser.add_argument("--extend", metavar="OLD", help=f"{extend.help()}:\n{A_TOKENIZER}")
    parser.add_argument(
        "--fork", type=integer, metavar="STEP", help="with --extend: begin with the first STEP merges of OLD only"
    )
    parser.add_argument("--sample", metavar="X", help=sample.help("such as 1/10 or 0.1; all"))
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help=seed.help(0))
    repeatable = "repeatable; 1; counts are multiplied by the common denominator"
    parser.add_argument("--weight", action="append", default=[], metavar="PATH=N", help=weight.help(repeatable))


def sample_of(options: Namespace) -> Sample | None:
    """What is read of the texts; None for all. Raises `OptionError`."""
    if options.sample is None:
        return None
    try:
        share = exact_fraction(options.sample)
    except ValueError:
        raise OptionError(f"--sample {options.sample} is no share; give a fraction such as 1/10 or 0.1.") from None
    return Sample(share, options.seed)


def start_of(options: Namespace, progress: Callable[[int, int], None]) -> Tokenizer | None:
    """The tokenizer whose merges the training begins with, at the step of `--fork`; None for a new vocabulary.

    Where its file has ranks and no merges, these are recovered, and meanwhile `progress(done, total)` is called with
    tokens every 50 ms; an exception it raises is passed on. Raises `OptionError` if the tokenizer cannot be extended
    so, and what loading it raises.
    """
    if options.extend is None:
        if options.fork is not None:
            raise OptionError("--fork STEP needs the tokenizer to fork: name it with --extend OLD.")
        return None
    if options.preset:
        raise OptionError(f"The preset {options.preset} begins at the bytes; leave out --extend, or --preset.")
    try:
        old = open_tokenizer(options.extend)
    except PatternNeededError:
        if options.pattern is None:
            raise
        old = open_tokenizer(options.extend, options.pattern)
    if old.preparation:
        raise OptionError(
            f"{options.extend} cannot be extended: it changes a text before it splits it, or looks for tokens in it."
        )
    while not old.vocabulary.recover(PROGRESS_EVERY):
        progress(round(old.vocabulary.recovered_share * old.n_vocab), old.n_vocab)
    check_extensible(old.vocabulary)
    if options.fork is not None:
        old = old.at(options.fork)
    return old


def rules_of(options: Namespace, old: Tokenizer | None) -> Options:
    """The rules, checked before minutes of counting. Raises `OptionError` or `PatternError`."""
    if options.preset:
        return PRESETS[options.preset].options
    given = {name: value for name in OPTION_OF if (value := getattr(options, name)) is not None}
    if old is not None:
        if any(OPTION_OF[name].inherited for name in given):
            raise OptionError(
                "With --extend the special tokens, their place and the end-of-word marker are those of OLD."
            )
        given = {"pattern": old.pattern} | given | inherited(old.vocabulary)
    rules = Options(**given).checked()
    if old is not None:
        check_larger(old.vocabulary, rules.vocab_size)
    return rules
