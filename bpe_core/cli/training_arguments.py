"""What the arguments of `train` ask for, read by others than `train` itself: the app, and a `why` beside a training."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

from bpe_core.cli.training_options import add_rules, add_texts
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.options import Options
from bpe_core.vocabulary import Vocabulary


def training_arguments(arguments: Sequence[str]) -> Namespace:
    """The texts and the rules, as `train` would read them. `OptionError` for what it would refuse."""
    parser = _Parser(add_help=False)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--preset", choices=PRESETS)
    add_texts(parser)
    add_rules(parser)
    return parser.parse_args(arguments)


def first_vocabulary(rules: Options, old: Tokenizer | None) -> Vocabulary:
    """The vocabulary without any merge, by these rules; `old` is the one it begins with."""
    if old is not None:
        return old.vocabulary.at(0)
    return Vocabulary.of_bytes(rules.id_layout, rules.special_tokens, rules.end_of_word)


class _Parser(ArgumentParser):
    """Raises `OptionError` where others end the process."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message.removeprefix('argument ')}.")
