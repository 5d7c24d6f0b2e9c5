"""What the arguments of `train` ask for, read by others than `train` itself: the app, and a `why` beside a training."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

from bpe_core.cli.training_options import add_options, rules_of, sample_of, start_of
from bpe_core.content.presets import PRESETS
from bpe_core.corpus.weights import parsed
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.start import first_vocabulary
from bpe_core.worker.subject import Files, PresetTexts, Question


def question_of_training(arguments: Sequence[str]) -> Question:
    """What is asked about a training under way; `arguments` are those of its `train`. Raises `OptionError` as that
    does."""
    options = training_arguments(arguments)
    old = start_of(options, lambda done, total: None)
    rules = rules_of(options, old)
    tokenizer = Tokenizer(first_vocabulary(rules, old.vocabulary if old else None), rules.pattern)
    weights, sample = parsed(options.weight, options.paths), sample_of(options)
    texts = PresetTexts(PRESETS[options.preset]) if options.preset else Files(options.paths, weights, sample)
    return Question(tokenizer, texts, rules.ties, rules.max_token_length)


def training_arguments(arguments: Sequence[str]) -> Namespace:
    """The texts and the rules, as `train` would read them. `OptionError` for what it would refuse."""
    parser = QuietParser(add_help=False)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--preset", choices=PRESETS)
    add_options(parser)
    return parser.parse_args(arguments)


class QuietParser(ArgumentParser):
    """Raises `OptionError` where others end the process."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message.removeprefix('argument ')}.")
