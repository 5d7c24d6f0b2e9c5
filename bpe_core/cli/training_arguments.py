"""What the arguments of `train` ask for, read by others than `train` itself: the app, and a `why` beside a training."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

from bpe_core.cli.training_options import add_rules, add_texts, rules_of
from bpe_core.cli.two_stages import last_stage
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError
from bpe_core.picky.vocabulary import PickyVocabulary
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.experiment import Picky
from bpe_core.trainer.options import Options
from bpe_core.trainer.start import specials_behind
from bpe_core.vocabulary import Vocabulary


def training_arguments(arguments: Sequence[str]) -> Namespace:
    """The texts and the rules, as `train` would read them. `OptionError` for what it would refuse."""
    parser = _Parser(add_help=False)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--preset", choices=PRESETS)
    add_texts(parser)
    add_rules(parser)
    return parser.parse_args(arguments)


def last_rules(options: Namespace, old: Tokenizer | None) -> Options:
    """The rules of the training, or of the last stage of an experiment; `old` is the vocabulary it begins with.

    Raises `OptionError` or `PatternError` for what makes no sense.
    """
    return last_stage(rules_of(options, old))


def first_vocabulary(rules: Options, old: Tokenizer | None) -> Vocabulary:
    """The vocabulary without any merge, by the `last_rules`."""
    if old is not None:
        return old.vocabulary.at(0)
    kind = PickyVocabulary if isinstance(rules.experiment, Picky) else Vocabulary
    vocabulary = kind.of_bytes(rules.id_layout, rules.special_tokens, rules.end_of_word)
    return specials_behind(vocabulary, rules.vocab_size) if rules.first_pattern else vocabulary


class _Parser(ArgumentParser):
    """Raises `OptionError` where others end the process."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message.removeprefix('argument ')}.")
