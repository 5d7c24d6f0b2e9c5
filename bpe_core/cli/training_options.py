"""The rules of a training as arguments of a command line, and the vocabulary that it goes on from."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from bpe_core.cli.arguments import A_TOKENIZER, integer
from bpe_core.cli.inputs import open_tokenizer
from bpe_core.content.presets import PRESETS
from bpe_core.corpus.sampling import Sample
from bpe_core.errors import OptionError, PatternNeededError
from bpe_core.exact_fraction import exact_fraction
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.option_table import RULES, TEXTS
from bpe_core.trainer.options import DEFAULT_PATTERN, Options
from bpe_core.trainer.start import check_extensible, check_larger, inherited
from bpe_core.trainer.ties import TIES
from bpe_core.vocabulary import ID_LAYOUTS
from bpe_core.worker.job import PROGRESS_EVERY


def add_rules(parser: ArgumentParser) -> None:
    """Add the arguments that say what is learned and by which rules."""
    parser.add_argument(
        "--pattern",
        metavar="P",
        help=f"{RULES['pattern'].help()}: none, words, gpt2, gpt4, gpt4o, ...\n"
        f"or a regular expression ({DEFAULT_PATTERN})",
    )
    parser.add_argument(
        "--vocab-size",
        type=integer,
        default=4096,
        metavar="N",
        help=RULES["vocab-size"].help("%(default)s"),
    )
    parser.add_argument(
        "--ties",
        default="first",
        choices=TIES,
        help=RULES["ties"].help("%(default)s"),
    )
    parser.add_argument(
        "--id-layout", default="bytes-first", choices=ID_LAYOUTS, help=RULES["id-layout"].help("%(default)s")
    )
    parser.add_argument("--special", action="append", default=[], metavar="S", help=RULES["special"].help("repeatable"))
    parser.add_argument(
        "--min-count",
        type=integer,
        default=1,
        metavar="N",
        help=RULES["min-count"].help("%(default)s"),
    )
    parser.add_argument(
        "--max-token-length", type=integer, metavar="N", help=RULES["max-token-length"].help("no limit")
    )
    parser.add_argument("--end-of-word", default="", metavar="S", help=RULES["end-of-word"].help("none"))
    parser.add_argument(
        "--min-share",
        metavar="X",
        help=RULES["min-share"].help(f"such as {RULES['min-share'].example}; never"),
    )
    parser.add_argument(
        "--extend",
        metavar="OLD",
        help=f"{RULES['extend'].help()}:\n{A_TOKENIZER}",
    )
    parser.add_argument(
        "--fork", type=integer, metavar="STEP", help="with --extend: begin with the first STEP merges of OLD only"
    )


def add_texts(parser: ArgumentParser) -> None:
    """Add the arguments that say how much of the texts is read, and how much each counts."""
    parser.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="PATH=N",
        help=f"{TEXTS['weight'].help()}; repeatable (1).\nCounts are multiplied by the common denominator",
    )
    parser.add_argument(
        "--sample",
        metavar="X",
        help=TEXTS["sample"].help("such as 1/10 or 0.1; all"),
    )
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help=TEXTS["seed"].help("%(default)s"))


def sample_of(options: Namespace) -> Sample | None:
    """What is read of the texts; None for all. Raises `OptionError`."""
    if options.sample is None:
        return None
    try:
        share = exact_fraction(options.sample)
    except ValueError:
        raise OptionError(f"--sample {options.sample} is no share; give a fraction such as 1/10 or 0.1.") from None
    return Sample(share, options.seed)


def start_of(options: Namespace, look: Callable[[int, int], None]) -> Tokenizer | None:
    """The tokenizer whose merges the training begins with, at the step of `--fork`; None for a new vocabulary.

    Where its file has ranks and no merges, these are recovered, and meanwhile `look(done, total)` is called with tokens
    every 50 ms; an exception it raises is passed on. Raises `OptionError` if the tokenizer cannot be extended so, and
    what loading it raises.
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
        look(round(old.vocabulary.recovered_share * old.n_vocab), old.n_vocab)
    check_extensible(old.vocabulary)
    if options.fork is not None:
        old = old.at(options.fork)
    return old


def rules_of(options: Namespace, old: Tokenizer | None) -> Options:
    """The rules, checked: a wrong option is told now, not after minutes of counting. Raises `OptionError`."""
    if options.preset:
        return PRESETS[options.preset].options
    own: dict[str, Any] = {
        "id_layout": options.id_layout,
        "special_tokens": tuple(options.special),
        "end_of_word": options.end_of_word,
    }
    if old is not None:
        if own != {"id_layout": "bytes-first", "special_tokens": (), "end_of_word": ""}:
            raise OptionError(
                "With --extend the special tokens, their place and the end-of-word marker are those of OLD."
            )
        own = inherited(old.vocabulary)
        check_larger(old.vocabulary, options.vocab_size)
    return Options(
        vocab_size=options.vocab_size,
        pattern=options.pattern or (old.pattern if old else DEFAULT_PATTERN),
        ties=options.ties,
        min_count=options.min_count,
        max_token_length=options.max_token_length,
        min_share=options.min_share,
        **own,
    )
